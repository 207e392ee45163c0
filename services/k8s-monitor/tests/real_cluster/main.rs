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

mod control_plane;
mod credentials;
mod events;
mod nodes;
mod pods;
mod usage;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Deduction, Monitor, Penalty, Snapshot};
use k8s_openapi::api::core::v1::{Namespace, Node};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::json;
use stack::LocalCluster;
use vocabulary::ClusterId;

/// What Kubernetes itself takes its time for: a kubelet that is missed, a container that is started again.
const PATIENCE: Duration = Duration::from_mins(2);
/// From when the cluster shows something to its effect on the score.
const A_SECOND: Duration = Duration::from_secs(1);
/// How often somebody looks.
const TICK: Duration = Duration::from_millis(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "starts a cluster"]
async fn a_real_cluster_loses_points_exactly_by_the_table_and_gets_them_back() {
    let real = Real::start().await;
    real.expect(PATIENCE, &[]).await;

    nodes::conditions_that_are_set_by_hand(&real).await;
    pods::states_that_are_set_by_hand(&real).await;
    pods::containers_that_really_end(&real).await;
    events::of_the_cluster(&real).await;
    usage::measured_partly_not_and_never(&real).await;
    usage::of_just_so_much(&real).await;
    control_plane::components_that_end_in_order_and_are_killed(&real).await;
    credentials::that_are_renewed_and_that_end(&real).await;
    control_plane::an_api_server_that_is_gone(&real).await;
    nodes::a_kubelet_that_is_stopped(&real).await;
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
    async fn expect(&self, limit: Duration, expected: &[(Penalty, &str)]) {
        let is_busy = |penalty| matches!(penalty, Penalty::CpuHigh | Penalty::MemoryHigh);
        self.loses(limit, expected, |penalty| !is_busy(penalty)).await;
    }

    /// Waits until the cluster loses points for exactly this, of what is looked at. Returns its score. The limit is counted in
    /// ticks, so that a machine that stands still for a while is not taken for slow monitoring.
    async fn loses(
        &self,
        limit: Duration,
        expected: &[(Penalty, &str)],
        is_looked_at: impl Fn(Penalty) -> bool,
    ) -> f64 {
        let mut expected: Vec<_> = expected.iter().map(|(penalty, name)| (*penalty, (*name).to_owned())).collect();
        expected.sort();
        let (began, mut left) = (Instant::now(), limit);
        loop {
            let snapshot = self.snapshot();
            if let Some(health) = &snapshot.health {
                let looked_at = health.deductions.iter().filter(|lost| is_looked_at(lost.penalty));
                let name = |lost: &Deduction| lost.object.as_ref().map_or(String::new(), |object| object.name.clone());
                let mut lost: Vec<_> = looked_at.map(|lost| (lost.penalty, name(lost))).collect();
                lost.sort();
                if lost == expected {
                    let points: f64 = health.deductions.iter().map(|lost| f64::from(lost.points)).sum();
                    assert_eq!(f64::from(health.score), (100.0 - points).max(0.0), "{health:#?}");
                    println!("{:?} until {expected:?}: {}", began.elapsed(), health.score);
                    return health.score.into();
                }
            }
            let after = began.elapsed();
            assert!(!left.is_zero(), "expected {expected:?}, after {after:?} still {:#?}", snapshot.health);
            left = left.saturating_sub(TICK);
            tokio::time::sleep(TICK).await;
        }
    }

    /// A node that nobody schedules to and nobody takes care of, with these conditions.
    async fn node(&self, name: &str, conditions: &[(&str, &str)]) {
        let nodes: Api<Node> = Api::all(self.client.clone());
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

    async fn namespace(&self, name: &str) {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
        let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> = Api::namespaced(self.client.clone(), name);
        let account = "the default service account";
        stack::until(account, PATIENCE, || async { Ok(accounts.get("default").await?) }).await.unwrap();
    }
}
