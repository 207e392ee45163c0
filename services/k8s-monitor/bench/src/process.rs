//! What this process takes, and processes that it starts.

use std::{fs, process::Stdio, time::Duration};

use anyhow::Context;
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    process::{Child, Command},
};

/// Resident memory now and at its highest, in MiB.
pub(crate) fn memory() -> (f64, f64) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.split_whitespace().next().and_then(|kib| kib.parse::<f64>().ok()).unwrap_or_default() / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Time of the processor that this process has taken.
pub(crate) fn processor_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The fields after the name in parentheses; the 12th and 13th are user and system time in hundredths of a second.
    let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
    let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(ticks * 10)
}

/// Lets this process have as many connections as the system allows: each watched cluster takes four.
pub(crate) fn this_program() -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\""]).arg(program).kill_on_drop(true);
    Ok(command)
}

/// A replay server, and its address.
pub(crate) async fn replay_server(clusters: u32, nodes: u32, pods: u32) -> anyhow::Result<(Child, String)> {
    let mut command = this_program()?;
    command.args(["serve", &clusters.to_string(), &nodes.to_string(), &pods.to_string()]);
    let mut child = command.stdout(Stdio::piped()).spawn().context("starting the replay server")?;
    let output = child.stdout.take().context("the replay server has no output")?;
    let url = BufReader::new(output).lines().next_line().await?.context("the replay server said nothing")?;
    Ok((child, url))
}
