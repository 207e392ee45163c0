//! "A complete environment for this cluster": every object of it is one the API server understands.

use serde_json::Value;

use crate::{World, flux::kustomizations};

#[tokio::test]
#[ignore = "starts a cluster"]
async fn every_object_of_the_tree_passes_a_strict_server_side_dry_run() {
    let world = World::fresh("stack-tree").await;
    world.dashboard.register().await.unwrap();
    let resource = world.ready().await;
    let clone = tempfile::tempdir().unwrap();
    stack::run(
        tokio::process::Command::new("git")
            .args(["clone", "--quiet"])
            .arg(world.program.repository())
            .arg(clone.path()),
    )
    .await
    .unwrap();

    let mut paths = vec![resource.spec.git_ops_path.clone()];
    for kustomization in kustomizations(&world.client).list(&kube::api::ListParams::default()).await.unwrap() {
        let path = kustomization.data["spec"]["path"].as_str().unwrap().trim_start_matches("./").to_owned();
        paths.push(path);
    }
    paths.sort();
    paths.dedup();
    assert!(paths.len() >= 8, "the root and its layers, not only {paths:?}");

    let mut objects = 0;
    for path in paths {
        let built = stack::run(
            tokio::process::Command::new("kubectl")
                .args(["kustomize", "--load-restrictor", "LoadRestrictionsNone"])
                .arg(clone.path().join(&path)),
        )
        .await
        .unwrap();
        if built.trim().is_empty() {
            continue;
        }
        let file = clone.path().join("built.yaml");
        tokio::fs::write(&file, built).await.unwrap();
        let answer = stack::run(
            world
                .cluster
                .kubectl()
                .args(["apply", "--server-side", "--dry-run=server", "--validate=strict", "--force-conflicts"])
                .args(["--field-manager", "kustomize-controller", "--output", "json", "--filename"])
                .arg(&file),
        )
        .await
        .unwrap_or_else(|error| panic!("{path}: {error:#}"));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        objects += answer["items"].as_array().map_or(1, Vec::len);
    }
    assert!(objects > 30, "a complete environment has more than {objects} objects");
}
