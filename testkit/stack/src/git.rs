//! Looking into a Git repository.

use std::path::Path;

use tokio::process::Command;

use crate::command::run;

/// Commits of `branch` that touch `path`, newest first, as `<hash> <subject>`.
pub async fn commits_of_path(repository: &Path, branch: &str, path: &str) -> anyhow::Result<Vec<String>> {
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(repository).args(["log", "--format=%H %s", branch, "--", path]);
    Ok(run(&mut git).await?.lines().map(str::to_owned).collect())
}
