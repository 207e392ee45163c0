import { Field } from '@base-ui/react/field'
import { useMutation, useQuery } from '@tanstack/react-query'
import clsx from 'clsx'
import { LogIn } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import type { Session } from '@/api/model'
import { Problem } from '@/api/problem'
import { duration } from '@/format/time'
import mark from '@/mark.svg'
import { Button, buttonClass } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { NewPasswordForm } from './new-password-form'
import { FieldError, inputClass, PasswordField } from './password-field'
import { logIn, providerHref, refusalOf, waysQuery } from './session'

interface LoginPageProps {
  /** Somebody was logged in here until a moment ago. */
  sessionEnded: boolean
  /** Why the identity provider's log-in came to nothing, in a word. */
  refused?: string
  /** The page to go to afterwards. */
  next?: string
  /** Who is logged in and has to choose another password first. */
  newcomer: Session | null
  onLoggedIn: (session: Session) => void
}

export function LoginPage({ sessionEnded, refused, next, newcomer, onLoggedIn }: LoginPageProps) {
  const [choosing, setChoosing] = useState<{ session: Session; current: string | null } | null>(
    newcomer && { session: newcomer, current: null },
  )
  if (choosing)
    return (
      <Page
        title="Choose a password"
        text="The password you were given was good for this once. Choose one of your own."
      >
        <NewPasswordForm {...choosing} onChanged={onLoggedIn} />
      </Page>
    )
  const refusal = refusalOf(refused)
  return (
    <Page title="Log in to KubeOpera" text="Manage the clusters your workloads run on.">
      {sessionEnded && (
        <Notice tone="info" className="mt-5">
          Your session ended. Log in to go back to where you were.
        </Notice>
      )}
      {refusal && (
        <Notice tone="bad" role="alert" className="mt-5">
          {refusal}
        </Notice>
      )}
      <ProviderLink next={next} />
      <LoginForm
        onLoggedIn={(session, current) =>
          session.must_change_password ? setChoosing({ session, current }) : onLoggedIn(session)
        }
      />
      <p className="mt-5 text-fg-3 text-xs leading-5">
        First time here? KubeOpera printed the first administrator's password once, in the terminal or log where it was
        started.
      </p>
    </Page>
  )
}

function Page({ title, text, children }: { title: string; text: string; children: ReactNode }) {
  return (
    <div className="min-h-dvh bg-canvas">
      <main className="mx-auto w-full max-w-sm px-4 pt-[14vh] pb-16">
        <img src={mark} alt="" className="size-11" />
        <h1 className="mt-5 font-semibold text-2xl tracking-tight">{title}</h1>
        <p className="mt-1.5 text-fg-3">{text}</p>
        {children}
      </main>
    </div>
  )
}

/** The way by the identity provider, where there is one. Passwords work without knowing that, so nobody waits for it. */
function ProviderLink({ next }: { next: string | undefined }) {
  const { data } = useQuery(waysQuery)
  if (!data?.oidc) return null
  return (
    <a href={providerHref(next)} className={clsx(buttonClass('secondary', 'large'), 'mt-6 w-full')}>
      <LogIn aria-hidden />
      <span className="truncate">Log in with {data.oidc.name}</span>
    </a>
  )
}

function LoginForm({ onLoggedIn }: { onLoggedIn: (session: Session, password: string) => void }) {
  const [missing, setMissing] = useState<{ username?: string; password?: string }>({})
  const username = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const attempt = useMutation({
    mutationFn: ({ username, password }: { username: string; password: string }) => logIn(username, password),
    meta: { logsIn: true },
    onSuccess: (session, { password }) => onLoggedIn(session, password),
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
          className={inputClass}
        />
        <FieldError text={missing.username} />
      </Field.Root>
      <PasswordField
        name="password"
        label="Password"
        ref={password}
        autoComplete="current-password"
        error={missing.password}
      />
      <Button type="submit" look="primary" size="large" busy={attempt.isPending} aria-disabled={wait > 0 || undefined}>
        Log in
      </Button>
    </form>
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
