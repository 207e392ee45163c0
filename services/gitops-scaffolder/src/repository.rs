//! The repository KubeOpera serves itself, for a start with nothing: one bare repository in the data folder, over smart
//! HTTP, with one credential that may push and one that may only fetch.
//!
//! Git's own `http-backend` does the talking. What it is asked to serve is decided here: this one repository, these two
//! services, nothing else.

mod backend;
mod serve;

use std::{
    io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tokio::process::Command;
use vocabulary::Secret;

use crate::git::{
    clone::FIRST_BRANCH,
    left_behind,
    program::{bare_command, configure},
};

pub use serve::{router, serve};

/// The repository's name, and its path under the address it is served at.
const NAME: &str = "gitops.git";

/// A repository that can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    folder: PathBuf,
}

/// User name and password of one kind of visitor, kept as a digest: comparing digests takes the same time whatever the
/// text, and reading our memory gives nobody the password.
#[derive(Clone)]
pub struct Visitor([u8; 32]);

/// Who may do what.
#[derive(Clone)]
pub struct Credentials {
    /// May fetch and push.
    pub read_write: Visitor,
    /// May fetch.
    pub read_only: Visitor,
}

impl Visitor {
    /// The visitor with this name and password.
    pub fn new(username: &str, password: &Secret) -> Self {
        Self::of(format!("{username}:{}", password.reveal()).as_bytes())
    }

    fn of(name_and_password: &[u8]) -> Self {
        Self(Sha256::digest(name_and_password).into())
    }

    fn is(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl Repository {
    /// The path of its URL: `/gitops.git`.
    pub fn url_path() -> String {
        format!("/{NAME}")
    }

    /// Where it is on disk.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Makes `dir/gitops.git` a repository, if it is none, whose default branch is `main` and whose history cannot be
/// rewritten by anybody. A Git that outlived an earlier process of ours is waited for first.
pub async fn ensure(dir: &Path) -> io::Result<Repository> {
    let folder = dir.join(NAME);
    tokio::fs::create_dir_all(&folder).await?;
    left_behind::wait_for_end(&folder).await?;
    remove_locks(&folder).await?;
    // `git init` again is harmless, and completes one that was interrupted.
    git(&folder, &["init", "--quiet", "--bare", &format!("--initial-branch={FIRST_BRANCH}"), "."]).await?;
    for (setting, value) in [
        ("http.receivepack", "true"),
        ("receive.denyNonFastForwards", "true"),
        ("receive.denyDeletes", "true"),
        ("receive.fsckObjects", "true"),
        ("uploadpack.allowFilter", "true"),
        ("gc.autoDetach", "false"),
    ] {
        git(&folder, &["config", setting, value]).await?;
    }
    Ok(Repository { folder })
}

/// Removes the locks of a Git that was cut off with its machine. Whoever prepares the repository is about to serve it
/// and has waited for those that were at it, so nobody else is using it.
async fn remove_locks(folder: &Path) -> io::Result<()> {
    let refs = folder.join("refs");
    let mut folders = vec![folder.to_owned(), refs.clone()];
    while let Some(folder) = folders.pop() {
        let below_refs = folder.starts_with(&refs);
        let mut entries = match tokio::fs::read_dir(&folder).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            entries => entries?,
        };
        while let Some(entry) = entries.next_entry().await? {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "lock") {
                tracing::warn!(path = %path.display(), "removing the lock of a Git that was cut off");
                tokio::fs::remove_file(&path).await?;
            } else if below_refs && entry.file_type().await?.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(())
}

async fn git(folder: &Path, arguments: &[&str]) -> io::Result<()> {
    let finished = command(folder).args(arguments).current_dir(folder).kill_on_drop(true).output().await?;
    if finished.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&finished.stderr);
    Err(io::Error::other(format!("preparing the repository {}: {}", folder.display(), complaint.trim())))
}

/// Git for work inside the repository, whoever the folder belongs to: a volume's owner is often not the process's user.
fn command(folder: &Path) -> Command {
    let mut command = bare_command(folder);
    configure(&mut command, &[("safe.directory".to_owned(), "*".to_owned())]);
    command
}
