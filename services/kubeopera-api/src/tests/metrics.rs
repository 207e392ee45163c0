//! The sample of `/metrics` that Prometheus' own parsers are tried on, beside the rules and the dashboard.

use jiff::Timestamp;
use k8s_monitor_contract::Unreachable;
use serde_json::json;
use vocabulary::ClusterId;

use super::{World, monitor::glance, world::until};

/// What differs from run to run, made alike.
fn alike(text: &str, clusters: &[(ClusterId, &str)]) -> String {
    let mut text = text.to_owned();
    for (id, alike) in clusters {
        text = text.replace(&id.to_string(), alike);
    }
    let of_this_run = ["process_resident_memory_bytes ", "process_cpu_seconds_total ", "kubeopera_build_info{"];
    let lines = text.lines().map(|line| match of_this_run.iter().find(|name| line.starts_with(**name)) {
        Some(name) if name.ends_with('{') => format!("{name}version=\"1.0.0\"}} 1\n"),
        Some(name) => format!("{name}1.5\n"),
        None => format!("{line}\n"),
    });
    lines.collect()
}

#[tokio::test]
async fn the_sample_that_prometheus_is_tried_on_is_what_prometheus_is_told() {
    let world = World::on_sqlite().await;
    world.start();
    let cookie = world.log_in("viewer").await;
    let ready = json!({"phase": "Ready"});
    let shop = world.cluster("shop", ("aws", "eu-north-1"), &json!({}), &ready).await;
    let lost = world.cluster("lost", ("on-premises", "berlin"), &json!({}), &ready).await;
    world.monitor.see(glance(shop, 92.5));
    let mut gone = glance(lost, 100.0);
    gone.freshness.unreachable = Some(Unreachable { since: Timestamp::UNIX_EPOCH, reason: "Nobody answers.".into() });
    world.monitor.see(gone);

    let told = until("both are told of", async || {
        let text = world.get("/metrics", &cookie).await.text;
        let is_whole =
            ["standing=\"healthy\"} 1\n", "standing=\"unreachable\"} 1\n"].iter().all(|part| text.contains(part));
        is_whole.then_some(text)
    })
    .await;

    let ids = ["7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11", "0b8f2c64-1d7a-4c55-8a0e-5f3b9d2e6c17"];
    let told = alike(&told, &[(shop, ids[0]), (lost, ids[1])]);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deploy/observability/metrics.txt");
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(path, &told).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == told,
        "deploy/observability/metrics.txt is out of date. Run with INSTA_UPDATE=always to write it."
    );
}
