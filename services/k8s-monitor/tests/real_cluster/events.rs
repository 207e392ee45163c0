//! Events as a real cluster has them.

use k8s_openapi::api::core::v1::Event;
use kube::{Api, api::PostParams};
use serde_json::json;

use crate::{A_SECOND, Real};

pub(crate) async fn of_the_cluster(real: &Real) {
    let events: Api<Event> = Api::namespaced(real.client.clone(), "shop");
    let event = json!({
        "metadata": {"name": "e-1"}, "reason": "TestHappened", "message": "by hand", "type": "Warning", "count": 3,
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "gone"}, "lastTimestamp": jiff::Timestamp::now(),
    });
    events.create(&PostParams::default(), &serde_json::from_value(event).unwrap()).await.unwrap();
    stack::until("the event", A_SECOND, || async {
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
