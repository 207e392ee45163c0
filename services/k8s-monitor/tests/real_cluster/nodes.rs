//! Nodes: conditions that are set by hand, and a kubelet that does not run.

use k8s_monitor_contract::{Monitor, NodeCount, Penalty};
use k8s_openapi::api::core::v1::Node;
use kube::{Api, api::DeleteParams};

use crate::{A_SECOND, PATIENCE, Real};

/// No controller may answer: the node is not theirs, and they would call it lost after 40 seconds.
pub(crate) async fn conditions_that_are_set_by_hand(real: &Real) {
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
        real.expect(A_SECOND, &expected).await;
    }
    let seen = real.snapshot();
    let node = seen.nodes.as_ref().unwrap().iter().find(|node| node.name == "by-hand").unwrap();
    assert_eq!((node.instance_type.as_deref(), node.region.as_deref()), (Some("m6i.large"), Some("eu-north-1")));
    assert!(!node.schedulable);
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();
    real.expect(A_SECOND, &[]).await;
    stack::until("one node", A_SECOND, || async {
        let nodes = real.engine.glance(real.id).unwrap().nodes;
        anyhow::ensure!(nodes == Some(NodeCount { total: 1, ready: 1 }), "{nodes:?}");
        Ok(())
    })
    .await
    .unwrap();
}

pub(crate) async fn a_kubelet_that_is_stopped(real: &Real) {
    let node = "stack-monitor-0";
    let nodes: Api<Node> = Api::all(real.client.clone());
    let shown = async |wanted: bool| {
        stack::until("the node's condition", PATIENCE, || async {
            let node = nodes.get(node).await?;
            let conditions = node.status.and_then(|status| status.conditions).unwrap_or_default();
            let is_ready = conditions.iter().any(|each| each.type_ == "Ready" && each.status == "True");
            anyhow::ensure!(is_ready == wanted, "Ready is {is_ready}");
            Ok(())
        })
        .await
        .unwrap();
    };
    real.cluster.stop("kubelet").await.unwrap();
    shown(false).await;
    real.expect(A_SECOND, &[(Penalty::NodeNotReady, node)]).await;
    real.cluster.start("kubelet").await.unwrap();
    shown(true).await;
    real.expect(A_SECOND, &[]).await;
}
