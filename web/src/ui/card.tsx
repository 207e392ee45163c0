import clsx from 'clsx'
import type { ComponentProps } from 'react'

export const cardClass = 'rounded-xl border border-line bg-surface shadow-card'

export function Card({ className, ...rest }: ComponentProps<'div'>) {
  return <div className={clsx(cardClass, className)} {...rest} />
}
