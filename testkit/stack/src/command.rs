//! Running a program and getting what it printed.

use anyhow::{Context, bail};
use tokio::process::Command;

/// Runs a command to its end; its output if it succeeded, all it said if it did not.
pub async fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.kill_on_drop(true).output().await.with_context(|| format!("starting {command:?}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        bail!("{command:?} ended with {}:\n{}{}", output.status, text(&output.stdout), text(&output.stderr));
    }
    Ok(text(&output.stdout))
}
