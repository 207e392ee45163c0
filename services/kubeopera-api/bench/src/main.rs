//! How fast kubeopera-api is with 10,000 clusters, beside the goals: `cargo run --release -p kubeopera-api-bench`.
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
mod kubeconfigs;
mod lists;
mod process;
mod table;
mod target;

use std::env;

use anyhow::bail;

/// Clusters on record.
const CLUSTERS: usize = 10_000;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => run(CLUSTERS).await,
        ["with", clusters] => run(clusters.parse()?).await,
        // How this program calls itself.
        ["serve", kubeconfig, folder] => process::serve(kubeconfig, folder).await,
        _ => bail!("kubeopera-api-bench [with CLUSTERS]"),
    }
}

async fn run(count: usize) -> anyhow::Result<()> {
    kubeconfigs::measure()?;
    let cluster = process::ControlPlane::start()?;
    let client = cluster.client().await?;
    clusters::write(&client, count).await?;
    let folder = tempfile::tempdir()?;
    let api = process::Api::start(&cluster, folder.path()).await?;
    lists::wait_for(&api, count).await?;
    table::heading(&format!("{count} clusters on record, their resources on a real API server"));
    api.tell_memory(None);
    lists::measure(&api, folder.path()).await?;
    connect::measure(&api, &cluster).await?;
    api.tell_memory(Some(128.0));
    Ok(())
}
