import { Field } from '@base-ui/react/field'
import { useMutation } from '@tanstack/react-query'
import clsx from 'clsx'
import { Eye, EyeOff } from 'lucide-react'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import type { Session } from '@/api/model'
import { Problem } from '@/api/problem'
import { duration } from '@/format/time'
import mark from '@/mark.svg'
import { Button } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { logIn } from './session'

interface LoginPageProps {
  /** Somebody was logged in here until a moment ago. */
  sessionEnded: boolean
  onLoggedIn: (session: Session) => void
}

export function LoginPage({ sessionEnded, onLoggedIn }: LoginPageProps) {
  return (
    <div className="min-h-dvh bg-canvas">
      <main className="mx-auto w-full max-w-sm px-4 pt-[14vh] pb-16">
        <img src={mark} alt="" className="size-11" />
        <h1 className="mt-5 font-semibold text-2xl tracking-tight">Log in to KubeOpera</h1>
        <p className="mt-1.5 text-fg-3">Manage the clusters your workloads run on.</p>
        {sessionEnded && (
          <Notice tone="info" className="mt-5">
            Your session ended. Log in to go back to where you were.
          </Notice>
        )}
        <LoginForm onLoggedIn={onLoggedIn} />
        <p className="mt-5 text-fg-3 text-xs leading-5">
          First time here? KubeOpera printed the first administrator's password once, in the terminal or log where it
          was started.
        </p>
      </main>
    </div>
  )
}

function LoginForm({ onLoggedIn }: Pick<LoginPageProps, 'onLoggedIn'>) {
  const [shown, setShown] = useState(false)
  const [missing, setMissing] = useState<{ username?: string; password?: string }>({})
  const username = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const attempt = useMutation({
    mutationFn: ({ username, password }: { username: string; password: string }) => logIn(username, password),
    meta: { logsIn: true },
    onSuccess: onLoggedIn,
    onError: () => password.current?.select(),
  })
  const problem = attempt.error && Problem.of(attempt.error)
  const wait = useCountdown(problem?.retryAfter ?? 0, attempt.submittedAt)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (attempt.isPending || wait > 0) return
    const credentials = { username: username.current?.value.trim() ?? '', password: password.current?.value ?? '' }
    const empty = {
      username: credentials.username ? undefined : 'Enter your username.',
      password: credentials.password ? undefined : 'Enter your password.',
    }
    setMissing(empty)
    if (empty.username) return username.current?.focus()
    if (empty.password) return password.current?.focus()
    attempt.mutate(credentials)
  }

  return (
    <form noValidate onSubmit={submit} className={clsx(cardClass, 'mt-6 grid gap-4 p-5 sm:p-6')}>
      {problem && (
        <Notice tone={problem.status === 429 ? 'warn' : 'bad'} role="alert">
          {problem.status === 429 && wait > 0
            ? `Too many attempts. Try again in ${duration(wait * 1_000)}.`
            : problem.status === 429
              ? 'You can try again now.'
              : problem.message}
        </Notice>
      )}
      <Field.Root name="username" invalid={!!missing.username}>
        <Field.Label className="mb-1.5 block font-medium text-ui">Username</Field.Label>
        <Field.Control
          ref={username}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          className={input}
        />
        <FieldError text={missing.username} />
      </Field.Root>
      <Field.Root name="password" invalid={!!missing.password}>
        <Field.Label className="mb-1.5 block font-medium text-ui">Password</Field.Label>
        <div className="relative">
          <Field.Control
            ref={password}
            type={shown ? 'text' : 'password'}
            autoComplete="current-password"
            className={clsx(input, 'pr-11')}
          />
          <button
            type="button"
            aria-pressed={shown}
            aria-label="Show password"
            onClick={() => setShown(!shown)}
            className="absolute inset-y-0 right-0 grid w-11 place-items-center rounded-r-lg text-fg-3 hover:text-fg"
          >
            {shown ? <EyeOff aria-hidden className="size-4" /> : <Eye aria-hidden className="size-4" />}
          </button>
        </div>
        <FieldError text={missing.password} />
      </Field.Root>
      <Button type="submit" look="primary" size="large" busy={attempt.isPending} aria-disabled={wait > 0 || undefined}>
        Log in
      </Button>
    </form>
  )
}

const input =
  'h-10 w-full rounded-lg border border-control bg-surface px-3 text-fg max-sm:h-11 max-sm:text-base data-invalid:border-bad'

function FieldError({ text }: { text: string | undefined }) {
  return (
    <Field.Error match={!!text} className="mt-1.5 font-medium text-bad-fg text-xs">
      {text}
    </Field.Error>
  )
}

/** The seconds left of `seconds`, counted from each new `start`. */
function useCountdown(seconds: number, start: number): number {
  const [left, setLeft] = useState(seconds)
  useEffect(() => {
    setLeft(seconds)
    if (seconds <= 0 || start === 0) return
    const end = Date.now() + seconds * 1_000
    const timer = setInterval(() => {
      const rest = Math.max(0, Math.ceil((end - Date.now()) / 1_000))
      setLeft(rest)
      if (rest === 0) clearInterval(timer)
    }, 250)
    return () => clearInterval(timer)
  }, [seconds, start])
  return left
}
