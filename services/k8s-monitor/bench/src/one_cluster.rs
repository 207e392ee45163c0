//! One large cluster: how long until it is known, and how much memory that takes.

use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use futures::StreamExt;
use http_body_util::BodyExt;
use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::Monitor;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{
    Api, Client, Config,
    config::{KubeConfigOptions, Kubeconfig},
    runtime::{WatchStreamExt, reflector, watcher},
};
use kube_kit::{Limits, guarded};
use serde::{Deserialize, Serialize};
use testkit_bench::{Process, Replay, figure, heading, this_program};
use tokio::process::Command;
use vocabulary::ClusterId;

/// What watching took.
#[derive(Serialize, Deserialize, Clone, Copy)]
pub(crate) struct Taken {
    /// Until all was known.
    pub(crate) seconds: f64,
    pub(crate) processor_seconds: f64,
    /// Above what the program had before.
    pub(crate) megabytes: f64,
    pub(crate) megabytes_at_most: f64,
}

/// A cluster of the replay server.
pub(crate) async fn run(nodes: u32, pods: u32) -> anyhow::Result<()> {
    heading(&format!("One cluster of {nodes} nodes and {pods} pods, from a replay server"));
    let replay = Replay::start(1, nodes, pods).await?;
    let url = replay.cluster(0);
    let ours = measured("monitor", &url, pods).await?;
    let is_large = pods >= 150_000;
    figure("known after", ours.seconds, "s", Some(if is_large { 8.0 } else { 3.0 }));
    figure("processor until then", ours.processor_seconds, "s", None);
    figure("memory", ours.megabytes, "MiB", is_large.then_some(128.0));
    figure("memory at its highest", ours.megabytes_at_most, "MiB", is_large.then_some(256.0));
    figure(
        "memory for a pod, its share of nodes and all else included",
        ours.megabytes * 1_048_576.0 / f64::from(pods),
        "B",
        is_large.then_some(250.0),
    );
    // Full objects of a large cluster take more memory than many machines have.
    if !is_large {
        beside_a_reflector(ours, measured("reflector", &url, pods).await?);
        beside_kubectl(ours, &["--server", &url, "top", "nodes"]).await?;
    }
    Ok(())
}

/// Prints how a plain reflector of kube-rs does in the same place.
pub(crate) fn beside_a_reflector(ours: Taken, reflector: Taken) {
    figure("a reflector of full objects: known after", reflector.seconds, "s", None);
    figure("  memory", reflector.megabytes, "MiB", None);
    figure("  times as long", reflector.seconds / ours.seconds, "", None);
    figure("  times as much processor", reflector.processor_seconds / ours.processor_seconds.max(0.01), "", None);
    figure("  times as much memory", reflector.megabytes / ours.megabytes, "", None);
}

/// Prints how long kubectl takes to tell a part of it, once.
pub(crate) async fn beside_kubectl(ours: Taken, words: &[&str]) -> anyhow::Result<()> {
    // What kubectl has found out about servers before is not to count.
    let cache = tempfile::tempdir()?;
    let mut kubectl = Command::new("kubectl");
    kubectl.arg("--cache-dir").arg(cache.path()).args(words).env("KUBECONFIG", "/dev/null");
    let began = Instant::now();
    let output = kubectl.output().await.context("running kubectl")?;
    let seconds = began.elapsed().as_secs_f64();
    ensure!(output.status.success(), "{kubectl:?}: {}", String::from_utf8_lossy(&output.stderr));
    let words: Vec<_> = words.iter().skip(2).copied().collect();
    figure(&format!("`kubectl {}`, once", words.join(" ")), seconds, "s", None);
    figure("  times as long", seconds / ours.seconds, "", None);
    Ok(())
}

/// A cluster whose pods are replaced all the time: memory has to stay where it is.
pub(crate) async fn soak(minutes: u32) -> anyhow::Result<()> {
    const PODS: u32 = 10_000;
    const REPLACED: u32 = 200;
    heading(&format!("{minutes} minutes in which {REPLACED} of {PODS} pods are replaced each second"));
    let replay = Replay::start(1, 500, PODS).await?;
    let mut config = Config::new(replay.cluster(0).parse()?);
    config.root_cert = Some(Vec::new());
    let _engine = monitor(guarded(config, Limits::default())?, PODS).await;
    replay.churn(REPLACED).await?;
    // Maps and buffers grow once, in few steps, to what such a cluster needs.
    tokio::time::sleep(Duration::from_mins(3)).await;
    let this = Process::this();
    let (before, processor, began) = (this.resident(), this.processor_time(), Instant::now());
    tokio::time::sleep(Duration::from_mins(minutes.into())).await;
    let after = this.resident();
    let passed = began.elapsed().as_secs_f64();
    figure("memory", after, "MiB", None);
    figure("growth in ten minutes", (after - before) * 600.0 / passed, "MiB", Some(1.0));
    let share = this.processor_time().saturating_sub(processor).as_secs_f64() / passed;
    figure("processor, of a core", share * 100.0, "%", Some(3.0));
    Ok(())
}

/// Watches in a process of its own.
pub(crate) async fn measured(how: &str, kubeconfig_or_url: &str, pods: u32) -> anyhow::Result<Taken> {
    let output = this_program()?.args(["watch", how, kubeconfig_or_url, &pods.to_string()]).output().await?;
    if !output.status.success() {
        bail!("watching by {how}: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("what watching took")
}

/// The process that watches: until so many pods are known.
pub(crate) async fn watch(how: &str, kubeconfig_or_url: &str, pods: u32) -> anyhow::Result<()> {
    let config = if kubeconfig_or_url.starts_with("http") {
        let mut config = Config::new(kubeconfig_or_url.parse()?);
        config.root_cert = Some(Vec::new());
        config
    } else {
        let file = Kubeconfig::read_from(kubeconfig_or_url)?;
        Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?
    };
    let client = guarded(config, Limits { whole: Duration::from_mins(5), body: 64 << 20, ..Limits::default() })?;
    let this = Process::this();
    let before = this.resident();
    let (began, processor) = (Instant::now(), this.processor_time());
    let kept: Box<dyn std::any::Any> = match how {
        "monitor" => Box::new(monitor(client, pods).await),
        "reflector" => Box::new(full_objects(client, pods).await),
        "bytes" => Box::new(bytes_alone(client).await?),
        "idle" => Box::new(many_times(kubeconfig_or_url, pods).await?),
        other => bail!("{other}"),
    };
    let seconds = began.elapsed().as_secs_f64();
    let processor_seconds = this.processor_time().saturating_sub(processor).as_secs_f64();
    // What was only needed for the start is given back.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let megabytes = this.resident() - before;
    let taken = Taken { seconds, processor_seconds, megabytes, megabytes_at_most: this.highest() - before };
    println!("{}", serde_json::to_string(&taken)?);
    drop(kept);
    Ok(())
}

async fn monitor(client: Client, pods: u32) -> Engine {
    let (engine, id) = (Engine::default(), ClusterId::random());
    engine.watch_exactly([(id, String::new(), Access::client_at_hand(client))]);
    let mut revision = engine.revision();
    loop {
        revision.borrow_and_update();
        // Each pod of the bench requests 200 millicores, so that a sum tells how many are known.
        let glance = engine.glance(id);
        let requested = glance.and_then(|glance| glance.health.and(glance.usage.clone())?.cpu.requested);
        if requested.is_some_and(|requested| requested >= u64::from(pods) * 200) {
            return engine;
        }
        let _ = tokio::time::timeout(Duration::from_millis(100), revision.changed()).await;
    }
}

/// The same cluster so many times, each time by connections of its own.
async fn many_times(kubeconfig: &str, times: u32) -> anyhow::Result<Engine> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    let mut all = Vec::new();
    for _ in 0..times {
        let config = Config::from_custom_kubeconfig(file.clone(), &KubeConfigOptions::default()).await?;
        all.push((ClusterId::random(), String::new(), Access::client_at_hand(guarded(config, Limits::default())?)));
    }
    let engine = Engine::default();
    engine.watch_exactly(all);
    while engine.fleet().iter().any(|glance| glance.health.is_none()) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    tokio::time::sleep(Duration::from_secs(20)).await;
    Ok(engine)
}

/// The same list of pods, of which nothing is read but its bytes: what the server alone takes to send it.
async fn bytes_alone(client: Client) -> anyhow::Result<usize> {
    const END: &[u8] = b"k8s.io/initial-events-end";
    let path =
        "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let mut request = http::Request::new(kube::client::Body::empty());
    *request.uri_mut() = path.parse()?;
    let mut body = client.send(request).await?.into_body();
    let (mut count, mut end) = (0, Vec::new());
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        count += data.len();
        // The bookmark at the end is smaller than what is looked at of each piece.
        end.drain(..end.len().saturating_sub(END.len()));
        end.extend_from_slice(data.get(data.len().saturating_sub(4096)..).unwrap_or_default());
        if end.windows(END.len()).any(|window| window == END) {
            return Ok(count);
        }
    }
    bail!("the list has no end")
}

async fn full_objects(client: Client, pods: u32) -> (reflector::Store<Pod>, reflector::Store<Node>) {
    let (pod_store, pod_writer) = reflector::store();
    let (node_store, node_writer) = reflector::store();
    let (all_pods, all_nodes): (Api<Pod>, Api<Node>) = (Api::all(client.clone()), Api::all(client));
    let config = || watcher::Config::default().streaming_lists();
    let watched_pods = reflector(pod_writer, watcher::watcher(all_pods, config())).default_backoff();
    let watched_nodes = reflector(node_writer, watcher::watcher(all_nodes, config())).default_backoff();
    tokio::spawn(watched_pods.for_each(|_| async {}));
    tokio::spawn(watched_nodes.for_each(|_| async {}));
    let _ = futures::join!(pod_store.wait_until_ready(), node_store.wait_until_ready());
    while u32::try_from(pod_store.len()).unwrap_or(u32::MAX) < pods {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    (pod_store, node_store)
}
