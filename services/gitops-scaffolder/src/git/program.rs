//! Runs the git program: nothing of the machine's or the user's configuration, no questions, no shell, a deadline after
//! which it and all it started are killed, and output that is bounded and free of secrets.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
    time::timeout,
};

use super::access::Access;

/// For commands that talk to nobody.
const LOCAL_DEADLINE: Duration = Duration::from_mins(1);
/// More than all the files of any tree; a command that says more is not one of ours.
const MOST_OUTPUT: u64 = 32 << 20;
/// What is kept of what git tells people. The rest is read and dropped, so that git never waits for a reader.
const MOST_COMPLAINT: usize = 16 << 10;
/// Variables of our own environment that git may see: where programs are, and how the site reaches the outside.
const PASSED_ON: [&str; 9] = [
    "PATH",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The git program, set up to find nothing but what it is given.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    home: PathBuf,
    network_deadline: Duration,
}

/// Why a command gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The program is not there.
    #[error("the git program is not installed")]
    Missing,
    /// It could not be started or talked to.
    #[error("the git program could not be run: {0}")]
    NotRun(String),
    /// It was still at it at its deadline.
    #[error("git did not answer within {} seconds", .0.as_secs())]
    TimedOut(Duration),
    /// It said more than any command of ours has to say.
    #[error("git answered with more than {} MiB", MOST_OUTPUT >> 20)]
    TooMuch,
    /// It ended with an error.
    #[error("{complaint}")]
    Failed {
        /// What it wrote for programs.
        output: String,
        /// What it wrote for people, without secrets.
        complaint: String,
    },
}

impl Git {
    /// Git with an empty home below `folder`. Commands that talk to a server have `network_deadline` in all.
    pub(crate) async fn new(folder: &Path, network_deadline: Duration) -> io::Result<Self> {
        let home = folder.join("home");
        tokio::fs::create_dir_all(&home).await?;
        Ok(Self { home, network_deadline })
    }

    /// The same with another deadline for commands that talk to a server.
    pub(crate) fn within(&self, network_deadline: Duration) -> Self {
        Self { home: self.home.clone(), network_deadline }
    }

    /// Runs a command in `folder` that talks to nobody.
    pub(crate) async fn local(&self, folder: &Path, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, Failure> {
        self.run(folder, arguments, input, None, LOCAL_DEADLINE).await
    }

    /// Runs a command in `folder` that talks to the server `access` is for.
    pub(crate) async fn remote(&self, folder: &Path, arguments: &[&str], access: &Access) -> Result<Vec<u8>, Failure> {
        self.run(folder, arguments, &[], Some(access), self.network_deadline).await
    }

    async fn run(
        &self,
        folder: &Path,
        arguments: &[&str],
        input: &[u8],
        access: Option<&Access>,
        deadline: Duration,
    ) -> Result<Vec<u8>, Failure> {
        let mut command = self.command(folder, access);
        command.args(arguments);
        match speak(command, input, deadline).await? {
            Spoken { success: true, output, .. } => Ok(output),
            Spoken { output, complaint, .. } => {
                let scrub = |text: &[u8]| {
                    let text = String::from_utf8_lossy(text).into_owned();
                    access.map_or(text.clone(), |access| access.scrub(&text))
                };
                Err(Failure::Failed { output: scrub(&output), complaint: scrub(&complaint) })
            }
        }
    }

    /// Runs `ssh-keyscan` in `folder`. It fails only where it cannot be run: a server that does not answer has no keys.
    pub(crate) async fn keyscan(&self, folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Failure> {
        let mut command = bare(Command::new("ssh-keyscan"), &self.home);
        command.current_dir(folder).args(arguments);
        speak(command, &[], self.network_deadline).await.map(|spoken| spoken.output)
    }

    fn command(&self, folder: &Path, access: Option<&Access>) -> Command {
        let mut command = bare_command(&self.home);
        command.current_dir(folder);
        // If the folder turns out not to be a repository, git must not find one above it.
        command.envs(folder.parent().map(|above| ("GIT_CEILING_DIRECTORIES", above)));
        let mut settings = vec![
            // A server that sends us elsewhere would get the credential sent elsewhere.
            ("http.followRedirects".to_owned(), "false".to_owned()),
            // A connection that moves less than this is dead. The deadline bounds the whole.
            ("http.lowSpeedLimit".to_owned(), "100".to_owned()),
            ("http.lowSpeedTime".to_owned(), "20".to_owned()),
            ("credential.helper".to_owned(), String::new()),
            ("core.hooksPath".to_owned(), "/dev/null".to_owned()),
            ("gc.auto".to_owned(), "0".to_owned()),
            ("init.defaultBranch".to_owned(), super::clone::FIRST_BRANCH.to_owned()),
        ];
        if let Some(access) = access {
            settings.extend(access.settings());
            command.envs(access.environment());
        }
        configure(&mut command, &settings);
        command
    }
}

/// A program with an environment of nothing but what it needs.
fn bare(mut command: Command, home: &Path) -> Command {
    command
        .env_clear()
        .envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
        .env("HOME", home)
        .env("LC_ALL", "C");
    command
}

/// `git`, with an environment of nothing but what it needs.
pub(crate) fn bare_command(home: &Path) -> Command {
    let mut command = bare(Command::new("git"), home);
    command
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "https:http:ssh");
    command
}

/// Gives git settings by its environment, where only the process's own user can read them; arguments are for everybody.
pub(crate) fn configure(command: &mut Command, settings: &[(String, String)]) {
    command.env("GIT_CONFIG_COUNT", settings.len().to_string());
    for (number, (key, value)) in settings.iter().enumerate() {
        command.env(format!("GIT_CONFIG_KEY_{number}"), key).env(format!("GIT_CONFIG_VALUE_{number}"), value);
    }
}

/// Runs a program to its end, or until it may not go on.
async fn speak(mut command: Command, input: &[u8], deadline: Duration) -> Result<Spoken, Failure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut group = Group::start(command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Missing,
        _ => Failure::NotRun(error.to_string()),
    })?;
    let conversation = group.converse(input);
    let Ok(spoken) = timeout(deadline, conversation).await else { return Err(Failure::TimedOut(deadline)) };
    let spoken = spoken.map_err(|error| Failure::NotRun(error.to_string()))?;
    if spoken.output.len() as u64 > MOST_OUTPUT { Err(Failure::TooMuch) } else { Ok(spoken) }
}

/// A program and everything it starts, all of which end when this is dropped.
pub(crate) struct Group {
    child: Child,
    leader: Option<Pid>,
}

struct Spoken {
    success: bool,
    output: Vec<u8>,
    complaint: Vec<u8>,
}

impl Group {
    /// Starts a program as the leader of a group of its own.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        let child = command.process_group(0).kill_on_drop(true).spawn()?;
        let leader = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        Ok(Self { child, leader })
    }

    /// The program itself, to take its pipes from.
    pub(crate) const fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// To be called when the program has ended by itself: its number may soon be another's.
    pub(crate) const fn ended(&mut self) {
        self.leader = None;
    }

    async fn converse(&mut self, input: &[u8]) -> io::Result<Spoken> {
        let (stdin, stdout, stderr) = (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take());
        let write = async {
            if let Some(mut stdin) = stdin {
                // A program that ends early tells why itself; a closed pipe says nothing more.
                let _ = stdin.write_all(input).await;
                let _ = stdin.shutdown().await;
            }
        };
        let ((), output, complaint) = tokio::join!(write, read_all(stdout), read_start(stderr));
        let success = self.child.wait().await?.success();
        self.ended();
        Ok(Spoken { success, output: output?, complaint: complaint? })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }
}

async fn read_all(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(MOST_OUTPUT + 1).read_to_end(&mut output).await?;
    }
    Ok(output)
}

async fn read_start(pipe: Option<impl AsyncRead + Unpin>) -> io::Result<Vec<u8>> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 4096]);
    if let Some(mut pipe) = pipe {
        loop {
            let read = pipe.read(&mut chunk).await?;
            if read == 0 {
                break;
            }
            let room = MOST_COMPLAINT.saturating_sub(kept.len()).min(read);
            kept.extend(chunk.iter().take(room));
        }
    }
    Ok(kept)
}
