import type { Role } from '@/api/model'

/** Roles as people say them, and what each may do. */
export const roles: Record<Role, { name: string; may: string }> = {
  platform_administrator: { name: 'Platform administrator', may: 'Everything, with people, credentials and settings.' },
  operator: { name: 'Operator', may: 'Registers, connects and disconnects clusters.' },
  viewer: { name: 'Viewer', may: 'Looks at clusters and changes nothing.' },
}

export const roleOrder: Role[] = ['platform_administrator', 'operator', 'viewer']
