//! One watched cluster: what is known of it, and the tasks that keep that up.
//!
//! Each cluster has one task of its own. Whatever a cluster does, it costs its own task time and its own state memory,
//! both of which are limited; what is shown is in memory and never waits for a task.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard},
    time::Duration,
};

use futures::{FutureExt, join};
use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::{CostTotal, Freshness, Glance, Snapshot};
use k8s_monitor_health::ControlPlane;
use kube::Client;
use kube_kit::Validity;
use prices::Table;
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until, timeout_at},
};
use vocabulary::{ClusterId, Trouble};

use crate::{
    access::Access,
    assets,
    kinds::{WatchedEvents, WatchedLeases, WatchedNodes, WatchedPods},
    leases::{Component, Leases},
    metrics,
    pricing::Inventory,
    probe,
    state::State,
    turns::Again,
    watch::{Pace, Position, follow},
};

/// Between two questions to an API server that answers.
const ASKED_EVERY: Duration = Duration::from_secs(10);
/// The same when the last answer did not come, so that it is soon clear whether the cluster is lost.
const DOUBTED: Duration = Duration::from_secs(4);
/// The same when a component of the control plane is, or may soon be, ill.
const UNEASY: Duration = Duration::from_secs(2);
/// The same for clusters that have been unreachable for a while.
const UNREACHABLE: Duration = Duration::from_secs(20);
/// Between two measurements. metrics-server itself takes one every 15 seconds.
const MEASURED_EVERY: Duration = Duration::from_secs(30);
/// Load balancers and volumes change seldom, and matter only by the month.
const ASSETS_EVERY: Duration = Duration::from_mins(5);
/// The same where they could not be counted.
const ASSETS_RETRIED: Duration = Duration::from_mins(1);
/// An API server that is upgraded is gone for a while first, and its version is only about its price.
const VERSION_EVERY: Duration = Duration::from_mins(10);
/// Changes that come together are shown together.
const TOGETHER: Duration = Duration::from_millis(50);
/// Until something is due where nothing is.
const LONG: Duration = Duration::from_hours(1);
/// What is not seen at a glance is told no more often.
const DETAILS_EVERY: Duration = Duration::from_secs(2);

/// A watched cluster.
pub(crate) struct Cluster {
    pub(crate) id: ClusterId,
    revision: watch::Sender<u64>,
    prices: Arc<Table>,
    again: Arc<Again>,
    state: Mutex<State>,
    published: RwLock<Published>,
    snapshot: Mutex<Option<(u64, Arc<Snapshot>)>>,
    changed: Notify,
    reachable: watch::Sender<bool>,
    /// Somebody wants an answer now.
    wanted: Notify,
    pub(crate) measurement_wanted: Notify,
    rounds: watch::Sender<Rounds>,
    measurements: watch::Sender<u64>,
}

/// What is seen of the cluster.
struct Published {
    glance: Arc<Glance>,
    /// The count of changes of the state that were told.
    changes: u64,
    /// What it costs, and after how many changes of that.
    cost: Option<CostTotal>,
    cost_changes: Option<u64>,
}

/// Rounds of questions to the API server.
#[derive(Default)]
struct Rounds {
    begun: u64,
    ended: u64,
    /// Why the last one got no answer.
    why_not: Option<Trouble>,
}

impl Cluster {
    /// A cluster of which nothing is known yet. `revision` and `again` are the fleet's.
    pub(crate) fn new(id: ClusterId, revision: watch::Sender<u64>, prices: Arc<Table>, again: Arc<Again>) -> Self {
        let glance = Glance {
            cluster: id,
            revision: next(&revision),
            freshness: Freshness::default(),
            health: None,
            nodes: None,
            usage: None,
            cost: None,
        };
        Self {
            id,
            revision,
            prices,
            again,
            state: Mutex::default(),
            published: RwLock::new(Published { glance: Arc::new(glance), changes: 0, cost: None, cost_changes: None }),
            snapshot: Mutex::default(),
            changed: Notify::new(),
            reachable: watch::Sender::new(false),
            wanted: Notify::new(),
            measurement_wanted: Notify::new(),
            rounds: watch::Sender::default(),
            measurements: watch::Sender::default(),
        }
    }

    /// The cluster in short.
    pub(crate) fn glance(&self) -> Arc<Glance> {
        Arc::clone(&self.published().glance)
    }

    /// The cluster in full.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        let mut known = self.snapshot.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.state();
        let (revision, freshness) = (self.glance().revision, state.standing.freshness());
        if let Some((changes, snapshot)) = &mut *known
            && *changes == state.changes()
        {
            if snapshot.revision != revision || snapshot.freshness != freshness {
                *snapshot = Arc::new(Snapshot { revision, freshness, ..Snapshot::clone(snapshot) });
            }
            return Arc::clone(snapshot);
        }
        let has_nodes = state.has_nodes() && state.tally.nodes().is_some();
        let inventory = has_nodes.then(|| Inventory::of(self.id, &state));
        let snapshot = Arc::new(Snapshot {
            cluster: self.id,
            revision,
            freshness,
            health: state.is_complete().then(|| state.health()),
            nodes: inventory.as_ref().map(|inventory| inventory.priced_nodes(&self.prices)),
            usage: state.tally.usage().filter(|_| state.has_nodes()),
            cost: inventory.as_ref().map(|inventory| inventory.cost(&self.prices)),
            events: state.events.shown(),
        });
        *known = Some((state.changes(), Arc::clone(&snapshot)));
        snapshot
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is known.
    pub(crate) fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        state.has_changed();
        drop(state);
        self.changed.notify_one();
    }

    /// Changes what is known by something that the cluster sent just now.
    pub(crate) fn hear(&self, change: impl FnOnce(&mut State, Timestamp)) {
        let now = Timestamp::now();
        self.change(|state| {
            state.standing.hears(now);
            change(state, now);
        });
    }

    /// Takes note of what the cluster sent just now about Leases, which by itself is no change.
    pub(crate) fn overhear<R>(&self, note: impl FnOnce(&mut Leases, Instant) -> R) -> R {
        note(&mut self.state().leases, Instant::now())
    }

    /// Somebody acts as this component.
    pub(crate) fn acts(&self, component: Component) {
        let now = Timestamp::now();
        let mut state = self.state();
        state.standing.hears(now);
        let is_news = state.component_acts(component);
        drop(state);
        if is_news {
            self.changed.notify_one();
        }
    }

    /// Asks the API server how it is without waiting for the next time.
    pub(crate) fn look_now(&self) {
        self.wanted.notify_one();
    }

    /// Watches the cluster for ever.
    pub(crate) async fn keep(&self, access: Access) {
        loop {
            let keeping = async { join!(self.publish(), self.reach(&access)) };
            // A fault of ours in what one cluster sends is no reason to show no cluster any more.
            if std::panic::AssertUnwindSafe(keeping).catch_unwind().await.is_err() {
                tracing::error!(cluster = %self.id, "watching a cluster failed because of a fault of KubeOpera; it is begun anew");
                *self.state() = State::default();
                self.reachable.send_replace(false);
                sleep(UNREACHABLE).await;
            }
        }
    }

    async fn reach(&self, access: &Access) {
        let mut pace = Pace::new(Arc::clone(&self.again));
        let (client, validity) = loop {
            pace.begin().await;
            match access.client().await {
                Ok(reached) => break reached,
                Err(trouble) => self.fails(trouble),
            }
            pace.wait(None).await;
        };
        join!(
            self.ask(&client, validity),
            self.miss_renewals(),
            self.measure(&client),
            self.watch(&client),
            self.count_assets(&client),
        );
    }

    /// Has the API server asked as soon as a component of the control plane does not show itself.
    async fn miss_renewals(&self) {
        loop {
            let due = self.state().leases.next_due();
            // What is due moves on with each renewal, and nothing is due sooner than in some seconds.
            sleep_until(due.unwrap_or_else(|| Instant::now() + UNEASY)).await;
            if self.state().leases.miss(Instant::now()) {
                self.look_now();
            }
        }
    }

    /// Asks the API server how it is, time and again.
    async fn ask(&self, client: &Client, validity: Option<Validity>) {
        let mut version_asked: Option<Instant> = None;
        loop {
            self.rounds.send_modify(|rounds| rounds.begun += 1);
            let standing = |component| self.state().leases.standing(component, Instant::now());
            let (pause, why_not) = match probe::look(client, standing).await {
                Ok(found) => {
                    self.answers(found.control_plane);
                    if version_asked.is_none_or(|asked| asked.elapsed() >= VERSION_EVERY)
                        && let Some(version) = probe::version(client).await
                    {
                        version_asked = Some(Instant::now());
                        self.state().set_version(version);
                        self.changed.notify_one();
                    }
                    (if found.is_uneasy { UNEASY } else { ASKED_EVERY }, None)
                }
                Err(refusal) => {
                    let why = match validity {
                        Some(validity) => validity.explain(refusal.trouble, Timestamp::now()),
                        None => refusal.trouble,
                    };
                    self.fails(why.clone());
                    let is_lost = self.state().standing.is_lost_for_long();
                    let pause = if is_lost { UNREACHABLE } else { DOUBTED };
                    (pause.max(refusal.retry_after.unwrap_or_default()), Some(why))
                }
            };
            let has_failed = why_not.is_some();
            self.rounds.send_modify(|rounds| {
                rounds.ended = rounds.begun;
                rounds.why_not = why_not;
            });
            // Never at the same time as all other clusters.
            let pause = pause.mul_f64(rand::random_range(0.9..1.1));
            let next = async {
                sleep(pause).await;
                if has_failed {
                    self.again.questions.take().await;
                }
            };
            tokio::select! { () = next => {}, () = self.wanted.notified() => {} }
        }
    }

    fn answers(&self, control_plane: ControlPlane) {
        let mut state = self.state();
        state.standing.answers(Timestamp::now());
        state.set_control_plane(control_plane);
        drop(state);
        self.changed.notify_one();
        self.reachable.send_if_modified(|reachable| !std::mem::replace(reachable, true));
    }

    fn fails(&self, why: Trouble) {
        let mut state = self.state();
        state.standing.fails(why, Timestamp::now());
        let is_lost = state.standing.is_unreachable();
        drop(state);
        self.changed.notify_one();
        if is_lost {
            self.reachable.send_if_modified(|reachable| std::mem::replace(reachable, false));
        }
    }

    /// Reads what nodes use, time and again.
    async fn measure(&self, client: &Client) {
        loop {
            self.until_reachable(true).await;
            metrics::read_usage(client, |usage| self.change(|state| state.measured(usage))).await;
            self.measurements.send_modify(|measurements| *measurements += 1);
            let pause = MEASURED_EVERY.mul_f64(rand::random_range(0.9..1.1));
            tokio::select! { () = sleep(pause) => {}, () = self.measurement_wanted.notified() => {} }
        }
    }

    /// Looks for load balancers and volumes, time and again.
    async fn count_assets(&self, client: &Client) {
        loop {
            self.until_reachable(true).await;
            // Whose load balancers they are, nodes tell.
            let place = {
                let state = self.state();
                state.has_nodes().then(|| state.place())
            };
            let Some(place) = place else {
                sleep(ASKED_EVERY).await;
                continue;
            };
            let look = assets::look(client, &place.provider).await;
            let pause = if look.is_complete() { ASSETS_EVERY } else { ASSETS_RETRIED };
            self.state().assets_seen(look);
            self.changed.notify_one();
            sleep(pause.mul_f64(rand::random_range(0.9..1.1))).await;
        }
    }

    /// Follows what happens on the cluster. While it is unreachable no connection is kept: it may lead nowhere.
    async fn watch(&self, client: &Client) {
        let (nodes, pods, events) = (WatchedNodes(self), WatchedPods(self), WatchedEvents(self));
        let leases = WatchedLeases(self);
        let mut at_nodes = Position::start::<WatchedNodes<'_>>(&self.again);
        let mut at_pods = Position::start::<WatchedPods<'_>>(&self.again);
        let mut at_events = Position::start::<WatchedEvents<'_>>(&self.again);
        let mut at_leases = Position::start::<WatchedLeases<'_>>(&self.again);
        loop {
            self.until_reachable(true).await;
            let following = async {
                join!(
                    follow(client, &nodes, &mut at_nodes),
                    follow(client, &pods, &mut at_pods),
                    follow(client, &events, &mut at_events),
                    follow(client, &leases, &mut at_leases),
                )
            };
            tokio::select! { _ = following => {}, () = self.until_reachable(false) => {} }
            self.overhear(|leases, _| leases.follow(false));
        }
    }

    async fn until_reachable(&self, wanted: bool) {
        // The sender is our own, so that it cannot be gone.
        let _ = self.reachable.subscribe().wait_for(|reachable| *reachable == wanted).await;
    }

    /// Shows what has changed, soon after it did.
    async fn publish(&self) {
        let mut details_told = Instant::now();
        loop {
            let (due, has_untold) = {
                let state = self.state();
                (state.next_due(), state.changes() != self.published().changes)
            };
            let due =
                due.map_or(LONG, |due| Timestamp::now().duration_until(due).max(SignedDuration::ZERO).unsigned_abs());
            let wake = Instant::now() + due;
            let wake = if has_untold { wake.min(details_told + DETAILS_EVERY) } else { wake };
            tokio::select! {
                () = self.changed.notified() => sleep(TOGETHER).await,
                () = sleep_until(wake) => {}
            }
            let tell_details = details_told.elapsed() >= DETAILS_EVERY;
            if self.show(tell_details) {
                details_told = Instant::now();
            }
        }
    }

    /// Puts what is known now where it is seen. Returns whether that is told to those who wait for changes: what is seen at
    /// a glance always is, the rest if `tell_details`.
    fn show(&self, tell_details: bool) -> bool {
        let mut published = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let shown = Arc::clone(&published.glance);
        let mut state = self.state();
        state.judge_due(Timestamp::now());
        let mut glance = Glance {
            cluster: self.id,
            revision: shown.revision,
            freshness: state.standing.freshness(),
            health: state.is_complete().then(|| state.tally.score()),
            nodes: state.tally.nodes().filter(|_| state.has_nodes()),
            usage: state.tally.usage().filter(|_| state.has_nodes()),
            cost: None,
        };
        let changes = state.changes();
        let cost_changes = state.cost_changes();
        let is_priced_anew = published.cost_changes != Some(cost_changes) && glance.nodes.is_some();
        let inventory = is_priced_anew.then(|| Inventory::of(self.id, &state));
        drop(state);
        if let Some(inventory) = inventory {
            published.cost = Some(inventory.cost(&self.prices).total);
            published.cost_changes = Some(cost_changes);
        }
        glance.cost = published.cost.filter(|_| glance.nodes.is_some());
        // That the cluster was heard again is no change.
        let as_of = glance.freshness.as_of.and(shown.freshness.as_of);
        let freshness = Freshness { as_of, ..glance.freshness.clone() };
        let is_new = Glance { freshness, ..glance.clone() } != *shown;
        let is_told = is_new || (tell_details && changes != published.changes);
        if is_told {
            glance.revision = next(&self.revision);
            published.changes = changes;
        }
        published.glance = Arc::new(glance);
        is_told
    }

    fn published(&self) -> RwLockReadGuard<'_, Published> {
        self.published.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the cluster anew; an error is why it did not answer in time.
    pub(crate) async fn refresh(&self, deadline: Instant) -> Result<(), Trouble> {
        let mut rounds = self.rounds.subscribe();
        let mut measurements = self.measurements.subscribe();
        let (begun, measured) = (rounds.borrow().begun, *measurements.borrow());
        self.wanted.notify_one();
        self.measurement_wanted.notify_one();
        let answered = async {
            let ended = rounds.wait_for(|rounds| rounds.ended > begun).await;
            ended.ok().and_then(|rounds| rounds.why_not.clone())
        };
        let why_not = timeout_at(deadline, answered).await.unwrap_or_else(|_| {
            let known = self.state().standing.why().cloned();
            Some(known.unwrap_or_else(|| Trouble::transient("Timeout", "The cluster did not answer in time.")))
        });
        if let Some(why_not) = why_not {
            return Err(why_not);
        }
        // A metrics API that is slow makes no cluster late.
        let _ = timeout_at(deadline, measurements.wait_for(|now| *now > measured)).await;
        self.show(true);
        Ok(())
    }
}

/// The next revision of the fleet.
pub(crate) fn next(revision: &watch::Sender<u64>) -> u64 {
    let mut next = 0;
    revision.send_modify(|revision| {
        *revision += 1;
        next = *revision;
    });
    next
}
