import { useRouteContext } from '@tanstack/react-router'
import { Problem } from '@/api/problem'
import { RequestId } from '@/shell/page-states'
import { Button } from '@/ui/button'
import { Notice } from '@/ui/notice'
import { useRegister } from './register'

export function RegisterButton() {
  const { session } = useRouteContext({ from: '/_logged-in' })
  const register = useRegister()
  if (session.user.role === 'viewer')
    return (
      <p className="font-medium text-fg-2">
        Your role lets you look at clusters, not register them. Ask a platform administrator to do it.
      </p>
    )
  return (
    <>
      {register.error && (
        <Notice tone="bad" role="alert" title="This cluster was not registered" className="mb-4">
          <p>{Problem.of(register.error).message}</p>
          <RequestId of={register.error} />
        </Notice>
      )}
      <Button
        look="primary"
        size="large"
        className="max-sm:w-full"
        busy={register.isPending}
        onClick={() => register.mutate()}
      >
        Register This Cluster
      </Button>
    </>
  )
}
