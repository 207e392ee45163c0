/** The resource behind Create New, checked by the API server and not stored. */
export const createCommands = `ID=$(cat /proc/sys/kernel/random/uuid)
kubectl apply --dry-run=server -f - <<EOF
apiVersion: kubeopera.io/v1alpha1
kind: HostCluster
metadata:
  name: "$ID"
  namespace: kubeopera-system
  labels:
    kubeopera.io/cluster-name: my-cluster
spec:
  clusterID: "$ID"
  mode: provision_vanilla        # or provision_eks, provision_gke
  provider: aws
  region: eu-north-1
  provisioning:
    topology: vanilla_kubeadm    # or managed_eks, managed_gke
    controlPlaneCount: 1         # vanilla only, an odd number
    nodeCount: 2
    instanceType: t3.medium
    kubernetesVersion: "1.34.4"
    credentialRef: <cloud credential ID>
  gitOpsRepoURL: https://github.com/acme/gitops-iac.git
  gitOpsPath: fluxcd/clusters/my-cluster
  gitCredentialsSecretRef: gitops-iac-credentials
  domain: my-cluster.acme.com
EOF`
