import { Discovered } from '@/clusters/get-started'
import { RegisterButton } from '@/clusters/register-button'

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
    </>
  )
}
