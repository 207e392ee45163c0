import { useLocation } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { Cluster } from '@/api/model'
import { cardGrid } from './card-grid'
import { ClusterCard } from './cluster-card'

const GAP = 20
const NARROWEST = 352

/** Only the rows of cards that are near the part of the page that is seen. */
export default function VirtualCards({ clusters }: { clusters: Cluster[] }) {
  const list = useRef<HTMLUListElement>(null)
  const { columns, top } = usePlace(list)
  const rows = Math.ceil(clusters.length / columns)
  const virtual = useWindowVirtualizer({
    count: rows,
    estimateSize: () => 300,
    gap: GAP,
    overscan: 3,
    scrollMargin: top,
  })
  const linked = useLocation({ select: ({ hash }) => hash })
  const linkedRow = Math.floor(clusters.findIndex(({ id }) => id === linked) / columns)
  useEffect(() => {
    if (linkedRow >= 0) virtual.scrollToIndex(linkedRow, { align: 'center' })
  }, [linkedRow, virtual])
  const shown = virtual.getVirtualItems()
  const [first, last] = [shown[0], shown.at(-1)]
  return (
    <ul
      ref={list}
      aria-label="Clusters"
      className={cardGrid}
      style={{
        paddingTop: first ? first.start - top : 0,
        paddingBottom: last ? virtual.getTotalSize() - (last.end - top) : virtual.getTotalSize(),
      }}
    >
      {shown.flatMap(({ index: row }) =>
        clusters.slice(row * columns, (row + 1) * columns).map((cluster, column) => (
          <li
            key={cluster.id}
            aria-setsize={clusters.length}
            aria-posinset={row * columns + column + 1}
            data-index={row}
            ref={column === 0 ? virtual.measureElement : undefined}
            className="flex min-w-0"
          >
            <ClusterCard cluster={cluster} />
          </li>
        )),
      )}
    </ul>
  )
}

/** How many cards fit side by side, and how far down the page they begin. */
function usePlace(list: RefObject<HTMLElement | null>) {
  const [place, setPlace] = useState({ columns: 1, top: 0 })
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => {
      const columns = Math.max(1, Math.floor((element.clientWidth + GAP) / (NARROWEST + GAP)))
      const top = Math.round(element.getBoundingClientRect().top + scrollY)
      setPlace((known) => (known.columns === columns && known.top === top ? known : { columns, top }))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [list])
  return place
}
