import type { Cluster } from '@/api/model'
import { grouped } from '@/format/numbers'
import { ConfirmByName } from '@/parting/confirm-by-name'
import { giveUp } from './provisioning'

interface GiveUpDialogProps {
  cluster: Cluster
  /** How much is known to be left in the cloud. */
  left: number | undefined
  onClose: () => void
}

/** Lets go of a cluster whose infrastructure cannot be deleted, after its name was typed. */
export default function GiveUpDialog({ cluster: { id, name }, left, onClose }: GiveUpDialogProps) {
  return (
    <ConfirmByName
      name={name}
      title={`Give the infrastructure of ${name} up?`}
      keep="Keep trying"
      act="Give it up"
      failed="It was not given up"
      run={(typed) => giveUp(id, typed)}
      onClose={onClose}
    >
      <p className="text-fg-2">
        KubeOpera forgets the cluster and deletes nothing more.{' '}
        {left === undefined
          ? 'It does not know what is left in the cloud.'
          : `${grouped(left)} of its resources are left in the cloud as far as it knows.`}{' '}
        What is left costs what it costs until you delete it there; everything has the tag{' '}
        <code className="select-all font-mono [overflow-wrap:anywhere]">kubeopera.io/cluster-id={id}</code>.
      </p>
    </ConfirmByName>
  )
}
