//! `kubeopera health`: the score of any cluster, once, without a server.

use std::{fmt::Write, path::PathBuf, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use k8s_monitor::{Access, Engine};
use k8s_monitor_contract::{Assessed, Health, Monitor, Snapshot};
use prices::Table;
use tokio::time::{Instant, timeout_at};
use vocabulary::ClusterId;

use crate::{
    own_cluster,
    terminal::{plain, print, table},
};

/// A cluster that is not read by then is given up.
const WITHIN: Duration = Duration::from_mins(1);
/// After everything was read once: control plane and measurements.
const ASKED_WITHIN: Duration = Duration::from_secs(10);

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Options {
    /// Kubeconfig of the cluster [default: the usual place]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig [default: its current context]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// How to print it
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Output::Table)]
    output: Output,
}

#[derive(Clone, Copy, ValueEnum)]
enum Output {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Reads the cluster once, as k8s-monitor does, and prints its score with every point accounted for.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let found = own_cluster::find(options.kubeconfig.as_deref(), options.context.as_deref())?;
    let words = found.words();
    let client = kube_kit::guarded(found.configuration().await?, kube_kit::Limits::default())?;
    let snapshot = read(client).await.with_context(|| format!("reading {words}"))?;
    print(&match options.output {
        Output::Table => for_people(&words, &snapshot)?,
        Output::Json => serde_json::to_string_pretty(&snapshot)? + "\n",
    })
}

/// Watches the cluster until everything about it was read once.
async fn read(client: kube::Client) -> anyhow::Result<Snapshot> {
    let (engine, cluster) = (Engine::priced(Arc::new(Table::built_in().clone())), ClusterId::random());
    let mut revision = engine.revision();
    engine.watch_exactly([(cluster, String::new(), Access::client_at_hand(client))]);
    let deadline = Instant::now() + WITHIN;
    loop {
        let Some(glance) = engine.glance(cluster) else { bail!("the cluster is not watched any more") };
        if let Some(unreachable) = &glance.freshness.unreachable {
            bail!("{}", unreachable.reason);
        }
        if glance.health.is_some() {
            break;
        }
        if timeout_at(deadline, revision.changed()).await.is_err() {
            bail!("nodes and pods were not read completely within {} seconds", WITHIN.as_secs());
        }
    }
    engine.refresh(ASKED_WITHIN).await;
    let snapshot = engine.cluster(cluster).context("the cluster is not watched any more")?;
    Ok(Snapshot::clone(&snapshot))
}

fn for_people(words: &str, snapshot: &Snapshot) -> anyhow::Result<String> {
    let Some(health) = &snapshot.health else { bail!("{words} was not read completely") };
    let mut text =
        format!("{words}: {} of 100 points, {}\n", health.score, format!("{:?}", health.colour).to_lowercase());
    text += &deductions(health);
    if !health.not_assessed.is_empty() {
        text += "\nNot assessed, so without effect on the score:\n";
        for not in &health.not_assessed {
            let _ = writeln!(text, "  {}: {}", name(not.what), plain(&not.reason));
        }
    }
    if let Some(usage) = &snapshot.usage {
        let percent = |resource: k8s_monitor_contract::Resource| {
            resource.percent_used().map_or_else(|| "not known".to_owned(), |percent| format!("{percent:.1} %"))
        };
        let _ = write!(text, "\nCPU {}, memory {}", percent(usage.cpu), percent(usage.memory));
        text += &usage.not_measured.as_ref().map_or_else(String::new, |why| format!(" ({})", plain(why)));
        text.push('\n');
    }
    if let Some(cost) = &snapshot.cost {
        let monthly = cost.total.monthly.map_or_else(|| "not known".to_owned(), |monthly| format!("{monthly} a month"));
        let _ = writeln!(text, "Cost {monthly}, {} priced and {} not", cost.total.priced, cost.total.not_priced);
    }
    Ok(text)
}

const fn name(assessed: Assessed) -> &'static str {
    match assessed {
        Assessed::Nodes => "Nodes",
        Assessed::Pods => "Pods",
        Assessed::ApiServer => "API server",
        Assessed::Scheduler => "Scheduler",
        Assessed::ControllerManager => "Controller manager",
        Assessed::Etcd => "etcd",
        Assessed::Cpu => "CPU",
        Assessed::Memory => "Memory",
    }
}

fn deductions(health: &Health) -> String {
    if health.deductions.is_empty() {
        return "No problem was found.\n".to_owned();
    }
    let row = |line: &k8s_monitor_contract::Deduction| vec![format!("-{}", line.points), plain(&line.message)];
    let rows: Vec<_> = health.deductions.iter().map(row).collect();
    format!("\n{}", table(&["POINTS", "PROBLEM"], &rows))
}

#[cfg(test)]
mod tests {
    use k8s_monitor_contract::{Deduction, NotAssessed, Penalty, Points};

    use super::*;

    #[test]
    fn every_point_is_accounted_for_and_what_is_not_assessed_says_why() {
        let points = Points::from(2.5);
        let deduction = Deduction {
            penalty: Penalty::PodCrashLooping,
            object: None,
            count: 1,
            points,
            message: "Pod a\x1b[0m in namespace b crashes again and again.".to_owned(),
        };
        let not = NotAssessed { what: Assessed::Cpu, reason: "There is no metrics API.".to_owned() };
        let health = Health {
            score: Points::FULL.less(points),
            colour: k8s_monitor_contract::Colour::Green,
            deducted: points,
            deductions: vec![deduction],
            not_assessed: vec![not],
        };
        let snapshot = Snapshot { health: Some(health), ..Snapshot::unread(ClusterId::random()) };

        let text = for_people("context kind", &snapshot).unwrap();

        assert!(text.starts_with("context kind: 97.5 of 100 points, green\n"), "{text}");
        assert!(text.contains("-2.5    Pod a\u{fffd}[0m in namespace b crashes again and again.\n"), "{text}");
        assert!(text.contains("  CPU: There is no metrics API.\n"), "{text}");
    }
}
