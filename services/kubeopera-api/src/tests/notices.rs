//! What a web hook, a real HTTP server, is told of clusters whose colour changes.

use std::sync::{Arc, Mutex, PoisonError};

use axum::{Router, body::Bytes, routing::post};
use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::{Glance, Unreachable};
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;
use vocabulary::{ClusterId, Secret};

use super::{World, monitor::glance, on_both_databases, world::until};
use crate::notices::{NoticeFormat, Notices, Teller};

on_both_databases! {
    a_generic_hook_is_told_once_of_a_change_that_lasts_and_once_of_its_end
    a_hook_of_slack_is_told_in_words
    whoever_tells_next_repeats_nothing_and_leaves_nothing_out
    a_hook_that_fails_is_not_called_for_each_cluster_and_hears_of_all_when_it_is_back
    what_comes_and_goes_is_not_told
}

/// A web hook on a port of its own: what was posted to it, and what it answers.
#[derive(Clone)]
struct Hook {
    posted: Arc<Mutex<Vec<Value>>>,
    answer: Arc<Mutex<StatusCode>>,
    url: Secret,
    _serving: Arc<AbortOnDropHandle<()>>,
}

impl Hook {
    async fn start() -> Self {
        let (posted, answer) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::new(Mutex::new(StatusCode::OK)));
        let (posted_to, answers) = (Arc::clone(&posted), Arc::clone(&answer));
        let take = move |body: Bytes| async move {
            let notice = serde_json::from_slice(&body).unwrap();
            posted_to.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
            *answers.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Secret::new(format!("http://{}/hook", listener.local_addr().unwrap()));
        let app = Router::new().route("/hook", post(take));
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { posted, answer, url, _serving: Arc::new(AbortOnDropHandle::new(serving)) }
    }

    fn answers(&self, status: StatusCode) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }

    /// What was posted since somebody asked last.
    fn posted(&self) -> Vec<Value> {
        std::mem::take(&mut *self.posted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn teller(&self, world: &World, format: NoticeFormat) -> Teller {
        let dashboard = Some("https://kubeopera.acme.com".parse().unwrap());
        let notices = Notices { hook: self.url.clone(), format, dashboard };
        Teller::take_up(Arc::clone(&world.platform), notices).await.unwrap()
    }
}

/// So many seconds after some moment.
fn at(second: i64) -> Timestamp {
    "2026-11-30T12:00:00Z".parse::<Timestamp>().unwrap() + SignedDuration::from_secs(second)
}

/// Clusters that are Ready.
async fn ready(world: &World, count: usize) -> Vec<ClusterId> {
    world.start();
    let cookie = world.log_in("viewer").await;
    let mut clusters = Vec::new();
    for number in 0..count {
        let name = format!("shop-{number}");
        clusters.push(world.cluster(&name, ("aws", "eu-north-1"), &json!({}), &json!({"phase": "Ready"})).await);
    }
    until("they are Ready", async || {
        let view = world.get("/api/v1/clusters/multi", &cookie).await.json();
        let rows = view["clusters"].as_array().unwrap();
        (rows.len() == count && rows.iter().all(|row| row["phase"] == "Ready")).then_some(())
    })
    .await;
    clusters
}

/// A cluster is seen like this, and is shown so.
async fn see(world: &World, seen: Glance) {
    let (id, health, is_gone) = (seen.cluster, seen.health, seen.freshness.unreachable.is_some());
    world.monitor.see(seen);
    until("it is shown", async || {
        let drawing = world.platform.multi_cluster().await.unwrap();
        let row = drawing.view().clusters.iter().find(|row| row.id == id).unwrap();
        (row.health == health && row.stale.is_some() == is_gone).then_some(())
    })
    .await;
}

async fn a_generic_hook_is_told_once_of_a_change_that_lasts_and_once_of_its_end(world: World) {
    let hook = Hook::start().await;
    let [id] = ready(&world, 1).await[..] else { panic!() };
    let mut teller = hook.teller(&world, NoticeFormat::Generic).await;
    see(&world, glance(id, 100.0)).await;
    teller.look(at(0)).await.unwrap();

    see(&world, glance(id, 42.5)).await;
    for second in [10, 30, 69] {
        teller.look(at(second)).await.unwrap();
    }
    assert_eq!(hook.posted(), Vec::<Value>::new(), "it has not lasted a minute");
    for second in [70, 75, 1000] {
        teller.look(at(second)).await.unwrap();
    }
    let told = json!({
        "cluster": {"id": id, "name": "shop-0"}, "was": "green", "is": "red", "score": 42.5, "reasons": [],
        "at": "2026-11-30T12:01:10Z", "link": format!("https://kubeopera.acme.com/clusters/{id}"),
    });
    assert_eq!(hook.posted(), [told]);

    see(&world, glance(id, 80.0)).await;
    for second in [1010, 1070, 1080] {
        teller.look(at(second)).await.unwrap();
    }
    let [end] = &hook.posted()[..] else { panic!("the end is told once") };
    assert_eq!((&end["was"], &end["is"], &end["score"]), (&json!("red"), &json!("green"), &json!(80.0)));
}

async fn a_hook_of_slack_is_told_in_words(world: World) {
    let hook = Hook::start().await;
    let [id] = ready(&world, 1).await[..] else { panic!() };
    let mut teller = hook.teller(&world, NoticeFormat::Slack).await;
    let mut gone = glance(id, 100.0);
    let reason = "Nobody answers <!channel>.".to_owned();
    gone.freshness.unreachable = Some(Unreachable { since: at(0), reason });
    see(&world, gone).await;

    teller.look(at(0)).await.unwrap();
    teller.look(at(60)).await.unwrap();

    let text = format!(
        "Cluster *shop-0* is unreachable.\n• Nobody answers &lt;!channel&gt;.\n\
         <https://kubeopera.acme.com/clusters/{id}|Open it>"
    );
    assert_eq!(hook.posted(), [json!({"text": text})]);
}

async fn whoever_tells_next_repeats_nothing_and_leaves_nothing_out(world: World) {
    let hook = Hook::start().await;
    let [id] = ready(&world, 1).await[..] else { panic!() };
    see(&world, glance(id, 0.0)).await;
    let mut first = hook.teller(&world, NoticeFormat::Generic).await;
    first.look(at(0)).await.unwrap();
    first.look(at(60)).await.unwrap();
    assert_eq!(hook.posted().len(), 1);

    let mut next = hook.teller(&world, NoticeFormat::Generic).await;
    for second in [65, 130, 1000] {
        next.look(at(second)).await.unwrap();
    }
    assert_eq!(hook.posted().len(), 0, "it is red still");
    see(&world, glance(id, 100.0)).await;
    let mut last = hook.teller(&world, NoticeFormat::Generic).await;
    last.look(at(2000)).await.unwrap();
    last.look(at(2060)).await.unwrap();
    let [end] = &hook.posted()[..] else { panic!("the end is told once") };
    assert_eq!((&end["was"], &end["is"]), (&json!("red"), &json!("green")));
}

async fn a_hook_that_fails_is_not_called_for_each_cluster_and_hears_of_all_when_it_is_back(world: World) {
    let hook = Hook::start().await;
    let clusters = ready(&world, 12).await;
    for id in &clusters {
        see(&world, glance(*id, 0.0)).await;
    }
    let mut teller = hook.teller(&world, NoticeFormat::Generic).await;
    teller.look(at(0)).await.unwrap();
    hook.answers(StatusCode::INTERNAL_SERVER_ERROR);
    for second in [60, 65, 70] {
        teller.look(at(second)).await.unwrap();
    }
    let calls = hook.posted().len();
    assert!((1..=4).contains(&calls), "{calls} calls");

    hook.answers(StatusCode::NO_CONTENT);
    for second in [125, 130] {
        teller.look(at(second)).await.unwrap();
    }
    let mut told: Vec<_> = hook.posted().iter().map(|notice| notice["cluster"]["id"].to_string()).collect();
    told.sort();
    told.dedup();
    assert_eq!(told.len(), clusters.len());
}

async fn what_comes_and_goes_is_not_told(world: World) {
    let hook = Hook::start().await;
    let [id] = ready(&world, 1).await[..] else { panic!() };
    let mut teller = hook.teller(&world, NoticeFormat::Generic).await;
    for turn in 0..40 {
        see(&world, glance(id, if turn % 2 == 0 { 100.0 } else { 0.0 })).await;
        teller.look(at(turn * 50)).await.unwrap();
        teller.look(at(turn * 50 + 49)).await.unwrap();
    }
    assert_eq!(hook.posted(), Vec::<Value>::new());
}
