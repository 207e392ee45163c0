import { useMutation } from '@tanstack/react-query'
import clsx from 'clsx'
import { type FormEvent, useRef, useState } from 'react'
import type { Session } from '@/api/model'
import { Problem } from '@/api/problem'
import { Button } from '@/ui/button'
import { cardClass } from '@/ui/card'
import { Notice } from '@/ui/notice'
import { PasswordField } from './password-field'
import { changeOwnPassword } from './session'

interface NewPasswordFormProps {
  session: Session
  /** The password of a moment ago; somebody who reloaded the page enters it again. */
  current: string | null
  onChanged: (session: Session) => void
}

/** The printed password is good for one thing: choosing another. */
export function NewPasswordForm({ session, current, onChanged }: NewPasswordFormProps) {
  const [wrong, setWrong] = useState<{ current?: string; password?: string; again?: string }>({})
  const present = useRef<HTMLInputElement>(null)
  const password = useRef<HTMLInputElement>(null)
  const again = useRef<HTMLInputElement>(null)
  const attempt = useMutation({
    mutationFn: (words: { current: string; password: string }) =>
      changeOwnPassword(session.user.id, words.current, words.password),
    meta: { logsIn: true },
    onSuccess: onChanged,
    onError: (error) => {
      const { field, message } = Problem.of(error)
      if (field === 'password') setWrong({ password: message })
      if (field === 'current_password') setWrong({ current: message })
      ;(field === 'current_password' ? present : password).current?.focus()
    },
  })
  const problem = attempt.error && Problem.of(attempt.error)

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (attempt.isPending) return
    const words = { current: current ?? present.current?.value ?? '', password: password.current?.value ?? '' }
    const rules = {
      current: words.current ? undefined : 'Enter the password that KubeOpera printed.',
      password: [...words.password].length < 12 ? 'Use at least 12 characters.' : undefined,
      again: words.password === again.current?.value ? undefined : 'This is not the same password.',
    }
    setWrong(rules)
    if (rules.current) return present.current?.focus()
    if (rules.password) return password.current?.focus()
    if (rules.again) return again.current?.focus()
    attempt.mutate(words)
  }

  return (
    <form noValidate onSubmit={submit} className={clsx(cardClass, 'mt-6 grid gap-4 p-5 sm:p-6')}>
      {problem && !wrong.password && !wrong.current && (
        <Notice tone="bad" role="alert">
          {problem.message}
        </Notice>
      )}
      {current === null && (
        <PasswordField
          name="current"
          label="Printed password"
          ref={present}
          autoComplete="current-password"
          error={wrong.current}
        />
      )}
      {/* Lets password managers know whose password this is. */}
      <input hidden type="text" name="username" autoComplete="username" value={session.user.username} readOnly />
      <PasswordField
        name="password"
        label="New password"
        ref={password}
        autoComplete="new-password"
        error={wrong.password}
        hint="At least 12 characters; a few words in a row make a good one."
      />
      <PasswordField
        name="again"
        label="New password again"
        ref={again}
        autoComplete="new-password"
        error={wrong.again}
      />
      <Button type="submit" look="primary" size="large" busy={attempt.isPending}>
        Set password and continue
      </Button>
    </form>
  )
}
