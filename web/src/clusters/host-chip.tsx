import { House } from 'lucide-react'

export function HostChip() {
  return (
    <span
      title="KubeOpera itself runs on this cluster"
      className="inline-flex h-6 items-center gap-1.5 rounded-full border border-accent-line bg-accent-soft px-2 font-medium text-accent-text text-xs"
    >
      <House aria-hidden className="size-3.5" />
      Host
    </span>
  )
}
