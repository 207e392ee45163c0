//! Pods that are easily counted for what they are not, each with what it costs written beside it.

use k8s_monitor_contract::Penalty;
use serde_json::{Value, json};

use super::scene::{NODES, PODS, Watched, backing_off, healthy, node, pod, running, score, snapshot};
use crate::Engine;

fn ago(minutes: i64) -> String {
    (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes)).strftime("%FT%TZ").to_string()
}

/// A container that crashed so many minutes ago, ran for as long before, and is like this now.
fn crashed(name: &str, minutes: i64, state: Value) -> Value {
    json!({"name": name, "restartCount": 4, "state": state, "lastState": {"terminated":
        {"exitCode": 1, "startedAt": ago(minutes + 1), "finishedAt": ago(minutes)}}})
}

/// A pod with these fields of its own.
fn with(number: u32, phase: &str, path: &str, value: Value) -> Value {
    let mut pod = pod(number, phase, running());
    let (parent, field) = path.rsplit_once('/').unwrap();
    pod.pointer_mut(parent).unwrap()[field] = value;
    pod
}

#[tokio::test]
async fn what_is_easily_miscounted_costs_what_the_table_says_and_nothing_more() {
    use Penalty::{PodCrashLooping, PodFailed};
    let running_since = |minutes| json!({"running": {"startedAt": ago(minutes)}});
    let disrupted = json!([{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}]);
    let node_lost = json!([{"type": "Ready", "status": "False", "reason": "NodeNotReady"}]);
    let mut on_a_lost_node = with(11, "Running", "/status/conditions", node_lost);
    on_a_lost_node["spec"]["nodeName"] = json!("lost");
    let mut deleted = pod(6, "Running", backing_off());
    deleted["metadata"]["deletionTimestamp"] = json!(ago(0));
    let cases = [
        ("a job that is done", None, pod(1, "Succeeded", json!({"terminated": {"exitCode": 0}}))),
        ("a job that failed", Some(PodFailed), pod(2, "Failed", json!({"terminated": {"exitCode": 1}}))),
        ("what an eviction left", None, with(3, "Failed", "/status/reason", json!("Evicted"))),
        ("what a node left that shut down", None, with(4, "Failed", "/status/reason", json!("Terminated"))),
        ("what a drain left", None, with(5, "Failed", "/status/conditions", disrupted)),
        ("one that is being deleted", None, deleted),
        (
            "an init container in a crash loop",
            Some(PodCrashLooping),
            with(7, "Pending", "/status/initContainerStatuses", json!([crashed("init", 1, backing_off())])),
        ),
        (
            "a crash loop between two waits",
            Some(PodCrashLooping),
            with(8, "Running", "/status/containerStatuses", json!([crashed("c", 2, running_since(1))])),
        ),
        (
            "two containers in crash loops",
            Some(PodCrashLooping),
            with(
                9,
                "Running",
                "/status/containerStatuses",
                json!([crashed("a", 1, backing_off()), crashed("b", 1, backing_off())]),
            ),
        ),
        (
            "a sidecar that was restarted once in a while",
            None,
            with(10, "Running", "/status/initContainerStatuses", json!([crashed("sidecar", 20, running_since(19))])),
        ),
        ("one that is not ready as its node is lost", None, on_a_lost_node),
        (
            "one whose image cannot be pulled",
            None,
            pod(12, "Pending", json!({"waiting": {"reason": "ImagePullBackOff"}})),
        ),
    ];
    let engine = Engine::default();
    let cluster = healthy();
    // The one that is lost costs its own five points and no more.
    cluster.put(NODES, node("lost", &[]));
    for (_, _, pod) in &cases {
        cluster.put(PODS, pod.clone());
    }
    let watched = Watched::of(&engine, cluster).await;

    let expected = 100.0 - 5.0 - 2.0 - 3.0 * 2.5;
    score(&engine, watched.id, expected).await;
    let seen = snapshot(&engine, watched.id, |snapshot| snapshot.health.is_some()).await;
    let deductions = &seen.health.as_ref().unwrap().deductions;
    for (what, penalty, pod) in &cases {
        let name = pod["metadata"]["name"].as_str().unwrap();
        let lost = deductions.iter().find(|lost| lost.object.as_ref().is_some_and(|object| object.name == name));
        assert_eq!(lost.map(|lost| lost.penalty), *penalty, "{what}");
    }
}
