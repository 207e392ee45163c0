//! `kubeopera report`: the Multi-Cluster view of a running KubeOpera on a terminal.

use clap::{Args, ValueEnum};
use k8s_monitor_contract::{CostTotal, MultiCluster, Row, RowResource, Standing, Summary};
use reqwest::Method;

use crate::{
    server::{Request, ServerOptions},
    terminal::{csv_cell, json, plain, print, table},
};

#[derive(Args)]
#[allow(clippy::doc_markdown, reason = "these comments are what --help prints")]
pub(crate) struct Options {
    #[command(flatten)]
    server: ServerOptions,
    /// Ask every cluster anew, for at most two seconds
    #[arg(long)]
    refresh: bool,
    /// How to print it
    #[arg(long, short, value_name = "FORMAT", value_enum, default_value_t = Output::Table)]
    output: Output,
}

/// How something is printed.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Output {
    /// For people
    Table,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// Prints the view.
pub(crate) async fn run(options: Options) -> anyhow::Result<()> {
    let server = options.server.server()?;
    let mut request = Request::new(Method::GET, "/clusters/multi");
    if options.refresh {
        request = request.query(vec![("refresh", "true".to_owned())]);
    }
    let answer = server.ask(request).await?.json;
    let view: MultiCluster = server.read(&answer)?;
    print(&match options.output {
        Output::Table => for_people(&view),
        Output::Json => json(&answer)?,
        Output::Csv => for_spreadsheets(&view.clusters),
    })
}

fn for_people(view: &MultiCluster) -> String {
    let headings = ["CLUSTER", "STATE", "SCORE", "NODES", "CPU", "MEMORY", "$/MONTH", "AS OF"];
    let rows: Vec<_> = view.clusters.iter().map(row).collect();
    format!("{}\n{}", table(&headings, &rows), summary(&view.summary))
}

fn row(row: &Row) -> Vec<String> {
    let unknown = || "–".to_owned();
    vec![
        plain(&row.name),
        standing(row.standing).to_owned(),
        row.health.map_or_else(unknown, |health| health.score.to_string()),
        row.nodes.map_or_else(unknown, |nodes| format!("{}/{}", nodes.ready, nodes.total)),
        percent(row.cpu),
        percent(row.memory),
        cost(row.cost),
        row.stale.as_ref().map_or_else(String::new, |stale| {
            let since = stale.as_of.map_or_else(|| "never".to_owned(), |as_of| format!("{as_of:.0}"));
            format!("{since}: {}", plain(&stale.reason))
        }),
    ]
}

const fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Healthy => "healthy",
        Standing::Degraded => "degraded",
        Standing::Unreachable => "unreachable",
        Standing::SettingUp => "setting up",
    }
}

fn percent(resource: Option<RowResource>) -> String {
    resource.and_then(|resource| resource.percent).map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1} %"))
}

fn cost(cost: Option<CostTotal>) -> String {
    let monthly = cost.and_then(|cost| cost.monthly).map_or_else(|| "–".to_owned(), |monthly| monthly.to_string());
    match cost.map_or(0, |cost| cost.not_priced) {
        0 => monthly,
        missing => format!("{monthly} ({missing} not priced)"),
    }
}

fn summary(summary: &Summary) -> String {
    let Summary { total, healthy, degraded, unreachable, setting_up, .. } = summary;
    let average =
        |percent: Option<f64>| percent.map_or_else(|| "not known".to_owned(), |percent| format!("{percent:.1} %"));
    let cost = summary.monthly_cost.map_or_else(|| "not known".to_owned(), |cost| format!("{cost} a month"));
    format!(
        "{total} clusters: {healthy} healthy, {degraded} degraded, {unreachable} unreachable, {setting_up} setting up\n\
         Nodes   {} of {} ready, in {} clusters\n\
         CPU     {} on average, over {} clusters\n\
         Memory  {} on average\n\
         Cost    {cost}: {} of {total} clusters priced, {} not or not completely\n",
        summary.nodes.ready,
        summary.nodes.total,
        summary.nodes_of,
        average(summary.cpu_percent),
        summary.cpu_of,
        average(summary.memory_percent),
        summary.priced,
        summary.not_priced,
    )
}

/// What is not known is an empty cell.
fn for_spreadsheets(rows: &[Row]) -> String {
    let mut text = String::from(
        "cluster,provider,region,version,phase,state,score,colour,nodes_ready,nodes,cpu_percent,memory_percent,\
         usd_a_month,not_priced,as_of,reason\n",
    );
    for row in rows {
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
        let colour = row.health.map(|health| format!("{:?}", health.colour).to_lowercase());
        let cells = [
            row.name.clone(),
            row.provider.clone(),
            row.region.clone(),
            row.kubernetes_version.clone().unwrap_or_default(),
            row.phase.clone(),
            standing(row.standing).to_owned(),
            number(row.health.map(|health| health.score.into())),
            colour.unwrap_or_default(),
            count(row.nodes.map(|nodes| nodes.ready)),
            count(row.nodes.map(|nodes| nodes.total)),
            number(row.cpu.and_then(|cpu| cpu.percent)),
            number(row.memory.and_then(|memory| memory.percent)),
            number(row.cost.and_then(|cost| cost.monthly).map(f64::from)),
            count(row.cost.map(|cost| cost.not_priced)),
            row.stale.as_ref().and_then(|stale| stale.as_of).map(|as_of| as_of.to_string()).unwrap_or_default(),
            row.stale.as_ref().map(|stale| stale.reason.clone()).unwrap_or_default(),
        ];
        text += &cells.map(|cell| csv_cell(&cell)).join(",");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use k8s_monitor_contract::{Points, Stale};

    use super::*;

    fn view() -> MultiCluster {
        let known = Row {
            id: "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11".parse().unwrap(),
            name: "shop".to_owned(),
            provider: "aws".to_owned(),
            region: "eu-north-1".to_owned(),
            is_host: false,
            kubernetes_version: Some("v1.36.1".to_owned()),
            phase: "Ready".to_owned(),
            standing: Standing::Degraded,
            health: Some(Points::from(72.5).into()),
            nodes: Some(k8s_monitor_contract::NodeCount { total: 3, ready: 2 }),
            cpu: Some(RowResource { percent: Some(41.25), used: Some(1), allocatable: 4 }),
            memory: None,
            not_measured: None,
            cost: Some(CostTotal { monthly: Some("94.608".parse().unwrap()), priced: 3, not_priced: 1 }),
            stale: None,
        };
        let reason = "The API server does not answer, \x1b[31mat all.".to_owned();
        let dead = Row {
            name: "dead".to_owned(),
            standing: Standing::Unreachable,
            health: None,
            nodes: None,
            cpu: None,
            cost: None,
            stale: Some(Stale { as_of: Some("2026-11-30T11:00:00Z".parse().unwrap()), reason }),
            ..known.clone()
        };
        let summary = Summary { total: 2, degraded: 1, unreachable: 1, priced: 0, not_priced: 2, ..Summary::default() };
        MultiCluster { summary, clusters: vec![dead, known] }
    }

    #[test]
    fn what_is_not_known_is_a_dash_and_never_a_zero() {
        let text = for_people(&view());
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(
            lines[1].split_whitespace().take(7).collect::<Vec<_>>(),
            ["dead", "unreachable", "–", "–", "–", "–", "–"]
        );
        assert!(lines[1].contains("2026-11-30T11:00:00Z") && !text.contains('\x1b'), "{text}");
        assert!(
            lines[2].contains("72.5") && lines[2].contains("2/3") && lines[2].contains("$94.61 (1 not priced)"),
            "{text}"
        );
        assert!(text.contains("CPU     not known on average, over 0 clusters"), "{text}");
        assert!(text.contains("0 of 2 clusters priced, 2 not or not completely"), "{text}");
    }

    #[test]
    fn every_line_for_a_spreadsheet_has_as_many_cells_as_the_headings() {
        let text = for_spreadsheets(&view().clusters);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[2].matches(',').count(), lines[0].matches(',').count());
        assert!(lines[2].starts_with("shop,aws,eu-north-1,v1.36.1,Ready,degraded,72.5,amber,2,3,41.25,,94.608,1,,"));
        assert!(lines[1].ends_with(",2026-11-30T11:00:00Z,\"The API server does not answer, \u{fffd}[31mat all.\""));
    }
}
