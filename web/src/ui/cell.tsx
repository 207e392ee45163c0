import clsx from 'clsx'
import type { ReactNode } from 'react'

/** A cell in the body of a table whose rows are groups. */
export function Cell({ number, children }: { number?: boolean; children: ReactNode }) {
  return (
    <td
      className={clsx(
        'whitespace-nowrap border-line border-b px-2.5 text-fg-2 tabular-nums group-last:border-0',
        number && 'text-right',
      )}
    >
      {children}
    </td>
  )
}
