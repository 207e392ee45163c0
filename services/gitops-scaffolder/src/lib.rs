//! gitops-scaffolder: a cluster's complete environment, committed to Git.
//!
//! [`Scaffolder`] renders the tree (crate `gitops-scaffolder-tree`) and makes it be on the repository's default branch:
//! no commit if it is there, one if it is not, whatever else is pushed at the same time and however often it is
//! interrupted. [`repository`] is the repository KubeOpera serves itself where there is no other; [`checkout`] is a tree in
//! somebody's clone.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

mod bases;
mod check;
pub mod checkout;
mod ensure;
mod git;
mod look;
mod merge;
mod proposal;
pub mod repository;

use std::{collections::HashMap, io, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use gitops_scaffolder_contract::{Destination, GitOpsScaffolder, RepositoryCheck, TreeInputs, TreeSeen, WrittenTree};
use tokio::sync::Mutex;
use vocabulary::{GitPath, GitUrl, Trouble};

pub use gitops_scaffolder_tree::{Mirror, NotAMirror, TreeConfig, render};

/// How the scaffolder is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Folder for clones. Everything in it can be lost.
    pub work_dir: PathBuf,
    /// Registry that takes the place of all others in the trees.
    pub mirror: Option<Mirror>,
    /// Who the commits are by.
    pub committer: Committer,
    /// Repositories whose servers, each a host with a port, may be anywhere, also on this machine: whoever starts KubeOpera
    /// names them.
    pub trusted: Vec<GitUrl>,
    /// How long one exchange with a Git server may take in all.
    pub network_deadline: Duration,
}

/// Who commits are by.
#[derive(Debug, Clone)]
pub struct Committer {
    /// Name.
    pub name: String,
    /// E-mail address.
    pub email: String,
}

impl Config {
    /// Trusts the server of a repository.
    #[must_use]
    pub fn trusting(mut self, repository: &GitUrl) -> Self {
        self.trusted.push(repository.clone());
        self
    }

    /// The usual set-up with its clones below `work_dir`.
    pub fn new(work_dir: PathBuf) -> Self {
        let committer = Committer { name: "KubeOpera".to_owned(), email: "bot@kubeopera.io".to_owned() };
        let network_deadline = Duration::from_mins(1);
        Self { work_dir, mirror: None, committer, trusted: Vec::new(), network_deadline }
    }
}

/// gitops-scaffolder in this process.
pub struct Scaffolder {
    config: Config,
    tree: TreeConfig,
    git: git::program::Git,
    /// One operation at a time per clone. The repository itself is shared with people and with other scaffolders.
    turns: Mutex<HashMap<PathBuf, Arc<Mutex<()>>>>,
}

impl Scaffolder {
    /// Prepares the working folder. What an earlier process left behind there is removed, once no Git that outlived it
    /// works there any more.
    pub async fn new(config: Config) -> io::Result<Self> {
        let git = git::program::Git::new(&config.work_dir, config.network_deadline).await?;
        tokio::fs::create_dir_all(config.work_dir.join("clones")).await?;
        git::left_behind::wait_for_end(&config.work_dir).await?;
        let access = config.work_dir.join("access");
        match tokio::fs::remove_dir_all(&access).await {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => tokio::fs::create_dir_all(&access).await?,
        }
        let tree = TreeConfig { mirror: config.mirror.clone() };
        Ok(Self { config, tree, git, turns: Mutex::default() })
    }
}

#[async_trait]
impl GitOpsScaffolder for Scaffolder {
    async fn look(&self, cluster_uid: &str, path: &GitPath, destination: &Destination) -> Result<TreeSeen, Trouble> {
        self.look_at(cluster_uid, path, destination).await
    }

    async fn ensure_tree(&self, inputs: &TreeInputs, destination: &Destination) -> Result<WrittenTree, Trouble> {
        self.ensure(inputs, destination).await
    }

    async fn check(&self, destination: &Destination) -> Result<RepositoryCheck, Trouble> {
        self.check_repository(destination).await
    }
}

#[cfg(test)]
mod tests {
    use gitops_scaffolder_contract::{Origin, Present, TreeInputs};
    use vocabulary::{ClusterName, GitPath, Provider, Region};

    /// A cluster on nobody's cloud, with nothing in it.
    pub(crate) fn inputs(name: &str) -> TreeInputs {
        let name: ClusterName = name.parse().unwrap();
        TreeInputs {
            cluster: "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap(),
            cluster_uid: "0b8d5f5e-2c0d-4f57-8a5e-6d1c9b7e3f02".to_owned(),
            path: GitPath::of_cluster(&name),
            name,
            provider: Provider::unknown(),
            region: Region::unknown(),
            origin: Origin::Existing,
            kubernetes_version: Some("1.34.4".parse().unwrap()),
            nodes: 1,
            domain: None,
            admin_email: None,
            registry_pull_secret: None,
            present: Present::default(),
        }
    }
}
