//! A real API server and etcd.

use std::{env, path::PathBuf, process::Stdio};

use anyhow::{Context, bail};
use kube::{Client, Config, config::KubeConfigOptions};

/// A control plane without nodes, which ends with this.
pub struct ControlPlane {
    program: PathBuf,
    name: String,
    /// Path of a kubeconfig of its administrator.
    pub kubeconfig: String,
}

impl ControlPlane {
    /// Starts one by the program that `KUBEOPERA_LOCAL_CLUSTER` names. It is called by `name` and this process's id.
    pub fn start(name: &str) -> anyhow::Result<Self> {
        let program = env::var("KUBEOPERA_LOCAL_CLUSTER").context("KUBEOPERA_LOCAL_CLUSTER names no local-cluster")?;
        let name = format!("{name}-{}", std::process::id());
        let mut started = Self { program: program.into(), name, kubeconfig: String::new() };
        started.run(&["up", &started.name, "--control-plane-only", "--ephemeral"])?;
        let path = started.run(&["kubeconfig", &started.name, "--path"])?;
        path.trim().clone_into(&mut started.kubeconfig);
        Ok(started)
    }

    /// Stops one of its programs.
    pub fn stop(&self, program: &str) -> anyhow::Result<()> {
        self.run(&["stop", &self.name, program]).map(|_| ())
    }

    fn run(&self, words: &[&str]) -> anyhow::Result<String> {
        let mut command = std::process::Command::new(&self.program);
        let output = command.args(words).stderr(Stdio::inherit()).output().context("running local-cluster")?;
        if !output.status.success() {
            bail!("local-cluster {} failed", words.join(" "));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let _ = self.run(&["down", &self.name, "--delete-data"]);
    }
}

/// A plain client for whoever a kubeconfig is of.
pub async fn client(kubeconfig: &str) -> anyhow::Result<Client> {
    let kubeconfig = kube::config::Kubeconfig::read_from(kubeconfig)?;
    Ok(Client::try_from(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)?)
}
