import clsx from 'clsx'
import { CopyButton } from './copy-button'

interface CommandProps {
  /** One or more lines for a terminal. */
  children: string
  /** Names the block for the copy button: "Copy the command that …". */
  copyLabel: string
  className?: string
}

/** Lines to run in a terminal, with a button that copies them. */
export function Command({ children, copyLabel, className }: CommandProps) {
  return (
    <div className={clsx('flex items-start rounded-lg border border-line bg-sunken', className)}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls sideways must be reachable by keyboard */}
      <pre tabIndex={0} className="min-w-0 flex-1 overflow-x-auto px-3 py-2.5 font-mono text-xs leading-5 text-fg-2">
        {children}
      </pre>
      <CopyButton text={children} label={copyLabel} className="m-1" />
    </div>
  )
}
