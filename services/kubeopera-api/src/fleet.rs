//! The Multi-Cluster view, drawn when something changes and answered from memory.

use std::{
    collections::{BTreeSet, HashMap},
    io::Write,
    ops::Bound,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::body::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::HeaderValue;
use k8s_monitor_contract::{Glance, Late, MultiCluster, Row, Stale, Summary};
use sea_orm::DbErr;
use sha2::{Digest, Sha256};
use tokio::{
    sync::{Mutex, broadcast::error::RecvError, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use vocabulary::{ClusterId, hex};

use crate::app::Platform;

/// Changes this close together are drawn at once.
const COALESCED: Duration = Duration::from_millis(200);
/// A drawing that takes long is drawn seldom: this many times as long passes until the next.
const OF_THE_TIME: u32 = 20;
/// A cluster that does not answer by then is late.
const REFRESHED_WITHIN: Duration = Duration::from_secs(2);

/// The view as it was drawn last.
pub(crate) struct Fleet {
    drawn: watch::Sender<Arc<Drawing>>,
    /// How often something may have changed.
    changes: AtomicU64,
    /// Of how many of them the drawing knows. Written only when it is there: whoever began one may go away before.
    drawn_of: AtomicU64,
    /// One draws, the others wait for it.
    drawing: Mutex<()>,
    refreshed: Mutex<Option<(Instant, Vec<Late>)>>,
    /// One task looks through all clusters, and an open page reads only what is new to it.
    changes_seen: watch::Sender<Changes>,
}

/// Watched clusters in the order in which they changed, in whatever is seen of them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// All changes up to this revision of k8s-monitor are in it. Of later ones, only some may be.
    up_to: u64,
    by_revision: BTreeSet<(u64, ClusterId)>,
}

impl Changes {
    /// The clusters that have changed since a revision, which becomes the one up to which all is told.
    pub(crate) fn news_since(&self, known: &mut u64) -> Vec<ClusterId> {
        let last_of_known = (*known, ClusterId::from(Uuid::max()));
        let news = self.by_revision.range((Bound::Excluded(last_of_known), Bound::Unbounded));
        let ids = news.map(|(_, cluster)| *cluster).collect();
        *known = self.up_to.max(*known);
        ids
    }
}

/// The Multi-Cluster view at a moment, ready to be sent.
pub(crate) struct Drawing {
    /// Counts the drawings; 0 is before the first.
    pub(crate) number: u64,
    view: MultiCluster,
    /// In which drawing each row became what it is.
    since: Vec<u64>,
    summary_since: u64,
    /// Names the content. A weak tag, as the answer may be compressed.
    pub(crate) tag: HeaderValue,
    /// The view as JSON.
    pub(crate) json: Bytes,
    compressed: OnceLock<Bytes>,
}

impl Fleet {
    pub(crate) fn new() -> Self {
        let (drawn, _) = watch::channel(Arc::new(Drawing::nothing()));
        Self {
            drawn,
            changes: AtomicU64::new(1),
            drawn_of: AtomicU64::new(0),
            drawing: Mutex::default(),
            refreshed: Mutex::default(),
            changes_seen: watch::channel(Changes::default()).0,
        }
    }

    pub(crate) fn follow(&self) -> watch::Receiver<Arc<Drawing>> {
        self.drawn.subscribe()
    }

    pub(crate) fn follow_changes(&self) -> watch::Receiver<Changes> {
        self.changes_seen.subscribe()
    }

    /// `up_to` has to be read before the clusters: what changes while they are looked at is told twice rather than
    /// never.
    fn put_in_order(&self, up_to: u64, glances: &[Arc<Glance>]) {
        // Most often it is something else that changed.
        if self.changes_seen.borrow().up_to == up_to {
            return;
        }
        let by_revision = glances.iter().map(|glance| (glance.revision, glance.cluster)).collect();
        self.changes_seen.send_replace(Changes { up_to, by_revision });
    }

    /// How many changes a drawing that begins now knows of, unless the last one knows of them all.
    fn not_drawn(&self) -> Option<u64> {
        let changes = self.changes.load(Ordering::Acquire);
        (self.drawn_of.load(Ordering::Acquire) != changes).then_some(changes)
    }

    fn draw(&self, view: MultiCluster) -> Arc<Drawing> {
        self.drawn.send_if_modified(|before| {
            let drawing = Drawing::after(before, view);
            let is_news = before.number == 0 || drawing.tag != before.tag;
            if is_news {
                *before = Arc::new(drawing);
            }
            is_news
        });
        self.drawn()
    }

    fn drawn(&self) -> Arc<Drawing> {
        Arc::clone(&self.drawn.borrow())
    }
}

impl Drawing {
    fn nothing() -> Self {
        let tag = HeaderValue::from_static("W/\"none\"");
        Self {
            number: 0,
            view: MultiCluster::default(),
            since: Vec::new(),
            summary_since: 0,
            tag,
            json: Bytes::new(),
            compressed: OnceLock::new(),
        }
    }

    pub(crate) const fn view(&self) -> &MultiCluster {
        &self.view
    }

    /// The JSON in gzip, compressed once for all who are sent this drawing: it takes several times as long as all else
    /// about an answer. `None` never happens: a vector takes whatever is written to it.
    pub(crate) fn compressed(&self) -> Option<Bytes> {
        if let Some(compressed) = self.compressed.get() {
            return Some(compressed.clone());
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
        gzip.write_all(&self.json).ok()?;
        let compressed = gzip.finish().ok()?;
        Some(self.compressed.get_or_init(|| compressed.into()).clone())
    }

    pub(crate) fn after(before: &Self, view: MultiCluster) -> Self {
        let number = before.number + 1;
        let earlier: HashMap<ClusterId, (&Row, u64)> =
            before.view.clusters.iter().zip(&before.since).map(|(row, since)| (row.id, (row, *since))).collect();
        let since_of = |row: &Row| match earlier.get(&row.id) {
            Some((before, since)) if *before == row => *since,
            _ => number,
        };
        let since = view.clusters.iter().map(since_of).collect();
        let summary_since = if before.view.summary == view.summary { before.summary_since } else { number };
        // Nothing in a view can fail to become JSON.
        let json = Bytes::from(serde_json::to_vec(&view).unwrap_or_default());
        let hash: String = hex(&Sha256::digest(&json)).chars().take(24).collect();
        let tag = HeaderValue::from_str(&format!("W/\"{hash}\"")).unwrap_or(HeaderValue::from_static("W/\"none\""));
        Self { number, view, since, summary_since, tag, json, compressed: OnceLock::new() }
    }

    /// What is different from an earlier drawing: the summary, and the rows that are new or changed.
    pub(crate) fn news_since(&self, number: u64) -> Option<MultiCluster> {
        let changed = self.view.clusters.iter().zip(&self.since).filter(|(_, since)| **since > number);
        let clusters: Vec<_> = changed.map(|(row, _)| row.clone()).collect();
        let is_news = !clusters.is_empty() || self.summary_since > number;
        is_news.then(|| MultiCluster { summary: self.view.summary.clone(), clusters })
    }
}

impl Platform {
    /// The view from memory; drawn anew only if something may have changed.
    pub(crate) async fn multi_cluster(&self) -> Result<Arc<Drawing>, DbErr> {
        if self.fleet.not_drawn().is_some() {
            let _one = self.fleet.drawing.lock().await;
            // Somebody else may have drawn it meanwhile. What changes from now on makes it old again.
            if let Some(changes) = self.fleet.not_drawn() {
                self.catch_up().await?;
                self.fleet.draw(self.look_at_fleet(&[]));
                self.fleet.drawn_of.store(changes, Ordering::Release);
            }
        }
        Ok(self.fleet.drawn())
    }

    /// The view after every cluster was asked anew. Those that did not answer in time are marked as old in this answer.
    pub(crate) async fn refreshed_multi_cluster(&self) -> Result<Arc<Drawing>, DbErr> {
        let late = self.refresh_fleet().await;
        self.catch_up().await?;
        Ok(Arc::new(Drawing::after(&Drawing::nothing(), self.look_at_fleet(&late))))
    }

    /// Asks every cluster; once for all who want it at the same time.
    async fn refresh_fleet(&self) -> Vec<Late> {
        let wanted = Instant::now();
        let mut refreshed = self.fleet.refreshed.lock().await;
        if let Some((started, late)) = &*refreshed
            && *started >= wanted
        {
            return late.clone();
        }
        let started = Instant::now();
        let late = self.monitor.refresh(REFRESHED_WITHIN).await;
        *refreshed = Some((started, late.clone()));
        late
    }

    fn look_at_fleet(&self, late: &[Late]) -> MultiCluster {
        let glances: HashMap<_, _> = self.monitor.fleet().into_iter().map(|glance| (glance.cluster, glance)).collect();
        let late: HashMap<_, _> = late.iter().map(|late| (late.cluster, late.reason.as_str())).collect();
        let mut rows: Vec<_> = self
            .listing
            .all()
            .into_iter()
            .map(|listed| {
                let glance = glances.get(&listed.id);
                let mut row = Row::of(listed, glance.map(Arc::as_ref));
                if let (None, Some(reason)) = (&row.stale, late.get(&row.id)) {
                    let as_of = glance.and_then(|glance| glance.freshness.as_of);
                    row.stale = Some(Stale { as_of, reason: (*reason).to_owned() });
                }
                (row, glance)
            })
            .collect();
        rows.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let summary = Summary::of(rows.iter().map(|(row, glance)| (row, *glance)));
        MultiCluster { summary, clusters: rows.into_iter().map(|(row, _)| row).collect() }
    }
}

/// Notes that something has changed, and draws the view anew for the pages that are open. Without any, the next who
/// asks has it drawn.
pub(crate) async fn keep_drawing(platform: Arc<Platform>, shutdown: CancellationToken) {
    let fleet = &platform.fleet;
    let mut news = platform.events.subscribe(None).coming;
    let mut revision = platform.monitor.revision();
    let mut monitor_lives = true;
    loop {
        let mut pause = COALESCED;
        let up_to = *revision.borrow_and_update();
        let glances = platform.monitor.fleet();
        platform.listing.count(&glances);
        fleet.put_in_order(up_to, &glances);
        fleet.changes.fetch_add(1, Ordering::AcqRel);
        if fleet.drawn.receiver_count() > 0 {
            let began = Instant::now();
            if let Err(error) = platform.multi_cluster().await {
                tracing::warn!("the Multi-Cluster view is drawn later: {}", service_kit::chain(&error));
            }
            pause = pause.max(began.elapsed() * OF_THE_TIME);
        }
        tokio::select! { () = tokio::time::sleep(pause) => {}, () = shutdown.cancelled() => return }
        tokio::select! {
            () = shutdown.cancelled() => return,
            changed = revision.changed(), if monitor_lives => monitor_lives = changed.is_ok(),
            event = news.recv() => if matches!(event, Err(RecvError::Closed)) { return },
        }
        // Everything that was told until now is in the next drawing.
        while news.try_recv().is_ok() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_clusters_that_change_while_they_are_looked_at_none_is_missed() {
        let [one, other] = [ClusterId::random(), ClusterId::random()];
        let look = |up_to, revisions: [(u64, ClusterId); 2]| Changes { up_to, by_revision: BTreeSet::from(revisions) };
        let mut known = 4;

        // One was looked at before it took 5, the other after it took 6.
        assert_eq!(look(4, [(3, one), (6, other)]).news_since(&mut known), [other]);
        assert_eq!(look(6, [(5, one), (6, other)]).news_since(&mut known), [one, other]);
        assert_eq!(look(6, [(5, one), (6, other)]).news_since(&mut known), []);
    }
}
