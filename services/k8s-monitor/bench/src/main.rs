//! How much watching clusters costs, beside the goals: `cargo run --release -p k8s-monitor-bench`.
//!
//! Whoever watches and whoever is watched are processes of their own, so that each figure is of one of them alone.
#![allow(clippy::print_stdout, reason = "the figures are what this program is for")]

mod fleet;
mod one_cluster;
mod real;

use std::env;

use anyhow::bail;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["all"] => {
            fleet::run().await?;
            one_cluster::run(500, 10_000).await?;
            one_cluster::run(5_000, 150_000).await?;
            one_cluster::soak(2).await?;
            real::run().await
        }
        ["fleet"] => fleet::run().await,
        ["cluster", nodes, pods] => one_cluster::run(nodes.parse()?, pods.parse()?).await,
        ["soak", minutes] => one_cluster::soak(minutes.parse()?).await,
        ["real"] => real::run().await,
        // For a closer look at a cluster of one's own.
        ["fill", kubeconfig] => real::fill(&testkit_bench::client(kubeconfig).await?).await,
        // How this program calls itself.
        ["serve", clusters, nodes, pods] => {
            testkit_bench::serve_replay(clusters.parse()?, nodes.parse()?, pods.parse()?).await
        }
        ["watch", how, kubeconfig_or_url, pods] => one_cluster::watch(how, kubeconfig_or_url, pods.parse()?).await,
        _ => bail!("k8s-monitor-bench [all | fleet | cluster NODES PODS | soak MINUTES | real]"),
    }
}
