import {
  type ComponentProps,
  type ComponentType,
  cloneElement,
  type JSX,
  lazy,
  type ReactElement,
  Suspense,
  useState,
} from 'react'

type Trigger = ReactElement<ComponentProps<'button'>>

/** What a popup is given: the button that it opens from, for it to render. */
export interface Opened {
  trigger: Trigger
}

/** A popup of which nothing is loaded yet. */
interface Popup<P extends Opened> {
  kind: 'menu' | 'dialog'
  load: () => Promise<unknown>
  Open: ComponentType<P>
}

/** The module's component is rendered with `trigger`, and is open from the beginning. */
export function popup<P extends Opened>(
  kind: Popup<P>['kind'],
  load: () => Promise<{ default: ComponentType<P> }>,
): Popup<P> {
  return { kind, load, Open: lazy(load) as unknown as ComponentType<P> }
}

interface OnDemandProps<P extends Opened> {
  popup: Popup<P>
  /** What the popup is given besides the trigger. */
  with: Omit<P, 'trigger'>
  children: Trigger
}

/**
 * A button whose popup is loaded when somebody comes near, and mounted when it is pressed: a page with many of them costs
 * no more than the buttons, and nothing of it is in what is loaded first.
 */
export function OnDemand<P extends Opened>({
  popup: { kind, load, Open },
  with: rest,
  children: trigger,
}: OnDemandProps<P>) {
  const [isWanted, setWanted] = useState(false)
  // Pressing the button tells if it cannot be loaded.
  const near = () => void load().catch(() => {})
  const closed = cloneElement(trigger, {
    'aria-haspopup': kind,
    'aria-expanded': false,
    onPointerEnter: near,
    onFocus: near,
    onClick: () => setWanted(true),
    onKeyDown: (event) => {
      if (kind !== 'menu' || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
      event.preventDefault()
      setWanted(true)
    },
  })
  if (!isWanted) return closed
  const props = { ...rest, trigger } as unknown as P & JSX.IntrinsicAttributes
  return (
    <Suspense fallback={closed}>
      <Open {...props} />
    </Suspense>
  )
}
