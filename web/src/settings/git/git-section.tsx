import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Seen } from '@/api/client'
import type { GitSetting } from '@/api/model'
import { Problem } from '@/api/problem'
import { Ago } from '@/ui/ago'
import { Button } from '@/ui/button'
import { Confirm } from '@/ui/confirm'
import { Fact, Facts } from '@/ui/facts'
import { Loaded } from '@/ui/loaded'
import { Notice } from '@/ui/notice'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'
import { checkRepository, forgetRepository, gitQuery } from './git'
import { GitFindings } from './git-findings'
import { RepositoryDialog } from './repository-dialog'

/** The Git repository that trees of new clusters go to. */
export function GitSection() {
  const query = useQuery(gitQuery)
  return (
    <Section
      title="Git repository"
      about="Where the trees of new clusters go. Clusters that are there keep the repository they have."
    >
      <Loaded query={query} what="the Git repository">
        {(setting) => <Setting setting={setting} />}
      </Loaded>
    </Section>
  )
}

function Setting({ setting }: { setting: Seen<GitSetting> }) {
  const queryClient = useQueryClient()
  const [asked, setAsked] = useState<'change' | 'forget'>()
  const check = useMutation({ mutationFn: () => checkRepository(null) })
  const renewed = (setting: Seen<GitSetting>) => {
    queryClient.setQueryData(gitQuery.queryKey, setting)
    check.reset()
  }
  return (
    <>
      <Facts>
        <Fact name="Address">
          <span className="font-mono text-xs">{setting.url}</span>
        </Fact>
        <Fact name="Branch">
          {setting.branch ? (
            <span className="font-mono text-xs">{setting.branch}</span>
          ) : (
            "The repository's default branch"
          )}
        </Fact>
        <Fact name="Credential">
          <Credential setting={setting} />
        </Fact>
        <Fact name="Chosen">
          {setting.changed_at ? (
            <>
              Here, <Ago at={setting.changed_at} />
            </>
          ) : (
            'By whoever started KubeOpera'
          )}
        </Fact>
      </Facts>
      <div className="mt-5 flex flex-wrap gap-2">
        <Button busy={check.isPending} onClick={() => check.mutate()}>
          Check
        </Button>
        <Button onClick={() => setAsked('change')}>Use another repository</Button>
        {setting.is_chosen && <Button onClick={() => setAsked('forget')}>Go back to the first one</Button>}
      </div>
      <div className="mt-4 empty:hidden">
        {check.data && <GitFindings check={check.data} />}
        {check.error && (
          <Notice tone="bad" role="alert">
            {Problem.of(check.error).message}
          </Notice>
        )}
      </div>
      {asked === 'change' && (
        <RepositoryDialog setting={setting} onChosen={renewed} onClose={() => setAsked(undefined)} />
      )}
      {asked === 'forget' && (
        <Confirm
          title="Go back to the first repository?"
          verb="Go back"
          act={async () => renewed(await forgetRepository(setting))}
          onDone={() =>
            showReceipt({
              tone: 'success',
              title: 'New clusters go to the first repository',
              description: 'It is the one that KubeOpera was started with.',
            })
          }
          onClose={() => setAsked(undefined)}
        >
          New clusters get their trees in the repository that KubeOpera was started with. Those that are there stay
          where they are.
        </Confirm>
      )}
    </>
  )
}

function Credential({ setting: { credential, is_built_in } }: { setting: GitSetting }) {
  if (is_built_in) return 'KubeOpera serves this repository itself'
  if (!credential) return <span className="text-bad-fg">Its Secret is missing or cannot be used</span>
  if (credential.type === 'ssh')
    return (
      <>
        SSH key{' '}
        <span className="font-mono text-xs">{credential.key_fingerprint ?? 'of a form that only OpenSSH reads'}</span>
      </>
    )
  return (
    <>
      {credential.username}
      {credential.last_four && (
        <>
          {' '}
          with <span className="font-mono text-xs">····{credential.last_four}</span>
        </>
      )}
      {credential.has_certificate_authority && ', with an authority of its own'}
    </>
  )
}
