import type { Session } from '@/api/model'
import { OnDemand, popup } from '@/ui/on-demand'

const accountMenu = popup('menu', () => import('./account-menu'))

export function UserMenu({ user }: Pick<Session, 'user'>) {
  return (
    <OnDemand popup={accountMenu} with={{ user }}>
      <button
        type="button"
        aria-label={`Account of ${user.username}`}
        className="grid size-9 place-items-center rounded-full max-sm:size-11"
      >
        <span
          aria-hidden
          className="grid size-8 place-items-center rounded-full bg-accent-soft font-semibold text-accent-text text-xs uppercase"
        >
          {user.username.slice(0, 2)}
        </span>
      </button>
    </OnDemand>
  )
}
