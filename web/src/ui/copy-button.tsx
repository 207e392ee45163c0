import clsx from 'clsx'
import { Check, Copy } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'

/** Copies `text`. `label` names it: "Copy the command that …". */
export function CopyButton({ text, label, className }: { text: string; label: string; className?: string }) {
  const button = useRef<HTMLButtonElement>(null)
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    // Browsers give a page its clipboard over HTTPS or on localhost only.
    if (navigator.clipboard) await navigator.clipboard.writeText(text)
    else copyBySelection(text, button.current)
    setCopied(true)
  }
  return (
    <button
      ref={button}
      type="button"
      onClick={copy}
      aria-label={copied ? 'Copied' : label}
      className={clsx(
        'grid size-8 shrink-0 place-items-center rounded-md text-fg-3 hover:bg-hover hover:text-fg max-sm:size-11',
        className,
      )}
    >
      {copied ? <Check aria-hidden className="size-4 text-ok-fg" /> : <Copy aria-hidden className="size-4" />}
    </button>
  )
}

/** Beside the button, because a dialog keeps the focus inside itself. */
function copyBySelection(text: string, button: HTMLButtonElement | null) {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'sr-only'
  button?.after(area)
  area.select()
  document.execCommand('copy')
  area.remove()
  button?.focus()
}
