//! The resources as they were last seen, and whether they can be seen at the moment.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use host_cluster_controller_crd::HostCluster;
use jiff::Timestamp;
use service_kit::database::Micros;
use vocabulary::ClusterId;

use crate::view::KubernetesAccess;

/// Every HostCluster by id. Kept up by `watch`, asked by everybody.
pub(crate) struct Observed {
    seen: RwLock<Seen>,
}

struct Seen {
    resources: HashMap<ClusterId, Arc<HostCluster>>,
    access: Access,
    /// Whether all resources were listed at least once.
    is_complete: bool,
}

/// Whether the API server answers for the resources.
enum Access {
    Readable,
    Unreadable { since: Timestamp, why: String },
}

impl Observed {
    pub(crate) fn new(now: Timestamp) -> Self {
        let why = "KubeOpera has only just started and has not read the HostCluster resources yet.".to_owned();
        let access = Access::Unreadable { since: now, why };
        Self { seen: RwLock::new(Seen { resources: HashMap::new(), access, is_complete: false }) }
    }

    pub(crate) fn resource(&self, cluster: ClusterId) -> Option<Arc<HostCluster>> {
        self.read().resources.get(&cluster).cloned()
    }

    /// All of them, if that is all there are: listed once, and readable at the moment.
    pub(crate) fn all(&self) -> Option<HashMap<ClusterId, Arc<HostCluster>>> {
        let seen = self.read();
        (seen.is_complete && matches!(seen.access, Access::Readable)).then(|| seen.resources.clone())
    }

    /// Since when what is known may be old; `None` while it is not.
    pub(crate) fn unreadable_since(&self) -> Option<Timestamp> {
        match &self.read().access {
            Access::Readable => None,
            Access::Unreadable { since, .. } => Some(Micros::from(*since).timestamp()),
        }
    }

    pub(crate) fn access(&self) -> KubernetesAccess {
        match &self.read().access {
            Access::Readable => KubernetesAccess { available: true, reason: None },
            Access::Unreadable { why, .. } => KubernetesAccess { available: false, reason: Some(why.clone()) },
        }
    }

    /// The API server answered; whether that is news.
    pub(super) fn readable(&self) -> bool {
        let mut seen = self.write();
        if !seen.is_complete {
            return false;
        }
        !matches!(std::mem::replace(&mut seen.access, Access::Readable), Access::Readable)
    }

    /// It did not, and why; whether that is news.
    pub(super) fn unreadable(&self, now: Timestamp, why: String) -> bool {
        let mut seen = self.write();
        let (since, is_news) = match &seen.access {
            Access::Readable => (now, true),
            Access::Unreadable { since, why: before } => (*since, *before != why),
        };
        seen.access = Access::Unreadable { since, why };
        is_news
    }

    /// A resource is new or changed; whether it is another than before.
    pub(super) fn put(&self, cluster: ClusterId, resource: HostCluster) -> bool {
        let before = self.write().resources.insert(cluster, Arc::new(resource));
        let now = self.resource(cluster);
        before != now
    }

    pub(super) fn remove(&self, cluster: ClusterId) {
        self.write().resources.remove(&cluster);
    }

    /// This is all there is, and the API server answers. Returns those that are different from before or gone, and whether
    /// that it answers is news.
    pub(super) fn replace(&self, all: HashMap<ClusterId, Arc<HostCluster>>) -> (Vec<ClusterId>, bool) {
        let mut seen = self.write();
        seen.is_complete = true;
        let was_readable = matches!(std::mem::replace(&mut seen.access, Access::Readable), Access::Readable);
        let before = std::mem::replace(&mut seen.resources, all);
        let changed = seen.resources.iter().filter(|(id, now)| before.get(id) != Some(now)).map(|(id, _)| *id);
        let gone = before.keys().filter(|id| !seen.resources.contains_key(id)).copied();
        (changed.chain(gone).collect(), !was_readable)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Seen> {
        self.seen.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Seen> {
        self.seen.write().unwrap_or_else(PoisonError::into_inner)
    }
}
