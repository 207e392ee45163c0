//! Five hundred clusters: the Multi-Cluster view with some of them dead, a refresh, and what watching them takes.

use std::time::{Duration, Instant};

use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Listed, Monitor, Row, Setup, Summary};
use kube::Config;
use kube_kit::{Limits, guarded};
use tokio::time::sleep;
use vocabulary::ClusterId;

use crate::{
    process::{memory, processor_time, replay_server},
    table::{figure, heading, percentile},
};

const CLUSTERS: u32 = 500;
const NODES: u32 = 20;
const PODS: u32 = 300;
/// How often the view is asked for.
const VIEWS: u32 = 500;
/// How often a node changes.
const CHANGES: u32 = 100;

struct Fleet {
    engine: Engine,
    ids: Vec<ClusterId>,
    url: String,
}

/// Measures in this process; the clusters are in another.
pub(crate) async fn run() -> anyhow::Result<()> {
    heading(&format!("{CLUSTERS} clusters of {NODES} nodes and {PODS} pods, from a replay server"));
    let (_server, url) = replay_server(CLUSTERS, NODES, PODS).await?;
    let (before, _) = memory();
    let began = Instant::now();
    let fleet = Fleet::watch(url)?;
    fleet.until_known().await;
    figure("all known after", began.elapsed().as_secs_f64(), "s", None);
    // Connections of the start are closed after a while, and what was only needed then is given back.
    sleep(Duration::from_secs(20)).await;
    let (now, _) = memory();
    figure("memory", now - before, "MiB", Some(400.0));
    figure("memory for a cluster", (now - before) * 1024.0 / f64::from(CLUSTERS), "KiB", None);
    let (began, processor) = (Instant::now(), processor_time());
    sleep(Duration::from_secs(20)).await;
    let share = processor_time().saturating_sub(processor).as_secs_f64() / began.elapsed().as_secs_f64();
    figure("processor while nothing happens, of a core", share * 100.0, "%", Some(15.0));
    fleet.staleness().await?;

    for dead in [0, 1, 10, 100] {
        fleet.kill(dead).await?;
        if dead > 0 {
            fleet.until_flagged(dead).await;
        }
        fleet.views(dead);
        if dead <= 10 {
            let began = Instant::now();
            let late = fleet.engine.refresh(Duration::from_secs(2)).await.len();
            figure(
                &format!("refresh with {dead} dead, of which {late} were late"),
                began.elapsed().as_secs_f64(),
                "s",
                Some(2.2),
            );
        }
    }
    Ok(())
}

impl Fleet {
    fn watch(url: String) -> anyhow::Result<Self> {
        let engine = Engine::default();
        let ids: Vec<_> = (0..CLUSTERS).map(|_| ClusterId::random()).collect();
        let mut all = Vec::new();
        for (number, id) in ids.iter().enumerate() {
            let mut config = Config::new(format!("{url}/c/{number}").parse()?);
            // As a kubeconfig has its own authority, and not the hundred and more that browsers trust.
            config.root_cert = Some(Vec::new());
            all.push((*id, String::new(), Access::client_at_hand(guarded(config, Limits::default())?)));
        }
        engine.watch_exactly(all);
        Ok(Self { engine, ids, url })
    }

    async fn until_known(&self) {
        while self.engine.fleet().iter().any(|glance| glance.health.is_none()) {
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn ask(&self, path: &str) -> anyhow::Result<()> {
        let client = reqwest::Client::builder().timeout(Duration::from_secs(10)).build()?;
        client.get(format!("{}{path}", self.url)).send().await?.error_for_status()?;
        Ok(())
    }

    async fn kill(&self, count: u32) -> anyhow::Result<()> {
        self.ask(&format!("/dead/{count}")).await
    }

    async fn until_flagged(&self, count: u32) {
        let began = Instant::now();
        let dead = || self.engine.fleet().iter().filter(|glance| glance.freshness.unreachable.is_some()).count();
        while u32::try_from(dead()).unwrap_or_default() < count {
            sleep(Duration::from_millis(50)).await;
        }
        figure(&format!("{count} dead: all flagged after"), began.elapsed().as_secs_f64(), "s", Some(60.0));
    }

    /// Time from the change of a node to a glance that shows it.
    async fn staleness(&self) -> anyhow::Result<()> {
        let mut seconds = Vec::new();
        for round in 0..CHANGES {
            let cluster = 100 + round;
            let is_ready = false;
            let Some(id) = self.ids.get(cluster as usize) else { break };
            let began = Instant::now();
            self.ask(&format!("/change/{cluster}/{is_ready}")).await?;
            let mut revision = self.engine.revision();
            loop {
                revision.borrow_and_update();
                let glance = self.engine.glance(*id);
                if glance.and_then(|glance| glance.nodes).is_some_and(|nodes| nodes.ready < nodes.total) {
                    break;
                }
                let _ = tokio::time::timeout(Duration::from_millis(100), revision.changed()).await;
            }
            seconds.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        figure("from a node's change to the score, p50", percentile(&mut seconds, 0.5), "ms", Some(50.0 * 2.0));
        figure("from a node's change to the score, p99", percentile(&mut seconds, 0.99), "ms", Some(1000.0));
        Ok(())
    }

    /// The view made anew each time, which the API does only when something has changed.
    fn views(&self, dead: u32) {
        let mut milliseconds = Vec::new();
        let mut bytes = 0;
        for _ in 0..VIEWS {
            let began = Instant::now();
            let glances = self.engine.fleet();
            let rows: Vec<Row> = glances.iter().map(|glance| Row::of(listed(glance.cluster), Some(glance))).collect();
            let summary = Summary::of(rows.iter().zip(glances.iter().map(Some)));
            bytes = serde_json::to_vec(&(&summary, &rows)).map(|text| text.len()).unwrap_or_default();
            milliseconds.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        figure(&format!("the view with {dead} dead, p50"), percentile(&mut milliseconds, 0.5), "ms", Some(3.0));
        figure(&format!("the view with {dead} dead, p99"), percentile(&mut milliseconds, 0.99), "ms", Some(15.0));
        if dead == 0 {
            #[allow(clippy::cast_precision_loss, reason = "some hundred kilobytes")]
            figure("its size", bytes as f64 / 1000.0, "KB", Some(250.0));
        }
    }
}

fn listed(id: ClusterId) -> Listed {
    Listed {
        id,
        name: format!("cluster-{}", id.short()),
        provider: "aws".to_owned(),
        region: "eu-north-1".to_owned(),
        is_host: false,
        kubernetes_version: Some("1.34.4".to_owned()),
        phase: "ready".to_owned(),
        setup: Setup::Done,
    }
}
