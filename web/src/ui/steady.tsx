import { ArrowDownUp } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { Button } from './button'

/** What must not move while somebody points at it or has the focus in it, and the button that asks for the new order. */
const HOLDING = 'tbody, article, [data-steady]'

interface SteadyProps<T> {
  /** In the order that they have now. */
  rows: T[]
  /** What somebody asked to see: with another one, rows are shown in their new order at once. */
  asked: unknown
  children: (rows: T[]) => ReactNode
}

/**
 * Rows that keep their order while somebody points at one or is in one with the keyboard: nobody hits another row than
 * they aimed at. What is in the rows goes on changing, rows that are gone go, and new ones come at the end.
 */
export function Steady<T extends { id: string }>({ rows, asked, children }: SteadyProps<T>) {
  const frame = useRef<HTMLDivElement>(null)
  const { isHeld, ...handlers } = useHold()
  const [taken, setTaken] = useState({ rows, asked })
  const isTaken = taken.rows === rows && taken.asked === asked
  if (!isTaken && (!isHeld || taken.asked !== asked)) setTaken({ rows, asked })
  const shown = useMemo(() => (taken.rows === rows ? rows : inOrderOf(taken.rows, rows)), [taken.rows, rows])
  const hasChanged = shown !== rows && shown.some(({ id }, index) => id !== rows[index]?.id)
  return (
    <div ref={frame} tabIndex={-1} className="relative outline-none" {...handlers}>
      {children(shown)}
      {/* It takes no room, so that its coming and going moves no row either. */}
      <div role="status" className="pointer-events-none sticky bottom-4 z-20 flex h-0 items-end justify-center">
        {hasChanged && (
          <Button
            data-steady=""
            className="pointer-events-auto shadow-pop"
            onClick={() => {
              setTaken({ rows, asked })
              // The button goes, and the focus must not go with it.
              frame.current?.focus()
            }}
          >
            <ArrowDownUp aria-hidden />
            The order has changed. Show the new one
          </Button>
        )}
      </div>
    </div>
  )
}

/** The rows in the order of earlier ones, and those that were not among them after these. */
function inOrderOf<T extends { id: string }>(earlier: T[], rows: T[]): T[] {
  const left = new Map(rows.map((row) => [row.id, row]))
  const kept = earlier.flatMap(({ id }) => {
    const row = left.get(id)
    left.delete(id)
    return row ? [row] : []
  })
  return [...kept, ...left.values()]
}

/** Whether a pointer or the focus is in something that must not move, or in a menu or dialog that was opened from there. */
function useHold() {
  const [isPointedAt, setPointedAt] = useState(false)
  const [hasFocus, setHasFocus] = useState(false)
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(leaving.current), [])
  const isHolding = (frame: Element, target: EventTarget) =>
    target instanceof Element && (!frame.contains(target) || target.closest(HOLDING) !== null)
  return {
    isHeld: isPointedAt || hasFocus,
    onPointerOver: ({ pointerType, currentTarget, target }: React.PointerEvent) =>
      // A finger does not rest on anything.
      setPointedAt(pointerType !== 'touch' && isHolding(currentTarget, target)),
    onPointerLeave: () => setPointedAt(false),
    onFocus: ({ currentTarget, target }: React.FocusEvent) => {
      clearTimeout(leaving.current)
      setHasFocus(isHolding(currentTarget, target))
    },
    onBlur: () => {
      // Where the focus goes next is known only when it is there.
      clearTimeout(leaving.current)
      leaving.current = setTimeout(() => setHasFocus(false))
    },
  }
}
