//! The HostCluster resources: watched, made when the outbox says so, and repaired when they and the records disagree.

pub(crate) mod access;
pub(crate) mod bindings;
pub(crate) mod git_credentials;
pub(crate) mod input_kubeconfig;
mod labels;
pub(crate) mod observed;
pub(crate) mod registry_pull;
pub(crate) mod relay;
mod removal;
pub(crate) mod repair;
pub(crate) mod repository;
mod secrets;
pub(crate) mod watch;

use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use kube::{Api, Client};

/// Field manager of what this service writes in Kubernetes.
const MANAGER: &str = "kubeopera-api";

/// The HostCluster resources of this KubeOpera.
pub(crate) fn resources(client: &Client) -> Api<HostCluster> {
    Api::namespaced(client.clone(), NAMESPACE)
}
