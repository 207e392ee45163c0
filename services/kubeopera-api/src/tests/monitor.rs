//! The Multi-Cluster view and what is told of one cluster.

use std::{
    collections::HashMap,
    io::Write,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use http::{Request, StatusCode, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use k8s_monitor_contract::{
    CostTotal, Freshness, Glance, Late, Monitor, NodeCount, Points, Resource, Snapshot, Unreachable, Usage,
};
use serde_json::{Value, json};
use tokio::sync::watch;
use tower::ServiceExt;
use vocabulary::{ClusterId, Money};

use super::{World, on_both_databases, world::until};

on_both_databases! {
    the_view_brings_records_and_measurements_together
    a_view_that_did_not_change_is_not_sent_again
    who_takes_gzip_is_sent_the_view_in_gzip_and_nobody_else
    who_goes_away_while_the_view_is_drawn_leaves_no_old_one
    a_refresh_marks_who_did_not_answer_in_time_and_keeps_their_last_good_value
    many_who_ask_for_a_refresh_at_once_cause_few
    open_pages_are_told_the_rows_that_changed
    open_pages_are_told_which_clusters_changed_in_detail_though_their_rows_did_not
    every_number_about_a_cluster_is_the_same_wherever_it_is_shown
    a_cluster_that_was_not_read_yet_has_nulls_and_no_zeros
    prometheus_is_told_what_is_known_and_nothing_else
}

/// A k8s-monitor whose clusters are as the test says.
#[derive(Clone, Default)]
pub(super) struct Watched(Arc<State>);

struct State {
    glances: Mutex<HashMap<ClusterId, Glance>>,
    late: Mutex<Vec<Late>>,
    refreshes: Mutex<u32>,
    revision: watch::Sender<u64>,
}

impl Default for State {
    fn default() -> Self {
        let (revision, _) = watch::channel(0);
        Self { glances: Mutex::default(), late: Mutex::default(), refreshes: Mutex::default(), revision }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    pub(super) fn see(&self, glance: Glance) {
        let mut glances = lock(&self.0.glances);
        self.0.revision.send_modify(|revision| *revision += 1);
        let revision = *self.0.revision.borrow();
        glances.insert(glance.cluster, Glance { revision, ..glance });
    }

    fn be_late(&self, cluster: ClusterId) {
        lock(&self.0.late).push(Late { cluster, reason: "It did not answer within 2 seconds.".to_owned() });
    }
}

#[async_trait]
impl Monitor for Watched {
    fn fleet(&self) -> Vec<Arc<Glance>> {
        lock(&self.0.glances).values().cloned().map(Arc::new).collect()
    }

    fn glance(&self, cluster: ClusterId) -> Option<Arc<Glance>> {
        lock(&self.0.glances).get(&cluster).cloned().map(Arc::new)
    }

    fn cluster(&self, cluster: ClusterId) -> Option<Arc<Snapshot>> {
        let glance = self.glance(cluster)?;
        Some(Arc::new(Snapshot {
            revision: glance.revision,
            freshness: glance.freshness.clone(),
            usage: glance.usage.clone(),
            ..Snapshot::unread(cluster)
        }))
    }

    async fn refresh(&self, within: Duration) -> Vec<Late> {
        assert_eq!(within, Duration::from_secs(2));
        *lock(&self.0.refreshes) += 1;
        tokio::task::yield_now().await;
        lock(&self.0.late).clone()
    }

    fn revision(&self) -> watch::Receiver<u64> {
        self.0.revision.subscribe()
    }
}

pub(super) fn glance(cluster: ClusterId, points: f64) -> Glance {
    let cpu = Resource { used: Some(500), measured_allocatable: Some(2_000), requested: Some(900), allocatable: 4_000 };
    Glance {
        cluster,
        revision: 1,
        freshness: Freshness { as_of: Some("2026-11-30T11:00:00Z".parse().unwrap()), unreachable: None },
        health: Some(Points::from(points).into()),
        nodes: Some(NodeCount { total: 2, ready: 1 }),
        usage: Some(Usage { cpu, memory: cpu, measured_nodes: 1, nodes: 2, not_measured: Some("1 of 2.".to_owned()) }),
        cost: Some(CostTotal { monthly: Some("60.736".parse::<Money>().unwrap()), priced: 2, not_priced: 0 }),
    }
}

/// Registers the cluster KubeOpera runs on and has it be Ready.
async fn ready_cluster(world: &World, cookie: &str) -> ClusterId {
    let id: ClusterId = world.register(cookie).await.json()["id"].as_str().unwrap().parse().unwrap();
    let mut resource = until("the resource is there", async || world.api_server.resources().pop()).await;
    resource["status"] = json!({"phase": "Ready", "message": "All is well.", "conditions": []});
    world.api_server.put(resource);
    until("the cluster is Ready", async || {
        let view = world.get("/api/v1/clusters/multi", cookie).await.json();
        (view["clusters"][0]["phase"] == "Ready").then_some(())
    })
    .await;
    id
}

async fn multi(world: &World, cookie: &str, holds: impl Fn(&Value) -> bool) -> Value {
    until("the view shows it", async || {
        Some(world.get("/api/v1/clusters/multi", cookie).await.json()).filter(|view| holds(view))
    })
    .await
}

async fn the_view_brings_records_and_measurements_together(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;

    world.monitor.see(glance(id, 92.5));
    let view = multi(&world, &cookie, |view| view["summary"]["healthy"] == 1).await;

    let row = &view["clusters"][0];
    assert_eq!(row["name"], "home");
    assert_eq!(row["standing"], "healthy");
    assert_eq!(row["health"], json!({"score": 92.5, "colour": "green"}));
    assert_eq!((&row["cpu"]["percent"], &row["cost"]["monthly"]), (&25.0.into(), &60.736.into()));
    let summary = &view["summary"];
    assert_eq!((&summary["total"], &summary["cpu_of"], &summary["priced"]), (&1.into(), &1.into(), &1.into()));

    let mut gone = glance(id, 92.5);
    gone.freshness.unreachable =
        Some(Unreachable { since: Timestamp::UNIX_EPOCH, reason: "Nobody answers.".to_owned() });
    world.monitor.see(gone);
    let view = multi(&world, &cookie, |view| view["summary"]["unreachable"] == 1).await;
    assert_eq!(view["clusters"][0]["stale"]["reason"], "Nobody answers.");
    assert_eq!(view["clusters"][0]["health"]["score"], 92.5);
}

async fn who_takes_gzip_is_sent_the_view_in_gzip_and_nobody_else(world: World) {
    world.start();
    let cookie = world.log_in("viewer").await;
    let plain = world.get("/api/v1/clusters/multi", &cookie).await;
    assert_eq!(plain.headers.get(header::CONTENT_ENCODING), None);
    for (accepted, is_compressed) in
        [("gzip, deflate, br", true), ("br;q=1.0, GZIP;q=0.5", true), ("gzip;q=0", false), ("br", false)]
    {
        let request = Request::get("/api/v1/clusters/multi").header(header::COOKIE, &cookie);
        let request = request.header(header::ACCEPT_ENCODING, accepted).body(axum::body::Body::empty()).unwrap();
        let (head, body) = world.router.clone().oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        assert_eq!(head.status, StatusCode::OK);
        assert_eq!(head.headers.get(header::CONTENT_ENCODING).is_some_and(|coding| coding == "gzip"), is_compressed);
        let mut text = Vec::new();
        if is_compressed {
            assert_eq!(head.headers[header::VARY], "accept-encoding");
            flate2::write::GzDecoder::new(&mut text).write_all(&body).unwrap();
        } else {
            text.extend_from_slice(&body);
        }
        assert_eq!(String::from_utf8(text).unwrap(), plain.text, "{accepted}");
        assert_eq!(head.headers[header::ETAG], plain.headers[header::ETAG]);
    }
}

async fn a_view_that_did_not_change_is_not_sent_again(world: World) {
    let cookie = world.log_in("viewer").await;
    let first = world.get("/api/v1/clusters/multi", &cookie).await;
    let tag = first.headers[header::ETAG].clone();

    let again = Request::get("/api/v1/clusters/multi").header(header::COOKIE, &cookie);
    let again = again.header(header::IF_NONE_MATCH, &tag).body(axum::body::Body::empty()).unwrap();
    let again = world.send(again).await;

    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    assert_eq!(again.headers[header::ETAG], tag);
    for bad in ["refresh=perhaps", "refrsh=true"] {
        let answer = world.get(&format!("/api/v1/clusters/multi?{bad}"), &cookie).await;
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (400, "query_invalid"), "{bad}");
    }
}

async fn who_goes_away_while_the_view_is_drawn_leaves_no_old_one(world: World) {
    world.register(&world.log_in("operator").await).await;
    let mut drawing = Box::pin(world.platform.multi_cluster());
    assert!(futures::poll!(&mut drawing).is_pending(), "the database is asked first");

    drop(drawing);

    assert_eq!(world.platform.multi_cluster().await.unwrap().view().clusters.len(), 1);
}

async fn a_refresh_marks_who_did_not_answer_in_time_and_keeps_their_last_good_value(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;
    world.monitor.see(glance(id, 100.0));
    world.monitor.be_late(id);

    let row = world.get("/api/v1/clusters/multi?refresh=true", &cookie).await.json()["clusters"][0].clone();

    assert_eq!(row["stale"]["reason"], "It did not answer within 2 seconds.");
    assert_eq!(row["stale"]["as_of"], "2026-11-30T11:00:00Z");
    assert_eq!((&row["standing"], &row["health"]["score"]), (&"healthy".into(), &100.0.into()));
    // That somebody asked is nothing that others see.
    let view = multi(&world, &cookie, |view| view["clusters"][0]["standing"] == "healthy").await;
    assert_eq!(view["clusters"][0]["stale"], Value::Null);
}

async fn many_who_ask_for_a_refresh_at_once_cause_few(world: World) {
    let cookie = world.log_in("viewer").await;
    let asked = (0..20).map(|_| world.get("/api/v1/clusters/multi?refresh=true", &cookie));
    for answer in futures::future::join_all(asked).await {
        assert_eq!(answer.status, StatusCode::OK);
    }
    let refreshes = *lock(&world.monitor.0.refreshes);
    assert!((1..20).contains(&refreshes), "{refreshes} refreshes");
}

async fn open_pages_are_told_the_rows_that_changed(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;
    let mut page = super::events::Page::open(&world, &cookie, None).await;

    world.monitor.see(glance(id, 70.0));

    let news = loop {
        let heard = page.next().await.expect("the stream ended");
        if heard.event == "monitor" && heard.data["clusters"][0]["health"]["score"] == 70.0 {
            break heard;
        }
    };
    assert_eq!(news.id, 0, "it can be resumed from");
    assert_eq!(news.data["summary"]["degraded"], 1);
    assert_eq!(news.data["clusters"].as_array().unwrap().len(), 1);
}

async fn open_pages_are_told_which_clusters_changed_in_detail_though_their_rows_did_not(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;
    let other: ClusterId = uuid::Uuid::new_v4().to_string().parse().unwrap();
    world.monitor.see(glance(other, 100.0));
    world.monitor.see(glance(id, 70.0));
    let mut page = super::events::Page::open(&world, &cookie, None).await;
    let changed = async |page: &mut super::events::Page| loop {
        let heard = page.next().await.expect("the stream ended");
        if heard.event == "monitor.changed" {
            break heard;
        }
    };

    // A glance that is as before: only what is seen of the cluster alone has changed.
    let before_the_first = Instant::now();
    world.monitor.see(glance(id, 70.0));
    let first = changed(&mut page).await;
    for _ in 0..5 {
        world.monitor.see(glance(id, 70.0));
    }
    world.monitor.see(glance(other, 100.0));
    let second = changed(&mut page).await;

    assert_eq!((first.id, first.data), (0, json!({"ids": [id]})));
    let mut ids: Vec<ClusterId> = serde_json::from_value(second.data["ids"].clone()).unwrap();
    ids.sort();
    assert_eq!(ids, if id < other { [id, other] } else { [other, id] }, "all of it in one message");
    let after = before_the_first.elapsed();
    assert!(after >= Duration::from_secs(1), "told again after {after:?}");
}

async fn every_number_about_a_cluster_is_the_same_wherever_it_is_shown(world: World) {
    world.start();
    let cookie = world.log_in("viewer").await;
    let mut ids = Vec::new();
    for (number, points) in (0..20).zip([100.0, 77.5, 80.0, 79.5, 60.0, 59.5, 0.0].into_iter().cycle()) {
        let name = format!("shop-{number}");
        let id = world.cluster(&name, ("aws", "eu-north-1"), &json!({}), &json!({"phase": "Ready"})).await;
        world.monitor.see(glance(id, points));
        ids.push(id);
    }
    let is_whole = |view: &Value| view["summary"]["healthy"] == 6 && view["summary"]["degraded"] == 14;
    let rows = multi(&world, &cookie, is_whole).await["clusters"].clone();
    let listed = world.get("/api/v1/clusters?limit=100", &cookie).await.json()["items"].clone();
    let metrics = world.get("/metrics", &cookie).await.text;
    let of = |all: &Value, id: ClusterId| {
        all.as_array().unwrap().iter().find(|one| one["id"] == id.to_string()).unwrap().clone()
    };

    for id in ids {
        let row = of(&rows, id);
        let card = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
        let detail = world.get(&format!("/api/v1/clusters/{id}/monitor"), &cookie).await.json();
        for field in ["health", "nodes", "cpu", "memory", "cost"] {
            assert_eq!(card[field], row[field], "{field}");
            assert_eq!(of(&listed, id)[field], row[field], "{field}");
        }
        assert_eq!(detail["usage"]["cpu"]["used"], row["cpu"]["used"]);
        let score = row["health"]["score"].as_f64().unwrap();
        let told = format!("kubeopera_cluster_health_score{{cluster={},id=\"{id}\"}} {score}\n", row["name"]);
        assert!(metrics.contains(&told), "{told}");
    }
}

async fn a_cluster_that_was_not_read_yet_has_nulls_and_no_zeros(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;

    let row = multi(&world, &cookie, |view| view["summary"]["total"] == 1).await["clusters"][0].clone();
    let detail = world.get(&format!("/api/v1/clusters/{id}/monitor"), &cookie).await.json();

    assert_eq!(row["standing"], "setting_up");
    for field in ["health", "nodes", "cpu", "memory", "cost", "stale"] {
        assert_eq!(row[field], Value::Null, "{field}");
    }
    for field in ["health", "nodes", "usage", "cost"] {
        assert_eq!(detail[field], Value::Null, "{field}");
    }
}

async fn prometheus_is_told_what_is_known_and_nothing_else(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = ready_cluster(&world, &cookie).await;
    world.monitor.see(glance(id, 92.5));
    multi(&world, &cookie, |view| view["summary"]["healthy"] == 1).await;

    let told = world.get("/metrics", &cookie).await;

    assert_eq!(told.headers[header::CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    let sample = |name: &str| {
        let line = format!("{name}{{cluster=\"home\",id=\"{id}\"}} ");
        told.text.lines().find_map(|text| text.strip_prefix(&line)).map(str::to_owned)
    };
    assert_eq!(sample("kubeopera_cluster_health_score").as_deref(), Some("92.5"));
    assert_eq!(sample("kubeopera_cluster_cpu_used_cores").as_deref(), Some("0.5"));
    assert_eq!(sample("kubeopera_cluster_cost_usd_per_month").as_deref(), Some("60.736"));
    assert!(told.text.contains("kubeopera_clusters{standing=\"healthy\"} 1\n"), "{}", told.text);
    for line in told.text.lines().filter(|line| !line.starts_with('#')) {
        let value = line.rsplit(' ').next().unwrap();
        assert!(value.parse::<f64>().is_ok_and(f64::is_finite), "{line}");
    }

    let mut gone = glance(id, 92.5);
    gone.freshness.unreachable =
        Some(Unreachable { since: Timestamp::UNIX_EPOCH, reason: "Nobody answers.".to_owned() });
    world.monitor.see(gone);
    let told = world.get("/metrics", &cookie).await.text;
    assert!(told.contains(&format!("kubeopera_cluster_up{{cluster=\"home\",id=\"{id}\"}} 0\n")), "{told}");
    assert!(!told.contains("kubeopera_cluster_health_score"), "{told}");
}

/// Every metric that a file under deploy/observability names.
fn metrics_named_in(file: &str) -> Vec<String> {
    let path = format!("{}/../../deploy/observability/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("kubeopera_")).map(str::to_owned).collect()
}

#[test]
fn dashboard_and_alerts_use_no_metric_that_is_not_there() {
    let there = crate::metrics::names();
    for file in ["grafana-dashboard.json", "alerts.yaml"] {
        let named = metrics_named_in(file);
        assert!(named.len() > 3, "{file}");
        for name in named {
            assert!(there.contains(&name.as_str()), "{file} names {name}");
        }
    }
    let dashboard = format!("{}/../../deploy/observability/grafana-dashboard.json", env!("CARGO_MANIFEST_DIR"));
    let _: Value = serde_json::from_str(&std::fs::read_to_string(dashboard).unwrap()).unwrap();
}
