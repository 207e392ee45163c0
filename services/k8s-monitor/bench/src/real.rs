//! A real API server with ten thousand pods, written to it without anything that runs them.

use std::time::Instant;

use anyhow::Context;
use futures::{StreamExt, TryStreamExt, stream};
use k8s_openapi::api::core::v1::{Namespace, Node, Pod};
use kube::{
    Api, Client,
    api::{Patch, PatchParams, PostParams},
};
use serde_json::{Value, json};
use testkit_bench::{ControlPlane, MetricsApi, Template, client, figure, heading};

use crate::one_cluster::{beside_a_reflector, beside_kubectl, measured};

const NODES: u32 = 500;
const PODS: u32 = 10_000;
/// How often the empty cluster is watched at once, and then twice as often.
const TIMES: u32 = 50;
/// How often a cold start is measured.
const RUNS: usize = 5;
/// Writes at a time.
const PARALLEL: usize = 50;

/// Measures if there is a `local-cluster`.
pub(crate) async fn run() -> anyhow::Result<()> {
    heading(&format!("A real API server with {NODES} nodes and {PODS} pods"));
    let cluster = ControlPlane::start("bench-monitor")?;
    // Its controllers would call nodes lost that nobody takes care of.
    cluster.stop("kube-controller-manager")?;
    figures(&cluster.kubeconfig).await
}

async fn figures(kubeconfig: &str) -> anyhow::Result<()> {
    let client = client(kubeconfig).await?;
    // What the program takes once, for however many clusters, is in both.
    let (some, twice) = (measured("idle", kubeconfig, TIMES).await?, measured("idle", kubeconfig, 2 * TIMES).await?);
    figure(
        "one more cluster in which nothing happens, TLS included",
        (twice.megabytes - some.megabytes) * 1024.0 / f64::from(TIMES),
        "KiB",
        Some(300.0),
    );
    let began = Instant::now();
    fill(&client).await?;
    figure("(written in)", began.elapsed().as_secs_f64(), "s", None);

    let (mut ours, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        bytes.push(measured("bytes", kubeconfig, PODS).await?.seconds);
        ours.push(measured("monitor", kubeconfig, PODS).await?);
    }
    ours.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    bytes.sort_by(f64::total_cmp);
    let (ours, bytes) = (ours.swap_remove(RUNS / 2), bytes.swap_remove(RUNS / 2));
    figure(&format!("known after, of {RUNS} runs the middle one"), ours.seconds, "s", Some(3.0));
    figure("the same list sent to somebody who reads nothing of it", bytes, "s", None);
    figure("  we take times as long", ours.seconds / bytes, "", None);
    figure("processor until then", ours.processor_seconds, "s", None);
    figure("memory", ours.megabytes, "MiB", None);
    beside_a_reflector(ours, measured("reflector", kubeconfig, PODS).await?);

    beside_kubectl(ours, &["--kubeconfig", kubeconfig, "get", "pods", "--all-namespaces", "--no-headers"]).await?;
    let usage = MetricsApi::start(&client).await?;
    stream::iter(0..NODES)
        .map(|number| {
            let node = format!("node-{number:012}");
            let usage = &usage;
            async move { usage.tell(&node, "965m", "3584Mi").await }
        })
        .buffer_unordered(PARALLEL)
        .try_collect::<()>()
        .await?;
    beside_kubectl(ours, &["--kubeconfig", kubeconfig, "top", "nodes", "--no-headers"]).await
}

/// Writes nodes and pods.
pub(crate) async fn fill(client: &Client) -> anyhow::Result<()> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    namespaces.create(&PostParams::default(), &serde_json::from_value(json!({"metadata": {"name": "shop"}}))?).await?;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}});
    let accounts: Api<k8s_openapi::api::core::v1::ServiceAccount> = Api::namespaced(client.clone(), "shop");
    accounts.patch("default", &PatchParams::apply("bench").force(), &Patch::Apply(account)).await?;
    let (node, pod) = (Template::node(true), Template::pod());
    let nodes: Api<Node> = Api::all(client.clone());
    let pods: Api<Pod> = Api::namespaced(client.clone(), "shop");
    stream::iter(0..NODES)
        .map(|number| write(&nodes, node.object(number)))
        .buffer_unordered(PARALLEL)
        .try_collect::<()>()
        .await?;
    stream::iter(0..PODS)
        .map(|number| write(&pods, pod.object(number)))
        .buffer_unordered(PARALLEL)
        .try_collect::<()>()
        .await
}

/// Creates an object and then its status, as the API server wants it.
async fn write<K>(api: &Api<K>, object: String) -> anyhow::Result<()>
where
    K: kube::Resource + Clone + serde::de::DeserializeOwned + serde::Serialize + std::fmt::Debug,
{
    let mut object: Value = serde_json::from_str(&object)?;
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut).context("an object without metadata")?;
    for theirs in ["uid", "resourceVersion", "creationTimestamp", "managedFields", "ownerReferences", "generateName"] {
        metadata.remove(theirs);
    }
    let name = metadata.get("name").and_then(Value::as_str).context("an object without a name")?.to_owned();
    let status = json!({"status": object.get("status")});
    api.create(&PostParams::default(), &serde_json::from_value(object)?).await?;
    api.patch_status(&name, &PatchParams::default(), &Patch::Merge(status)).await?;
    Ok(())
}
