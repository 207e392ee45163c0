//! The `kubeopera` program, started as a user starts it.

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use anyhow::{Context, bail};
use tokio::{
    net::TcpListener,
    process::{Child, Command},
    time::Instant,
};

use crate::{LocalCluster, dashboard::choose_password, local_cluster};

/// How long a start may take, database, CRD and repository included.
const START: Duration = Duration::from_mins(2);
/// How long a clean stop may take.
const STOP: Duration = Duration::from_secs(20);

/// How a test's KubeOpera differs from the ordinary one.
#[derive(Debug, Clone)]
pub struct ProgramOptions {
    /// Path of the `kubeopera` executable.
    pub executable: PathBuf,
    /// Which cluster it uses.
    pub way: Way,
    /// Further arguments of `kubeopera up`.
    pub arguments: Vec<String>,
    /// Further variables of its environment.
    pub environment: Vec<(String, String)>,
}

/// How KubeOpera comes to its cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// `--local`: it starts the cluster itself, as `make up` does.
    Local,
    /// By the kubeconfig of a cluster that runs, told where Flux and the mirror are.
    Kubeconfig,
}

/// A running KubeOpera with a data folder of its own. It ends with this value.
pub struct Program {
    options: ProgramOptions,
    /// Port of the dashboard, the same at every start. The Git repository's needs no choosing: it is bound to an address
    /// that only this test's cluster has.
    port: u16,
    cluster: String,
    kubeconfig: PathBuf,
    data: PathBuf,
    log: PathBuf,
    starts: usize,
    child: Option<Child>,
    password: Option<String>,
    _folder: tempfile::TempDir,
}

impl Program {
    /// Starts KubeOpera on a cluster, with nothing of an earlier one.
    pub async fn start(cluster: &LocalCluster, options: ProgramOptions) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("making a data folder")?;
        let mut program = Self {
            options,
            port: free_port().await?,
            cluster: cluster.name().to_owned(),
            kubeconfig: cluster.kubeconfig().to_owned(),
            data: folder.path().join("data"),
            log: folder.path().join("log"),
            starts: 0,
            child: None,
            password: None,
            _folder: folder,
        };
        program.start_again().await?;
        Ok(program)
    }

    /// Starts it again with the same data after it was stopped or killed.
    pub async fn start_again(&mut self) -> anyhow::Result<()> {
        self.launch().await?;
        let http = reqwest::Client::builder().timeout(Duration::from_secs(2)).build()?;
        let deadline = Instant::now() + START;
        while !self.is_up(&http).await? {
            let ended = self.child.as_mut().and_then(|child| child.try_wait().transpose()).transpose()?;
            if ended.is_some() || Instant::now() >= deadline {
                let why = ended
                    .map_or_else(|| "it was not up in time".to_owned(), |status| format!("it ended with {status}"));
                bail!(
                    "starting kubeopera: {why}. It said:\n{}\nIts log:\n{}",
                    self.said().await?,
                    self.logged().await?
                );
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        let said = self.said().await?;
        if let Some(printed) = said.split_once("Password ").and_then(|(_, rest)| rest.split_whitespace().next()) {
            self.password = Some(choose_password(&self.address(), printed).await?);
        }
        Ok(())
    }

    /// Whether it has said that it is running and answers that it is ready.
    async fn is_up(&self, http: &reqwest::Client) -> anyhow::Result<bool> {
        let answer = http.get(format!("{}/readyz", self.address())).send().await;
        Ok(answer.is_ok_and(|answer| answer.status().is_success()) && self.said().await?.contains("Ctrl-C"))
    }

    /// Starts the process without waiting for anything.
    pub async fn launch(&mut self) -> anyhow::Result<()> {
        self.starts += 1;
        let output = File::create(self.stdout_file()).context("making a file for its output")?;
        let log = File::options().create(true).append(true).open(&self.log).context("making a file for its log")?;
        // A test that is killed takes its KubeOpera with it.
        let mut command = Command::new("setpriv");
        command
            .args(["--pdeathsig", "KILL", "--"])
            .arg(&self.options.executable)
            .args(["up", "--listen", &format!("127.0.0.1:{}", self.port)])
            .arg("--data")
            .arg(&self.data)
            .env("RUST_LOG", "info,kubeopera=debug,host_cluster_controller=debug,gitops_scaffolder=debug")
            .envs(self.options.environment.iter().map(|(name, value)| (name, value)))
            .args(&self.options.arguments);
        match self.options.way {
            Way::Local => {
                command.args(["--local", "--local-name", &self.cluster]);
            }
            Way::Kubeconfig => {
                let (manifest, digest) = local_cluster::flux_manifest().await?;
                command.arg("--kubeconfig").arg(&self.kubeconfig);
                command.arg("--flux-manifest").arg(manifest).args(["--flux-manifest-sha256", &digest]);
                command.args(["--mirror", &local_cluster::mirror_address().await?, "--mirror-plain-http"]);
            }
        }
        let child = command.stdin(Stdio::null()).stdout(output).stderr(log).kill_on_drop(true).spawn();
        self.child = Some(child.with_context(|| format!("starting {}", self.options.executable.display()))?);
        Ok(())
    }

    /// SIGKILL: no code of KubeOpera runs after this.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        if let Some(mut child) = self.child.take() {
            child.kill().await.context("killing kubeopera")?;
        }
        Ok(())
    }

    /// Sends it a signal, such as `STOP` to have it sleep and `CONT` to wake it up.
    pub async fn signal(&self, signal: &str) -> anyhow::Result<()> {
        let Some(child) = &self.child else { return Ok(()) };
        let id = child.id().context("kubeopera has ended by itself")?;
        crate::run(Command::new("kill").args([format!("-{signal}"), id.to_string()])).await.map(drop)
    }

    /// Its process.
    pub fn process(&self) -> anyhow::Result<u32> {
        self.child.as_ref().and_then(Child::id).context("kubeopera has ended by itself")
    }

    /// SIGINT, as Ctrl-C sends it; fails if it does not end cleanly.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        self.signal("INT").await?;
        let Some(mut child) = self.child.take() else { return Ok(()) };
        let status = tokio::time::timeout(STOP, child.wait()).await.context("kubeopera did not stop on Ctrl-C")??;
        if !status.success() {
            bail!("kubeopera ended with {status} on Ctrl-C:\n{}", self.logged().await?);
        }
        Ok(())
    }

    /// Address of the dashboard.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Password of `admin`, chosen in place of the one that the first start printed.
    pub fn password(&self) -> anyhow::Result<&str> {
        self.password.as_deref().context("no password was printed")
    }

    /// The data folder.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// The built-in Git repository.
    pub fn repository(&self) -> PathBuf {
        self.data.join("git/gitops.git")
    }

    /// What the last start printed.
    pub async fn said(&self) -> anyhow::Result<String> {
        tokio::fs::read_to_string(self.stdout_file()).await.context("reading what kubeopera said")
    }

    /// The log of all starts.
    pub async fn logged(&self) -> anyhow::Result<String> {
        tokio::fs::read_to_string(&self.log).await.context("reading the log")
    }

    fn stdout_file(&self) -> PathBuf {
        self.log.with_extension(self.starts.to_string())
    }
}

/// A port that nothing on this machine listens on.
async fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port())
}
