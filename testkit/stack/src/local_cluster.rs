//! A real Kubernetes cluster of a test's own.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::{net::UdpSocket, process::Command};

use crate::command::run;

/// A local cluster that goes away with this value.
pub struct LocalCluster {
    name: String,
    kubeconfig: PathBuf,
    /// `kubectl` remembers what an address served, and addresses are used again.
    kubectl_cache: tempfile::TempDir,
}

impl LocalCluster {
    /// Makes sure that no cluster of this name is there, and takes care of the one that somebody else will start.
    pub async fn expected(name: &str) -> anyhow::Result<Self> {
        let kubectl_cache = tempfile::tempdir().context("making a folder for kubectl")?;
        let kubeconfig = state_folder().join(name).join("kubeconfig");
        let cluster = Self { name: name.to_owned(), kubeconfig, kubectl_cache };
        // What an interrupted run may have left.
        cluster.down().await?;
        Ok(cluster)
    }

    /// Starts a cluster of this name that keeps nothing, with further arguments of `local-cluster up`.
    pub async fn up(name: &str, arguments: &[&str]) -> anyhow::Result<Self> {
        let cluster = Self::expected(name).await?;
        run(local_cluster().args(["up", name, "--ephemeral"]).args(arguments)).await?;
        Ok(cluster)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it keeps its state.
    pub(crate) fn folder(&self) -> PathBuf {
        state_folder().join(&self.name)
    }

    /// File with a kubeconfig of cluster-admin rights.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// The address at which the cluster's pods reach this machine: the one from which this machine reaches the cluster.
    pub async fn host_address(&self) -> anyhow::Result<IpAddr> {
        let config = self.configuration().await?;
        let host = config.cluster_url.host().context("the API server has no host")?;
        let socket = UdpSocket::bind("0.0.0.0:0").await?;
        socket.connect((host, 443)).await.context("finding the way to the cluster")?;
        Ok(socket.local_addr()?.ip())
    }

    /// A client with cluster-admin rights and a limit on every request.
    pub async fn client(&self) -> anyhow::Result<kube::Client> {
        let mut config = self.configuration().await?;
        config.default_retry = false;
        config.connect_timeout = Some(Duration::from_secs(5));
        Ok(kube::Client::try_from(config)?)
    }

    async fn configuration(&self) -> anyhow::Result<kube::Config> {
        let file = Kubeconfig::read_from(&self.kubeconfig).context("reading the kubeconfig")?;
        kube::Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await.context("using the kubeconfig")
    }

    /// `kubectl` aimed at the cluster.
    pub fn kubectl(&self) -> Command {
        let mut command = Command::new("kubectl");
        command.arg("--kubeconfig").arg(&self.kubeconfig).arg("--cache-dir").arg(self.kubectl_cache.path());
        command
    }

    /// Puts the images of an archive onto each node.
    pub async fn load_images(&self, archive: &Path) -> anyhow::Result<()> {
        run(local_cluster().args(["load-image", &self.name]).arg(archive)).await.map(drop)
    }

    /// Stops one program of the control plane, such as `kube-apiserver`.
    pub async fn stop(&self, program: &str) -> anyhow::Result<()> {
        run(local_cluster().args(["stop", &self.name, program])).await.map(drop)
    }

    /// Ends one program of the control plane without letting it tidy up.
    pub async fn kill(&self, program: &str) -> anyhow::Result<()> {
        run(local_cluster().args(["stop", &self.name, program, "--kill"])).await.map(drop)
    }

    /// Starts it again.
    pub async fn start(&self, program: &str) -> anyhow::Result<()> {
        run(local_cluster().args(["start", &self.name, program])).await.map(drop)
    }

    async fn down(&self) -> anyhow::Result<()> {
        run(local_cluster().args(["down", &self.name, "--delete-data"])).await.map(drop)
    }
}

impl Drop for LocalCluster {
    fn drop(&mut self) {
        let ended = std::process::Command::new(program()).args(["down", &self.name, "--delete-data"]).output();
        if let Err(error) = ended {
            complain(&format!("the local cluster {} could not be stopped: {error}", self.name));
        }
    }
}

/// Starts the mirror that serves charts and images to local clusters, and fills it.
pub async fn start_mirror() -> anyhow::Result<()> {
    run(local_cluster().args(["registry", "fill"])).await.map(drop)
}

/// Where the mirror is when it runs.
pub(crate) async fn mirror_address() -> anyhow::Result<String> {
    Ok(run(local_cluster().args(["registry", "address"])).await?.trim().to_owned())
}

/// File and SHA-256 of the Flux install manifest.
pub async fn flux_manifest() -> anyhow::Result<(PathBuf, String)> {
    let printed = run(local_cluster().arg("flux-manifest")).await?;
    let mut words = printed.split_whitespace();
    let path = words.next().context("local-cluster flux-manifest printed no path")?;
    let digest = words.next().context("local-cluster flux-manifest printed no SHA-256")?;
    Ok((path.into(), digest.to_owned()))
}

/// Stops the mirror; clusters can pull nothing until it is started again.
pub async fn stop_mirror() -> anyhow::Result<()> {
    run(local_cluster().args(["registry", "down"])).await.map(drop)
}

/// Where local clusters keep their state.
fn state_folder() -> PathBuf {
    std::env::var_os("KUBEOPERA_LOCAL_STATE").map_or_else(|| "/var/lib/kubeopera/local-cluster".into(), PathBuf::from)
}

fn local_cluster() -> Command {
    Command::new(program())
}

fn program() -> PathBuf {
    std::env::var_os("KUBEOPERA_LOCAL_CLUSTER").map_or_else(|| "local-cluster".into(), PathBuf::from)
}

#[allow(clippy::print_stderr, reason = "a destructor has nobody to return an error to")]
fn complain(text: &str) {
    eprintln!("{text}");
}
