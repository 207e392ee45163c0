//! Clusters that answer as Kubernetes does.

use std::time::Duration;

use k8s_monitor_contract::{Assessed, Monitor, NodeCount, Penalty};
use serde_json::json;
use testkit_hostile_api_server::Cluster;

use super::scene::{
    EVENTS, MANAGER, METRICS, NODES, PODS, SCHEDULER, Watched, backing_off, glance, healthy, lease, node, pod, running,
    score, snapshot,
};
use crate::Engine;

#[tokio::test]
async fn the_score_follows_each_change_by_the_table() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    let cluster = &watched.cluster;
    score(&engine, watched.id, 100.0).await;

    cluster.put(PODS, pod(1, "Failed", json!({})));
    score(&engine, watched.id, 98.0).await;
    cluster.put(PODS, pod(2, "Running", backing_off()));
    score(&engine, watched.id, 95.5).await;
    cluster.put(NODES, node("two", &["MemoryPressure"]));
    let seen = score(&engine, watched.id, 87.5).await;
    assert_eq!(seen.nodes, Some(NodeCount { total: 2, ready: 1 }));
    cluster.put(NODES, node("two", &["Ready"]));
    score(&engine, watched.id, 95.5).await;
    cluster.put(PODS, pod(2, "Running", running()));
    cluster.delete(PODS, "shop", "pod-1");
    score(&engine, watched.id, 100.0).await;
    cluster.delete(NODES, "", "two");
    glance(&engine, watched.id, |glance| glance.nodes == Some(NodeCount { total: 1, ready: 1 })).await;
}

#[tokio::test]
async fn every_deduction_names_its_object_and_what_cannot_be_seen_is_not_assessed() {
    let engine = Engine::default();
    let cluster = healthy();
    cluster.put(PODS, pod(1, "Failed", json!({})));
    cluster.put(PODS, pod(2, "Running", running()));
    let watched = Watched::of(&engine, cluster).await;

    let seen = snapshot(&engine, watched.id, |snapshot| snapshot.health.is_some()).await;
    let health = seen.health.as_ref().unwrap();
    let [failed] = health.deductions.as_slice() else { panic!("{health:#?}") };
    assert_eq!((failed.penalty, failed.object.as_ref().unwrap().name.as_str()), (Penalty::PodFailed, "pod-1"));
    let unknown: Vec<_> = health.not_assessed.iter().map(|not| not.what).collect();
    assert_eq!(unknown, [Assessed::Scheduler, Assessed::ControllerManager, Assessed::Cpu, Assessed::Memory]);
    let [node] = seen.nodes.as_deref().unwrap() else { panic!("{seen:#?}") };
    assert_eq!(node.requested.map(|requested| requested.cpu_millicores), Some(100));
    assert_eq!((node.region.as_deref(), node.used), (Some("eu-north-1"), None));
}

#[tokio::test]
async fn an_api_server_that_cannot_stream_lists_is_read_page_by_page() {
    let engine = Engine::default();
    let cluster = Cluster::new(false);
    for number in 0..1234 {
        cluster.put(PODS, pod(number, if number % 100 == 0 { "Failed" } else { "Running" }, running()));
    }
    cluster.put(NODES, node("one", &["Ready"]));
    let watched = Watched::of(&engine, cluster).await;

    let seen = score(&engine, watched.id, 74.0).await;
    assert_eq!(seen.usage.as_ref().unwrap().cpu.requested, Some((1234 - 13) * 100));
    watched.cluster.put(PODS, pod(0, "Running", running()));
    score(&engine, watched.id, 76.0).await;
}

#[tokio::test]
async fn a_forgotten_revision_is_read_anew_and_what_is_gone_meanwhile_is_gone() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    watched.cluster.put(PODS, pod(1, "Failed", json!({})));
    watched.cluster.put(NODES, node("two", &[]));
    score(&engine, watched.id, 93.0).await;

    watched.server.refuse().await;
    watched.cluster.delete(PODS, "shop", "pod-1");
    watched.cluster.delete(NODES, "", "two");
    watched.cluster.forget();
    watched.server.come_back().await.unwrap();

    score(&engine, watched.id, 100.0).await;
}

#[tokio::test]
async fn usage_is_of_the_nodes_that_are_measured_and_says_so() {
    let engine = Engine::default();
    let cluster = healthy();
    cluster.put(NODES, node("two", &["Ready"]));
    cluster.put(NODES, node("three", &["Ready"]));
    let now = jiff::Timestamp::now().to_string();
    let item = |name: &str, cpu: &str| json!({"metadata": {"name": name}, "timestamp": now, "usage": {"cpu": cpu, "memory": "8Gi"}});
    let list = |items: serde_json::Value| json!({"items": items}).to_string();
    cluster.say(
        METRICS,
        200,
        list(json!([item("one", "3900m"), item("two", "3700000000n"), item("three", "NaN"), item("gone", "1")])),
    );
    let watched = Watched::of(&engine, cluster).await;

    let seen =
        glance(&engine, watched.id, |glance| glance.usage.as_ref().is_some_and(|usage| usage.measured_nodes > 0)).await;
    let usage = seen.usage.as_ref().unwrap();
    assert_eq!((usage.measured_nodes, usage.nodes), (2, 3));
    assert_eq!(usage.not_measured.as_deref(), Some("2 of 3 nodes are measured."));
    assert_eq!(usage.cpu.percent_used(), Some(95.0));
    score(&engine, watched.id, 90.0).await;

    watched.cluster.say(METRICS, 503, "service unavailable");
    engine.refresh(Duration::from_secs(20)).await;
    let seen = score(&engine, watched.id, 100.0).await;
    let usage = seen.usage.as_ref().unwrap();
    assert_eq!(usage.cpu.used, None);
    assert!(usage.not_measured.as_ref().unwrap().contains("metrics-server"), "{usage:?}");
}

#[tokio::test]
async fn the_control_plane_is_judged_by_readyz_and_by_the_leases_of_its_components() {
    let engine = Engine::default();
    let cluster = healthy();
    let lease = |age| lease("x", age).to_string();
    cluster.say(SCHEDULER, 200, lease(1));
    cluster.say(MANAGER, 200, lease(20));
    let watched = Watched::of(&engine, cluster).await;
    score(&engine, watched.id, 62.0).await;

    watched.cluster.say(MANAGER, 200, lease(0));
    watched.cluster.say(
        "/readyz",
        500,
        "[+]ping ok\n[-]poststarthook/x failed: reason withheld\nreadyz check failed\n",
    );
    engine.refresh(Duration::from_secs(20)).await;
    score(&engine, watched.id, 77.0).await;

    watched.cluster.say("/readyz", 200, "ok");
    engine.refresh(Duration::from_secs(20)).await;
    score(&engine, watched.id, 100.0).await;
}

#[tokio::test]
async fn events_are_ordered_by_last_occurrence_told_once_and_capped() {
    let engine = Engine::default();
    let cluster = healthy();
    let event = |number: u32, times: serde_json::Value| {
        let mut event = json!({
            "metadata": {"name": format!("e-{number}"), "namespace": "shop", "uid": format!("u-{number}")},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": format!("pod-{number}")},
            "reason": "BackOff", "message": "again", "type": "Warning",
        });
        event.as_object_mut().unwrap().extend(times.as_object().unwrap().clone());
        event
    };
    cluster.put(EVENTS, event(1, json!({"lastTimestamp": "2026-01-01T00:00:01Z", "count": 5})));
    cluster.put(EVENTS, event(2, json!({"lastTimestamp": null, "eventTime": "2026-01-01T00:00:05.000000Z"})));
    cluster.put(EVENTS, event(3, json!({"series": {"count": 9, "lastObservedTime": "2026-01-01T00:00:03.000000Z"}})));
    cluster.put(EVENTS, event(4, json!({"lastTimestamp": null, "eventTime": null})));
    let tomorrow = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    cluster.put(EVENTS, event(5, json!({"lastTimestamp": tomorrow.to_string()})));
    let mut again = event(1, json!({"lastTimestamp": "2026-01-01T00:00:04Z", "count": 2}));
    again["metadata"] = json!({"name": "e-1-again", "namespace": "shop", "uid": "u-1-again"});
    cluster.put(EVENTS, again);
    let watched = Watched::of(&engine, cluster).await;

    let seen = snapshot(&engine, watched.id, |snapshot| snapshot.events.items.len() == 5).await;
    let told: Vec<_> = seen.events.items.iter().map(|event| (event.object.name.as_str(), event.count)).collect();
    assert_eq!(told, [("pod-5", 1), ("pod-2", 1), ("pod-1", 7), ("pod-3", 9), ("pod-4", 1)]);
    // A clock that is ahead does not hold the first place for ever.
    assert!(seen.events.items[0].last_seen <= Some(jiff::Timestamp::now()), "{:?}", seen.events.items[0]);

    for number in 10..310 {
        watched.cluster.put(
            EVENTS,
            event(number, json!({"lastTimestamp": format!("2026-02-01T00:{:02}:{:02}Z", number / 60, number % 60)})),
        );
    }
    let seen = snapshot(&engine, watched.id, |snapshot| snapshot.events.more == 105).await;
    assert_eq!(seen.events.items.len(), 200);
    assert_eq!(seen.events.items[1].object.name, "pod-309");
}

/// What control planes answer that others run, or that are of one program: nothing that is hidden is taken for ill.
#[tokio::test]
async fn a_control_plane_without_a_fault_loses_nothing_whoever_runs_it() {
    use Assessed::{ApiServer, ControllerManager, Etcd, Scheduler};
    let forbidden = || json!({"kind": "Status", "status": "Failure", "code": 403}).to_string();
    let lease = || lease("x", 0).to_string();
    let whole = "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]informer-sync ok\nreadyz check passed\n";
    let without_etcd = "[+]ping ok\n[+]log ok\nreadyz check passed\n";
    // Answer of /readyz, then whether Leases are there, hidden or forbidden; and what cannot be told.
    let planes = [
        ("kubeadm", (200, whole.to_owned()), Some((200, lease())), &[][..]),
        ("k3s", (200, whole.to_owned()), None, &[Scheduler, ControllerManager]),
        ("EKS", (200, without_etcd.to_owned()), Some((403, forbidden())), &[Scheduler, ControllerManager, Etcd]),
        ("GKE", (403, forbidden()), None, &[ApiServer, Scheduler, ControllerManager, Etcd]),
    ];
    for (name, (status, readyz), leases, unknown) in planes {
        let engine = Engine::default();
        let cluster = healthy();
        cluster.say("/readyz", status, readyz);
        for path in [SCHEDULER, MANAGER] {
            if let Some((status, text)) = &leases {
                cluster.say(path, *status, text.clone());
            }
        }
        // The retired way to ask would call all of them ill.
        let ill = json!({"metadata": {"name": "scheduler"}, "conditions": [{"type": "Healthy", "status": "False"}]});
        cluster.say("/api/v1/componentstatuses", 200, json!({"items": [ill]}).to_string());
        let watched = Watched::of(&engine, cluster).await;

        score(&engine, watched.id, 100.0).await;
        let health = engine.cluster(watched.id).unwrap().health.clone().unwrap();
        let told: Vec<_> = health.not_assessed.iter().map(|not| not.what).collect();
        assert_eq!(told, [unknown, &[Assessed::Cpu, Assessed::Memory]].concat(), "{name}");
        assert_eq!(watched.server.requests("/api/v1/componentstatuses"), 0);
    }
}

#[tokio::test]
async fn nodes_are_as_many_as_there_are_while_they_come_and_go() {
    let engine = Engine::default();
    let watched = Watched::well(&engine).await;
    let names = ["one", "two", "three", "four", "five"];
    for count in [3, 5, 2] {
        for (number, name) in names.iter().enumerate() {
            if number < count {
                watched.cluster.put(NODES, node(name, &["Ready"]));
            } else {
                watched.cluster.delete(NODES, "", name);
            }
        }
        let expected = NodeCount { total: count as u64, ready: count as u64 };
        glance(&engine, watched.id, |glance| glance.nodes == Some(expected)).await;
        assert_eq!(engine.cluster(watched.id).unwrap().nodes.as_ref().unwrap().len(), count, "list and detail agree");
    }
    // One that comes back under its name is one node, and two that say they have one host name are two.
    watched.cluster.delete(NODES, "", "one");
    let of_one_host = |name| {
        let mut node = node(name, if name == "one" { &[] } else { &["Ready"] });
        node["metadata"]["labels"]["kubernetes.io/hostname"] = json!("host");
        node
    };
    watched.cluster.put(NODES, of_one_host("one"));
    watched.cluster.put(NODES, of_one_host("two"));
    glance(&engine, watched.id, |glance| glance.nodes == Some(NodeCount { total: 2, ready: 1 })).await;
}

#[tokio::test]
async fn a_cluster_without_nodes_or_with_empty_ones_has_no_percentage() {
    let engine = Engine::default();
    let cluster = Cluster::default();
    let forbidden = json!({"kind": "Status", "status": "Failure", "code": 403, "message": "CANARY"}).to_string();
    cluster.say(METRICS, 403, forbidden);
    let watched = Watched::of(&engine, cluster).await;
    let seen = score(&engine, watched.id, 100.0).await;
    assert_eq!(seen.nodes, Some(NodeCount { total: 0, ready: 0 }));

    let mut empty = node("one", &["Ready"]);
    empty["status"]["allocatable"] = json!({"cpu": "0", "memory": "NaN"});
    watched.cluster.put(NODES, empty);
    let seen = snapshot(&engine, watched.id, |snapshot| {
        let usage = snapshot.usage.as_ref();
        usage.is_some_and(|usage| {
            usage.nodes == 1 && usage.not_measured.as_ref().is_some_and(|why| why.contains("may not"))
        })
    })
    .await;
    let usage = seen.usage.as_ref().unwrap();
    assert_eq!((usage.cpu.percent_used(), usage.memory.percent_used()), (None, None));
    let text = serde_json::to_string(&*seen).unwrap();
    assert!(!text.contains("CANARY") && !text.contains("NaN") && !text.contains("inf"), "{text}");
}

#[tokio::test]
async fn of_very_many_events_the_latest_that_are_read_are_shown_and_it_is_said_that_there_are_more() {
    let engine = Engine::default();
    let cluster = healthy();
    for number in 0..20_000 {
        let time = format!("2026-01-{:02}T{:02}:{:02}:00Z", 1 + number / 1440, number / 60 % 24, number % 60);
        cluster.put(
            EVENTS,
            json!({
                "metadata": {"name": format!("e-{number:05}"), "namespace": "shop", "uid": format!("u-{number}")},
                "involvedObject": {"kind": "Pod", "namespace": "shop", "name": format!("pod-{number}")},
                "reason": "BackOff", "message": "again", "type": "Warning", "lastTimestamp": time,
            }),
        );
    }
    let watched = Watched::of(&engine, cluster).await;

    let seen = snapshot(&engine, watched.id, |snapshot| !snapshot.events.items.is_empty()).await;
    assert_eq!(seen.events.items.len(), 200);
    assert!(seen.events.items.is_sorted_by(|one, next| one.last_seen >= next.last_seen));
    assert!(seen.events.more > 9_000, "{}", seen.events.more);
}
