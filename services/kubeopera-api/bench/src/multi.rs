//! The Multi-Cluster view of 500 clusters, from the clusters to the last byte of the answer, with some of them dead.

use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures::future::try_join_all;
use reqwest::{Method, StatusCode};
use serde_json::Value;
use testkit_bench::{
    ControlPlane, Replay, client, figure, figure_of_at_least, heading, milliseconds, percentile, times,
};
use tokio::time::sleep;

use crate::{clusters, process::Api};

const CLUSTERS: u32 = 500;
const NODES: u32 = 20;
const PODS: u32 = 300;
const VIEW: &str = "/api/v1/clusters/multi";
/// How often the view is asked for.
const TIMES: usize = 500;
/// Who ask at once, and for how long.
const READERS: usize = 4;
const READING: Duration = Duration::from_secs(5);

pub(crate) async fn run() -> anyhow::Result<()> {
    heading(&format!("The Multi-Cluster view of {CLUSTERS} clusters of {NODES} nodes and {PODS} pods, over HTTP"));
    let replay = Replay::start(CLUSTERS, NODES, PODS).await?;
    let cluster = ControlPlane::start("bench-multi")?;
    clusters::write(&client(&cluster.kubeconfig).await?, CLUSTERS as usize).await?;
    let folder = tempfile::tempdir()?;
    let api = Api::start(&cluster, folder.path(), Some(&replay)).await?;
    until(&api, "all clusters are known", Duration::from_mins(5), |view| {
        view["clusters"]
            .as_array()
            .is_some_and(|rows| rows.len() == CLUSTERS as usize && rows.iter().all(|row| !row["health"].is_null()))
    })
    .await?;

    let plain = api.caller.get(VIEW).await?;
    figure("its size", kilobytes(&plain.body), "KB", Some(250.0));
    let compressed = compressed(&api).await?;
    figure("its size as a browser gets it, compressed", kilobytes(&compressed), "KB", Some(40.0));
    let well = views(&api, "the view, all well", Some("gzip")).await?;
    views(&api, "the view, all well, not compressed", None).await?;
    known(&api).await?;
    throughput(&api).await?;
    changing(&api, &replay).await?;

    for dead in [1, 10, 100] {
        replay.kill(dead).await?;
        until(&api, "the dead are flagged", Duration::from_mins(2), |view| {
            // Not the summary: of those that are being set up it counts none as unreachable.
            let rows = view["clusters"].as_array().into_iter().flatten();
            rows.filter(|row| !row["stale"].is_null()).count() >= dead as usize
        })
        .await?;
        let typical = views(&api, &format!("the view with {dead} dead"), Some("gzip")).await?;
        figure("… times as long as with none", typical.as_secs_f64() / well.as_secs_f64(), "", Some(1.1));
        if dead == 10 {
            let answer = api.caller.get(&format!("{VIEW}?refresh=true")).await?;
            figure("the view after asking all clusters, 10 of them dead", answer.took.as_secs_f64(), "s", Some(2.2));
        }
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "some hundred kilobytes")]
fn kilobytes(body: &[u8]) -> f64 {
    body.len() as f64 / 1000.0
}

async fn until(api: &Api, what: &str, within: Duration, is_so: impl Fn(&Value) -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    while !is_so(&api.caller.get(VIEW).await?.json()?) {
        ensure!(began.elapsed() < within, "not seen in time: {what}");
        sleep(Duration::from_millis(250)).await;
    }
    Ok(())
}

async fn compressed(api: &Api) -> anyhow::Result<Vec<u8>> {
    let answer = api.caller.send(Method::GET, VIEW, None, Some(("accept-encoding", "gzip"))).await?;
    ensure!(answer.body.starts_with(&[0x1f, 0x8b]), "the answer is not compressed");
    Ok(answer.body)
}

/// Asks for the view many times, and returns how long it took mostly.
async fn views(api: &Api, what: &str, encoding: Option<&str>) -> anyhow::Result<Duration> {
    let mut took = Vec::new();
    for _ in 0..TIMES {
        let header = encoding.map(|encoding| ("accept-encoding", encoding));
        took.push(api.caller.send(Method::GET, VIEW, None, header).await?.took);
    }
    times(what, &mut took, Some(15.0));
    let typical = percentile(&mut took, 50);
    figure("… mostly", milliseconds(typical), "ms", Some(3.0));
    Ok(typical)
}

/// Whoever has the view already.
async fn known(api: &Api) -> anyhow::Result<()> {
    let tag = api.caller.get(VIEW).await?.tag;
    let mut took = Vec::new();
    for _ in 0..TIMES {
        let answer = api.caller.send(Method::GET, VIEW, None, Some(("if-none-match", &tag))).await?;
        if answer.status == StatusCode::NOT_MODIFIED {
            took.push(answer.took);
        }
    }
    ensure!(took.len() > TIMES / 2, "the view changes although nothing happens");
    times("the view that is known already", &mut took, None);
    Ok(())
}

/// What a core of the API answers, whoever else has the processor.
async fn throughput(api: &Api) -> anyhow::Result<()> {
    let (began, before) = (Instant::now(), api.process().processor_time());
    let read = async || {
        let mut answers = 0_u32;
        while began.elapsed() < READING {
            compressed(api).await.context("reading at once with others")?;
            answers += 1;
        }
        anyhow::Ok(answers)
    };
    let answers: u32 = try_join_all((0..READERS).map(|_| read())).await?.into_iter().sum();
    let cores = api.process().processor_time().saturating_sub(before).as_secs_f64();
    figure_of_at_least("answers in a second of a core", f64::from(answers) / cores.max(0.01), "/s", 2000.0);
    Ok(())
}

/// The view while ten nodes a second change.
async fn changing(api: &Api, replay: &Replay) -> anyhow::Result<()> {
    let change = async {
        for round in 0.. {
            replay.change(200 + round % 200, round / 200 % 2 == 1).await?;
            sleep(Duration::from_millis(100)).await;
        }
        anyhow::Ok(())
    };
    tokio::select! {
        changed = change => changed,
        seen = views(api, "the view while ten nodes a second change", Some("gzip")) => seen.map(|_| ()),
    }
}
