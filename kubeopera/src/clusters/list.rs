//! `kubeopera clusters list`.

use anyhow::bail;
use clap::Args;
use jiff::{SignedDuration, Timestamp};
use reqwest::Method;
use serde_json::Value;

use super::{
    Output, phase_or,
    wire::{Cluster, Page},
};
use crate::{
    server::{Request, Server},
    terminal::{json, plain, print, table},
    welcome,
};

/// As many as the API gives at once.
const PAGE: &str = "500";
/// Many times more than KubeOpera is made for: what has more pages is not KubeOpera.
const MOST_PAGES: usize = 200;

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(super) struct ListOptions {
    /// Only those in these phases
    #[arg(long, value_name = "PHASE,…", value_delimiter = ',', value_parser = phase_or([]))]
    phase: Vec<String>,
    /// Only those of these providers, such as aws
    #[arg(long, value_name = "PROVIDER,…", value_delimiter = ',')]
    provider: Vec<String>,
    /// Only those with all of these labels, such as env=prod; without a value it may be any
    #[arg(long, short = 'l', value_name = "KEY[=VALUE],…", value_delimiter = ',')]
    label: Vec<String>,
    /// What to sort by
    #[arg(long, value_name = "WHAT", default_value = "name", value_parser =
        ["name", "created_at", "phase", "provider", "region", "kubernetes_version", "nodes"])]
    sort: String,
    /// The last first
    #[arg(long)]
    descending: bool,
}

/// Prints every cluster that fits.
pub(super) async fn run(server: &Server, output: Output, options: ListOptions) -> anyhow::Result<()> {
    let (clusters, trouble) = all(server, options.query()).await?;
    if let Some(trouble) = trouble {
        welcome::complain(&format!("What is shown may be old. {}", plain(&trouble)));
    }
    print(&match output {
        Output::Table => {
            let clusters = clusters.iter().map(|cluster| server.read(cluster)).collect::<Result<Vec<_>, _>>()?;
            for_people(&clusters, Timestamp::now())
        }
        Output::Json => json(&clusters)?,
    })
}

/// Every cluster that fits, each as it came, and why they may be older than this moment if they may.
pub(super) async fn all(
    server: &Server,
    query: Vec<(&'static str, String)>,
) -> anyhow::Result<(Vec<Value>, Option<String>)> {
    let (mut clusters, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PAGES {
        let mut query = query.clone();
        query.push(("limit", PAGE.to_owned()));
        query.extend(cursor.take().map(|cursor| ("cursor", cursor)));
        let answer = server.ask(Request::new(Method::GET, "/clusters").query(query)).await?;
        let page: Page = server.read(&answer.json)?;
        clusters.extend(page.items);
        if page.next_cursor.is_none() {
            let trouble = (!page.kubernetes.available).then(|| page.kubernetes.reason.unwrap_or_default());
            return Ok((clusters, trouble));
        }
        cursor = page.next_cursor;
    }
    bail!("the list of clusters does not end after {MOST_PAGES} pages. Narrow it, such as with --phase")
}

impl ListOptions {
    fn query(self) -> Vec<(&'static str, String)> {
        let lists = [("phase", self.phase), ("provider", self.provider), ("label", self.label)];
        let lists = lists.into_iter().filter(|(_, values)| !values.is_empty());
        let mut query: Vec<_> = lists.map(|(key, values)| (key, values.join(","))).collect();
        query.push(("sort", self.sort));
        query.push(("direction", if self.descending { "desc" } else { "asc" }.to_owned()));
        query
    }
}

pub(super) fn for_people(clusters: &[Cluster], now: Timestamp) -> String {
    if clusters.is_empty() {
        return "No cluster fits.\n".to_owned();
    }
    let headings = ["NAME", "PHASE", "HEALTH", "NODES", "PROVIDER", "REGION", "VERSION", "AGE"];
    let rows: Vec<_> = clusters.iter().map(|cluster| row(cluster, now)).collect();
    table(&headings, &rows)
}

fn row(cluster: &Cluster, now: Timestamp) -> Vec<String> {
    let unknown = || "–".to_owned();
    let health = match (&cluster.unreachable, &cluster.health) {
        (Some(_), _) => "unreachable".to_owned(),
        (None, Some(health)) => format!("{} {}", health.score, plain(&health.colour)),
        (None, None) => unknown(),
    };
    vec![
        plain(&cluster.name) + if cluster.is_host { " (host)" } else { "" },
        plain(&cluster.phase),
        health,
        cluster.nodes.as_ref().map_or_else(unknown, |nodes| format!("{}/{}", nodes.ready, nodes.total)),
        plain(&cluster.provider),
        plain(&cluster.region),
        cluster.kubernetes_version.as_deref().map_or_else(unknown, plain),
        age(now.duration_since(cluster.created_at)),
    ]
}

/// As `kubectl` has it, in one unit. Clocks differ: nothing is younger than now.
pub(super) fn age(since: SignedDuration) -> String {
    let seconds = since.as_secs().max(0);
    match (seconds, seconds / 60, seconds / 3600) {
        (..120, _, _) => format!("{seconds}s"),
        (_, minutes @ ..120, _) => format!("{minutes}m"),
        (_, _, hours @ ..48) => format!("{hours}h"),
        (_, _, hours) => format!("{}d", hours / 24),
    }
}
