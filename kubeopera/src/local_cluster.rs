//! A cluster for those who have none: the `local-cluster` program starts it, and the mirror its charts come from.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, bail};
use gitops_scaffolder::Mirror;
use host_cluster_controller::FluxConfig;
use tokio::process::Command;

/// A local cluster that runs.
pub(crate) struct LocalCluster {
    /// File with its kubeconfig.
    pub(crate) kubeconfig: PathBuf,
    /// Flux as its own modules have it.
    pub(crate) flux: FluxConfig,
    /// Registry that mirrors charts and images.
    pub(crate) mirror: Mirror,
}

/// Starts a cluster of this name and what it needs, or finds them running. Progress goes to the terminal.
pub(crate) async fn ensure(program: Option<&Path>, name: &str) -> anyhow::Result<LocalCluster> {
    let program = program.unwrap_or_else(|| Path::new("local-cluster"));
    show(program, &["registry", "fill"]).await?;
    show(program, &["up", name]).await?;
    let kubeconfig = PathBuf::from(ask(program, &["kubeconfig", name, "--path"]).await?.trim());
    let manifest = ask(program, &["flux-manifest"]).await?;
    let mut words = manifest.split_whitespace().map(str::to_owned);
    let (Some(manifest), Some(sha256)) = (words.next(), words.next()) else {
        bail!("local-cluster flux-manifest printed no path and SHA-256");
    };
    let flux = FluxConfig { manifest, sha256, image_registry: None, image_pull_secrets: Vec::new() };
    let address = ask(program, &["registry", "address"]).await?;
    let mirror = Mirror::new(address.trim(), true).map_err(|why| anyhow::anyhow!("the local mirror: {why}"))?;
    Ok(LocalCluster { kubeconfig, flux, mirror })
}

/// Runs a command that talks to the person at the terminal itself.
async fn show(program: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let status = command(program, arguments).status().await.with_context(|| starting(program))?;
    if !status.success() {
        bail!("`{} {}` did not succeed; what it says above tells why", program.display(), arguments.join(" "));
    }
    Ok(())
}

/// Runs a command for what it prints.
async fn ask(program: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let output =
        command(program, arguments).stderr(Stdio::piped()).output().await.with_context(|| starting(program))?;
    if !output.status.success() {
        bail!(
            "`{} {}` did not succeed: {}",
            program.display(),
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    String::from_utf8(output.stdout).context("reading what local-cluster printed")
}

fn command(program: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

fn starting(program: &Path) -> String {
    format!(
        "starting {}. Build it with `make local-cluster`, name it in KUBEOPERA_LOCAL_CLUSTER, or give a cluster with --kubeconfig",
        program.display()
    )
}
