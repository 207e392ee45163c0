//! Names of what belongs to a cluster in the namespace of the Jobs. They follow from its id alone.

use vocabulary::ClusterId;

/// Name of the Job, of the book, and of the service account of the run and its role.
pub(crate) fn provision(cluster: ClusterId) -> String {
    cluster.provision_job()
}

/// Name of the Secret with what a run is given, which is there while it runs.
pub(crate) fn order(cluster: ClusterId) -> String {
    format!("{}-order", cluster.provision_job())
}

/// Whether a Secret with this name in the namespace of the Jobs holds a cloud credential for a run. It is there only while
/// the run is, and is not to be kept beyond it.
pub fn is_order(name: &str) -> bool {
    name.starts_with("provision-") && name.ends_with("-order")
}

/// Name of the Secret with the key that the book is sealed with, in the namespace of the HostClusters.
pub(crate) fn key(cluster: ClusterId) -> String {
    format!("hostcluster-{}-provision-key", cluster.short())
}

/// Name of the `ConfigMap` with what is kept of a cluster that is gone.
pub(crate) fn record(cluster: ClusterId) -> String {
    format!("{}-record", cluster.provision_job())
}
