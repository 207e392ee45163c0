//! A Git server of a test's own that can be told to refuse.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{Mutex, PoisonError},
};

use anyhow::Context;
use gitops_scaffolder::repository::{Credentials, Repository, Visitor, ensure, serve};
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::{net::TcpListener, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use vocabulary::Secret;

use crate::LocalCluster;

const PASSWORD: &str = "CANARY-of-the-git-server";

/// A repository served over HTTP at an address that a local cluster reaches.
pub struct GitServer {
    address: SocketAddr,
    repository: Repository,
    serving: Mutex<Option<JoinHandle<()>>>,
    _folder: tempfile::TempDir,
}

impl GitServer {
    /// A server with an empty repository. It refuses connections until [`GitServer::accept`].
    pub async fn prepare(cluster: &LocalCluster) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("making a folder for the repository")?;
        let repository = ensure(folder.path()).await.context("making the repository")?;
        // A port that is free now is all but certainly free in a minute.
        let address = TcpListener::bind((cluster.host_address().await?, 0)).await?.local_addr()?;
        Ok(Self { address, repository, serving: Mutex::default(), _folder: folder })
    }

    /// URL of the repository.
    pub fn url(&self) -> String {
        format!("http://{}{}", self.address, Repository::url_path())
    }

    /// The repository on this machine.
    pub fn repository(&self) -> &Path {
        self.repository.folder()
    }

    /// Serves from now on.
    pub async fn accept(&self) -> anyhow::Result<()> {
        let listener = TcpListener::bind(self.address).await.context("listening again")?;
        let visitor = || Visitor::new("kubeopera", &Secret::new(PASSWORD));
        let credentials = Credentials { read_write: visitor(), read_only: visitor() };
        let repository = self.repository.clone();
        let task = tokio::spawn(async move {
            // A server that fails is seen by the test as one that refuses.
            let _ = serve(listener, repository, credentials, CancellationToken::new()).await;
        });
        *self.serving.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        Ok(())
    }

    /// Refuses connections from now on.
    pub fn refuse(&self) {
        if let Some(task) = self.serving.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
    }

    /// Puts the credentials for it into a Secret of kubeopera-system, which is made if it is not there.
    pub async fn store_credentials(&self, cluster: &LocalCluster, secret: &str) -> anyhow::Result<()> {
        let client = cluster.client().await?;
        let by_us = PatchParams::apply("stack").force();
        let namespace = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "kubeopera-system" } });
        Api::<k8s_openapi::api::core::v1::Namespace>::all(client.clone())
            .patch("kubeopera-system", &by_us, &Patch::Apply(namespace))
            .await?;
        let object = json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": { "name": secret },
            "stringData": { "username": "kubeopera", "password": PASSWORD },
        });
        Api::<SecretObject>::namespaced(client, "kubeopera-system")
            .patch(secret, &by_us, &Patch::Apply(object))
            .await?;
        Ok(())
    }
}

impl Drop for GitServer {
    fn drop(&mut self) {
        self.refuse();
    }
}
