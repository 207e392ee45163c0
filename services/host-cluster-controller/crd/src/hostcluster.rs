//! `spec`: what somebody wants.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use vocabulary::{ClusterId, ClusterName};

use crate::{LABEL_CLUSTER_NAME, LABEL_HOST, status::HostClusterStatus};

/// A Kubernetes cluster that KubeOpera manages: its desired state, which host-cluster-controller works to achieve.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "kubeopera.io",
    version = "v1alpha1",
    kind = "HostCluster",
    namespaced,
    status = "HostClusterStatus",
    derive = "PartialEq",
    shortname = "hc",
    category = "kubeopera",
    doc = "A Kubernetes cluster that KubeOpera manages.",
    printcolumn(name = "Phase", type_ = "string", json_path = ".status.phase", description = "What is being done, or Ready or Failed"),
    printcolumn(name = "Provider", type_ = "string", json_path = ".spec.provider", description = "Cloud or kind of installation"),
    printcolumn(name = "Region", type_ = "string", json_path = ".spec.region", description = "Region of the provider"),
    printcolumn(name = "Version", type_ = "string", json_path = ".status.kubernetesVersion", description = "Kubernetes version of the API server"),
    printcolumn(name = "Flux", type_ = "boolean", json_path = ".status.fluxHealthy", description = "Whether Flux is healthy and reconciling the cluster's tree"),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp", description = "Time since KubeOpera knows the cluster"),
    printcolumn(name = "Message", type_ = "string", json_path = ".status.message", priority = "1", description = "What is happening, as a sentence"),
    validation = ("self.metadata.name == self.spec.clusterID", "metadata.name must be the cluster's ID (spec.clusterID)."),
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self.mode == 'connect_existing' || has(self.provisioning)", "spec.provisioning is required in the provision_* modes."))]
#[x_kube(validation = ("self.mode != 'connect_existing' || !has(self.provisioning)", "spec.provisioning is only for the provision_* modes."))]
#[x_kube(validation = ("self.mode == 'connect_existing' || !has(self.connectKubeconfigSecretRef)", "spec.connectKubeconfigSecretRef is only for mode connect_existing."))]
#[x_kube(validation = ("self.mode != 'provision_vanilla' || (has(self.provisioning) && self.provisioning.topology == 'vanilla_kubeadm' && self.provider == 'aws')", "Mode provision_vanilla needs provider aws and topology vanilla_kubeadm."))]
#[x_kube(validation = ("self.mode != 'provision_eks' || (has(self.provisioning) && self.provisioning.topology == 'managed_eks' && self.provider == 'aws')", "Mode provision_eks needs provider aws and topology managed_eks."))]
#[x_kube(validation = ("self.mode != 'provision_gke' || (has(self.provisioning) && self.provisioning.topology == 'managed_gke' && self.provider == 'gcp')", "Mode provision_gke needs provider gcp and topology managed_gke."))]
#[x_kube(validation = ("!has(self.gitOpsBranch) || !(self.gitOpsBranch.contains('..') || self.gitOpsBranch.contains('.lock/') || self.gitOpsBranch.endsWith('.lock'))", "spec.gitOpsBranch must be a branch that Git takes: without .. and without .lock at the end of a part."))]
#[x_kube(validation = ("has(self.adminEmail) == has(self.adminUsername)", "spec.adminEmail and spec.adminUsername go together: set both or neither."))]
#[x_kube(validation = ("self.clusterID == oldSelf.clusterID && self.mode == oldSelf.mode", "spec.clusterID and spec.mode cannot be changed."))]
#[x_kube(validation = ("self.provider == oldSelf.provider && self.region == oldSelf.region", "spec.provider and spec.region cannot be changed."))]
#[x_kube(validation = ("has(self.connectKubeconfigSecretRef) == has(oldSelf.connectKubeconfigSecretRef)", "spec.connectKubeconfigSecretRef cannot be added or removed: a connected cluster does not become the host cluster, nor the other way round."))]
#[x_kube(validation = ("!has(self.provisioning) || !has(oldSelf.provisioning) || (self.provisioning.credentialRef == oldSelf.provisioning.credentialRef && self.provisioning.topology == oldSelf.provisioning.topology)", "spec.provisioning.credentialRef and topology cannot be changed."))]
pub struct HostClusterSpec {
    /// The cluster's ID, a UUID. It is also the name of the resource.
    #[serde(rename = "clusterID")]
    #[schemars(regex(pattern = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"))]
    pub cluster_id: String,

    /// How the cluster joins: connect_existing for one that exists (without connectKubeconfigSecretRef it is the cluster
    /// KubeOpera itself runs on), provision_vanilla, provision_eks or provision_gke for one that KubeOpera creates.
    pub mode: Mode,

    /// Cloud or kind of installation: aws, gcp, azure, on-premises, …; unknown for a cluster without a cloud integration.
    #[schemars(regex(pattern = r"^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$"))]
    pub provider: String,

    /// Region of the provider, such as eu-north-1; unknown for a cluster without a cloud integration.
    #[schemars(regex(pattern = r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$"))]
    pub region: String,

    /// Name of the Secret that holds the kubeconfig exactly as supplied (connect_existing only). Without it, KubeOpera uses
    /// its own service account: the cluster is the one KubeOpera runs on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub connect_kubeconfig_secret_ref: Option<String>,

    /// What to create (provision_* modes only).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<ProvisioningSpec>,

    /// URL of the Git repository that holds the cluster's tree: https://, http:// or ssh://, without credentials.
    #[serde(rename = "gitOpsRepoURL")]
    #[schemars(
        length(min = 1, max = 2048),
        regex(
            pattern = r"^(https?://[^\s@?#/-][^\s@?#/]*|ssh://[^\s:?#/-][^\s:?#/]*(:[0-9]{1,5})?)/[^\s?#]*[^\s?#/][^\s?#]*$"
        )
    )]
    pub git_ops_repo_url: String,

    /// Branch of the repository that holds the tree. Without it, the repository's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 200),
        regex(
            pattern = r"^[A-Za-z0-9_]([A-Za-z0-9._+-]*[A-Za-z0-9_])?(/[A-Za-z0-9_]([A-Za-z0-9._+-]*[A-Za-z0-9_])?)*$"
        )
    )]
    pub git_ops_branch: Option<String>,

    /// Folder of the cluster's tree in the repository, such as fluxcd/clusters/my-cluster.
    #[schemars(
        length(min = 1, max = 255),
        regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*$")
    )]
    pub git_ops_path: String,

    /// Name of the Secret with the credentials for the repository: username and password, or identity and known_hosts.
    /// Keys that begin with readonly- are what the cluster itself gets to read with.
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub git_credentials_secret_ref: String,

    /// Domain under which the cluster's environment is reached, such as my-cluster.acme.com. Without it nothing is exposed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 3, max = 253),
        regex(pattern = r"^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z]([-a-z0-9]{0,61}[a-z0-9])?$")
    )]
    pub domain: Option<String>,

    /// Name of the Secret (type kubernetes.io/dockerconfigjson) with your own registry credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$")
    )]
    pub registry_pull_secret_ref: Option<String>,

    /// E-mail address of the first administrator to create on this environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 3, max = 254),
        regex(
            pattern = r"^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@([A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?\.)+[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?$"
        )
    )]
    pub admin_email: Option<String>,

    /// User name of the first administrator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[a-z][a-z0-9._-]{1,31}$"))]
    pub admin_username: Option<String>,
}

/// How a cluster joins KubeOpera.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "a documented variant would turn the schema's plain enum into a oneOf, which is not structural"
)]
pub enum Mode {
    ConnectExisting,
    ProvisionVanilla,
    ProvisionEks,
    ProvisionGke,
}

impl Mode {
    /// The mode as the resource spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConnectExisting => "connect_existing",
            Self::ProvisionVanilla => "provision_vanilla",
            Self::ProvisionEks => "provision_eks",
            Self::ProvisionGke => "provision_gke",
        }
    }
}

/// What KubeOpera builds for a mode.
#[derive(Serialize, Deserialize, schemars::JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
#[allow(
    missing_docs,
    reason = "a documented variant would turn the schema's plain enum into a oneOf, which is not structural"
)]
pub enum TopologyName {
    VanillaKubeadm,
    ManagedEks,
    ManagedGke,
}

/// A cluster to create.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = ("self.topology == 'vanilla_kubeadm' || !has(self.controlPlaneCount)", "spec.provisioning.controlPlaneCount is only for topology vanilla_kubeadm."))]
#[x_kube(validation = ("!has(self.controlPlaneCount) || self.controlPlaneCount % 2 == 1", "spec.provisioning.controlPlaneCount must be odd: etcd needs a majority."))]
pub struct ProvisioningSpec {
    /// What to build: vanilla_kubeadm, managed_eks or managed_gke.
    pub topology: TopologyName,
    /// Control-plane nodes, an odd number (vanilla_kubeadm only). More than 1 adds a load balancer. 1 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 7))]
    pub control_plane_count: Option<i32>,
    /// Worker nodes.
    #[schemars(range(min = 1, max = 500))]
    pub node_count: i32,
    /// Instance type of each node, such as t3.medium or e2-standard-4.
    #[schemars(regex(pattern = r"^[a-z0-9][a-z0-9.-]{1,62}$"))]
    pub instance_type: String,
    /// Kubernetes version, such as 1.31.0.
    #[schemars(regex(pattern = r"^[0-9]{1,4}\.[0-9]{1,4}(\.[0-9]{1,4})?([-+][0-9A-Za-z.+-]{1,40})?$"))]
    pub kubernetes_version: String,
    /// ID of the stored cloud credential to use.
    #[schemars(length(min = 1, max = 63), regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    pub credential_ref: String,
}

impl HostCluster {
    /// A resource for this cluster with the labels every HostCluster has.
    pub fn named(id: ClusterId, name: &ClusterName, is_host: bool, spec: HostClusterSpec) -> Self {
        let mut labels = std::collections::BTreeMap::from([(LABEL_CLUSTER_NAME.to_owned(), name.to_string())]);
        if is_host {
            labels.insert(LABEL_HOST.to_owned(), "true".to_owned());
        }
        Self {
            metadata: ObjectMeta {
                name: Some(id.to_string()),
                namespace: Some(crate::NAMESPACE.to_owned()),
                labels: Some(labels),
                ..ObjectMeta::default()
            },
            spec,
            status: None,
        }
    }

    /// The name people gave the cluster; where the label is missing, the last part of its Git path.
    pub fn cluster_name(&self) -> Option<ClusterName> {
        let label = self.metadata.labels.as_ref().and_then(|labels| labels.get(LABEL_CLUSTER_NAME));
        let from_path = self.spec.git_ops_path.rsplit('/').next();
        label.map(String::as_str).or(from_path).and_then(|name| name.parse().ok())
    }

    /// Whether this is the cluster KubeOpera runs on: one that exists and is reached without a kubeconfig.
    pub fn is_host(&self) -> bool {
        self.spec.mode == Mode::ConnectExisting && self.spec.connect_kubeconfig_secret_ref.is_none()
    }
}
