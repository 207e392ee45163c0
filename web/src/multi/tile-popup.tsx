import { Tooltip } from '@base-ui/react/tooltip'
import type { MultiClusterRow } from '@/api/model'
import { TileDetails } from './tile-details'

interface TilePopupProps {
  tile: Element | null
  /** The cluster of the tile; none while no tile is pointed at. */
  row: MultiClusterRow | undefined
  onClose: () => void
}

/** The details of a cluster, beside its tile. */
export default function TilePopup({ tile, row, onClose }: TilePopupProps) {
  return (
    <Tooltip.Root open={row !== undefined} onOpenChange={(open) => !open && onClose()}>
      <Tooltip.Portal>
        <Tooltip.Positioner anchor={tile} side="right" align="start" sideOffset={8} className="z-40">
          <Tooltip.Popup className="pointer-events-none w-72 max-w-[calc(100vw-2rem)] rounded-xl border border-line bg-raised p-4 shadow-pop">
            {row && <TileDetails row={row} />}
          </Tooltip.Popup>
        </Tooltip.Positioner>
      </Tooltip.Portal>
    </Tooltip.Root>
  )
}
