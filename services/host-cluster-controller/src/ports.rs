//! What the controller needs of the outside world, besides the contracts of the other services.
//!
//! Every method may be called any number of times. Every error is a [`Trouble`]: whoever knows what went wrong also
//! decides its kind, once. Messages are for people and hold neither secrets nor raw text of a remote server.

use async_trait::async_trait;
use gitops_scaffolder_contract::{GitCredential, Present};
use host_cluster_controller_crd::{HostCluster, HostClusterStatus};
use host_cluster_controller_decide::{
    ClusterSeen, CredentialSeen, Event, FluxSeen, GitSecretSeen, Neighbour, PullSecretSeen, SecretSeen, SyncSeen,
    SyncWanted, Target,
};
use vocabulary::{ClusterId, GitUrl, Secret, SecretName, Trouble};

/// The HostClusters themselves.
#[async_trait]
pub trait HostClusters: Send + Sync {
    /// One of them as it is now, not as a cache remembers it; none if it is gone.
    async fn get(&self, name: &str) -> Result<Option<HostCluster>, Trouble>;

    /// All but this one.
    async fn neighbours(&self, cluster: ClusterId) -> Result<Vec<Neighbour>, Trouble>;

    /// Puts our finalizer on it.
    async fn add_finalizer(&self, resource: &HostCluster) -> Result<(), Trouble>;

    /// Takes our finalizer off it, and no other.
    async fn release_finalizer(&self, resource: &HostCluster) -> Result<(), Trouble>;

    /// Publishes a whole status.
    async fn write_status(&self, resource: &HostCluster, status: &HostClusterStatus) -> Result<(), Trouble>;

    /// Tells an event. Nothing depends on whether anybody hears it.
    async fn tell(&self, resource: &HostCluster, event: &Event);
}

/// A managed cluster as such.
#[async_trait]
pub trait TargetCluster: Send + Sync {
    /// Which cluster answers there, its version, its nodes, and whether we may do everything on it.
    async fn look(&self, at: &Target) -> Result<ClusterSeen, Trouble>;

    /// What already runs there. What KubeOpera's own tree has installed does not count.
    async fn present(&self, at: &Target) -> Result<Present, Trouble>;
}

/// Flux on a managed cluster, and KubeOpera's own objects for it.
#[async_trait]
pub trait Flux: Send + Sync {
    /// The installation.
    async fn look(&self, at: &Target) -> Result<FluxSeen, Trouble>;

    /// Applies the manifest; does not wait for the controllers.
    async fn install(&self, at: &Target) -> Result<(), Trouble>;

    /// The Git credentials on the cluster.
    async fn git_secret(&self, at: &Target) -> Result<GitSecretSeen, Trouble>;

    /// Writes the Git credentials, and `version` beside them (see [`GitSecretSeen::Present`]).
    async fn write_git_secret(&self, at: &Target, credential: &GitCredential, version: &str) -> Result<(), Trouble>;

    /// The copies of a registry credential, by namespace that pulls with it.
    async fn pull_secret(&self, at: &Target, name: &SecretName) -> Result<PullSecretSeen, Trouble>;

    /// Writes a registry credential (the text of a `.dockerconfigjson`) to every namespace that pulls with it, and `version`
    /// beside it. A Secret of that name that is somebody else's stays as it is.
    async fn write_pull_secret(
        &self,
        at: &Target,
        name: &SecretName,
        credential: &Secret,
        version: &str,
    ) -> Result<(), Trouble>;

    /// KubeOpera's source and Kustomizations; all absent where Flux's CRDs are.
    async fn sync(&self, at: &Target) -> Result<SyncSeen, Trouble>;

    /// Makes source and root Kustomization be as wanted, not suspended, and asks both to reconcile.
    async fn point(&self, at: &Target, wanted: &SyncWanted) -> Result<(), Trouble>;

    /// Suspends the Kustomizations of [`Flux::sync`], the root first, and has them orphan what they applied.
    async fn suspend_kustomizations(&self, at: &Target) -> Result<(), Trouble>;

    /// Removes one part of what KubeOpera put there; a part that is gone is fine.
    async fn remove(&self, at: &Target, part: SyncPart) -> Result<(), Trouble>;
}

/// What [`Flux::remove`] removes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncPart {
    /// The Kustomizations of [`Flux::sync`] that are suspended, children first; never one that is not.
    Kustomizations,
    /// The finalizer of those that are suspended and being deleted.
    KustomizationFinalizers,
    /// The `GitRepository`.
    Source,
    /// The Git credentials.
    GitSecret,
}

/// The Secrets on the management cluster, in the namespace of the HostClusters. Those made here are owned by the
/// cluster's HostCluster and carry its label.
#[async_trait]
pub trait Secrets: Send + Sync {
    /// Whether a Secret is there, and its version.
    async fn look(&self, name: &SecretName) -> Result<SecretSeen, Trouble>;

    /// The credential in a cluster's stored kubeconfig; none if there is no such Secret, or no kubeconfig that may be used.
    async fn credential(&self, cluster: ClusterId, name: &SecretName) -> Result<Option<CredentialSeen>, Trouble>;

    /// The Git credentials in a Secret, if it says that they are for this repository.
    async fn git_credentials(&self, name: &SecretName, repository: &GitUrl) -> Result<GitCredentials, Trouble>;

    /// The registry credential in a Secret, the text of its `.dockerconfigjson`, unless it is another cluster's.
    async fn registry_credential(&self, cluster: ClusterId, name: &SecretName) -> Result<Secret, Trouble>;

    /// Keeps the current context of the kubeconfig in `from` as `to` (key `kubeconfig`); `from` stays as supplied.
    async fn keep_kubeconfig(&self, cluster: ClusterId, from: &SecretName, to: &SecretName) -> Result<(), Trouble>;

    /// Stores a kubeconfig.
    async fn store_kubeconfig(&self, cluster: ClusterId, to: &SecretName, kubeconfig: &Secret) -> Result<(), Trouble>;

    /// The password in a Secret (key `password`), which is made with a new one if it is not there.
    async fn ensure_password(&self, cluster: ClusterId, name: &SecretName) -> Result<Secret, Trouble>;

    /// Deletes the supplied and the stored kubeconfig of a cluster, and the registry credential that kubeopera-api made for
    /// it; those that are gone are fine.
    async fn delete_kubeconfigs(&self, cluster: ClusterId) -> Result<(), Trouble>;
}

/// The Git credentials in a Secret of the management cluster.
#[derive(Debug, Clone)]
pub struct GitCredentials {
    /// To push with.
    pub write: GitCredential,
    /// What goes to managed clusters: the read-only credential where there is one, else the same.
    pub read: GitCredential,
}
