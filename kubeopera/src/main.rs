//! The one executable of KubeOpera: `kubeopera up` runs every service in one process.

mod audit;
mod backup;
mod browsers;
mod clouds;
mod clusters;
mod data_folder;
mod health;
mod identity_provider;
mod leader;
mod local_cluster;
mod notices;
mod open_files;
mod own_cluster;
mod price_list;
mod provision;
mod report;
mod repository;
mod server;
mod storage;
mod targets;
mod terminal;
mod tree;
mod up;
mod welcome;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::Shell;

#[derive(Parser)]
#[command(name = "kubeopera", version, about = "Register, connect, create, compare and let go of Kubernetes clusters")]
enum Command {
    /// Run KubeOpera: every service in one process, the dashboard served, its own Git repository included.
    Up(Box<up::Options>),
    /// Create a cluster or make it go away. This is what a provisioning Job runs; people ask for it in the dashboard.
    Provision(provision::Options),
    /// The keys that cloud credentials are sealed with. Stop KubeOpera first.
    #[command(subcommand)]
    Keys(storage::KeysCommand),
    /// Write what KubeOpera must not forget into one file. It may be running.
    Backup(backup::BackupOptions),
    /// Put back what a backup holds, into a database that is empty. Stop KubeOpera first.
    Restore(backup::RestoreOptions),
    /// The audit log.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Clusters of a running KubeOpera: list, register, connect, follow and let go of them.
    Clusters(clusters::Options),
    /// Print what makes a shell complete KubeOpera's commands and options.
    Completion {
        /// The shell
        shell: Shell,
    },
    /// Print the Multi-Cluster view of a running KubeOpera.
    Report(report::Options),
    /// Print the health score of any cluster, once, without a running KubeOpera.
    Health(health::Options),
    /// A cluster's tree in a clone of its repository: what would change, what is wrong. No running KubeOpera is needed.
    #[command(subcommand)]
    Tree(tree::TreeCommand),
    /// List prices of clouds, and prices of one's own.
    #[command(subcommand)]
    Prices(price_list::PricesCommand),
}

fn main() -> ExitCode {
    // Several crates can bring a TLS provider; the first thing every program does is to choose ours.
    if rustls::crypto::aws_lc_rs::default_provider().install_default().is_err() {
        welcome::complain("The TLS provider was chosen twice. This is a fault of KubeOpera.");
        return ExitCode::FAILURE;
    }
    let command = Command::parse();
    let outcome =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(anyhow::Error::from).and_then(
            |runtime| {
                match command {
                    Command::Up(options) => runtime.block_on(up::run(*options)),
                    Command::Provision(options) => runtime.block_on(provision::run(options)),
                    Command::Keys(command) => runtime.block_on(storage::run(command)),
                    Command::Backup(options) => runtime.block_on(backup::run(options)),
                    Command::Restore(options) => runtime.block_on(backup::restore(options)),
                    Command::Audit(command) => runtime.block_on(audit::run(command)),
                    Command::Completion { shell } => complete(shell),
                    Command::Report(options) => runtime.block_on(report::run(options)),
                    Command::Health(options) => runtime.block_on(health::run(options)),
                    Command::Prices(command) => price_list::run(command),
                    // Their end says what was found.
                    Command::Clusters(options) => return Ok(runtime.block_on(clusters::run(options))),
                    Command::Tree(command) => return Ok(runtime.block_on(tree::run(command))),
                }
                .map(|()| ExitCode::SUCCESS)
            },
        );
    match outcome {
        Ok(ended) => ended,
        Err(error) => {
            welcome::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn complete(shell: Shell) -> anyhow::Result<()> {
    terminal::print(std::str::from_utf8(&completion(shell))?)
}

fn completion(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Command::command(), "kubeopera", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Command::command().debug_assert();
    }

    #[test]
    fn every_shell_completes_commands_and_words() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = String::from_utf8(completion(shell)).unwrap();
            assert!(["disconnect", "until", "BootstrappingFlux"].iter().all(|word| script.contains(word)), "{shell}");
        }
    }
}
