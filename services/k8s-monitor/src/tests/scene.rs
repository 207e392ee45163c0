//! A monitor, the API servers it watches, and objects for them.

use std::{sync::Arc, time::Duration};

use k8s_monitor_contract::{Glance, Monitor, Snapshot};
use kube::Config;
use kube_kit::{Limits, guarded};
use serde_json::{Value, json};
use testkit_hostile_api_server::{Answer, Asked, Cluster, Server};
use tokio::time::Instant;
use vocabulary::ClusterId;

use crate::{Access, Engine};

/// How long anything may take on a busy machine that takes a moment otherwise.
const DEADLINE: Duration = Duration::from_secs(30);

pub(super) const NODES: &str = "/api/v1/nodes";
pub(super) const PODS: &str = "/api/v1/pods";
pub(super) const EVENTS: &str = "/api/v1/events";
pub(super) const METRICS: &str = "/apis/metrics.k8s.io/v1beta1/nodes";
pub(super) const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
pub(super) const SCHEDULER: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler";
pub(super) const MANAGER: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";

/// A cluster that is watched.
pub(super) struct Watched {
    pub(super) id: ClusterId,
    pub(super) cluster: Cluster,
    pub(super) server: Server,
}

/// Starts an API server for a cluster; it answers as the cluster does.
pub(super) async fn served(cluster: &Cluster) -> Server {
    let answering = cluster.clone();
    Server::start(move |asked| answering.answer(asked)).await.unwrap()
}

pub(super) fn access(url: &str) -> Access {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let config = Config::new(url.parse().unwrap());
    Access::client_at_hand(guarded(config, Limits::default()).unwrap())
}

impl Watched {
    /// A cluster with one node and nothing wrong, watched by `engine` among the others that it watches.
    pub(super) async fn well(engine: &Engine) -> Self {
        Self::of(engine, healthy()).await
    }

    /// This cluster alone is watched by `engine`.
    pub(super) async fn of(engine: &Engine, cluster: Cluster) -> Self {
        let server = served(&cluster).await;
        let id = ClusterId::random();
        engine.watch_exactly([(id, String::new(), access(&server.url()))]);
        Self { id, cluster, server }
    }

    /// The server follows another script from now on, which may use the cluster's own answers.
    pub(super) fn turns(&self, script: impl Fn(&Cluster, &Asked) -> Answer + Send + Sync + 'static) {
        let cluster = self.cluster.clone();
        self.server.follow(move |asked| script(&cluster, asked));
    }

    /// The server is well again.
    pub(super) fn recovers(&self) {
        self.turns(Cluster::answer);
    }
}

/// A cluster with one node and nothing wrong.
pub(super) fn healthy() -> Cluster {
    let cluster = Cluster::default();
    cluster.put(NODES, node("one", &["Ready"]));
    cluster
}

/// Waits for a glance at a cluster that satisfies `expected`.
pub(super) async fn glance(engine: &Engine, id: ClusterId, expected: impl Fn(&Glance) -> bool) -> Arc<Glance> {
    let deadline = Instant::now() + DEADLINE;
    let mut revision = engine.revision();
    loop {
        revision.borrow_and_update();
        let glance = engine.glance(id).expect("the cluster is watched");
        if expected(&glance) {
            return glance;
        }
        assert!(Instant::now() < deadline, "still {glance:#?}");
        let _ = tokio::time::timeout(Duration::from_millis(200), revision.changed()).await;
    }
}

/// Waits until the score is this.
pub(super) async fn score(engine: &Engine, id: ClusterId, expected: f64) -> Arc<Glance> {
    glance(engine, id, |glance| glance.health.is_some_and(|health| f64::from(health.score) == expected)).await
}

/// Waits for a whole cluster that satisfies `expected`.
pub(super) async fn snapshot(engine: &Engine, id: ClusterId, expected: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let snapshot = engine.cluster(id).expect("the cluster is watched");
        if expected(&snapshot) {
            return snapshot;
        }
        assert!(Instant::now() < deadline, "still {snapshot:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A node of 4 cores and 16 GiB of which these conditions are True.
pub(super) fn node(name: &str, conditions: &[&str]) -> Value {
    let conditions: Vec<_> = conditions.iter().map(|kind| json!({"type": kind, "status": "True"})).collect();
    json!({
        "metadata": {"name": name, "uid": "x", "labels": {"kubernetes.io/os": "linux", "other": "label"},
            "creationTimestamp": "2026-01-01T00:00:00Z", "managedFields": [{"fieldsV1": {"f:a": {}}}]},
        "spec": {"providerID": "aws:///eu-north-1a/i-1"},
        "status": {
            "conditions": conditions,
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "allocatable": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "nodeInfo": {"kubeletVersion": "v1.34.4"},
            "images": [{"names": ["a"], "sizeBytes": 1}],
        },
    })
}

/// A pod in this phase whose one container has this state.
pub(super) fn pod(number: u32, phase: &str, state: Value) -> Value {
    json!({
        "metadata": {"name": format!("pod-{number}"), "namespace": "shop",
            "uid": format!("7e9d3a1b-5c1f-4e0a-9b63-{number:012}"), "managedFields": [{"fieldsV1": {"f:a": {}}}]},
        "spec": {"nodeName": "one", "containers": [{"name": "c", "image": "i", "env": [{"name": "A", "value": "\"b\""}],
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi", "example.com/gpu": "1"}}}]},
        "status": {"phase": phase, "containerStatuses": [{"name": "c", "restartCount": 3, "state": state, "lastState": {}}]},
    })
}

/// The scheduler's Lease as it is so many seconds after a renewal by this holder.
pub(super) fn lease(holder: &str, age: i64) -> Value {
    let renewed = jiff::Timestamp::now() - jiff::SignedDuration::from_secs(age);
    json!({
        "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        "spec": {"holderIdentity": holder, "leaseDurationSeconds": 15, "renewTime": renewed.to_string()},
    })
}

pub(super) fn running() -> Value {
    json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}})
}

pub(super) fn backing_off() -> Value {
    json!({"waiting": {"reason": "CrashLoopBackOff"}})
}
