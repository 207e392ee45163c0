import { Command } from '@/ui/command'
import { SecretOnce } from '@/ui/secret-once'

export interface ExternalIdShown {
  label: string
  external_id: string
}

/** The external ID of a role just saved, and the condition of the role's trust policy that asks for it. */
export function ExternalId({
  shown: { label, external_id },
  onClose,
}: {
  shown: ExternalIdShown
  onClose: () => void
}) {
  const condition = JSON.stringify({ Condition: { StringEquals: { 'sts:ExternalId': external_id } } }, null, 2)
  return (
    <SecretOnce title={`External ID of ${label}`} what="external ID" secret={external_id} onClose={onClose}>
      <p className="mt-4 mb-2 text-fg-2 text-ui">
        Put it into the statement of the role's trust policy that lets KubeOpera assume it. Then check the credential.
      </p>
      <Command copyLabel="Copy the condition of the trust policy">{condition}</Command>
    </SecretOnce>
  )
}
