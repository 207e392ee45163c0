//! News for the open pages: which cluster changed, in the order of revisions.
//!
//! Whoever changes something marks the cluster; one task looks at each marked cluster and publishes what it sees. As
//! there is only one, what is published with a higher revision is never older. Another task marks what other processes
//! changed.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jiff::Timestamp;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use vocabulary::ClusterId;

use crate::{app::Platform, view::Cluster};

/// Events kept for pages that come back. At about 1.5 KB each.
const KEPT: usize = 512;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) revision: u64,
    pub(crate) news: News,
}

/// What happened.
#[derive(Debug, Clone)]
pub(crate) enum News {
    /// A cluster is new or changed: its JSON.
    Cluster(Arc<str>),
    /// A cluster is off the record.
    Removed(ClusterId),
    /// Anything may have changed: read again.
    Reset,
}

/// What a page gets that opens the stream.
pub(crate) struct Subscription {
    /// The revision up to which the page is told everything, or will have read everything itself.
    pub(crate) begins_at: u64,
    pub(crate) missed: Vec<Event>,
    pub(crate) coming: broadcast::Receiver<Event>,
}

/// The stream of events of this process.
pub(crate) struct Events {
    published: Mutex<Published>,
    sender: broadcast::Sender<Event>,
    marked: Mutex<BTreeSet<ClusterId>>,
    wake: Notify,
}

struct Published {
    /// The revision this process began with.
    start: u64,
    /// The last revision given.
    last: u64,
    /// Revisions up to this one are no longer kept.
    floor: u64,
    recent: VecDeque<Event>,
    /// How each cluster was published last.
    of_cluster: HashMap<ClusterId, Last>,
    /// Clusters whose removal was published.
    removed: HashSet<ClusterId>,
}

/// A cluster as it was published last.
struct Last {
    revision: u64,
    /// Hash of everything but the revision.
    content: u64,
}

impl Events {
    pub(crate) fn new() -> Self {
        let start = now_micros();
        let published = Published {
            start,
            last: start,
            floor: start,
            recent: VecDeque::new(),
            of_cluster: HashMap::new(),
            removed: HashSet::new(),
        };
        let (sender, _) = broadcast::channel(KEPT);
        Self { published: Mutex::new(published), sender, marked: Mutex::default(), wake: Notify::new() }
    }

    /// Has the cluster looked at and published soon.
    pub(crate) fn mark(&self, cluster: ClusterId) {
        self.marked.lock().unwrap_or_else(PoisonError::into_inner).insert(cluster);
        self.wake.notify_one();
    }

    /// Tells every page to read everything again.
    pub(crate) fn reset(&self) {
        self.published().add(&self.sender, |_| News::Reset);
    }

    /// Publishes a cluster, unless it looks as it did the last time.
    fn publish(&self, cluster: ClusterId, mut view: Cluster) {
        let content = hash_of(&view);
        let mut published = self.published();
        if published.of_cluster.get(&cluster).is_some_and(|last| last.content == content) {
            return;
        }
        let revision = published.add(&self.sender, |revision| {
            view.revision = revision;
            serde_json::to_string(&view).map_or(News::Reset, |json| News::Cluster(json.into()))
        });
        published.of_cluster.insert(cluster, Last { revision, content });
        published.removed.remove(&cluster);
    }

    /// Publishes that a cluster is off the record, if any page can know it.
    fn publish_removal(&self, cluster: ClusterId) {
        let mut published = self.published();
        published.of_cluster.remove(&cluster);
        if !published.removed.insert(cluster) {
            return;
        }
        published.add(&self.sender, |_| News::Removed(cluster));
    }

    /// The last revision given. Whatever is read after it is at least as new as what was published with it.
    pub(crate) fn last(&self) -> u64 {
        self.published().last
    }

    /// The revision with which a cluster was last published. To be read before the cluster itself is looked at.
    pub(crate) fn revision_of(&self, cluster: ClusterId) -> u64 {
        let published = self.published();
        published.of_cluster.get(&cluster).map_or(published.start, |last| last.revision)
    }

    /// Everything after the revision that a page saw last, or a reset if that is no longer known.
    pub(crate) fn subscribe(&self, last_seen: Option<u64>) -> Subscription {
        let published = self.published();
        let missed = match last_seen {
            None => Vec::new(),
            Some(seen) if published.gave(seen) => {
                published.recent.iter().filter(|event| event.revision > seen).cloned().collect()
            }
            Some(_) => vec![Event { revision: published.last, news: News::Reset }],
        };
        Subscription { begins_at: published.last, missed, coming: self.sender.subscribe() }
    }

    fn published(&self) -> std::sync::MutexGuard<'_, Published> {
        self.published.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Published {
    /// Whether this process gave the revision, and everything after it is kept. That of another process tells nothing of
    /// what this one published before.
    fn gave(&self, revision: u64) -> bool {
        revision == self.floor || self.recent.binary_search_by_key(&revision, |event| event.revision).is_ok()
    }

    /// Adds an event and returns its revision. Revisions are microseconds since 1970, and always grow: also over a restart,
    /// and whatever the clock does meanwhile.
    fn add(&mut self, sender: &broadcast::Sender<Event>, news: impl FnOnce(u64) -> News) -> u64 {
        let revision = now_micros().max(self.last + 1);
        let event = Event { revision, news: news(revision) };
        self.last = revision;
        if self.recent.len() >= KEPT
            && let Some(oldest) = self.recent.pop_front()
        {
            self.floor = oldest.revision;
        }
        self.recent.push_back(event.clone());
        // Nobody listening is no trouble.
        let _ = sender.send(event);
        revision
    }
}

/// Hash of what a `cluster` event is about. What k8s-monitor measures changes all the time and has events of its own.
fn hash_of(view: &Cluster) -> u64 {
    let mut hasher = DefaultHasher::new();
    let lasting =
        Cluster { revision: 0, health: None, cpu: None, memory: None, cost: None, unreachable: None, ..view.clone() };
    serde_json::to_string(&lasting).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

fn now_micros() -> u64 {
    u64::try_from(Timestamp::now().as_microsecond()).unwrap_or(0)
}

/// Marks what other processes changed in the database, a moment later.
pub(crate) async fn keep_following(platform: Arc<Platform>, shutdown: CancellationToken) {
    const EVERY: Duration = Duration::from_secs(1);
    loop {
        tokio::select! { () = tokio::time::sleep(EVERY) => {}, () = shutdown.cancelled() => return }
        if let Err(error) = platform.catch_up().await {
            tracing::debug!("what other processes changed is read later: {}", service_kit::chain(&error));
        }
    }
}

/// Looks at each marked cluster and publishes what it sees.
pub(crate) async fn keep_announcing(platform: Arc<Platform>, shutdown: CancellationToken) {
    let events = &platform.events;
    loop {
        tokio::select! { () = events.wake.notified() => {}, () = shutdown.cancelled() => return }
        let marked = std::mem::take(&mut *events.marked.lock().unwrap_or_else(PoisonError::into_inner));
        for cluster in marked {
            match platform.look_at(cluster).await {
                Ok(Some(view)) => events.publish(cluster, view),
                Ok(None) => events.publish_removal(cluster),
                Err(error) => {
                    tracing::warn!(cluster.id = %cluster, "a change is published later: {}", service_kit::chain(&error));
                    events.mark(cluster);
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
            }
        }
    }
}
