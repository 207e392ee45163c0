import clsx from 'clsx'
import { CircleCheck, CircleX, Minus } from 'lucide-react'
import type { GitCheck, GitFinding } from '@/api/model'
import { Button } from '@/ui/button'
import { Sentences } from '@/ui/sentences'

const questions: Record<GitFinding['question'], string> = {
  reach: 'A server answers at the address',
  identity: 'It is the server it says it is',
  repository: 'It accepts the credential and has the repository',
  branch: 'The branch is there, or the repository is empty',
  push: 'The credential may write',
}

const marks = {
  yes: { icon: CircleCheck, tint: 'text-ok-fg', word: 'yes' },
  no: { icon: CircleX, tint: 'text-bad-fg', word: 'no' },
  not_asked: { icon: Minus, tint: 'text-fg-3', word: 'not asked' },
}

interface GitFindingsProps {
  check: GitCheck
  /** Takes the host key that an SSH server offers; without it, nothing can be taken. */
  onTrust?: (knownHosts: string) => void
}

/** What was found, question by question. */
export function GitFindings({ check, onTrust }: GitFindingsProps) {
  return (
    <div role="status" className="grid gap-4 rounded-lg border border-line bg-sunken px-4 py-3.5">
      <p className={clsx('font-medium', check.is_usable ? 'text-ok-fg' : 'text-bad-fg')}>
        {check.is_usable
          ? `Trees can be written to it${check.branch ? `, to the branch ${check.branch}` : ''}.`
          : 'Trees cannot be written to it.'}
      </p>
      <ul className="grid gap-2 text-ui">
        {check.findings.map(({ question, answer, message }) => {
          const { icon: Icon, tint, word } = marks[answer]
          return (
            <li key={question} className="flex gap-2.5">
              <Icon aria-hidden className={clsx('mt-0.5 size-4 shrink-0', tint)} />
              <div className="min-w-0 [overflow-wrap:anywhere]">
                <span className={answer === 'not_asked' ? 'text-fg-3' : undefined}>{questions[question]}</span>
                <span className="sr-only">: {word}</span>
                {message && (
                  <div className="mt-0.5 text-fg-2">
                    <Sentences>{message}</Sentences>
                  </div>
                )}
              </div>
            </li>
          )
        })}
      </ul>
      {check.offered_host_keys.length > 0 && (
        <div className="border-line border-t pt-3 text-ui">
          <p className="text-fg-2">
            The server offers these host keys. Compare one with what the server's operator publishes before you trust
            it.
          </p>
          <ul className="mt-2 grid gap-2">
            {check.offered_host_keys.map(({ algorithm, fingerprint, known_hosts }) => (
              <li key={fingerprint} className="flex flex-wrap items-center gap-x-3 gap-y-1.5">
                <span className="min-w-0 flex-1 basis-60 [overflow-wrap:anywhere]">
                  <span className="block text-fg-3 text-xs">{algorithm}</span>
                  <span className="font-mono text-xs">{fingerprint}</span>
                </span>
                {onTrust && <Button onClick={() => onTrust(known_hosts)}>Trust it</Button>}
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  )
}
