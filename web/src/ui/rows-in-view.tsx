import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'

/** Up to here all rows are on the page, for the browser to find and to print. */
const WITHOUT_VIRTUAL = 100

/** Of many rows of a table, those near the part of the page that is seen, and the space of those before and after them. */
export function useRowsInView(count: number, rowHeight: number) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => {
    if (body.current) setTop(Math.round(body.current.getBoundingClientRect().top + scrollY))
  }, [])
  const isVirtual = count > WITHOUT_VIRTUAL
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => rowHeight,
    overscan: 12,
    scrollMargin: top,
    enabled: isVirtual,
  })
  const shown = virtual.getVirtualItems()
  const [first, last] = [shown[0], shown.at(-1)]
  return {
    body,
    indexes: isVirtual ? shown.map(({ index }) => index) : [...Array(count).keys()],
    before: isVirtual && first ? first.start - top : 0,
    after: isVirtual && last ? virtual.getTotalSize() - (last.end - top) : 0,
    isVirtual,
    virtual,
  }
}

/** Stands for rows that are not on the page. */
export function SpaceRow({ height, columns }: { height: number; columns: number }) {
  if (height <= 0) return null
  return (
    <tr aria-hidden>
      <td colSpan={columns} style={{ height }} />
    </tr>
  )
}
