import { Discovered } from '@/clusters/get-started'
import { RegisterButton } from '@/clusters/register-button'
import { Command } from '@/ui/command'
import { Equivalent } from './equivalent'
import { registerCommand } from './register-manifest'

export function RegisterWay() {
  return (
    <>
      <h2 className="font-semibold text-base">Register This Cluster</h2>
      <p className="mt-1 max-w-prose text-fg-2">
        Adds the cluster KubeOpera is running on, with KubeOpera's own in-cluster service account. KubeOpera discovers:
      </p>
      <Discovered />
      <p className="mt-4 max-w-prose text-fg-3 text-ui">
        Registering is safe to repeat: KubeOpera identifies the cluster by the UID of its kube-system namespace, so
        clicking again returns the existing entry.
      </p>
      <div className="mt-6">
        <RegisterButton />
      </div>
      <Equivalent title="The same as a HostCluster resource">
        {(place, id) => (
          <>
            <p>With access to the cluster KubeOpera runs on, this hands it to KubeOpera, without the discovery.</p>
            <Command copyLabel="Copy the command that registers this cluster">{registerCommand(place, id)}</Command>
          </>
        )}
      </Equivalent>
    </>
  )
}
