import clsx from 'clsx'
import { ArrowDown, ArrowUp } from 'lucide-react'

interface SortHeadProps {
  name: string
  /** Numbers stand to the right. */
  number?: boolean
  /** Which way the rows are sorted by this column; null while they are sorted by another. */
  sorted: 'asc' | 'desc' | null
  onTurn: () => void
}

/** The head of a column that rows can be sorted by. The first stays in view while the others scroll. */
export function SortHead({ name, number, sorted, onTurn }: SortHeadProps) {
  const Arrow = sorted === 'desc' ? ArrowDown : ArrowUp
  return (
    <th
      scope="col"
      aria-sort={sorted ? (sorted === 'asc' ? 'ascending' : 'descending') : undefined}
      className={clsx(
        'border-line border-b px-1 py-1.5 first:sticky first:left-0 first:z-10 first:bg-surface first:pl-3.5',
        number ? 'text-right' : 'text-left',
      )}
    >
      <button
        type="button"
        onClick={onTurn}
        className={clsx(
          'inline-flex h-8 items-center gap-1 whitespace-nowrap rounded-md px-1.5 font-medium text-xs hover:bg-hover max-sm:h-11',
          sorted ? 'text-fg' : 'text-fg-3',
          number && 'flex-row-reverse',
        )}
      >
        {name}
        <Arrow aria-hidden className={clsx('size-3.5', !sorted && 'invisible')} />
      </button>
    </th>
  )
}
