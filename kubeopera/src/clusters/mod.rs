//! `kubeopera clusters`: what the dashboard does with clusters, on a terminal and for scripts.

mod connect;
mod get;
mod let_go;
mod list;
#[cfg(test)]
mod tests;
mod watch;
mod wire;

use std::process::ExitCode;

use anyhow::{Context, anyhow};
use clap::{Args, Subcommand, ValueEnum, builder::PossibleValuesParser};
use host_cluster_controller_crd::Phase;
use reqwest::Method;
use vocabulary::{ClusterId, ClusterName};

use self::wire::Cluster;
use crate::{
    server::{Answer, Request, Server, ServerOptions},
    terminal::{json, plain, print},
    welcome,
};

/// The cluster that is watched failed.
const FAILED: u8 = 3;
/// The cluster that is watched is not there in time.
const NOT_IN_TIME: u8 = 4;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// How to print what is answered
    #[arg(long, short, global = true, value_name = "FORMAT", value_enum, default_value_t = Output::Table)]
    output: Output,
    #[command(subcommand)]
    command: ClustersCommand,
}

/// How something is printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

#[derive(Subcommand)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
enum ClustersCommand {
    /// List clusters
    List(list::ListOptions),
    /// Show one cluster: phases, conditions, and what is happening
    Get(Named),
    /// Register the cluster KubeOpera runs on. Safe to repeat
    Register,
    /// Connect a cluster by its kubeconfig
    Connect(connect::ConnectOptions),
    /// Ask for another attempt at once, instead of when the next one is due
    Retry(Named),
    /// Let go of a cluster. What runs on it keeps running
    Disconnect(let_go::DisconnectOptions),
    /// Delete a cluster that KubeOpera created, with its infrastructure
    Delete(let_go::DeleteOptions),
    /// Follow a cluster. Ends with 0 when it is there, 3 when it failed, 4 when it is not there in time
    Watch(watch::WatchOptions),
}

/// Which cluster is meant.
#[derive(Args)]
struct Named {
    /// Its name or its id
    #[arg(value_name = "NAME-OR-ID")]
    cluster: String,
}

/// Runs a command and says how it ended.
pub(crate) async fn run(options: Options) -> ExitCode {
    let outcome = match options.server.server() {
        Ok(server) => carry_out(&server, options.output, options.command).await,
        Err(error) => Err(error),
    };
    outcome.map_or_else(
        |error| {
            welcome::complain(&format!("{error:#}"));
            ExitCode::FAILURE
        },
        ExitCode::from,
    )
}

async fn carry_out(server: &Server, output: Output, command: ClustersCommand) -> anyhow::Result<u8> {
    match command {
        ClustersCommand::List(options) => list::run(server, output, options).await,
        ClustersCommand::Get(named) => get::run(server, output, &named).await,
        ClustersCommand::Register => connect::register(server, output).await,
        ClustersCommand::Connect(options) => connect::run(server, output, &options).await,
        ClustersCommand::Retry(named) => retry(server, output, &named).await,
        ClustersCommand::Disconnect(options) => let_go::disconnect(server, output, &options).await,
        ClustersCommand::Delete(options) => let_go::delete(server, output, &options).await,
        ClustersCommand::Watch(options) => return watch::run(server, output, &options).await,
    }
    .map(|()| 0)
}

async fn retry(server: &Server, output: Output, named: &Named) -> anyhow::Result<()> {
    let id = named.id(server).await?;
    let answer = server.ask(Request::new(Method::POST, &format!("/clusters/{id}/retry"))).await?;
    report(server, output, &answer, |cluster| {
        format!("Another attempt at {} is asked for.\n{}", plain(&cluster.name), follow(cluster, "Ready"))
    })
}

impl Named {
    /// The id of the cluster.
    async fn id(&self, server: &Server) -> anyhow::Result<ClusterId> {
        self.find(server).await?.ok_or_else(|| self.unknown())
    }

    fn unknown(&self) -> anyhow::Error {
        let name = plain(&self.cluster);
        anyhow!("KubeOpera has no cluster {name}. `kubeopera clusters list` shows those it has")
    }

    /// The id that was given, or that of the one cluster with this name.
    async fn find(&self, server: &Server) -> anyhow::Result<Option<ClusterId>> {
        let text = &self.cluster;
        if let Ok(id) = text.parse() {
            return Ok(Some(id));
        }
        let name: ClusterName = text.parse().with_context(|| format!("{} names no cluster", plain(text)))?;
        // The server looks for a part of the name.
        for cluster in list::all(server, vec![("q", name.to_string())]).await?.0 {
            let cluster: Cluster = server.read(&cluster)?;
            if cluster.name == name.as_str() {
                return Ok(Some(cluster.id.parse()?));
            }
        }
        Ok(None)
    }
}

/// The name of a phase, or one of these words.
fn phase_or<const N: usize>(words: [&'static str; N]) -> PossibleValuesParser {
    PossibleValuesParser::new(Phase::ALL.map(Phase::as_str).into_iter().chain(words))
}

/// Prints what an answer about a cluster means to people, or the answer itself.
fn report(
    server: &Server,
    output: Output,
    answer: &Answer,
    words: impl FnOnce(&Cluster) -> String,
) -> anyhow::Result<()> {
    let cluster = server.read(&answer.json)?;
    print(&match output {
        Output::Table => words(&cluster),
        Output::Json => json(&answer.json)?,
    })
}

/// How to see the rest.
fn follow(cluster: &Cluster, until: &str) -> String {
    format!("Follow it with: kubeopera clusters watch {} --until {until}\n", plain(&cluster.name))
}
