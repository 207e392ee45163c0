import type { Cluster } from '@/api/model'

/** How a cluster joined, as people say it. */
export function modeName({ mode, is_host }: Pick<Cluster, 'mode' | 'is_host'>): string {
  switch (mode) {
    case 'connect_existing':
      return is_host ? 'Registered' : 'Connected'
    case 'provision_vanilla':
      return 'Created with kubeadm'
    case 'provision_eks':
      return 'Created on EKS'
    case 'provision_gke':
      return 'Created on GKE'
  }
}
