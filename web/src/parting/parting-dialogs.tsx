import { lazy, Suspense, useEffect } from 'react'
import { askToPart, usePartingAskedFor } from './parting'

const DisconnectDialog = lazy(() => import('./disconnect-dialog'))
const DeleteDialog = lazy(() => import('./delete-dialog'))

/** Where the dialogs that part from a cluster appear, in front of every page. */
export function PartingDialogs() {
  const parting = usePartingAskedFor()
  // Whoever logs in next was not the one who asked.
  useEffect(() => () => askToPart(null), [])
  if (!parting) return null
  const Dialog = parting.way === 'disconnect' ? DisconnectDialog : DeleteDialog
  return (
    <Suspense>
      <Dialog key={parting.cluster.id} cluster={parting.cluster} onClose={() => askToPart(null)} />
    </Suspense>
  )
}
