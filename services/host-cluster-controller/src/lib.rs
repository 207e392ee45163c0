//! host-cluster-controller: watches HostCluster resources and drives each cluster to Ready, and out again.
//!
//! A pass over one cluster is five steps in five files: [`observe`] fills facts, `decide` finds the next step, [`act`]
//! does it, `decide` reports, [`write_status`] publishes. [`reconcile`] strings them together; the decisions are all in
//! the crate `host-cluster-controller-decide`, which cannot talk to anything.

mod act;
pub mod adapters;
mod host_clusters;
mod install;
mod observe;
pub mod ports;
mod published;
mod reconcile;
#[cfg(test)]
mod tests;
mod watch;
mod write_status;

use std::sync::Arc;

use auth_service_contract::Auth;
use cluster_provisioner_contract::ClusterProvisioner;
use gitops_scaffolder_contract::GitOpsScaffolder;
use host_cluster_controller_crd::Installation;
use kube::Client;
use kube_kit::{KubeconfigOptions, Leadership};
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

pub use adapters::FluxConfig;
pub use install::install;

use crate::{
    adapters::{Clusters, Connections, FluxOnClusters, ManagementSecrets},
    ports::{Flux, HostClusters, Secrets, TargetCluster},
    published::Published,
};

/// Field manager of what this controller writes on the management cluster.
pub(crate) const FIELD_MANAGER: &str = "host-cluster-controller";

/// What the controller works with.
#[derive(Clone)]
pub struct Context {
    /// The management cluster, which holds the HostClusters.
    pub client: Client,
    /// Where the kubeconfigs of clusters may lead.
    pub kubeconfigs: KubeconfigOptions,
    /// Writes the clusters' trees.
    pub scaffolder: Arc<dyn GitOpsScaffolder>,
    /// Creates and destroys clusters, where there is one.
    pub provisioner: Option<Arc<dyn ClusterProvisioner>>,
    /// Makes first administrators.
    pub auth: Arc<dyn Auth>,
    /// The Flux to install on clusters that have none. Without it only clusters that run Flux already become Ready.
    pub flux: Option<FluxConfig>,
    /// Which KubeOpera this is: its mark on clusters keeps others from managing them as well.
    pub installation: Installation,
    /// Whether this process may act: asked before each effect.
    pub leadership: Leadership,
}

/// Drives every HostCluster until `shutdown`; passes under way get a few seconds to finish. A killed controller
/// continues where it was: all it remembers is in the resources. Ending before `shutdown` is an error.
pub async fn run(context: Context, shutdown: CancellationToken) -> Result<(), Trouble> {
    let Context { client, kubeconfigs, scaffolder, provisioner, auth, flux, installation, leadership } = context;
    let connections = Arc::new(Connections::new(client.clone(), kubeconfigs));
    let world = World {
        host_clusters: Arc::new(host_clusters::OnManagementCluster::new(client.clone())),
        clusters: Arc::new(Clusters { connections: Arc::clone(&connections), installation: installation.clone() }),
        flux: Arc::new(FluxOnClusters::new(connections, flux, installation)),
        secrets: Arc::new(ManagementSecrets::new(client.clone(), kubeconfigs)),
        scaffolder,
        provisioner,
        auth,
        leadership,
        published: Published::default(),
    };
    watch::run(client, Arc::new(world), shutdown).await
}

/// The outside world, as ports.
pub(crate) struct World {
    pub(crate) host_clusters: Arc<dyn HostClusters>,
    pub(crate) clusters: Arc<dyn TargetCluster>,
    pub(crate) flux: Arc<dyn Flux>,
    pub(crate) secrets: Arc<dyn Secrets>,
    pub(crate) scaffolder: Arc<dyn GitOpsScaffolder>,
    pub(crate) provisioner: Option<Arc<dyn ClusterProvisioner>>,
    pub(crate) auth: Arc<dyn Auth>,
    pub(crate) leadership: Leadership,
    pub(crate) published: Published,
}
