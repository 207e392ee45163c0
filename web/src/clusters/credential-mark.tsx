import clsx from 'clsx'
import { KeyRound } from 'lucide-react'
import type { Cluster } from '@/api/model'
import { exact } from '@/format/time'

/** Says, while there is something to say, that the credential in the stored kubeconfig has expired or soon will. */
export function CredentialMark({ credential }: Pick<Cluster, 'credential'>) {
  if (!credential?.expires_at || (credential.state !== 'expires_soon' && credential.state !== 'expired')) return null
  const isOver = credential.state === 'expired'
  return (
    <span
      title={`${isOver ? 'Expired' : 'Expires'} ${exact(credential.expires_at)}`}
      className={clsx(
        'inline-flex items-center gap-1 whitespace-nowrap rounded-full border px-2 py-px font-medium text-2xs',
        isOver ? 'border-bad-line bg-bad-bg text-bad-fg' : 'border-warn-line bg-warn-bg text-warn-fg',
      )}
    >
      <KeyRound aria-hidden className="size-3" />
      {isOver ? 'Credential expired' : 'Credential expires soon'}
    </span>
  )
}
