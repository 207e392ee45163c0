//! Flux on managed clusters: found, installed, given credentials, pointed at a tree, and let go of.

mod detect;
mod health;
mod install;
mod manifest;
mod pull_secret;
mod sync;
mod workload;

use std::sync::Arc;

use async_trait::async_trait;
use gitops_scaffolder_contract::GitCredential;
use host_cluster_controller_crd::Installation;
use host_cluster_controller_decide::{
    FluxFitness, FluxSeen, GitSecretSeen, PullSecretSeen, SyncSeen, SyncWanted, Target,
};
use tokio::sync::OnceCell;
use vocabulary::{Secret, SecretName, Trouble};

use self::manifest::Manifest;
pub(super) use self::sync::installation;
use super::Connections;
use crate::ports::{Flux, SyncPart};

/// Which Flux is installed where there is none. Nothing of Flux is part of KubeOpera: its manifest is data.
#[derive(Debug, Clone)]
pub struct FluxConfig {
    /// Where Flux's install manifest is: a path, `file:///…` or `https://…`.
    pub manifest: String,
    /// SHA-256 of the manifest, 64 hex digits: what is found there and has another is not applied.
    pub sha256: String,
    /// Registry and path to take Flux's images from instead of `ghcr.io/fluxcd`.
    pub image_registry: Option<String>,
    /// Names of Secrets in the namespace of Flux to pull its images with.
    pub image_pull_secrets: Vec<String>,
}

/// Flux on managed clusters, reached through their connections.
pub struct FluxOnClusters {
    connections: Arc<Connections>,
    config: Option<FluxConfig>,
    installation: Installation,
    manifest: OnceCell<Manifest>,
}

impl FluxOnClusters {
    /// The manifest is read when it is first needed, and once. What is written carries the mark of `installation`.
    pub const fn new(connections: Arc<Connections>, config: Option<FluxConfig>, installation: Installation) -> Self {
        Self { connections, config, installation, manifest: OnceCell::const_new() }
    }

    async fn manifest(&self) -> Result<&Manifest, Trouble> {
        let config = self.config.as_ref().ok_or_else(|| {
            Trouble::rejected(
                "NoFluxManifest",
                "This KubeOpera was started without a Flux install manifest, so it can only use a Flux that is there. \
                 Start it with --flux-manifest and --flux-manifest-sha256, or install Flux on the cluster.",
            )
        })?;
        self.manifest.get_or_try_init(|| Manifest::load(config)).await
    }
}

#[async_trait]
impl Flux for FluxOnClusters {
    async fn look(&self, at: &Target) -> Result<FluxSeen, Trouble> {
        let connection = self.connections.to(at).await?;
        let mut seen = detect::look(connection.client()).await?;
        if let FluxSeen::Present(flux) = &mut seen
            && flux.managed_by_other.is_none()
            && self.config.is_some()
            && !install::is_installed(&connection, self.manifest().await?).await?
        {
            flux.fitness = FluxFitness::ToBeInstalledAgain;
        }
        Ok(seen)
    }

    async fn install(&self, at: &Target) -> Result<(), Trouble> {
        let connection = self.connections.to(at).await?;
        install::install(&connection, self.manifest().await?).await
    }

    async fn git_secret(&self, at: &Target) -> Result<GitSecretSeen, Trouble> {
        sync::git_secret(self.connections.to(at).await?.client(), at.cluster, &self.installation).await
    }

    async fn write_git_secret(&self, at: &Target, credential: &GitCredential, version: &str) -> Result<(), Trouble> {
        let connection = self.connections.to(at).await?;
        sync::write_git_secret(connection.client(), at.cluster, &self.installation, credential, version).await
    }

    async fn pull_secret(&self, at: &Target, name: &SecretName) -> Result<PullSecretSeen, Trouble> {
        pull_secret::look(self.connections.to(at).await?.client(), at.cluster, name).await
    }

    async fn write_pull_secret(
        &self,
        at: &Target,
        name: &SecretName,
        credential: &Secret,
        version: &str,
    ) -> Result<(), Trouble> {
        let connection = self.connections.to(at).await?;
        pull_secret::write(connection.client(), at.cluster, name, credential, version).await
    }

    async fn sync(&self, at: &Target) -> Result<SyncSeen, Trouble> {
        let connection = self.connections.to(at).await?;
        health::look(connection.client(), at.cluster).await
    }

    async fn point(&self, at: &Target, wanted: &SyncWanted) -> Result<(), Trouble> {
        sync::point(&*self.connections.to(at).await?, wanted, &self.installation).await
    }

    async fn suspend_kustomizations(&self, at: &Target) -> Result<(), Trouble> {
        sync::suspend(self.connections.to(at).await?.client(), at.cluster).await
    }

    async fn remove(&self, at: &Target, part: SyncPart) -> Result<(), Trouble> {
        sync::remove(self.connections.to(at).await?.client(), at.cluster, part).await
    }
}
