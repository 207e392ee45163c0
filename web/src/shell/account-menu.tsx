import { Menu } from '@base-ui/react/menu'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import clsx from 'clsx'
import { LogOut, UserRound } from 'lucide-react'
import type { Session } from '@/api/model'
import { roles } from '@/session/roles'
import { logOut, sessionQuery } from '@/session/session'
import { menuItemClass } from '@/ui/menu'
import type { Opened } from '@/ui/on-demand'
import { OpenMenu } from '@/ui/open-menu'
import { showFailure } from '@/ui/toasts'
import { forgetDrafts } from '@/wizard/draft'

/** Who is logged in and what they can do about it, as a menu that is open. */
export default function AccountMenu({ user, trigger }: Pick<Session, 'user'> & Opened) {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const leave = useMutation({
    mutationFn: logOut,
    onSuccess: async () => {
      queryClient.setQueryData(sessionQuery.queryKey, null)
      forgetDrafts()
      await navigate({ to: '/login' })
      // Nothing that was read for one person stays for the next one.
      queryClient.removeQueries({ predicate: (query) => query.queryKey[0] !== sessionQuery.queryKey[0] })
    },
    onError: (error) => showFailure('You are still logged in', error),
  })
  return (
    <OpenMenu trigger={trigger} className="min-w-52">
      <Menu.Group>
        <Menu.GroupLabel className="border-line border-b px-2.5 pt-1.5 pb-2.5">
          <span className="block font-medium [overflow-wrap:anywhere]">{user.username}</span>
          <span className="block text-fg-3 text-xs">{roles[user.role].name}</span>
        </Menu.GroupLabel>
        <Menu.LinkItem render={<Link to="/settings/account" />} closeOnClick className={clsx(menuItemClass, 'mt-1')}>
          <UserRound aria-hidden />
          Your account
        </Menu.LinkItem>
        <Menu.Item onClick={() => leave.mutate()} closeOnClick className={menuItemClass}>
          <LogOut aria-hidden />
          Log out
        </Menu.Item>
      </Menu.Group>
    </OpenMenu>
  )
}
