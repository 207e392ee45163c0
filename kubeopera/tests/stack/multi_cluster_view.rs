//! The Multi-Cluster view and each cluster's own page, on two real clusters.

use std::time::Duration;

use k8s_openapi::api::core::v1::Node;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use reqwest::Method;
use serde_json::{Value, json};
use stack::LocalCluster;
use tokio::{process::Command, time::Instant};

use crate::{World, options};

/// What may take a while on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

#[tokio::test]
#[ignore = "starts two clusters"]
async fn two_clusters_are_compared_as_they_are_and_one_that_is_lost_is_shown_as_it_was() {
    let there = LocalCluster::up("stack-view-there", &["--control-plane-only"]).await.unwrap();
    let here = LocalCluster::up("stack-view-here", &["--control-plane-only"]).await.unwrap();
    let world = World::on(here, options()).await;
    world.dashboard.register().await.unwrap();
    let kubeconfig = tokio::fs::read_to_string(there.kubeconfig()).await.unwrap();
    let wanted = json!({ "name": "there", "provider": "on-premises", "region": "berlin", "kubeconfig": kubeconfig });
    let (status, card) = world.dashboard.post("connect", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");

    until_scores(&world, json!({ "host": 100.0, "there": 100.0 }), PATIENCE).await;
    let other = there.client().await.unwrap();
    node(&other, "ill", "True").await;
    node(&world.client, "lost", "False").await;
    until_scores(&world, json!({ "host": 95.0, "there": 97.0 }), PATIENCE).await;

    // Every number is the same wherever it appears, and every point is accounted for.
    let view = view(&world, "").await;
    for row in view["clusters"].as_array().unwrap() {
        let page = page(&world, row["id"].as_str().unwrap()).await;
        assert_eq!(page["health"]["score"], row["health"]["score"], "{page}");
        let lost: f64 =
            page["health"]["deductions"].as_array().unwrap().iter().filter_map(|lost| lost["points"].as_f64()).sum();
        assert_eq!(json!(100.0 - lost), page["health"]["score"], "{page}");
        assert!(row["cpu"]["percent"].is_null() && row["not_measured"].is_string(), "{row}");
    }
    let lost = page(&world, id(&view, "host")).await;
    assert_eq!(lost["health"]["deductions"][0]["object"]["name"], "lost", "{lost}");
    assert_eq!(lost["nodes"][0]["ready"], false, "{lost}");

    on_a_terminal(&world, &there, &view).await;

    // A refresh does not wait for one that is lost: it takes two seconds at most, and what a busy machine adds.
    there.stop("kube-apiserver").await.unwrap();
    let began = Instant::now();
    let refreshed = self::view(&world, "?refresh=true").await;
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    assert!(row(&refreshed, "there")["stale"].is_object() && row(&refreshed, "host")["stale"].is_null(), "{refreshed}");
    let view = stack::until("a cluster that is said to be lost", Duration::from_mins(1), || async {
        let view = self::view(&world, "").await;
        let reason = row(&view, "there")["stale"]["reason"].as_str().unwrap_or_default();
        anyhow::ensure!(reason.contains("cannot be reached"), "{view}");
        Ok(view)
    })
    .await
    .unwrap();
    assert_eq!(row(&view, "there")["health"]["score"], 97.0, "not as it was: {view}");
    let gone = page(&world, id(&view, "there")).await;
    assert!(gone["freshness"]["unreachable"].is_object() && gone["health"]["score"] == 97.0, "{gone}");
    let summary = &view["summary"];
    let sum: u64 = ["healthy", "degraded", "unreachable", "setting_up"]
        .iter()
        .filter_map(|standing| summary[standing].as_u64())
        .sum();
    assert_eq!((summary["total"].as_u64(), sum), (Some(2), 2), "{summary}");
    let stale = &row(&view, "there")["stale"];
    assert!(stale["as_of"].is_string(), "{stale}");

    there.start("kube-apiserver").await.unwrap();
    stack::until("an answer", PATIENCE, || async {
        let view = self::view(&world, "?refresh=true").await;
        anyhow::ensure!(row(&view, "there")["stale"].is_null(), "{view}");
        Ok(())
    })
    .await
    .unwrap();

    // Let go of, it is watched no more.
    let (status, leaving) =
        world.dashboard.post(&format!("{}/disconnect", id(&view, "there")), &json!({})).await.unwrap();
    assert_eq!(status, 202, "{leaving}");
    stack::until("one cluster", PATIENCE, || async {
        let view = self::view(&world, "").await;
        anyhow::ensure!(view["summary"]["total"] == 1, "{view}");
        Ok(())
    })
    .await
    .unwrap();
}

/// The same numbers by `kubeopera report`, in each of its forms, and by `kubeopera health` without a server.
async fn on_a_terminal(world: &World, there: &LocalCluster, view: &Value) {
    let tomorrow = (jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24)).to_string();
    let wanted = json!({ "label": "terminal", "expires_at": tomorrow });
    let made = world.dashboard.request(Method::POST, "/api/v1/tokens").json(&wanted).send().await.unwrap();
    let made: Value = made.json().await.unwrap();
    let report = async |output: &str| {
        let mut command = Command::new(options().executable);
        command
            .args(["report", "--server", &world.program.address(), "--output", output])
            .env("KUBEOPERA_TOKEN", made["secret"].as_str().unwrap());
        stack::run(&mut command).await.unwrap()
    };
    let table = report("table").await;
    let line = table.lines().find(|line| line.starts_with("there ")).unwrap();
    assert!([" 97 ", " 1/1 "].iter().all(|part| line.contains(part)), "{table}");
    assert!(table.contains("\n2 clusters: "), "{table}");
    let json: Value = serde_json::from_str(&report("json").await).unwrap();
    for name in ["there", "host"] {
        assert_eq!(row(&json, name)["health"], row(view, name)["health"]);
    }
    let csv = report("csv").await;
    assert!(csv.lines().any(|line| line.starts_with("host,") && line.contains(",95,green,0,1,")), "{csv}");
    let mut refused = Command::new(options().executable);
    refused.args(["report", "--server", &world.program.address()]).env("KUBEOPERA_TOKEN", "kubeopera_wrong");
    let refusal = format!("{:#}", stack::run(&mut refused).await.unwrap_err());
    assert!(refusal.contains("does not accept the token"), "{refusal}");

    let health = async |output: &str| {
        let mut command = Command::new(options().executable);
        command.args(["health", "--output", output, "--kubeconfig"]).arg(there.kubeconfig());
        stack::run(&mut command).await.unwrap()
    };
    let text = health("table").await;
    assert!(text.contains("97 of 100 points, green") && text.contains("-3 ") && text.contains("ill"), "{text}");
    let health: Value = serde_json::from_str(&health("json").await).unwrap();
    assert_eq!((&health["health"]["score"], &health["health"]["deducted"]), (&json!(97.0), &json!(3.0)));
}

/// A node that nobody takes care of.
async fn node(client: &Client, name: &str, ready: &str) {
    let nodes: Api<Node> = Api::all(client.clone());
    let node = json!({ "apiVersion": "v1", "kind": "Node", "metadata": { "name": name } });
    nodes.patch(name, &PatchParams::apply("test").force(), &Patch::Apply(node)).await.unwrap();
    let pressure = if ready == "True" { "True" } else { "False" };
    let status = json!({ "status": {
        "conditions": [{ "type": "Ready", "status": ready }, { "type": "MemoryPressure", "status": pressure }],
        "allocatable": { "cpu": "2", "memory": "4Gi" },
    }});
    nodes.patch_status(name, &PatchParams::default(), &Patch::Merge(status)).await.unwrap();
}

async fn view(world: &World, query: &str) -> Value {
    world.dashboard.get(&format!("/api/v1/clusters/multi{query}")).await.unwrap()
}

async fn page(world: &World, id: &str) -> Value {
    world.dashboard.get(&format!("/api/v1/clusters/{id}/monitor")).await.unwrap()
}

fn row<'v>(view: &'v Value, name: &str) -> &'v Value {
    view["clusters"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

fn id<'v>(view: &'v Value, name: &str) -> &'v str {
    row(view, name)["id"].as_str().unwrap()
}

async fn until_scores(world: &World, expected: Value, limit: Duration) {
    stack::until(&format!("scores {expected}"), limit, || async {
        let view = view(world, "").await;
        let rows = view["clusters"].as_array().unwrap().iter();
        let scores: serde_json::Map<_, _> =
            rows.map(|row| (row["name"].as_str().unwrap().to_owned(), row["health"]["score"].clone())).collect();
        anyhow::ensure!(Value::Object(scores.clone()) == expected, "{view}");
        Ok(())
    })
    .await
    .unwrap();
}
