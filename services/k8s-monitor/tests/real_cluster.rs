//! The score of a real cluster. One test with one cluster, which its parts take over from each other as they left it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::float_cmp,
    missing_docs
)]
#![allow(clippy::print_stdout, reason = "how long each change took")]

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Assessed, Monitor, NodeCount, Penalty, Points, Snapshot};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Event, Namespace, Node, Pod},
};
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::json;
use stack::LocalCluster;
use vocabulary::ClusterId;

/// What Kubernetes itself takes its time for: a kubelet that is missed, a Lease that runs out.
const PATIENCE: Duration = Duration::from_mins(2);
/// From a write to its effect on the score; a moment on a machine that does nothing else.
const AT_ONCE: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "starts a cluster"]
async fn a_real_cluster_loses_points_exactly_by_the_table_and_gets_them_back() {
    let real = Real::start().await;
    real.expect(PATIENCE, &[]).await;

    node_conditions(&real).await;
    pods(&real).await;
    events(&real).await;
    usage(&real).await;
    control_plane(&real).await;
    an_api_server_that_is_gone(&real).await;
    a_kubelet_that_is_stopped(&real).await;
}

struct Real {
    cluster: LocalCluster,
    client: Client,
    engine: Engine,
    id: ClusterId,
}

impl Real {
    async fn start() -> Self {
        let cluster = LocalCluster::up("stack-monitor", &["--metrics-server", "--leader-election"]).await.unwrap();
        let client = cluster.client().await.unwrap();
        let (engine, id) = (Engine::default(), ClusterId::random());
        engine.watch_exactly([(id, String::new(), Access::client_at_hand(client.clone()))]);
        Self { cluster, client, engine, id }
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        self.engine.cluster(self.id).unwrap()
    }

    /// Waits until the cluster loses points for exactly this, and for nothing else but how busy it is.
    async fn expect(&self, limit: Duration, expected: &[(Penalty, &str)]) -> Duration {
        let mut expected: Vec<_> = expected.iter().map(|(penalty, name)| (*penalty, (*name).to_owned())).collect();
        expected.sort();
        let began = Instant::now();
        loop {
            let snapshot = self.snapshot();
            if let Some(health) = &snapshot.health {
                let is_busy = |penalty: Penalty| matches!(penalty, Penalty::CpuHigh | Penalty::MemoryHigh);
                let mut lost: Vec<_> = health
                    .deductions
                    .iter()
                    .filter(|lost| !is_busy(lost.penalty))
                    .map(|lost| {
                        (lost.penalty, lost.object.as_ref().map_or(String::new(), |object| object.name.clone()))
                    })
                    .collect();
                lost.sort();
                if lost == expected {
                    let points: f64 = health.deductions.iter().map(|lost| f64::from(lost.points)).sum();
                    assert_eq!(f64::from(health.score), (100.0 - points).max(0.0), "{health:#?}");
                    println!("{:?} until {expected:?}: {}", began.elapsed(), health.score);
                    return began.elapsed();
                }
            }
            assert!(began.elapsed() < limit, "expected {expected:?}, still {:#?}", snapshot.health);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    async fn node(&self, name: &str, conditions: &[(&str, &str)]) {
        let nodes: Api<Node> = Api::all(self.client.clone());
        // Nobody but this test schedules to it, and nobody takes care of it.
        let node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "labels": {"node.kubernetes.io/instance-type": "m6i.large"}},
            "spec": {"unschedulable": true, "providerID": format!("aws:///eu-north-1a/{name}")},
        });
        nodes.patch(name, &PatchParams::apply("test").force(), &Patch::Apply(node)).await.unwrap();
        let conditions: Vec<_> =
            conditions.iter().map(|(kind, status)| json!({"type": kind, "status": status})).collect();
        let status = json!({"status": {"conditions": conditions, "allocatable": {"cpu": "2", "memory": "4Gi"}}});
        nodes.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
    }

    async fn pod(&self, name: &str, status: serde_json::Value) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "shop");
        let pod = json!({
            "metadata": {"name": name, "namespace": "shop"},
            "spec": {"nodeName": "by-hand", "containers": [{"name": "c", "image": "none.invalid/c:1"}],
                "terminationGracePeriodSeconds": 0},
        });
        pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
        pods.patch_status(name, &PatchParams::default(), &Patch::Merge(json!({"status": status}))).await.unwrap();
    }

    async fn no_pod(&self, name: &str) {
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), "shop");
        pods.delete(name, &DeleteParams::default().grace_period(0)).await.unwrap();
    }
}

/// No controller may answer: the node is not theirs, and they would call it lost after 40 seconds.
async fn node_conditions(real: &Real) {
    let nodes: Api<Node> = Api::all(real.client.clone());
    for (conditions, lost) in [
        (&[("Ready", "False")][..], &[Penalty::NodeNotReady][..]),
        (&[("Ready", "True"), ("MemoryPressure", "True")], &[Penalty::NodeMemoryPressure]),
        (&[("Ready", "True"), ("DiskPressure", "True")], &[Penalty::NodeDiskPressure]),
        (&[("Ready", "True"), ("PIDPressure", "True")], &[Penalty::NodePidPressure]),
        (&[("Ready", "True"), ("NetworkUnavailable", "True")], &[Penalty::NodeNetworkUnavailable]),
        (&[("Ready", "Unknown"), ("MemoryPressure", "Unknown")], &[Penalty::NodeNotReady]),
        (&[("Ready", "True"), ("MemoryPressure", "False")], &[]),
    ] {
        real.node("by-hand", conditions).await;
        let expected: Vec<_> = lost.iter().map(|penalty| (*penalty, "by-hand")).collect();
        real.expect(AT_ONCE, &expected).await;
    }
    let seen = real.snapshot();
    let node = seen.nodes.as_ref().unwrap().iter().find(|node| node.name == "by-hand").unwrap();
    assert_eq!((node.instance_type.as_deref(), node.region.as_deref()), (Some("m6i.large"), Some("eu-north-1")));
    assert!(!node.schedulable);
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();
    real.expect(AT_ONCE, &[]).await;
    stack::until("one node", AT_ONCE, || async {
        let nodes = real.engine.glance(real.id).unwrap().nodes;
        anyhow::ensure!(nodes == Some(NodeCount { total: 1, ready: 1 }), "{nodes:?}");
        Ok(())
    })
    .await
    .unwrap();
}

async fn pods(real: &Real) {
    let namespaces: Api<Namespace> = Api::all(real.client.clone());
    let shop = serde_json::from_value(json!({"metadata": {"name": "shop"}})).unwrap();
    namespaces.create(&PostParams::default(), &shop).await.unwrap();
    let account = "default service account of shop";
    let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> = Api::namespaced(real.client.clone(), "shop");
    stack::until(account, PATIENCE, || async { Ok(accounts.get("default").await?) }).await.unwrap();
    real.node("by-hand", &[("Ready", "True")]).await;

    real.pod("failed", json!({"phase": "Failed"})).await;
    let failed = (Penalty::PodFailed, "failed");
    real.expect(AT_ONCE, &[failed]).await;
    real.pod("evicted", json!({"phase": "Failed", "reason": "Evicted"})).await;
    real.pod("done", json!({"phase": "Succeeded"})).await;
    let container = |state: serde_json::Value, ended: i64| {
        let time =
            |ago: i64| (jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago)).strftime("%FT%TZ").to_string();
        json!({"name": "c", "image": "c", "imageID": "", "ready": false, "restartCount": 7, "state": state,
            "lastState": {"terminated": {"exitCode": 1, "startedAt": time(ended + 5), "finishedAt": time(ended)}}})
    };
    let backing_off = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let looping = container(backing_off, 10_000);
    real.pod("looping", json!({"phase": "Running", "containerStatuses": [looping, looping]})).await;
    real.pod("init", json!({"phase": "Pending", "initContainerStatuses": [looping]})).await;
    let ill = [failed, (Penalty::PodCrashLooping, "looping"), (Penalty::PodCrashLooping, "init")];
    real.expect(AT_ONCE, &ill).await;

    // With the two that crash there are ten that restart, and then eleven.
    for number in 0..8 {
        let restarted = json!({"phase": "Running", "containerStatuses": [container(running.clone(), 60)]});
        real.pod(&format!("restarted-{number}"), restarted).await;
    }
    let old = json!({"phase": "Running", "containerStatuses": [container(running.clone(), 10_000)]});
    real.pod("restarted-long-ago", old).await;
    real.expect(AT_ONCE, &ill).await;
    let restarted = json!({"phase": "Running", "containerStatuses": [container(running, 60)]});
    real.pod("restarted-8", restarted).await;
    real.expect(AT_ONCE, &[&ill[..], &[(Penalty::PodsRestarting, "")]].concat()).await;

    for name in ["failed", "evicted", "looping", "init", "done", "restarted-long-ago"] {
        real.no_pod(name).await;
    }
    for number in 0..9 {
        real.no_pod(&format!("restarted-{number}")).await;
    }
    real.expect(AT_ONCE, &[]).await;
    let nodes: Api<Node> = Api::all(real.client.clone());
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();
}

async fn events(real: &Real) {
    let events: Api<Event> = Api::namespaced(real.client.clone(), "shop");
    let event = json!({
        "metadata": {"name": "e-1"}, "reason": "TestHappened", "message": "by hand", "type": "Warning", "count": 3,
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "gone"}, "lastTimestamp": jiff::Timestamp::now(),
    });
    events.create(&PostParams::default(), &serde_json::from_value(event).unwrap()).await.unwrap();
    stack::until("the event", PATIENCE, || async {
        let seen = real.snapshot();
        let found = seen.events.items.iter().find(|event| event.reason == "TestHappened").map(|event| event.count);
        anyhow::ensure!(found == Some(3), "{found:?}");
        Ok(())
    })
    .await
    .unwrap();
    let seen = real.snapshot();
    assert!(seen.events.items.iter().any(|event| event.object.kind == "Node"), "the kubelet told of its start");
    assert!(seen.events.items.is_sorted_by(|one, next| one.last_seen >= next.last_seen));
}

async fn usage(real: &Real) {
    let measured = stack::until("usage", PATIENCE, || async {
        real.engine.refresh(Duration::from_secs(2)).await;
        let glance = real.engine.glance(real.id).unwrap();
        let usage = glance.usage.clone().unwrap();
        anyhow::ensure!(usage.measured_nodes == 1, "{usage:?}");
        Ok(usage)
    })
    .await
    .unwrap();
    assert!(measured.cpu.used.unwrap() > 0 && measured.memory.used.unwrap() > 0, "{measured:?}");
    assert_eq!(measured.not_measured, None);

    let deployments: Api<Deployment> = Api::namespaced(real.client.clone(), "kube-system");
    let none = json!({"spec": {"replicas": 0}});
    deployments.patch("metrics-server", &PatchParams::default(), &Patch::Merge(none)).await.unwrap();
    stack::until("no usage", PATIENCE, || async {
        real.engine.refresh(Duration::from_secs(2)).await;
        let usage = real.engine.glance(real.id).unwrap().usage.clone().unwrap();
        anyhow::ensure!(usage.measured_nodes == 0, "{usage:?}");
        Ok(())
    })
    .await
    .unwrap();
    let seen = real.snapshot();
    let usage = seen.usage.as_ref().unwrap();
    assert!(usage.cpu.used.is_none() && usage.not_measured.as_ref().unwrap().contains("metrics-server"), "{usage:?}");
    let unknown: Vec<_> = seen.health.as_ref().unwrap().not_assessed.iter().map(|not| not.what).collect();
    assert_eq!(unknown, [Assessed::Cpu, Assessed::Memory]);
    real.expect(AT_ONCE, &[]).await;
}

async fn control_plane(real: &Real) {
    let degraded = (Penalty::ControlPlaneDegraded, "");
    for program in ["kube-scheduler", "kube-controller-manager"] {
        real.cluster.stop(program).await.unwrap();
        real.expect(PATIENCE, &[degraded, (Penalty::ComponentUnhealthy, program)]).await;
        real.cluster.start(program).await.unwrap();
        real.expect(PATIENCE, &[]).await;
    }
}

async fn an_api_server_that_is_gone(real: &Real) {
    let before = stack::until("a glance at a cluster without trouble", AT_ONCE, || async {
        let glance = real.engine.glance(real.id).unwrap();
        anyhow::ensure!(glance.health.is_some_and(|health| health.score == Points::FULL), "{:?}", glance.health);
        Ok(glance)
    })
    .await
    .unwrap();
    real.cluster.stop("kube-apiserver").await.unwrap();
    let began = Instant::now();
    let lost = stack::until("unreachable", Duration::from_mins(1), || async {
        let glance = real.engine.glance(real.id).unwrap();
        anyhow::ensure!(glance.freshness.unreachable.is_some(), "{:?}", glance.freshness);
        Ok(glance)
    })
    .await
    .unwrap();
    println!("unreachable after {:?}", began.elapsed());
    assert_eq!((lost.health, lost.nodes), (before.health, before.nodes));
    let late = real.engine.refresh(Duration::from_secs(2)).await;
    assert_eq!(late.len(), 1);

    real.cluster.start("kube-apiserver").await.unwrap();
    stack::until("an answer", PATIENCE, || async {
        let freshness = real.engine.glance(real.id).unwrap().freshness.clone();
        anyhow::ensure!(freshness.unreachable.is_none(), "{freshness:?}");
        Ok(())
    })
    .await
    .unwrap();
    real.expect(PATIENCE, &[]).await;
}

async fn a_kubelet_that_is_stopped(real: &Real) {
    real.cluster.stop("kubelet").await.unwrap();
    real.expect(PATIENCE, &[(Penalty::NodeNotReady, "stack-monitor-0")]).await;
    real.cluster.start("kubelet").await.unwrap();
    real.expect(PATIENCE, &[]).await;
}
