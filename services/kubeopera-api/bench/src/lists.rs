//! Pages of 100 of all clusters, in every order.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, ensure};
use reqwest::{Method, StatusCode};
use sea_orm::{ConnectionTrait, Statement};
use serde_json::Value;
use testkit_bench::{figure, milliseconds, percentile, times};

use crate::process::Api;

const SORTS: [&str; 7] = ["name", "created_at", "phase", "provider", "region", "kubernetes_version", "nodes"];
/// Pages of each order and direction.
const PAGES: usize = 100;

/// Waits until all are on record and their resources are seen.
pub(crate) async fn wait_for(api: &Api, count: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let (mut seen, mut cursor) = (0, String::new());
        loop {
            let page = api
                .caller
                .get(&format!(
                    "/api/v1/clusters?limit=500&phase=Ready,Failed,InstallingKubeOpera,ValidatingAccess{cursor}"
                ))
                .await?
                .json()?;
            seen += page["items"].as_array().map_or(0, Vec::len);
            let Some(next) = page["next_cursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        if seen == count {
            break;
        }
        ensure!(began.elapsed() < Duration::from_mins(15), "only {seen} of {count} clusters were taken on record");
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    figure(&format!("{count} HostClusters taken on record"), began.elapsed().as_secs_f64(), "s", None);
    // What was found is told to the pages, of which there are none; it is not to be measured with what comes.
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok(())
}

pub(crate) async fn measure(api: &Api, folder: &Path) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for sort in SORTS {
        let mut took = Vec::new();
        for direction in ["asc", "desc"] {
            let mut cursor = String::new();
            for _ in 0..PAGES {
                let path = format!("/api/v1/clusters?limit=100&sort={sort}&direction={direction}{cursor}");
                let answer = api.caller.get(&path).await?;
                took.push(answer.took);
                let page = answer.json()?;
                cursor = page["next_cursor"].as_str().map(|next| format!("&cursor={next}")).unwrap_or_default();
            }
        }
        all.extend_from_slice(&took);
        times(&format!("page of 100 by {sort}"), &mut took, Some(15.0));
    }
    let mut found = Vec::new();
    for number in 0..PAGES {
        found.push(api.caller.get(&format!("/api/v1/clusters?q=9{:02}&phase=Ready", number % 100)).await?.took);
    }
    times("page of what a filter of name and phase finds", &mut found, Some(15.0));
    as_a_browser(api).await?;
    known(api).await?;
    let plainly = plainly(folder).await?;
    figure("reading all records and writing them as JSON, p50", milliseconds(plainly), "ms", None);
    let ratio = plainly.as_secs_f64() / percentile(&mut all, 50).as_secs_f64();
    figure("… so many times as long as a page over HTTP", ratio, "×", None);
    Ok(())
}

/// The page that the dashboard begins with, which goes to a browser compressed.
async fn as_a_browser(api: &Api) -> anyhow::Result<()> {
    let path = "/api/v1/clusters?limit=100";
    let (mut took, mut size) = (Vec::new(), 0);
    for _ in 0..PAGES {
        let answer = api.caller.send(Method::GET, path, None, Some(("accept-encoding", "gzip"))).await?;
        ensure!(answer.body.starts_with(&[0x1f, 0x8b]), "the page is not compressed");
        took.push(answer.took);
        size = answer.body.len();
    }
    times(&format!("page of 100 as a browser gets it, compressed to {} KB", size / 1000), &mut took, Some(15.0));
    Ok(())
}

/// A page that is known, and a cluster by its id.
async fn known(api: &Api) -> anyhow::Result<()> {
    let path = "/api/v1/clusters?limit=100";
    let page = api.caller.get(path).await?;
    let (mut unchanged, mut one) = (Vec::new(), Vec::new());
    let id = page.json()?["items"][0]["id"].as_str().context("a cluster without an id")?.to_owned();
    for _ in 0..PAGES {
        let answer = api.caller.send(Method::GET, path, None, Some(("if-none-match", &page.tag))).await?;
        ensure!(answer.status == StatusCode::NOT_MODIFIED, "the page has changed by itself");
        unchanged.push(answer.took);
        one.push(api.caller.get(&format!("/api/v1/clusters/{id}")).await?.took);
    }
    times("page of 100 that is known", &mut unchanged, None);
    times("one cluster", &mut one, None);
    Ok(())
}

/// What a page would take if it were cut out of everything.
async fn plainly(folder: &Path) -> anyhow::Result<Duration> {
    let db = service_kit::database::open(&format!("sqlite://{}/kubeopera.db", folder.display())).await?;
    let mut took = Vec::new();
    for _ in 0..10 {
        let began = Instant::now();
        let query = "SELECT name, spec, created_at, revision FROM clusters ORDER BY name";
        let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), query)).await?;
        let mut all = Vec::with_capacity(rows.len());
        for row in rows {
            let (name, spec): (String, Value) = (row.try_get("", "name")?, row.try_get("", "spec")?);
            let (created_at, revision): (i64, i64) = (row.try_get("", "created_at")?, row.try_get("", "revision")?);
            all.push(serde_json::json!({"name": name, "spec": spec, "created_at": created_at, "revision": revision}));
        }
        ensure!(!serde_json::to_vec(&all)?.is_empty(), "nothing is on record");
        took.push(began.elapsed());
    }
    Ok(percentile(&mut took, 50))
}
