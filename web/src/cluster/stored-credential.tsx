import { FileKey2 } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { Cluster } from '@/api/model'
import { canReplaceKubeconfig, useRole } from '@/clusters/rights'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { Sentences } from '@/ui/sentences'

const ReplaceKubeconfigDialog = lazy(() => import('@/clusters/replace-kubeconfig-dialog'))

const kinds = { client_certificate: 'Client certificate', token: 'Token' }

/** What KubeOpera shows to the cluster's API server, and when it ends. */
export function StoredCredential({ credential }: Pick<Cluster, 'credential'>) {
  if (!credential) return 'Not known yet'
  const { kind, expires_at: end, state } = credential
  return (
    <>
      {kinds[kind]}
      {end ? (
        <>
          {state === 'expired' ? ', expired ' : ', expires '}
          <Ago at={end} />
        </>
      ) : (
        ', which does not tell when it expires'
      )}
    </>
  )
}

/** That the credential has expired or soon will, what that means, and the way to give another. */
export function CredentialEnds({ cluster }: { cluster: Cluster }) {
  const [isReplacing, setReplacing] = useState(false)
  const role = useRole()
  const state = cluster.credential?.state
  if (state !== 'expires_soon' && state !== 'expired') return null
  const said = cluster.conditions.find(({ type }) => type === 'CredentialValid')?.message
  return (
    <>
      <Notice
        tone={state === 'expired' ? 'bad' : 'warn'}
        role="status"
        className="mt-5"
        title={state === 'expired' ? 'The stored credential has expired' : 'The stored credential expires soon'}
        action={
          canReplaceKubeconfig(cluster, role) && (
            <Button onClick={() => setReplacing(true)}>
              <FileKey2 aria-hidden />
              Replace kubeconfig…
            </Button>
          )
        }
      >
        {said && <Sentences>{said}</Sentences>}
      </Notice>
      {isReplacing && (
        <Suspense>
          <ReplaceKubeconfigDialog cluster={cluster} onClose={() => setReplacing(false)} />
        </Suspense>
      )}
    </>
  )
}
