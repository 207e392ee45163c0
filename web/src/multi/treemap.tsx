import { useNavigate } from '@tanstack/react-router'
import clsx from 'clsx'
import {
  type KeyboardEvent,
  lazy,
  type MouseEvent,
  memo,
  type PointerEvent,
  Suspense,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import type { MultiClusterRow } from '@/api/model'
import { cores, percent } from '@/format/numbers'
import { standings } from './standing'
import { nextTile, type Tile, tilesOf, type Way } from './treemap-layout'

const HEIGHT = 380

const TilePopup = lazy(() => import('./tile-popup'))

const ways: Record<string, Way> = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' }

/**
 * One tile a cluster: its area is the CPU in use, its colour and pattern tell how it stands. It is one stop of the Tab key;
 * arrows go from tile to tile, Enter opens the cluster.
 */
export const Treemap = memo(function Treemap({ rows }: { rows: MultiClusterRow[] }) {
  const frame = useRef<HTMLElement>(null)
  const width = useWidth(frame)
  const navigate = useNavigate()
  const tiles = useMemo(() => tilesOf(rows, width, HEIGHT), [rows, width])
  const byId = useMemo(() => new Map(rows.map((row) => [row.id, row])), [rows])
  const [stop, setStop] = useState<string>()
  const [shown, setShown] = useState<HTMLElement | null>(null)
  /** The tile that was shown before a finger touched it. */
  const before = useRef<HTMLElement | null>(null)
  const stopId = stop && byId.has(stop) ? stop : tiles[0]?.id
  const details = shown?.dataset.id && byId.get(shown.dataset.id)
  const [wasShown, setWasShown] = useState(false)
  if (shown && !wasShown) setWasShown(true)

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') setShown(null)
    const from = tiles.find(({ id }) => id === stopId)
    const way = ways[event.key]
    const to =
      event.key === 'Home' ? tiles[0] : event.key === 'End' ? tiles.at(-1) : from && way && nextTile(tiles, from, way)
    if (!way && event.key !== 'Home' && event.key !== 'End') return
    event.preventDefault()
    if (to) frame.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(to.id)}"]`)?.focus()
  }
  const onClick = (event: MouseEvent) => {
    const tile = tileAt(event)
    if (!tile?.dataset.id || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    // A finger cannot hover: its first touch shows the details, the second opens the cluster.
    const isTouch = event.nativeEvent instanceof globalThis.PointerEvent && event.nativeEvent.pointerType === 'touch'
    if (isTouch && before.current !== tile) setShown(tile)
    else void navigate({ to: '/clusters/$id', params: { id: tile.dataset.id } })
  }
  return (
    <>
      <section
        ref={frame}
        aria-label="Clusters by CPU in use, coloured by status. Arrow keys go from tile to tile. The table below says the same."
        className="relative h-[380px]"
        onKeyDown={onKeyDown}
        onClick={onClick}
        onPointerDown={() => {
          before.current = shown
        }}
        onPointerOver={(event: PointerEvent) => event.pointerType !== 'touch' && setShown(tileAt(event))}
        onPointerLeave={() => setShown(null)}
        onFocus={(event) => {
          const tile = tileAt(event)
          setStop(tile?.dataset.id)
          setShown(tile)
        }}
        onBlur={() => setShown(null)}
      >
        {tiles.map((tile) => {
          const row = byId.get(tile.id)
          return row && <TileLink key={tile.id} {...tile} row={row} isStop={tile.id === stopId} />
        })}
      </section>
      {wasShown && (
        <Suspense>
          <TilePopup tile={shown} row={details || undefined} onClose={() => setShown(null)} />
        </Suspense>
      )}
    </>
  )
})

const tileAt = ({ target }: { target: EventTarget }) =>
  target instanceof Element ? target.closest<HTMLElement>('[data-id]') : null

interface TileLinkProps extends Tile {
  row: MultiClusterRow
  isStop: boolean
}

const TileLink = memo(function TileLink({ id, x, y, width, height, row, isStop }: TileLinkProps) {
  const { word, icon: Icon, tile } = standings[row.standing]
  const [hasIcon, hasName, hasUsage] = [width >= 18 && height >= 18, width >= 56 && height >= 24, height >= 44]
  return (
    <a
      href={`/clusters/${id}`}
      data-id={id}
      data-standing={row.standing}
      data-unmeasured={row.cpu?.used == null || undefined}
      tabIndex={isStop ? 0 : -1}
      aria-label={`${row.name}: ${word.toLowerCase()}, ${usageInWords(row)}`}
      style={{ left: x, top: y, width, height }}
      className={clsx('tile absolute overflow-hidden rounded hover:brightness-105', tile)}
    >
      {hasIcon && (
        <span aria-hidden className={clsx('flex gap-1 text-2xs', hasName ? 'p-1.5' : 'p-[3px]')}>
          <Icon className="mt-0.5 size-3 shrink-0" />
          {hasName && (
            <span className="min-w-0">
              <span className="block truncate font-semibold">{row.name}</span>
              {hasUsage && <span className="block truncate tabular-nums">{shortUsage(row)}</span>}
            </span>
          )}
        </span>
      )}
    </a>
  )
})

function usageInWords({ cpu }: MultiClusterRow): string {
  if (cpu?.used == null) return 'CPU not known'
  return `${cores(cpu.used)} in use${cpu.percent === null ? '' : `, ${percent(cpu.percent)}`}`
}

function shortUsage({ cpu }: MultiClusterRow): string {
  if (cpu?.used == null) return 'CPU not known'
  return `${cores(cpu.used)}${cpu.percent === null ? '' : ` · ${percent(cpu.percent)}`}`
}

function useWidth(frame: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = frame.current
    if (!element) return
    const measure = () => setWidth(element.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [frame])
  return width
}
