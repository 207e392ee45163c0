//! Where the clusters' trees are committed: a repository that was named, or one that KubeOpera serves itself.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, bail};
use gitops_scaffolder::repository::{Credentials, Repository, Visitor};
use host_cluster_controller_crd::{
    ANNOTATION_GIT_REPOSITORY, BUILT_IN_GIT_CREDENTIALS, KUBEOPERA, LABEL_MANAGED_BY, NAMESPACE,
};
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vocabulary::{GitUrl, SecretName};

use crate::data_folder::{DataFolder, GitPasswords};

/// User who may push to the built-in repository: gitops-scaffolder.
const WRITER: &str = "kubeopera";
/// User who may only fetch from it: the clusters.
const READER: &str = "flux";

/// The clusters' repository.
pub(crate) struct TreeRepository {
    /// Its URL, for clusters and for KubeOpera alike.
    pub(crate) url: GitUrl,
    /// Secret in kubeopera-system with its credentials.
    pub(crate) credentials_secret: SecretName,
    built_in: Option<BuiltIn>,
}

struct BuiltIn {
    listener: TcpListener,
    repository: Repository,
    credentials: Credentials,
}

impl TreeRepository {
    /// A repository that exists elsewhere.
    pub(crate) fn named(url: GitUrl, credentials_secret: SecretName) -> anyhow::Result<Self> {
        if credentials_secret.as_str() == BUILT_IN_GIT_CREDENTIALS {
            bail!("the Secret {credentials_secret} is the built-in repository's. Put those for {url} into another.");
        }
        Ok(Self { url, credentials_secret, built_in: None })
    }

    /// Marks the Secret as the one for the repository: whoever starts KubeOpera with both says that they belong together.
    pub(crate) async fn marked(self, client: &kube::Client) -> anyhow::Result<Self> {
        let Self { url, credentials_secret: name, .. } = &self;
        let mark = Patch::Merge(json!({ "metadata": { "annotations": { ANNOTATION_GIT_REPOSITORY: url.as_str() } } }));
        let secrets = Api::<SecretObject>::namespaced(client.clone(), NAMESPACE);
        match secrets.patch(name.as_str(), &PatchParams::default(), &mark).await {
            // It may be created later; the first cluster says what is missing then.
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            marked => drop(marked.with_context(|| format!("marking Secret {NAMESPACE}/{name} as that for {url}"))?),
        }
        Ok(self)
    }

    /// The repository in the data folder, at an address that clusters can reach; its credentials are put into a Secret.
    pub(crate) async fn built_in(
        data: &DataFolder,
        client: &kube::Client,
        address: IpAddr,
        port: u16,
    ) -> anyhow::Result<Self> {
        if address.is_loopback() || address.is_unspecified() {
            bail!(
                "the cluster cannot reach this machine at {address}. Give an address that it can reach with --git-address, \
                 or a repository of your own with --git-url."
            );
        }
        let listener = listen(SocketAddr::new(address, port), "--git-port").await?;
        let url = format!("http://{}{}", listener.local_addr()?, Repository::url_path());
        let url: GitUrl = url.parse().context("making the repository's URL")?;
        let repository = gitops_scaffolder::repository::ensure(&data.repository()).await?;
        let passwords = data.git_passwords()?;
        store(client, &url, &passwords).await?;
        let credentials = Credentials {
            read_write: Visitor::new(WRITER, &passwords.write),
            read_only: Visitor::new(READER, &passwords.read),
        };
        Ok(Self {
            url,
            credentials_secret: BUILT_IN_GIT_CREDENTIALS.parse().context("naming the repository's Secret")?,
            built_in: Some(BuiltIn { listener, repository, credentials }),
        })
    }

    /// Serves the built-in repository until `shutdown`; a repository elsewhere needs no serving.
    pub(crate) async fn serve(self, shutdown: CancellationToken) -> anyhow::Result<()> {
        let Some(BuiltIn { listener, repository, credentials }) = self.built_in else {
            shutdown.cancelled().await;
            return Ok(());
        };
        gitops_scaffolder::repository::serve(listener, repository, credentials, shutdown)
            .await
            .context("serving the built-in Git repository")
    }
}

/// A listener, or a sentence that names the option with which to choose another place.
pub(crate) async fn listen(address: SocketAddr, option: &str) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("listening on {address}. If another program uses it, choose another with {option}"))
}

/// Puts both passwords where the controller reads them: one to push with, one that clusters get.
async fn store(client: &kube::Client, url: &GitUrl, passwords: &GitPasswords) -> anyhow::Result<()> {
    let secret = json!({
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": BUILT_IN_GIT_CREDENTIALS,
            "labels": { LABEL_MANAGED_BY: KUBEOPERA },
            "annotations": { ANNOTATION_GIT_REPOSITORY: url.as_str() },
        },
        "type": "Opaque",
        "stringData": {
            "username": WRITER,
            "password": passwords.write.reveal(),
            "readonly-username": READER,
            "readonly-password": passwords.read.reveal(),
        },
    });
    Api::<SecretObject>::namespaced(client.clone(), NAMESPACE)
        .patch(BUILT_IN_GIT_CREDENTIALS, &PatchParams::apply("kubeopera").force(), &Patch::Apply(secret))
        .await
        .map(drop)
        .with_context(|| {
            format!("storing the repository's credentials in Secret {NAMESPACE}/{BUILT_IN_GIT_CREDENTIALS}")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_of_ones_own_has_credentials_of_its_own() {
        let named = |secret: &str| {
            TreeRepository::named("https://git.acme.com/one.git".parse().unwrap(), secret.parse().unwrap())
        };

        assert!(named("acme-git").is_ok());
        assert!(named(BUILT_IN_GIT_CREDENTIALS).err().unwrap().to_string().contains("another"));
    }
}
