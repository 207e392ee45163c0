import { queryOptions } from '@tanstack/react-query'
import { api, dataOf } from '@/api/client'
import type { CredentialSecret, CredentialType } from '@/api/model'
import { allOf, PAGE } from '@/api/pages'

export const kinds: Record<CredentialType, { name: string; cloud: 'AWS' | 'GCP'; about: string }> = {
  aws_access_key: { name: 'AWS access key', cloud: 'AWS', about: 'The access key of an IAM user.' },
  aws_assume_role: {
    name: 'AWS role to assume',
    cloud: 'AWS',
    about: 'KubeOpera assumes it for each run, so that no long-lived key is stored for it.',
  },
  gcp_service_account_key: {
    name: 'GCP service-account key',
    cloud: 'GCP',
    about: 'The JSON file that Google hands out for a service account.',
  },
}

export const kindOrder: CredentialType[] = ['aws_access_key', 'aws_assume_role', 'gcp_service_account_key']

export const credentialsQuery = queryOptions({
  queryKey: ['credentials'],
  queryFn: ({ signal }) =>
    allOf((cursor) => dataOf(api.GET('/api/v1/credentials', { signal, params: { query: { limit: PAGE, cursor } } }))),
})

/** A credential as it is typed in; which fields count follows from its type. */
export const emptyCredential = {
  label: '',
  type: 'aws_access_key' as CredentialType,
  access_key_id: '',
  secret_access_key: '',
  role_arn: '',
  source: '',
  key: '',
}

export type TypedCredential = typeof emptyCredential

function secretOf(typed: TypedCredential): CredentialSecret {
  const { type, access_key_id, secret_access_key, role_arn, source, key } = typed
  switch (type) {
    case 'aws_access_key':
      return { type, access_key_id, secret_access_key }
    case 'aws_assume_role':
      return { type, role_arn, source: source || null }
    case 'gcp_service_account_key':
      return { type, key }
  }
}

export function saveCredential(typed: TypedCredential) {
  return dataOf(api.POST('/api/v1/credentials', { body: { label: typed.label, secret: secretOf(typed) } }))
}

/** What is left out stays. */
export function changeCredential(id: string, label: string, secret: TypedCredential | null) {
  const body = { label, secret: secret && secretOf(secret) }
  return dataOf(api.PATCH('/api/v1/credentials/{id}', { params: { path: { id } }, body }))
}

export function deleteCredential(id: string) {
  return dataOf(api.DELETE('/api/v1/credentials/{id}', { params: { path: { id } } }))
}

/** Asks the cloud who the credential is. */
export function checkCredential(id: string) {
  return dataOf(api.POST('/api/v1/credentials/{id}/check', { params: { path: { id } } }))
}
