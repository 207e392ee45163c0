import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'

interface CommandProps {
  /** One or more lines for a terminal. */
  children: string
  /** Names the block for the copy button: "Copy the command that …". */
  copyLabel: string
}

/** Lines to run in a terminal, with a button that copies them. */
export function Command({ children, copyLabel }: CommandProps) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2_000)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => navigator.clipboard.writeText(children).then(() => setCopied(true))
  return (
    <div className="flex items-start rounded-lg border border-line bg-sunken">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto px-3 py-2.5 font-mono text-xs leading-5 text-fg-2">
        {children}
      </pre>
      <button
        type="button"
        onClick={copy}
        aria-label={copied ? 'Copied' : copyLabel}
        className="m-1 grid size-8 shrink-0 place-items-center rounded-md text-fg-3 hover:bg-hover hover:text-fg max-sm:size-11"
      >
        {copied ? <Check aria-hidden className="size-4 text-ok-fg" /> : <Copy aria-hidden className="size-4" />}
      </button>
    </div>
  )
}
