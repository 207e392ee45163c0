import { lazy, Suspense, useEffect, useState } from 'react'
import { Problem } from '@/api/problem'

export type ToastTone = 'success' | 'info' | 'error'

interface Receipt {
  tone: Exclude<ToastTone, 'error'>
  title: string
  description: string
  /** Where to go from here. */
  action?: { label: string; run: () => void }
}

export interface Toast extends Omit<Receipt, 'tone'> {
  tone: ToastTone
  /** Until somebody closes it. */
  stays: boolean
}

/** What was told before there was a region to show it. */
const waiting: Toast[] = []
let region: ((toast: Toast) => void) | undefined
let wantRegion: (() => void) | undefined

function show(toast: Toast) {
  if (region) return region(toast)
  waiting.push(toast)
  wantRegion?.()
}

/** From now on all toasts go to this region, and those first that wait. Ends when the returned function is called. */
export function showOn(there: (toast: Toast) => void) {
  region = there
  for (const toast of waiting.splice(0)) there(toast)
  return () => {
    region = undefined
  }
}

/** The receipt of what was just done. */
export function showReceipt(receipt: Receipt) {
  show({ ...receipt, stays: false })
}

/** What failed, and why. */
export function showFailure(title: string, error: unknown) {
  show({ tone: 'error', title, description: Problem.of(error).message, stays: true })
}

const ToastRegion = lazy(() => import('./toast-region'))

/** Long enough for the page to be there first. Screen readers hear only what appears in a region that was there before. */
const MOUNT_AFTER_MS = 2_000

export function Toasts() {
  const [isWanted, setWanted] = useState(false)
  useEffect(() => {
    wantRegion = () => setWanted(true)
    const mounting = setTimeout(wantRegion, waiting.length > 0 ? 0 : MOUNT_AFTER_MS)
    return () => {
      clearTimeout(mounting)
      wantRegion = undefined
    }
  }, [])
  return (
    isWanted && (
      <Suspense>
        <ToastRegion />
      </Suspense>
    )
  )
}
