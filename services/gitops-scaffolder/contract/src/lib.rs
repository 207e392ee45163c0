//! What gitops-scaffolder promises to the controller: a cluster's complete environment, committed to Git.

mod check;
mod credential;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use vocabulary::{
    ClusterId, ClusterName, Domain, Email, GitBranch, GitPath, GitUrl, KubernetesVersion, Provider, Region, Trouble,
};

pub use check::{Answer, HostKey, Question, RepositoryCheck};
pub use credential::{CredentialIncomplete, GitCredential};

/// What already runs on the cluster and must be used or left alone rather than installed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[allow(clippy::struct_excessive_bools, reason = "each is one independent discovery")]
pub struct Present {
    /// An `IngressClass` exists.
    pub ingress_class: bool,
    /// cert-manager's CRDs exist.
    pub cert_manager: bool,
    /// A default `StorageClass` exists.
    pub default_storage_class: bool,
    /// CloudNativePG's CRDs exist.
    pub cloudnative_pg: bool,
    /// Prometheus operator's CRDs exist.
    pub prometheus_operator: bool,
    /// The metrics API is served.
    pub metrics_api: bool,
}

/// Everything the tree is made from. Equal inputs give the equal tree, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeInputs {
    /// Whose tree: its HostCluster, which is another when the cluster was let go of and is registered again.
    pub cluster: ClusterId,
    /// UID of the cluster's kube-system namespace: which cluster it is, whatever it is called. A folder of the repository
    /// belongs to one cluster by this.
    #[serde(rename = "clusterUID")]
    pub cluster_uid: String,
    /// Its name.
    pub name: ClusterName,
    /// Folder of the repository the tree is in: Flux names its parts from the repository's root.
    pub path: GitPath,
    /// `aws`, `gcp`, …
    pub provider: Provider,
    /// Region.
    pub region: Region,
    /// How the cluster came to be, which decides what its provider lacks.
    pub origin: Origin,
    /// Version of the API server.
    pub kubernetes_version: Option<KubernetesVersion>,
    /// Nodes at the time of writing: one node gets one replica of everything.
    pub nodes: u16,
    /// Without a domain no Ingress is rendered.
    pub domain: Option<Domain>,
    /// Contact of the certificate issuer.
    pub admin_email: Option<Email>,
    /// Name of the pull Secret in the cluster's namespaces, where one is used.
    pub registry_pull_secret: Option<String>,
    /// What to leave alone.
    pub present: Present,
}

/// How a cluster came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It existed before KubeOpera knew it, the host cluster included.
    Existing,
    /// KubeOpera made it with kubeadm on instances: no CNI, no cloud controller comes with it.
    Kubeadm,
    /// KubeOpera made it on EKS.
    Eks,
    /// KubeOpera made it on GKE.
    Gke,
}

/// The repository the tree goes to; the folder in it is part of the tree's own inputs.
#[derive(Debug, Clone)]
pub struct Destination {
    /// Repository.
    pub url: GitUrl,
    /// Branch; without it the repository's default branch.
    pub branch: Option<GitBranch>,
    /// Who writes.
    pub credential: GitCredential,
}

/// The tree as it stands in Git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WrittenTree {
    /// Branch it is on: the one that was named, or the repository's default branch.
    pub branch: String,
    /// Commit at whose tree the folder is complete, 40 hex digits.
    pub commit: String,
    /// SHA-256 of the whole generated tree, in hex, whatever people have made of it in Git.
    pub tree_hash: String,
    /// Generated files that somebody changed in Git; what they made of them was kept. Relative to the tree's folder, sorted.
    #[serde(default)]
    pub kept_edits: Vec<String>,
}

/// What is found in Git where a cluster's tree should be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TreeSeen {
    /// The branch that was named, or the repository's default branch; `main` for an empty repository that names none.
    pub branch: String,
    /// Hash of the tree that this version of the generator makes of what the tree in Git was made from. As long as it is
    /// [`WrittenTree::tree_hash`], there is nothing to write: what people edit does not count. None where there is no tree
    /// of this cluster.
    pub tree_hash: Option<String>,
}

/// gitops-scaffolder as the controller sees it.
#[async_trait]
pub trait GitOpsScaffolder: Send + Sync {
    /// What is in a folder of the branch, for the cluster whose kube-system namespace has this UID.
    /// Writes nothing.
    async fn look(&self, cluster_uid: &str, path: &GitPath, destination: &Destination) -> Result<TreeSeen, Trouble>;

    /// Makes the tree for these inputs be in Git: no commit if it is there already, one commit if it is not.
    async fn ensure_tree(&self, inputs: &TreeInputs, destination: &Destination) -> Result<WrittenTree, Trouble>;

    /// Whether trees can be written to a repository, question by question. Writes nothing. An error is one of this machine,
    /// such as a missing git; what is wrong with the repository or the credential is an answer.
    async fn check(&self, destination: &Destination) -> Result<RepositoryCheck, Trouble>;
}
