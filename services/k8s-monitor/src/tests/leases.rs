//! Scheduler and controller manager by the Leases that they renew, or do not.

use std::time::{Duration, Instant};

use k8s_monitor_contract::Monitor;
use k8s_monitor_health::HAND_OVER;
use serde_json::json;
use testkit_hostile_api_server::{Answer, Cluster};

use super::scene::{LEASES, SCHEDULER, Watched, healthy, lease, score};
use crate::Engine;

/// Two renewals of client-go's that do not come.
const TWO_RENEWALS: Duration = Duration::from_secs(4);
/// Sooner than a missing renewal is noticed.
const AT_ONCE: Duration = Duration::from_secs(2);
/// The Lease itself is over after 15 s.
const LONG_BEFORE: Duration = Duration::from_secs(10);

/// Somebody acts as the scheduler, and whoever watches is told so.
fn renew(cluster: &Cluster, holder: &str) {
    let lease = lease(holder, 0);
    cluster.say(SCHEDULER, 200, lease.to_string());
    cluster.put(LEASES, lease);
}

/// A cluster whose scheduler is known to renew its Lease.
async fn with_scheduler(engine: &Engine) -> Watched {
    let cluster = healthy();
    renew(&cluster, "one");
    let watched = Watched::of(engine, cluster).await;
    score(engine, watched.id, 100.0).await;
    // So many renewals tell how fast they come.
    let known = engine.watched(watched.id).unwrap();
    let is_learned =
        || known.overhear(|leases, now| leases.next_due().is_some_and(|due| due <= now + Duration::from_secs(4)));
    let learned = async {
        while !is_learned() {
            renew(&watched.cluster, "one");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), learned).await.expect("the Leases are watched");
    watched
}

/// Waits until the score is this. The limit is counted in ticks, so that a machine that stands still for a while is not taken
/// for slow monitoring.
async fn score_within(engine: &Engine, watched: &Watched, expected: f64, mut limit: Duration) {
    const TICK: Duration = Duration::from_millis(10);
    loop {
        let seen = engine.glance(watched.id).unwrap();
        if seen.health.is_some_and(|health| f64::from(health.score) == expected) {
            return;
        }
        assert!(!limit.is_zero(), "still {seen:#?}");
        limit = limit.saturating_sub(TICK);
        tokio::time::sleep(TICK).await;
    }
}

#[tokio::test]
async fn a_scheduler_that_ends_in_order_is_missed_once_nobody_takes_over_and_so_is_seen_who_does() {
    let engine = Engine::default();
    let watched = with_scheduler(&engine).await;

    let before = Instant::now();
    renew(&watched.cluster, "");
    score_within(&engine, &watched, 62.0, LONG_BEFORE).await;
    assert!(before.elapsed() >= HAND_OVER.unsigned_abs(), "{:?}", before.elapsed());
    renew(&watched.cluster, "two");
    renew(&watched.cluster, "two");
    score_within(&engine, &watched, 100.0, AT_ONCE).await;
}

#[tokio::test]
async fn a_scheduler_that_is_killed_is_missed_after_two_renewals_long_before_its_lease_is_over() {
    let engine = Engine::default();
    let watched = with_scheduler(&engine).await;

    let before_the_last = Instant::now();
    renew(&watched.cluster, "one");
    score_within(&engine, &watched, 62.0, LONG_BEFORE).await;
    assert!(before_the_last.elapsed() >= TWO_RENEWALS, "{:?}", before_the_last.elapsed());

    renew(&watched.cluster, "one");
    score_within(&engine, &watched, 100.0, AT_ONCE).await;
}

#[tokio::test]
async fn a_watch_that_is_late_says_nothing_against_the_scheduler() {
    let engine = Engine::default();
    let watched = with_scheduler(&engine).await;
    let before = watched.server.requests(SCHEDULER);

    // Renewed, but the watch does not tell.
    watched.cluster.say(SCHEDULER, 200, lease("one", 0).to_string());
    let asked = async {
        while watched.server.requests(SCHEDULER) <= before {
            engine.refresh(Duration::from_secs(2)).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), asked).await.expect("the Lease itself is looked at");
    engine.refresh(Duration::from_secs(2)).await;

    let seen = engine.glance(watched.id).unwrap();
    assert_eq!(seen.health.map(|health| f64::from(health.score)), Some(100.0));
}

#[tokio::test]
async fn leases_that_may_not_be_watched_are_looked_at_from_time_to_time() {
    let engine = Engine::default();
    let cluster = healthy();
    renew(&cluster, "one");
    let watched = Watched::of(&engine, cluster).await;
    watched.turns(|cluster, asked| match asked.path.as_str() {
        LEASES => Answer::Json(403, json!({"kind": "Status", "code": 403}).to_string().into()),
        _ => cluster.answer(asked),
    });
    watched.server.break_off();

    let given_up = lease("", 10);
    watched.cluster.say(SCHEDULER, 200, given_up.to_string());
    engine.refresh(Duration::from_secs(20)).await;
    score(&engine, watched.id, 62.0).await;
}
