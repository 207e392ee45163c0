//! Pods: states that are set by hand, and containers that really crash and fail.

use k8s_monitor_contract::Penalty;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Node, Pod},
};
use kube::{
    Api,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};

use crate::{A_SECOND, PATIENCE, Real};

struct Shop<'r> {
    real: &'r Real,
    pods: Api<Pod>,
}

impl Shop<'_> {
    async fn create(&self, name: &str, spec: Value) {
        let pod = json!({"metadata": {"name": name, "namespace": "shop"}, "spec": spec});
        self.pods.create(&PostParams::default(), &serde_json::from_value(pod).unwrap()).await.unwrap();
    }

    /// One that is on a node of which no kubelet takes care, so that it is as is said here.
    async fn by_hand(&self, name: &str, status: Value) {
        let container = json!({"name": "c", "image": "none.invalid/c:1"});
        self.create(
            name,
            json!({"nodeName": "by-hand", "containers": [container], "terminationGracePeriodSeconds": 0}),
        )
        .await;
        let status = Patch::Merge(json!({"status": status}));
        self.pods.patch_status(name, &PatchParams::default(), &status).await.unwrap();
    }

    async fn delete(&self, name: &str) {
        self.pods.delete(name, &DeleteParams::default().grace_period(0)).await.unwrap();
    }

    /// Waits until the cluster shows a pod like this.
    async fn shows(&self, name: &str, is_so: impl Fn(&Value) -> bool) {
        stack::until("the pod's state", PATIENCE, || async {
            let status = serde_json::to_value(self.pods.get(name).await?.status)?;
            anyhow::ensure!(is_so(&status), "{status}");
            Ok(())
        })
        .await
        .unwrap();
    }

    async fn expect(&self, expected: &[(Penalty, &str)]) {
        self.real.expect(A_SECOND, expected).await;
    }
}

fn shop(real: &Real) -> Shop<'_> {
    Shop { real, pods: Api::namespaced(real.client.clone(), "shop") }
}

pub(crate) async fn states_that_are_set_by_hand(real: &Real) {
    real.namespace("shop").await;
    real.node("by-hand", &[("Ready", "True")]).await;
    let shop = shop(real);

    shop.by_hand("failed", json!({"phase": "Failed"})).await;
    let failed = (Penalty::PodFailed, "failed");
    shop.expect(&[failed]).await;
    shop.by_hand("evicted", json!({"phase": "Failed", "reason": "Evicted"})).await;
    shop.by_hand("done", json!({"phase": "Succeeded"})).await;
    let container = |state: Value, ended: i64| {
        let time =
            |ago: i64| (jiff::Timestamp::now() - jiff::SignedDuration::from_secs(ago)).strftime("%FT%TZ").to_string();
        json!({"name": "c", "image": "c", "imageID": "", "ready": false, "restartCount": 7, "state": state,
            "lastState": {"terminated": {"exitCode": 1, "startedAt": time(ended + 5), "finishedAt": time(ended)}}})
    };
    let backing_off = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let looping = container(backing_off, 10_000);
    shop.by_hand("looping", json!({"phase": "Running", "containerStatuses": [looping, looping]})).await;
    shop.by_hand("init", json!({"phase": "Pending", "initContainerStatuses": [looping]})).await;
    let ill = [failed, (Penalty::PodCrashLooping, "looping"), (Penalty::PodCrashLooping, "init")];
    shop.expect(&ill).await;

    // With the two that crash there are ten that restart, and then eleven.
    for number in 0..8 {
        let restarted = json!({"phase": "Running", "containerStatuses": [container(running.clone(), 60)]});
        shop.by_hand(&format!("restarted-{number}"), restarted).await;
    }
    let old = json!({"phase": "Running", "containerStatuses": [container(running.clone(), 10_000)]});
    shop.by_hand("restarted-long-ago", old).await;
    shop.expect(&ill).await;
    let restarted = json!({"phase": "Running", "containerStatuses": [container(running, 60)]});
    shop.by_hand("restarted-8", restarted).await;
    shop.expect(&[&ill[..], &[(Penalty::PodsRestarting, "")]].concat()).await;

    for name in ["failed", "evicted", "looping", "init", "done", "restarted-long-ago"] {
        shop.delete(name).await;
    }
    for number in 0..9 {
        shop.delete(&format!("restarted-{number}")).await;
    }
    shop.expect(&[]).await;
    let nodes: Api<Node> = Api::all(real.client.clone());
    nodes.delete("by-hand", &DeleteParams::default()).await.unwrap();
}

/// What the kubelet itself tells of containers that end with an error.
pub(crate) async fn containers_that_really_end(real: &Real) {
    let shop = shop(real);
    // An image that every node has, started so that it ends at once.
    let deployments: Api<Deployment> = Api::namespaced(real.client.clone(), "kube-system");
    let coredns = deployments.get("coredns").await.unwrap();
    let image = coredns.spec.unwrap().template.spec.unwrap().containers[0].image.clone().unwrap();
    let ending = |policy: &str| {
        json!({"restartPolicy": policy, "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": false,
            "containers": [{"name": "c", "image": image, "args": ["-no-such-option"], "imagePullPolicy": "Never"}]})
    };

    shop.create("fails", ending("Never")).await;
    shop.shows("fails", |status| status["phase"] == "Failed").await;
    shop.expect(&[(Penalty::PodFailed, "fails")]).await;
    shop.delete("fails").await;
    shop.expect(&[]).await;

    shop.create("crashes", ending("Always")).await;
    let waits = |status: &Value| status["containerStatuses"][0]["state"]["waiting"]["reason"] == "CrashLoopBackOff";
    shop.shows("crashes", waits).await;
    let crashes = [(Penalty::PodCrashLooping, "crashes")];
    shop.expect(&crashes).await;
    // Between two waits it runs for a moment, and crashes on.
    shop.shows("crashes", |status| status["containerStatuses"][0]["restartCount"].as_u64() >= Some(2)).await;
    shop.expect(&crashes).await;
    shop.delete("crashes").await;
    shop.expect(&[]).await;
}
