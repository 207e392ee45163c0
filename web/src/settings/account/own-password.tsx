import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useForm } from 'react-hook-form'
import type { Session } from '@/api/model'
import { Problem } from '@/api/problem'
import { TextField } from '@/form/field'
import { landOnField } from '@/form/refusal'
import * as rules from '@/form/rules'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { Section } from '@/ui/section'
import { showReceipt } from '@/ui/toasts'
import { sessionsQuery, setPassword, tokensQuery } from './account'

const empty = { current_password: '', password: '', again: '' }

export function OwnPassword({ user }: Pick<Session, 'user'>) {
  const queryClient = useQueryClient()
  const form = useForm({ defaultValues: empty })
  const { errors } = form.formState
  const change = useMutation({
    mutationFn: ({ current_password, password }: typeof empty) => setPassword(user.id, password, current_password),
    onSuccess: (changed) => {
      const ended = changed?.ended_tokens ?? []
      form.reset()
      void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey })
      void queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey })
      showReceipt({
        tone: 'success',
        title: 'Your password is changed',
        description:
          ended.length === 0
            ? 'All your other sessions have ended.'
            : `All your other sessions have ended, and so have your tokens: ${ended.join(', ')}.`,
      })
    },
    onError: (error) => void landOnField(error, form),
  })
  const isAtField = Object.values(errors).some((error) => error.type === 'server')
  return (
    <Section title="Password" about="A new password ends all your sessions but this one, and all your tokens.">
      <form
        noValidate
        className="grid max-w-sm grid-cols-1 gap-4"
        onSubmit={form.handleSubmit((values) => {
          if (!change.isPending) change.mutate(values)
        })}
      >
        {change.error && !isAtField && (
          <Notice tone="bad" role="alert" title="Your password is as it was">
            {Problem.of(change.error).message}
          </Notice>
        )}
        {/* Lets password managers know whose password this is. */}
        <input hidden type="text" name="username" autoComplete="username" value={user.username} readOnly />
        <TextField
          label="Present password"
          type="password"
          autoComplete="current-password"
          error={errors.current_password?.message}
          {...form.register('current_password', { required: 'Enter your present password.' })}
        />
        <TextField
          label="New password"
          type="password"
          autoComplete="new-password"
          hint="12 to 128 characters; a few words in a row make a good one."
          error={errors.password?.message}
          {...form.register('password', { validate: rules.password })}
        />
        <TextField
          label="New password again"
          type="password"
          autoComplete="new-password"
          error={errors.again?.message}
          {...form.register('again', {
            validate: (again, { password }) => again === password || 'This is not the same password.',
          })}
        />
        <div>
          <Button type="submit" look="primary" busy={change.isPending}>
            Change password
          </Button>
        </div>
      </form>
    </Section>
  )
}
