import { applied, hostClusterOf, type TreePlace } from './host-cluster'

/** A HostCluster that names no kubeconfig is the cluster its controller runs on. */
export const registerCommand = (place: TreePlace, id: string) =>
  applied(
    hostClusterOf({
      id,
      name: 'kubeopera-host',
      mode: 'connect_existing',
      provider: 'unknown',
      region: 'unknown',
      place,
      described: { git_path: '', domain: '', admin_email: '', admin_username: '' },
    }),
  )
