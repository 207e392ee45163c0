//! `kubeopera clusters get`.

use std::fmt::Write;

use reqwest::Method;

use super::{Named, Output, report, wire::Cluster};
use crate::{
    server::{Request, Server},
    terminal::{plain, table},
};

/// Prints one cluster.
pub(super) async fn run(server: &Server, output: Output, named: &Named) -> anyhow::Result<()> {
    let id = named.id(server).await?;
    let answer = server.ask(Request::new(Method::GET, &format!("/clusters/{id}"))).await?;
    report(server, output, &answer, for_people)
}

/// What is happening comes last, where the eye is.
pub(super) fn for_people(cluster: &Cluster) -> String {
    let mut text = details(cluster);
    if !cluster.phases.is_empty() {
        text += "\nPhases\n";
    }
    for step in &cluster.phases {
        _ = writeln!(text, "  {:<8} {}", plain(&step.state), plain(&step.phase));
        if let Some(failed) = &step.failed_attempts {
            let (count, last, message) = (failed.count, failed.last_at, plain(&failed.message));
            _ = writeln!(text, "           {count} failed, last at {last:.0}: {message}");
        }
    }
    if !cluster.conditions.is_empty() {
        let cells = |cells: [&String; 4]| cells.map(|cell| plain(cell)).to_vec();
        let rows = cluster.conditions.iter().map(|c| cells([&c.type_, &c.status, &c.reason, &c.message]));
        text += "\n";
        text += &table(&["CONDITION", "STATUS", "REASON", "MESSAGE"], &rows.collect::<Vec<_>>());
    }
    if let Some(retry) = &cluster.retry {
        _ = writeln!(
            text,
            "\n{} failed; the next attempt is at {:.0}.",
            attempts(retry.attempt),
            retry.next_attempt_at
        );
    }
    if let Some(since) = cluster.stale_since {
        _ = writeln!(
            text,
            "\nWhat is shown is from before {since:.0}: since then the cluster's resource cannot be read."
        );
    }
    text + "\n" + &plain(&cluster.message) + "\n"
}

fn attempts(count: u64) -> String {
    if count == 1 { "1 attempt".to_owned() } else { format!("{count} attempts") }
}

fn details(cluster: &Cluster) -> String {
    let unknown = || "not known".to_owned();
    let labels = cluster.labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ");
    let flux = cluster.flux.as_ref().map(|flux| {
        let word = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
        let healthy = match cluster.flux_healthy {
            Some(true) => "healthy",
            Some(false) => "not healthy",
            None => "health not known",
        };
        format!("{}, {healthy}, managed by {}", word(&flux.version), word(&flux.managed_by))
    });
    let git = cluster.git_ops.as_ref().map(|git| {
        let applied = git.applied_revision.as_deref().unwrap_or("nothing so far");
        format!("{}, branch {}, folder {}; applied: {applied}", git.url, git.branch, git.path)
    });
    let credential = cluster.credential.as_ref().map(|credential| {
        let end =
            credential.expires_at.map_or_else(|| "does not tell its end".to_owned(), |at| format!("ends {at:.0}"));
        format!("{}, {end}", credential.kind.replace('_', " "))
    });
    let unreachable = cluster.unreachable.as_ref().map(|gone| format!("since {:.0}: {}", gone.since, gone.reason));
    let lines = [
        ("Name", Some(cluster.name.clone() + if cluster.is_host { " (the host cluster)" } else { "" })),
        ("Id", Some(cluster.id.clone())),
        ("Mode", Some(cluster.mode.replace('_', " "))),
        ("Provider", Some(format!("{}, {}", cluster.provider, cluster.region))),
        ("Labels", Some(labels).filter(|labels| !labels.is_empty())),
        ("Since", Some(format!("{:.0}", cluster.created_at))),
        ("Kubernetes", Some(cluster.kubernetes_version.clone().unwrap_or_else(unknown))),
        ("Nodes", cluster.nodes.as_ref().map(|nodes| format!("{} of {} ready", nodes.ready, nodes.total))),
        ("Health", cluster.health.as_ref().map(|health| format!("{} ({})", health.score, health.colour))),
        ("Unreachable", unreachable),
        ("Flux", flux),
        ("Git", git),
        ("Credential", credential),
        ("Phase", Some(cluster.phase.clone())),
    ];
    let lines = lines.into_iter().filter_map(|(what, words)| Some((what, words?)));
    let mut text = String::new();
    for (what, words) in lines {
        _ = writeln!(text, "{what:<12} {}", plain(&words));
    }
    text
}
