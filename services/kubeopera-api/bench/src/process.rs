//! The processes that are measured: a control plane, and a kubeopera-api alone.

use std::{
    env,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use async_trait::async_trait;
use auth_service::{AuthService, RootKeys};
use auth_service_contract::{AccessTokens, People, Role};
use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::{Glance, Late, Monitor, Snapshot};
use kube::{Client, config::KubeConfigOptions};
use kubeopera_api::{Allowance, Allowances, Config, PlatformDefaults};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::TcpListener,
    process::{Child, Command},
    sync::watch,
};
use tokio_util::sync::CancellationToken;
use vocabulary::{Actor, ClusterId, Secret};

use crate::{api::Caller, table::figure};

/// Any key will do for a database that lasts minutes.
const ROOT_KEY: &[u8] = b"a2V5IG9mIHRoZSBiZW5jaCBvZiBrdWJlb3BlcmEtYXA=";

/// A real API server and etcd, which end with this.
pub(crate) struct ControlPlane {
    program: PathBuf,
    name: String,
    pub(crate) kubeconfig: String,
}

impl ControlPlane {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let program = env::var("KUBEOPERA_LOCAL_CLUSTER").context("KUBEOPERA_LOCAL_CLUSTER names no local-cluster")?;
        let name = format!("bench-api-{}", std::process::id());
        let mut started = Self { program: program.into(), name, kubeconfig: String::new() };
        started.run(&["up", &started.name, "--control-plane-only", "--ephemeral"])?;
        let path = started.run(&["kubeconfig", &started.name, "--path"])?;
        path.trim().clone_into(&mut started.kubeconfig);
        Ok(started)
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = std::process::Command::new(&self.program);
        let output = command.args(words).stderr(Stdio::inherit()).output().context("running local-cluster")?;
        if !output.status.success() {
            bail!("local-cluster {} failed", words.join(" "));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        client(&self.kubeconfig).await
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let _ = self.run(&["down", &self.name, "--delete-data"]);
    }
}

async fn client(kubeconfig: &str) -> anyhow::Result<Client> {
    let kubeconfig = kube::config::Kubeconfig::read_from(kubeconfig)?;
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    Ok(Client::try_from(config)?)
}

/// kubeopera-api in a process of its own, which ends with this.
pub(crate) struct Api {
    pub(crate) caller: Caller,
    child: Child,
}

impl Api {
    pub(crate) async fn start(cluster: &ControlPlane, folder: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(env::current_exe().context("finding this program")?);
        command.arg("serve").arg(&cluster.kubeconfig).arg(folder).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("starting kubeopera-api")?;
        let output = child.stdout.take().context("kubeopera-api has no output")?;
        let line = BufReader::new(output).lines().next_line().await?.context("kubeopera-api said nothing")?;
        let (address, token) = line.split_once(' ').context("kubeopera-api said something else")?;
        Ok(Self { caller: Caller::new(address, token)?, child })
    }

    /// Prints what the process takes: its resident memory, and the part that it shares with no other.
    pub(crate) fn tell_memory(&self, goal: Option<f64>) {
        let path = format!("/proc/{}/smaps_rollup", self.child.id().unwrap_or_default());
        let rollup = std::fs::read_to_string(path).unwrap_or_default();
        let mebibytes = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
            line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
        };
        figure("memory of kubeopera-api alone, resident", mebibytes("Rss:"), "MiB", goal);
        figure(
            "… of it shared with no other process",
            mebibytes("Private_Dirty:") + mebibytes("Private_Clean:"),
            "MiB",
            None,
        );
    }
}

/// Serves the API, after a line with its address and a token.
pub(crate) async fn serve(kubeconfig: &str, folder: &str) -> anyhow::Result<()> {
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
    let scaffolder = gitops_scaffolder::Scaffolder::new(gitops_scaffolder::Config::new(folder.into())).await?;
    kubeopera_api::run(
        Config { allowances, ..Config::default() },
        listener,
        db,
        client,
        Arc::new(auth),
        Arc::new(scaffolder),
        Arc::new(NobodyWatches(watch::Sender::new(0))),
        defaults,
        CancellationToken::new(),
    )
    .await?;
    Ok(())
}

/// k8s-monitor has a bench of its own.
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
