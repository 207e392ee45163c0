import type { ClusterEvent } from '@/api/model'

/** "Pod shop/cart-7d9f", as `kubectl` would name it. */
export function objectName({ kind, namespace, name }: ClusterEvent['object']): string {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`
}
