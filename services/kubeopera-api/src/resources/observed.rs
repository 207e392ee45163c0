//! The resources as they were last seen, and whether they can be seen at the moment.

use std::{
    collections::{HashMap, HashSet},
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
    resources: HashMap<ClusterId, Kept>,
    /// What a list that has not ended yet has named so far.
    listed: HashMap<ClusterId, Kept>,
    access: Access,
    /// Whether all resources were listed at least once.
    is_complete: bool,
}

/// A resource as it is kept: as JSON, which takes less than half the memory of its many small texts and maps, and the few
/// that are on a page are read again in microseconds.
#[derive(Clone, PartialEq)]
struct Kept(Arc<[u8]>);

impl Kept {
    /// As it is kept already, if it is the same.
    fn of(resource: &HostCluster, before: Option<&Self>) -> Self {
        // Nothing in a resource can fail to become JSON.
        let json = serde_json::to_vec(resource).unwrap_or_default();
        before.filter(|before| *before.0 == *json).cloned().unwrap_or_else(|| Self(json.into()))
    }

    /// The resource. `None` never happens: it is what was written by [`Kept::of`].
    fn resource(&self) -> Option<HostCluster> {
        serde_json::from_slice(&self.0).ok()
    }
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
        let seen = Seen { resources: HashMap::new(), listed: HashMap::new(), access, is_complete: false };
        Self { seen: RwLock::new(seen) }
    }

    pub(crate) fn resource(&self, cluster: ClusterId) -> Option<HostCluster> {
        let kept = self.read().resources.get(&cluster).cloned();
        kept?.resource()
    }

    /// All of them, if that is all there are: listed once, and readable at the moment.
    pub(crate) fn all(&self) -> Option<HashSet<ClusterId>> {
        let seen = self.read();
        (seen.is_complete && matches!(seen.access, Access::Readable)).then(|| seen.resources.keys().copied().collect())
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
    pub(super) fn put(&self, cluster: ClusterId, resource: &HostCluster) -> bool {
        let mut seen = self.write();
        let before = seen.resources.get(&cluster);
        let now = Kept::of(resource, before);
        let is_another = before != Some(&now);
        seen.resources.insert(cluster, now);
        is_another
    }

    pub(super) fn remove(&self, cluster: ClusterId) {
        self.write().resources.remove(&cluster);
    }

    /// A list begins. What was seen stays until it ends.
    pub(super) fn list_begins(&self) {
        self.write().listed.clear();
    }

    /// The list names a resource.
    pub(super) fn list(&self, cluster: ClusterId, resource: &HostCluster) {
        let mut seen = self.write();
        let kept = Kept::of(resource, seen.resources.get(&cluster));
        seen.listed.insert(cluster, kept);
    }

    /// What the list named is all there is, and the API server answers. Returns those that are different from before or
    /// gone, and whether that it answers is news.
    pub(super) fn list_ends(&self) -> (Vec<ClusterId>, bool) {
        let mut seen = self.write();
        seen.is_complete = true;
        let was_readable = matches!(std::mem::replace(&mut seen.access, Access::Readable), Access::Readable);
        let all = std::mem::take(&mut seen.listed);
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
