import { type ReactNode, useId } from 'react'
import { cardClass } from '@/ui/card'

interface SectionProps {
  title: string
  /** One line on what it tells. */
  about?: ReactNode
  action?: ReactNode
  children: ReactNode
}

/** One subject of a page. */
export function Section({ title, about, action, children }: SectionProps) {
  const id = useId()
  return (
    <section aria-labelledby={id} className={`${cardClass} min-w-0`}>
      <header className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2 px-5 pt-4.5">
        <div className="min-w-0 flex-1 basis-64">
          <h2 id={id} className="font-semibold">
            {title}
          </h2>
          {about && <p className="mt-0.5 text-fg-3 text-ui">{about}</p>}
        </div>
        {action}
      </header>
      <div className="px-5 pt-4 pb-5">{children}</div>
    </section>
  )
}
