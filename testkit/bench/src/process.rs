//! What a process takes.

use std::{fs, time::Duration};

use anyhow::Context;
use tokio::process::Command;

/// A process, this one or another.
#[derive(Debug, Clone, Copy)]
pub struct Process(u32);

impl Process {
    /// This one.
    pub fn this() -> Self {
        Self(std::process::id())
    }

    /// Another, by its id.
    pub const fn of(id: u32) -> Self {
        Self(id)
    }

    /// Resident memory in MiB.
    pub fn resident(self) -> f64 {
        self.mebibytes("status", &["VmRSS:"])
    }

    /// Resident memory at its highest so far, in MiB.
    pub fn highest(self) -> f64 {
        self.mebibytes("status", &["VmHWM:"])
    }

    /// Resident memory that no other process shares, in MiB.
    pub fn private(self) -> f64 {
        self.mebibytes("smaps_rollup", &["Private_Clean:", "Private_Dirty:"])
    }

    fn mebibytes(self, file: &str, names: &[&str]) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/{file}", self.0)).unwrap_or_default();
        let kib = |line: &str| {
            let rest = names.iter().find_map(|name| line.strip_prefix(name))?;
            rest.split_whitespace().next()?.parse::<f64>().ok()
        };
        text.lines().filter_map(kib).sum::<f64>() / 1024.0
    }

    /// Time of the processor that it has taken, to a hundredth of a second.
    pub fn processor_time(self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        // The fields after the name in parentheses; the 12th and 13th are user and system time in hundredths of a second.
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let ticks: u64 = rest.split_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
        Duration::from_millis(ticks * 10)
    }
}

/// This program once more, with as many open files as the system allows: each watched cluster takes four connections.
pub fn this_program() -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("finding this program")?;
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\""]).arg(program).kill_on_drop(true);
    Ok(command)
}
