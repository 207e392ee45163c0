//! How fast kubeopera-api is with 10,000 clusters, and the view of 500 that are watched, beside the goals: `cargo run --release -p kubeopera-api-bench`.
//!
//! The API is a process of its own, on a real API server and a real SQLite file, and is measured from outside: over HTTP,
//! with a personal access token.
#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]
#![allow(
    clippy::indexing_slicing,
    reason = "JSON that lacks a field has null there, and lists are chosen from by remainder"
)]

mod api;
mod clusters;
mod connect;
mod crowd;
mod kubeconfigs;
mod lists;
mod multi;
mod process;
mod target;

use std::env;

use anyhow::bail;
use testkit_bench::{ControlPlane, client, heading, serve_replay};

/// Clusters on record.
const CLUSTERS: usize = 10_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => {
            lists_and_connects(CLUSTERS).await?;
            multi::run().await
        }
        ["with", clusters] => lists_and_connects(clusters.parse()?).await,
        ["multi"] => multi::run().await,
        // For a closer look at a cluster of one's own.
        ["fill", kubeconfig, clusters] => clusters::write(&client(kubeconfig).await?, clusters.parse()?).await,
        // How this program calls itself.
        ["serve", kubeconfig, folder] => process::serve(kubeconfig, folder, None).await,
        ["serve", kubeconfig, folder, replay] if replay.starts_with("http") => {
            process::serve(kubeconfig, folder, Some(replay)).await
        }
        ["serve", clusters, nodes, pods] => serve_replay(clusters.parse()?, nodes.parse()?, pods.parse()?).await,
        _ => bail!("kubeopera-api-bench [with CLUSTERS | multi]"),
    }
}

async fn lists_and_connects(count: usize) -> anyhow::Result<()> {
    kubeconfigs::measure()?;
    let cluster = ControlPlane::start("bench-api")?;
    clusters::write(&client(&cluster.kubeconfig).await?, count).await?;
    let folder = tempfile::tempdir()?;
    let api = process::Api::start(&cluster, folder.path(), None).await?;
    lists::wait_for(&api, count).await?;
    heading(&format!("{count} clusters on record, their resources on a real API server"));
    api.tell_memory(None);
    lists::measure(&api, folder.path()).await?;
    connect::measure(&api, &cluster).await?;
    api.tell_memory(Some(128.0));
    crowd::measure(&api).await
}
