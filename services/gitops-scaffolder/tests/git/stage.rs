//! A served repository, a scaffolder, and a person with a clone.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use gitops_scaffolder::{
    Config, Scaffolder,
    repository::{self, Credentials, Repository, Visitor},
};
use gitops_scaffolder_contract::{Destination, GitCredential, Origin, Present, TreeInputs};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, ClusterName, GitPath, GitUrl, Provider, Region, Secret};

pub(crate) const CANARY: &str = "CANARY-rw-3f9a";
pub(crate) const READ_ONLY: &str = "CANARY-ro-77c1";

/// A repository on a local port. It goes away with this.
pub(crate) struct Stage {
    pub(crate) folder: TempDir,
    pub(crate) repository: Repository,
    pub(crate) address: std::net::SocketAddr,
    shutdown: CancellationToken,
    served: Option<tokio::task::JoinHandle<std::io::Result<()>>>,
}

pub(crate) fn credentials() -> Credentials {
    Credentials {
        read_write: Visitor::new("kubeopera", &Secret::new(CANARY)),
        read_only: Visitor::new("flux", &Secret::new(READ_ONLY)),
    }
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let repository = repository::ensure(folder.path()).await.unwrap();
        let address = "127.0.0.1:0".parse().unwrap();
        let mut stage = Self { folder, repository, address, shutdown: CancellationToken::new(), served: None };
        stage.open().await;
        stage
    }

    /// Serves, at the same address as before if there was one.
    pub(crate) async fn open(&mut self) {
        let listener = TcpListener::bind(self.address).await.unwrap();
        self.address = listener.local_addr().unwrap();
        self.shutdown = CancellationToken::new();
        let served = repository::serve(listener, self.repository.clone(), credentials(), self.shutdown.clone());
        self.served = Some(tokio::spawn(served));
    }

    pub(crate) async fn close(&mut self) {
        self.shutdown.cancel();
        if let Some(served) = self.served.take() {
            served.await.unwrap().unwrap();
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}{}", self.address, Repository::url_path())
    }

    pub(crate) fn destination(&self) -> Destination {
        self.destination_as("kubeopera", CANARY)
    }

    pub(crate) fn destination_on(&self, branch: &str) -> Destination {
        Destination { branch: Some(branch.parse().unwrap()), ..self.destination() }
    }

    pub(crate) fn destination_as(&self, username: &str, password: &str) -> Destination {
        let credential = GitCredential::Basic {
            username: username.to_owned(),
            password: Secret::new(password),
            certificate_authority: None,
        };
        Destination { url: self.url().parse().unwrap(), branch: None, credential }
    }

    /// A scaffolder with a working folder of its own, as another process would have.
    pub(crate) async fn scaffolder(&self, name: &str) -> Scaffolder {
        Scaffolder::new(self.config(name)).await.unwrap()
    }

    /// The same where a repository of another server may be on this machine as well.
    pub(crate) async fn scaffolder_at(&self, name: &str, url: &GitUrl) -> Scaffolder {
        Scaffolder::new(self.config(name).trusting(url)).await.unwrap()
    }

    /// The repository is on this machine.
    pub(crate) fn config(&self, name: &str) -> Config {
        let config = Config::new(self.work_dir(name)).trusting(&self.url().parse().unwrap());
        Config { network_deadline: Duration::from_secs(20), ..config }
    }

    pub(crate) fn work_dir(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    /// What git says about the repository as it is on the server's disk.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.repository.folder(), arguments)
    }

    /// The subjects of all commits of a branch, newest first.
    pub(crate) fn history(&self, branch: &str) -> Vec<String> {
        self.git(&["log", "--format=%s", branch]).lines().map(str::to_owned).collect()
    }

    /// A person's clone with a work tree. It waits for the server, so the test needs more than one thread.
    pub(crate) fn person(&self) -> Person {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        let url = self.url().replace("http://", &format!("http://kubeopera:{CANARY}@"));
        git(folder.path(), &["clone", "--quiet", &url, "."]);
        Person { folder }
    }
}

pub(crate) struct Person {
    folder: TempDir,
}

impl Person {
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), text).unwrap();
    }

    pub(crate) fn push(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
        self.git(&["push", "--quiet", "origin", "HEAD"]);
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(self.folder.path(), arguments)
    }
}

/// Runs git, which must succeed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = plain_git(folder, arguments);
    let (said, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "git {arguments:?}: {complaint}");
    said.trim().to_owned()
}

pub(crate) fn plain_git(folder: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@acme.com")])
        .envs([("GIT_COMMITTER_NAME", "Ada"), ("GIT_COMMITTER_EMAIL", "ada@acme.com")])
        .output()
        .unwrap()
}

/// A cluster on nobody's cloud, with nothing in it; another one with every call.
pub(crate) fn inputs(name: &str) -> TreeInputs {
    let name: ClusterName = name.parse().unwrap();
    TreeInputs {
        cluster: ClusterId::random(),
        cluster_uid: ClusterId::random().to_string(),
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

pub(crate) fn with_domain(inputs: &TreeInputs, domain: &str) -> TreeInputs {
    TreeInputs { domain: Some(domain.parse().unwrap()), ..inputs.clone() }
}
