import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { newId } from '@/api/new-id'
import { gitQuery } from '@/settings/git/git'
import type { TreePlace } from './host-cluster'

/** Until it is known, and for those who may not know it. */
const example: TreePlace = {
  url: 'https://github.com/acme/gitops-iac.git',
  branch: null,
  credentials_secret: 'gitops-iac-credentials',
}

interface EquivalentProps {
  title: string
  /** Given where the tree goes, and an id for the cluster. */
  children: (place: TreePlace, id: string) => ReactNode
}

/** The same as a form does, for people who like a terminal better. */
export function Equivalent({ title, children }: EquivalentProps) {
  const { data: setting } = useQuery({ ...gitQuery, retry: false })
  const [id] = useState(newId)
  return (
    <details className="mt-6">
      <summary className="w-fit cursor-pointer rounded font-medium text-fg-2 text-ui hover:text-fg">{title}</summary>
      <div className="mt-2 grid grid-cols-1 gap-3 text-fg-3 text-ui [&>p]:max-w-prose">
        {children(setting ?? example, id)}
      </div>
    </details>
  )
}
