//! Five hundred clusters: the Multi-Cluster view with some of them dead, a refresh, and what watching them takes.

use std::time::{Duration, Instant};

use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Listed, Monitor, Row, Setup, Summary};
use kube::Config;
use kube_kit::{Limits, guarded};
use testkit_bench::{AskedSoFar, Process, Replay, figure, heading, times};
use tokio::time::sleep;
use vocabulary::ClusterId;

const CLUSTERS: u32 = 500;
const NODES: u32 = 20;
const PODS: u32 = 300;
/// How often the view is asked for.
const VIEWS: u32 = 500;
/// How often a node changes.
const CHANGES: usize = 100;

struct Fleet {
    engine: Engine,
    ids: Vec<ClusterId>,
    replay: Replay,
}

/// Measures in this process; the clusters are in another.
pub(crate) async fn run() -> anyhow::Result<()> {
    heading(&format!("{CLUSTERS} clusters of {NODES} nodes and {PODS} pods, from a replay server"));
    let replay = Replay::start(CLUSTERS, NODES, PODS).await?;
    let before = Process::this().resident();
    let began = Instant::now();
    let fleet = Fleet::watch(replay)?;
    fleet.until_known().await;
    figure("all known after", began.elapsed().as_secs_f64(), "s", None);
    // Connections of the start are closed after a while, and what was only needed then is given back.
    sleep(Duration::from_secs(20)).await;
    let now = Process::this().resident();
    figure("memory", now - before, "MiB", Some(400.0));
    figure("memory for a cluster", (now - before) * 1024.0 / f64::from(CLUSTERS), "KiB", None);
    let (began, processor) = (Instant::now(), Process::this().processor_time());
    sleep(Duration::from_secs(20)).await;
    let share =
        Process::this().processor_time().saturating_sub(processor).as_secs_f64() / began.elapsed().as_secs_f64();
    figure("processor while nothing happens, of a core", share * 100.0, "%", Some(15.0));
    fleet.staleness().await?;
    fleet.restart().await?;

    for dead in [0, 1, 10, 100] {
        fleet.replay.kill(dead).await?;
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

/// The most that was asked for in a second.
#[derive(Default)]
struct Busiest {
    watches: f64,
    requests: f64,
}

impl Busiest {
    /// A second or so passes between these two.
    fn passes(&mut self, before: (Instant, AskedSoFar), after: (Instant, AskedSoFar)) {
        let seconds = after.0.duration_since(before.0).as_secs_f64();
        #[allow(clippy::cast_precision_loss, reason = "some thousands")]
        let rate = |before: usize, after: usize| after.saturating_sub(before) as f64 / seconds;
        self.watches = self.watches.max(rate(before.1.watches, after.1.watches));
        self.requests = self.requests.max(rate(before.1.requests, after.1.requests));
    }
}

impl Fleet {
    fn watch(replay: Replay) -> anyhow::Result<Self> {
        let engine = Engine::default();
        let ids: Vec<_> = (0..CLUSTERS).map(|_| ClusterId::random()).collect();
        let mut all = Vec::new();
        for (number, id) in (0..).zip(&ids) {
            let mut config = Config::new(replay.cluster(number).parse()?);
            // As a kubeconfig has its own authority, and not the hundred and more that browsers trust.
            config.root_cert = Some(Vec::new());
            all.push((*id, String::new(), Access::client_at_hand(guarded(config, Limits::default())?)));
        }
        engine.watch_exactly(all);
        Ok(Self { engine, ids, replay })
    }

    async fn until_known(&self) {
        while self.engine.fleet().iter().any(|glance| glance.health.is_none()) {
            sleep(Duration::from_millis(20)).await;
        }
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
        let mut taken = Vec::new();
        for (cluster, id) in (100..).zip(self.ids.iter().skip(100)).take(CHANGES) {
            let began = Instant::now();
            self.replay.change(cluster, false).await?;
            let mut revision = self.engine.revision();
            loop {
                revision.borrow_and_update();
                let glance = self.engine.glance(*id);
                if glance.and_then(|glance| glance.nodes).is_some_and(|nodes| nodes.ready < nodes.total) {
                    break;
                }
                let _ = tokio::time::timeout(Duration::from_millis(100), revision.changed()).await;
            }
            taken.push(began.elapsed());
        }
        times("from a node's change to the score", &mut taken, Some(1000.0));
        Ok(())
    }

    /// The server goes away for ten seconds, as one that is restarted, and with it all clusters.
    async fn restart(&self) -> anyhow::Result<()> {
        let before = self.replay.asked().await?.open;
        self.replay.go_away(10).await?;
        sleep(Duration::from_secs(9)).await;
        let first = loop {
            if let Ok(asked) = self.replay.asked().await {
                break asked;
            }
            sleep(Duration::from_millis(50)).await;
        };
        let began = Instant::now();
        let (mut busiest, mut last) = (Busiest::default(), (began, first));
        loop {
            sleep(Duration::from_secs(1)).await;
            let now = (Instant::now(), self.replay.asked().await?);
            busiest.passes(last, now);
            last = now;
            if now.1.open >= before || began.elapsed() > Duration::from_mins(2) {
                break;
            }
        }
        let back = format!("a server restarts: {} of {before} watches back after", last.1.open);
        figure(&back, began.elapsed().as_secs_f64(), "s", Some(30.0));
        figure("watches asked for in the busiest second", busiest.watches, "/s", Some(100.0));
        figure("requests of all kinds in the busiest second", busiest.requests, "/s", None);
        Ok(())
    }

    /// The view made anew each time, which the API does only when something has changed.
    fn views(&self, dead: u32) {
        let mut taken = Vec::new();
        for _ in 0..VIEWS {
            let began = Instant::now();
            let glances = self.engine.fleet();
            let rows: Vec<Row> = glances.iter().map(|glance| Row::of(listed(glance.cluster), Some(glance))).collect();
            let summary = Summary::of(rows.iter().zip(glances.iter().map(Some)));
            let _ = std::hint::black_box(serde_json::to_vec(&(&summary, &rows)));
            taken.push(began.elapsed());
        }
        times(&format!("the view drawn anew with {dead} dead"), &mut taken, Some(15.0));
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
