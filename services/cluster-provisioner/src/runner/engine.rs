//! Terraform, or what is called like it, as a process.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines},
    process::{Child, ChildStderr, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};
use vocabulary::{Secret, Trouble};

/// Of what goes to standard error no more is kept.
const LONGEST_LAST_WORDS: usize = 16 * 1024;

/// The program that does the work.
#[derive(Debug, Clone)]
pub struct Engine {
    program: PathBuf,
}

/// Terraform at work.
pub(super) struct Running {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    errors: Option<JoinHandle<String>>,
    last_words: String,
}

/// What there is to hear.
pub(super) enum Heard {
    Line(String),
    Nothing,
    End,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    Well,
    Badly,
}

impl Engine {
    /// `terraform` or `tofu`, by path or by name.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    fn command(&self, folder: &Path, arguments: &[&str], environment: &[(&str, String)]) -> Command {
        let mut command = Command::new(&self.program);
        // What it would write of its own accord shows every call with its headers, whatever the image has set.
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TF_LOG")) {
            command.env_remove(name);
        }
        command
            .args(arguments)
            .current_dir(folder)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // With the providers it starts, which are not to outlive it.
            .process_group(0);
        command
    }

    pub(super) fn start(
        &self,
        folder: &Path,
        arguments: &[&str],
        environment: &[(&str, String)],
    ) -> Result<Running, Trouble> {
        let mut child = self.command(folder, arguments, environment).spawn().map_err(|error| self.missing(&error))?;
        let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else { return Err(no_output()) };
        let errors = Some(tokio::spawn(read(errors)));
        Ok(Running { child, lines: BufReader::new(output).lines(), errors, last_words: String::new() })
    }

    /// What `terraform output -json` prints.
    pub(super) async fn output(&self, folder: &Path, environment: &[(&str, String)]) -> Result<Secret, Trouble> {
        let asked = self.command(folder, &["output", "-json", "-no-color"], environment).output();
        let answer = timeout(Duration::from_mins(2), asked).await.map_err(|_| no_output())?;
        let answer = answer.map_err(|error| self.missing(&error))?;
        String::from_utf8(answer.stdout).map(Secret::new).map_err(|_| no_output())
    }

    fn missing(&self, error: &std::io::Error) -> Trouble {
        Trouble::rejected(
            "NoTerraform",
            format!(
                "The image of the provisioning Job has no program {}: {error}. Use an image that has Terraform or OpenTofu.",
                self.program.display()
            ),
        )
    }
}

fn no_output() -> Trouble {
    Trouble::transient("TerraformSilent", "Terraform did not say what it has made. It is tried again.")
}

async fn read(errors: ChildStderr) -> String {
    let mut text = Vec::new();
    let mut errors = errors.take(LONGEST_LAST_WORDS as u64);
    drop(errors.read_to_end(&mut text).await);
    // Read on, or it would wait for room in the pipe.
    drop(tokio::io::copy(&mut errors.into_inner(), &mut tokio::io::sink()).await);
    String::from_utf8_lossy(&text).into_owned()
}

impl Drop for Running {
    /// Of one that is given up nothing goes on.
    fn drop(&mut self) {
        if let Some(group) = self.id() {
            let _ended = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Running {
    /// None once it has ended.
    fn id(&self) -> Option<Pid> {
        self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
    }

    /// The next line, until it says nothing more. Can be given up and called again.
    pub(super) async fn line(&mut self) -> Heard {
        match self.lines.next_line().await {
            Ok(Some(line)) => Heard::Line(line),
            // A line that is no text is not the end.
            Err(_) => Heard::Nothing,
            Ok(None) => Heard::End,
        }
    }

    /// Asks it to finish what it is at. A second time would make it drop everything.
    pub(super) fn stop(&self) {
        if let Some(id) = self.id() {
            // One that has just ended needs no asking.
            let _ended = kill_process(id, Signal::TERM);
        }
    }

    pub(super) async fn ended(&mut self) -> Ended {
        let status = self.child.wait().await;
        if let Some(errors) = self.errors.take() {
            self.last_words = errors.await.unwrap_or_default();
        }
        if status.is_ok_and(|status| status.success()) { Ended::Well } else { Ended::Badly }
    }

    /// What it wrote to standard error.
    pub(super) fn last_words(&self) -> String {
        self.last_words.clone()
    }
}
