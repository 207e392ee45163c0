import clsx from 'clsx'
import { LoaderCircle } from 'lucide-react'
import type { ComponentProps } from 'react'

export type ButtonLook = 'primary' | 'secondary' | 'ghost' | 'danger'
export type ButtonSize = 'large' | 'medium' | 'icon'

/** The classes of a button, for links and menu triggers that look like one. */
export function buttonClass(look: ButtonLook = 'secondary', size: ButtonSize = 'medium'): string {
  return clsx(
    'inline-flex select-none items-center justify-center gap-2 whitespace-nowrap rounded-lg font-medium transition-colors duration-150',
    'aria-disabled:cursor-default aria-disabled:opacity-60 [&_svg]:size-4 [&_svg]:shrink-0',
    size === 'large' && 'h-10 px-4 max-sm:h-11',
    size === 'medium' && 'h-9 px-3.5 max-sm:h-11',
    size === 'icon' && 'size-9 shrink-0 max-sm:size-11',
    look === 'primary' &&
      'bg-accent text-accent-fg shadow-[inset_0_1px_0_rgb(255_255_255/0.18),0_1px_2px_rgb(0_0_0/0.15)] hover:bg-accent-hover',
    look === 'danger' && 'bg-danger text-accent-fg shadow-[0_1px_2px_rgb(0_0_0/0.15)] hover:bg-danger-hover',
    look === 'secondary' && 'border border-line-strong bg-surface text-fg shadow-card hover:bg-hover',
    look === 'ghost' && 'text-fg-2 hover:bg-hover hover:text-fg data-popup-open:bg-hover data-popup-open:text-fg',
  )
}

interface ButtonProps extends ComponentProps<'button'> {
  look?: ButtonLook
  size?: ButtonSize
  /** Work is under way: the button stays focusable and ignores further clicks. */
  busy?: boolean
}

export function Button({
  look,
  size,
  busy = false,
  className,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  return (
    <button
      type={type}
      // A field that is left shows what is wrong with it, which would move the button away from under the pointer.
      onMouseDown={type === 'submit' ? (event) => event.preventDefault() : undefined}
      className={clsx(buttonClass(look, size), className)}
      aria-disabled={busy || undefined}
      onClick={busy ? (event) => event.preventDefault() : onClick}
      {...rest}
    >
      {busy && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </button>
  )
}
