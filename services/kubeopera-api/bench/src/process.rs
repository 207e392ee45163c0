//! The process that is measured: a kubeopera-api alone.

use std::{path::Path, process::Stdio, sync::Arc, time::Duration};

use anyhow::Context;
use async_trait::async_trait;
use auth_service::{AuthService, RootKeys};
use auth_service_contract::{AccessTokens, People, Role};
use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use jiff::{SignedDuration, Timestamp};
use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Glance, Late, Monitor, Snapshot};
use kube::{Api as Objects, Client, api::ListParams};
use kube_kit::{Limits, guarded};
use kubeopera_api::{Allowance, Allowances, Config, PlatformDefaults};
use testkit_bench::{ControlPlane, Process, Replay, client, figure, this_program};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::Child,
    sync::watch,
};
use tokio_util::sync::CancellationToken;
use vocabulary::{Actor, ClusterId, Secret};

use crate::api::Caller;

/// Any key will do for a database that lasts minutes.
const ROOT_KEY: &[u8] = b"a2V5IG9mIHRoZSBiZW5jaCBvZiBrdWJlb3BlcmEtYXA=";

/// kubeopera-api in a process of its own, which ends with this.
pub(crate) struct Api {
    pub(crate) caller: Caller,
    child: Child,
}

impl Api {
    /// Starts it. With a replay server, k8s-monitor watches a cluster there for each HostCluster; without, nobody watches.
    pub(crate) async fn start(cluster: &ControlPlane, folder: &Path, replay: Option<&Replay>) -> anyhow::Result<Self> {
        let mut command = this_program()?;
        command.arg("serve").arg(&cluster.kubeconfig).arg(folder).stdout(Stdio::piped());
        command.args(replay.map(Replay::url));
        let mut child = command.spawn().context("starting kubeopera-api")?;
        let output = child.stdout.take().context("kubeopera-api has no output")?;
        let line = BufReader::new(output).lines().next_line().await?.context("kubeopera-api said nothing")?;
        let (address, token) = line.split_once(' ').context("kubeopera-api said something else")?;
        Ok(Self { caller: Caller::new(address, token)?, child })
    }

    /// The process.
    pub(crate) fn process(&self) -> Process {
        Process::of(self.child.id().unwrap_or_default())
    }

    /// Prints what the process takes: its resident memory, and the part that it shares with no other.
    pub(crate) fn tell_memory(&self, goal: Option<f64>) {
        figure("memory of kubeopera-api alone, resident", self.process().resident(), "MiB", goal);
        figure("… of it shared with no other process", self.process().private(), "MiB", None);
    }
}

/// Serves the API, after a line with its address and a token. `replay` is the address of a replay server to watch.
pub(crate) async fn serve(kubeconfig: &str, folder: &str, replay: Option<&str>) -> anyhow::Result<()> {
    let client = client(kubeconfig).await?;
    let db = service_kit::database::open(&format!("sqlite://{folder}/kubeopera.db?mode=rwc")).await?;
    let auth = AuthService::open(db.clone(), RootKeys::parse(ROOT_KEY)?).await?;
    let password = Secret::new("a password of the bench");
    let user = auth.add_user(&Actor::KubeOpera, &"bench".parse()?, Role::PlatformAdministrator, &password).await?.user;
    let ends = Timestamp::now() + SignedDuration::from_hours(8);
    let token = auth.make_token(&Actor::KubeOpera, user.id, &"bench".parse()?, ends).await?;
    kubeopera_api::bind(&db, &kube_kit::cluster_uid(&client).await?).await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{} {}", listener.local_addr()?, token.secret.reveal());

    let plenty = Allowance { times: 1_000_000, within: Duration::from_hours(1) };
    let allowances = Allowances { checks: plenty, connects: plenty, creates: plenty };
    let defaults = PlatformDefaults {
        git_url: "https://git.acme.com/gitops-iac.git".parse()?,
        git_credentials_secret: "gitops-iac-credentials".parse()?,
        domain: None,
        host_name: "host".parse()?,
    };
    let monitor: Arc<dyn Monitor> = match replay {
        Some(replay) => Arc::new(watch_all(&client, replay).await?),
        None => Arc::new(NobodyWatches(watch::Sender::new(0))),
    };
    let scaffolder = gitops_scaffolder::Scaffolder::new(gitops_scaffolder::Config::new(folder.into())).await?;
    kubeopera_api::run(
        Config { allowances, ..Config::default() },
        listener,
        db,
        client,
        Arc::new(auth),
        Arc::new(scaffolder),
        monitor,
        defaults,
        CancellationToken::new(),
    )
    .await?;
    Ok(())
}

/// Watches a cluster of a replay server for each HostCluster.
async fn watch_all(client: &Client, replay: &str) -> anyhow::Result<Engine> {
    let resources: Objects<HostCluster> = Objects::namespaced(client.clone(), NAMESPACE);
    let mut all = Vec::new();
    for (number, resource) in resources.list(&ListParams::default()).await?.items.into_iter().enumerate() {
        let mut config = kube::Config::new(format!("{replay}/c/{number}").parse()?);
        config.root_cert = Some(Vec::new());
        let access = Access::client_at_hand(guarded(config, Limits::default())?);
        all.push((resource.metadata.name.unwrap_or_default().parse()?, String::new(), access));
    }
    let engine = Engine::default();
    engine.watch_exactly(all);
    Ok(engine)
}

/// Where k8s-monitor is not what is measured.
struct NobodyWatches(watch::Sender<u64>);

#[async_trait]
impl Monitor for NobodyWatches {
    fn fleet(&self) -> Vec<Arc<Glance>> {
        Vec::new()
    }

    fn glance(&self, _: ClusterId) -> Option<Arc<Glance>> {
        None
    }

    fn cluster(&self, _: ClusterId) -> Option<Arc<Snapshot>> {
        None
    }

    async fn refresh(&self, _: Duration) -> Vec<Late> {
        Vec::new()
    }

    fn revision(&self) -> watch::Receiver<u64> {
        self.0.subscribe()
    }
}
