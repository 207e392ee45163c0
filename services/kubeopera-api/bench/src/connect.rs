//! Registering and connecting, with 10,000 clusters on record.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use kube_kit::{Kubeconfig, KubeconfigOptions, Limits};
use reqwest::{Method, StatusCode};
use serde_json::json;
use testkit_bench::{ControlPlane, figure, milliseconds, percentile, times};

use crate::{
    process::Api,
    target::{Targets, beside},
};

const CONNECTS: usize = 300;
/// What a connect may take without the network.
const GOAL: f64 = 50.0;

pub(crate) async fn measure(api: &Api, cluster: &ControlPlane) -> anyhow::Result<()> {
    let kubeconfig = kube::config::Kubeconfig::read_from(&cluster.kubeconfig)?;
    let server = kubeconfig.clusters.first().and_then(|cluster| cluster.cluster.as_ref()?.server.clone());
    let targets = Targets::serve(beside(&server.context("a kubeconfig without a server")?)?).await?;

    let mut looks = Vec::new();
    for number in 0..50 {
        let began = Instant::now();
        look(&targets.kubeconfig(number)).await?;
        looks.push(began.elapsed());
    }
    let network = percentile(&mut looks, 50);
    let mut connects = Vec::new();
    for number in 0..CONNECTS {
        let body = json!({"name": format!("connected-{number}"), "provider": "aws", "region": "eu-north-1",
            "kubeconfig": targets.kubeconfig(number)});
        let answer = api.caller.send(Method::POST, "/api/v1/clusters/connect", Some(&body), None).await?;
        ensure!(answer.status == StatusCode::CREATED, "connecting: {}", String::from_utf8_lossy(&answer.body));
        connects.push(answer.took);
    }
    times("connect, whole", &mut connects, None);
    figure("… of it asking the cluster (TLS, rights, version, nodes), p50", milliseconds(network), "ms", None);
    let mut own: Vec<_> = connects.iter().map(|took| took.saturating_sub(network)).collect();
    times("connect, without that", &mut own, Some(GOAL));

    let mut registers = Vec::new();
    for _ in 0..CONNECTS {
        registers.push(api.caller.send(Method::POST, "/api/v1/clusters/register", None, None).await?.took);
    }
    times("register this cluster", &mut registers, Some(GOAL));
    relayed(api).await
}

/// What connecting does to a cluster before anything is stored.
async fn look(kubeconfig: &str) -> anyhow::Result<()> {
    let file = Kubeconfig::read(kubeconfig.as_bytes()).ok().context("our own kubeconfig is refused")?;
    let usable = file.current(KubeconfigOptions::default()).ok().context("our own kubeconfig is refused")?;
    let limits = Limits { connect: Duration::from_secs(4), whole: Duration::from_secs(6), body: 8 << 20 };
    let client = usable.client(limits)?;
    ensure!(kube_kit::is_cluster_admin(&client).await?, "the target grants nothing");
    kube_kit::discover(&client).await?;
    Ok(())
}

/// Until the last of them has its resource.
async fn relayed(api: &Api) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let list = api.caller.get("/api/v1/clusters?q=connected-&limit=500").await?.json()?;
        let waiting = |cluster: &&serde_json::Value| {
            cluster["message"].as_str().is_some_and(|message| message.contains("resource to be created"))
        };
        let items = list["items"].as_array().context("a list without items")?;
        if items.len() == CONNECTS && !items.iter().any(|cluster| waiting(&cluster)) {
            break;
        }
        ensure!(began.elapsed() < Duration::from_mins(2), "the outbox is not emptied");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    figure("the last of their resources made, after the last answer", began.elapsed().as_secs_f64(), "s", None);
    Ok(())
}
