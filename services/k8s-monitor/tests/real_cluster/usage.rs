//! The metrics API: complete, partial, failing, absent.

use std::{sync::Arc, time::Duration};

use k8s_monitor_contract::{Assessed, Monitor, Penalty, Snapshot, Usage};
use k8s_openapi::{
    api::{apps::v1::Deployment, core::v1::Node},
    kube_aggregator::pkg::apis::apiregistration::v1::APIService,
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams},
};
use serde_json::json;
use testkit_bench::MetricsApi;

use crate::{A_SECOND, PATIENCE, Real};

/// Asks anew, as somebody does who does not want to wait for the next measurement, until this is measured.
async fn measured(real: &Real, what: &str, is_so: impl Fn(&Usage) -> bool) -> Usage {
    stack::until(what, PATIENCE, || async {
        real.engine.refresh(Duration::from_secs(2)).await;
        let usage = real.engine.glance(real.id).unwrap().usage.clone().unwrap();
        anyhow::ensure!(is_so(&usage), "{usage:?}");
        Ok(usage)
    })
    .await
    .unwrap()
}

fn not_assessed(seen: &Arc<Snapshot>) -> Vec<Assessed> {
    seen.health.as_ref().unwrap().not_assessed.iter().map(|not| not.what).collect()
}

pub(crate) async fn measured_partly_not_and_never(real: &Real) {
    let usage = measured(real, "usage", |usage| usage.measured_nodes == 1).await;
    assert!(usage.cpu.used.unwrap() > 0 && usage.memory.used.unwrap() > 0, "{usage:?}");
    assert_eq!(usage.not_measured, None);
    assert_eq!(not_assessed(&real.snapshot()), []);

    // A node that metrics-server cannot ask.
    real.node("by-hand", &[("Ready", "True")]).await;
    let usage = measured(real, "one of two", |usage| usage.nodes == 2 && usage.measured_nodes == 1).await;
    assert_eq!(usage.not_measured.as_deref(), Some("1 of 2 nodes are measured."));
    assert!(usage.cpu.percent_used().is_some_and(f64::is_finite), "{usage:?}");
    real.expect(A_SECOND, &[]).await;
    let nodes: Api<Node> = Api::all(real.client.clone());
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();

    let deployments: Api<Deployment> = Api::namespaced(real.client.clone(), "kube-system");
    let none = json!({"spec": {"replicas": 0}});
    deployments.patch("metrics-server", &PatchParams::default(), &Patch::Merge(none)).await.unwrap();
    not_measured(real, "a metrics API that fails", "metrics-server is not ready").await;

    let services: Api<APIService> = Api::all(real.client.clone());
    services.delete("v1beta1.metrics.k8s.io", &DeleteParams::default()).await.unwrap();
    not_measured(real, "no metrics API", "has no metrics API").await;
}

/// No points are lost, nothing is taken for zero, and the reason is told.
async fn not_measured(real: &Real, what: &str, reason: &str) {
    let is_told = |usage: &Usage| usage.not_measured.as_ref().is_some_and(|why| why.contains(reason));
    let usage = measured(real, what, |usage| usage.measured_nodes == 0 && is_told(usage)).await;
    assert_eq!((usage.cpu.used, usage.cpu.percent_used(), usage.memory.used), (None, None, None));
    assert_eq!(not_assessed(&real.snapshot()), [Assessed::Cpu, Assessed::Memory]);
    real.expect(A_SECOND, &[]).await;
}

/// A metrics API of the test's own, so that each step of the table is reached exactly.
pub(crate) async fn of_just_so_much(real: &Real) {
    let metrics = MetricsApi::start(&real.client).await.unwrap();
    let node = real.snapshot().nodes.as_ref().unwrap()[0].clone();
    // Thousandths of what can be allocated, and never a little less than that.
    let tell = async |cpu: u64, memory: u64| {
        let cpu = format!("{}n", node.allocatable.cpu_millicores * cpu * 1000);
        let memory = (node.allocatable.memory_bytes * memory).div_ceil(1000).to_string();
        metrics.tell(&node.name, &cpu, &memory).await.unwrap();
        real.engine.refresh(Duration::from_secs(20)).await;
    };
    let (cpu, memory) = ((Penalty::CpuHigh, ""), (Penalty::MemoryHigh, ""));
    for (of_cpu, of_memory, lost, score) in [
        (799, 799, &[][..], 100.0),
        (800, 799, &[cpu], 95.0),
        (949, 100, &[cpu], 95.0),
        (950, 100, &[cpu], 90.0),
        (100, 800, &[memory], 95.0),
        (799, 950, &[memory], 90.0),
        (950, 800, &[cpu, memory], 85.0),
        (1500, 950, &[cpu, memory], 80.0),
    ] {
        tell(of_cpu, of_memory).await;
        assert_eq!(real.loses(A_SECOND, lost, |_| true).await, score, "{of_cpu} and {of_memory}");
    }

    // A node that is not measured is neither idle nor busy; one that is counts by its size.
    tell(950, 100).await;
    real.node("by-hand", &[("Ready", "True")]).await;
    measured(real, "one of two", |usage| usage.nodes == 2 && usage.measured_nodes == 1).await;
    assert_eq!(real.loses(A_SECOND, &[cpu], |_| true).await, 90.0);
    metrics.tell("by-hand", "1m", "1Mi").await.unwrap();
    let usage = measured(real, "both", |usage| usage.measured_nodes == 2).await;
    assert!(usage.cpu.percent_used() < Some(95.0), "{usage:?}");
    let nodes: Api<Node> = Api::all(real.client.clone());
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();

    metrics.end().await.unwrap();
    not_measured(real, "no metrics API any more", "has no metrics API").await;
}
