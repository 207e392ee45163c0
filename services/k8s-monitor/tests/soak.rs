//! Two minutes of pods that come and go: memory stays where it is. A program of its own, as the server that it watches is
//! this program once more and must not count.
#![allow(missing_docs, clippy::print_stdout, clippy::expect_used, reason = "a test that is a program")]

use std::time::{Duration, Instant};

use anyhow::ensure;
use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::Monitor;
use kube::Config;
use kube_kit::{Limits, guarded};
use testkit_bench::{Process, Replay, serve_replay};
use vocabulary::ClusterId;

const NODES: u32 = 50;
const PODS: u32 = 2_000;
/// Replaced each second.
const REPLACED: u32 = 500;
/// Until maps and buffers have what such a cluster needs.
const WARM: Duration = Duration::from_mins(1);
const LASTING: Duration = Duration::from_mins(2);
/// If but 70 bytes were left of each of the 60,000 pods that are gone, it would be more.
const MOST: f64 = 4.0;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve", clusters, nodes, pods] => serve_replay(clusters.parse()?, nodes.parse()?, pods.parse()?).await,
        words if words.contains(&"--ignored") => memory_stays_where_it_is().await,
        _ => {
            println!("memory_stays_where_it_is ... ignored, takes three minutes");
            Ok(())
        }
    }
}

async fn memory_stays_where_it_is() -> anyhow::Result<()> {
    rustls::crypto::aws_lc_rs::default_provider().install_default().expect("nobody else did");
    let replay = Replay::start(1, NODES, PODS).await?;
    let (engine, id) = (Engine::default(), ClusterId::random());
    let client = guarded(Config::new(replay.cluster(0).parse()?), Limits::default())?;
    engine.watch_exactly([(id, String::new(), Access::client_at_hand(client))]);
    replay.churn(REPLACED).await?;

    let this = Process::this();
    tokio::time::sleep(WARM).await;
    let (before, began) = (this.resident(), Instant::now());
    let mut revisions = 0;
    let mut revision = engine.revision();
    while began.elapsed() < LASTING {
        if tokio::time::timeout(Duration::from_secs(10), revision.changed()).await.is_ok() {
            revisions += 1;
        }
    }
    let grown = this.resident() - before;

    println!("memory: {before:.1} MiB, {grown:+.1} MiB after {LASTING:?}; {revisions} revisions");
    let glance = engine.glance(id).expect("it is watched");
    ensure!(glance.freshness.unreachable.is_none() && revisions > 10, "nothing came and went: {glance:?}");
    let requested = glance.usage.as_ref().and_then(|usage| usage.cpu.requested).unwrap_or_default();
    // Each of the server's pods requests 200 millicores, and no more are there than are meant to be.
    let right = u64::from(PODS) * 200;
    ensure!(requested <= right + u64::from(REPLACED) * 200, "{requested} millicores are requested, of {right}");
    ensure!(grown < MOST, "memory grew by {grown:.1} MiB in {LASTING:?}");
    Ok(())
}
