//! The statuses this process has published, by which it knows one that somebody else has written.
//!
//! Only for as long as it runs: after a restart the status in the resource is all there is to go on from.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use host_cluster_controller_crd::{HostCluster, HostClusterStatus};

/// By the resource's name, with its UID.
#[derive(Default)]
pub(crate) struct Published(Mutex<HashMap<String, (Option<String>, HostClusterStatus)>>);

impl Published {
    /// The status to go on from: the one in the resource, unless another was published here last.
    pub(crate) fn before(&self, name: &str, resource: &HostCluster) -> HostClusterStatus {
        let seen = resource.status.clone().unwrap_or_default();
        match self.all().get(name) {
            Some((uid, published)) if *uid == resource.metadata.uid && !agree(&seen, published) => published.clone(),
            _ => seen,
        }
    }

    pub(crate) fn remember(&self, name: &str, resource: &HostCluster, status: &HostClusterStatus) {
        self.all().insert(name.to_owned(), (resource.metadata.uid.clone(), status.clone()));
    }

    /// There is no resource of this name any more.
    pub(crate) fn forget(&self, name: &str) {
        self.all().remove(name);
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, (Option<String>, HostClusterStatus)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether they say the same. Conditions of other types than ours may be added by others.
fn agree(seen: &HostClusterStatus, published: &HostClusterStatus) -> bool {
    let mut seen = seen.clone();
    seen.conditions.retain(|one| published.conditions.iter().any(|ours| ours.type_ == one.type_));
    seen.conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
    let mut published = published.clone();
    published.conditions.sort_by(|a, b| a.type_.cmp(&b.type_));
    seen == published
}
