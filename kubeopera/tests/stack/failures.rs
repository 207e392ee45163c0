//! "Something went wrong; the message explains what and the controller retries where it can."

use std::time::Duration;

use host_cluster_controller_crd::Phase;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{
    Api,
    api::{Patch, PatchParams},
};
use serde_json::json;
use stack::{LocalCluster, PhaseLog, ProgramOptions};

use crate::{World, flux::FLUX, options};

/// How long each fault lasts.
const FAULT: Duration = Duration::from_mins(1);

#[tokio::test]
#[ignore = "starts a cluster"]
async fn an_api_server_that_is_away_for_a_minute_is_said_and_survived() {
    let world = World::fresh("stack-apiserver").await;
    world.dashboard.register().await.unwrap();
    world.message("Flux being bootstrapped", Duration::from_mins(1), |message| message.contains("Flux")).await;

    let stopped_at = tokio::time::Instant::now();
    world.cluster.stop("kube-apiserver").await.unwrap();
    let said = stack::until("a word about the API server", Duration::from_secs(45), || async {
        let list = world.dashboard.list().await?;
        anyhow::ensure!(list["kubernetes"]["available"] == false, "{}", list["kubernetes"]);
        Ok(list)
    })
    .await
    .unwrap();
    let reason = said["kubernetes"]["reason"].as_str().unwrap();
    assert!(reason.contains("API server"), "{reason}");
    assert_eq!(said["items"].as_array().unwrap().len(), 1, "the card is still there");

    tokio::time::sleep_until(stopped_at + FAULT).await;
    world.cluster.start("kube-apiserver").await.unwrap();

    world.ready().await;
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn a_git_server_that_refuses_for_a_minute_is_said_and_survived() {
    // The repository is a server of its own here, so that it can be away while KubeOpera is not.
    let cluster = LocalCluster::up("stack-git", &[]).await.unwrap();
    let git = stack::GitServer::prepare(&cluster).await.unwrap();
    git.store_credentials(&cluster, "acme-git").await.unwrap();
    stack::start_mirror().await.unwrap();
    let with_git = ProgramOptions {
        arguments: vec!["--git-url".into(), git.url(), "--git-credentials-secret".into(), "acme-git".into()],
        ..options()
    };
    let world = World::on(cluster, with_git).await;
    let phases = PhaseLog::follow(world.client.clone());

    // Away from the beginning: nothing can be committed.
    world.dashboard.register().await.unwrap();
    let message = world
        .message("a word about the Git server", Duration::from_mins(2), |message| message.contains("10.201."))
        .await;
    assert!(message.to_lowercase().contains("git"), "{message}");
    assert_ne!(world.host_cluster().await.unwrap().status.unwrap().phase, Some(Phase::Failed));
    tokio::time::sleep(FAULT).await;
    git.accept().await.unwrap();

    // Away again once Flux reads from it.
    phases.reached(Phase::InstallingKubeOpera, Duration::from_mins(3)).await.unwrap();
    git.refuse();
    tokio::time::sleep(FAULT).await;
    assert_ne!(world.host_cluster().await.unwrap().status.unwrap().phase, Some(Phase::Failed));
    git.accept().await.unwrap();

    world.ready().await;
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn images_that_cannot_be_pulled_on_the_way_are_named_and_waited_for() {
    stack::start_mirror().await.unwrap();
    let cluster = LocalCluster::up("stack-mirror", &[]).await.unwrap();
    let world = World::on(cluster, options()).await;
    stack::stop_mirror().await.unwrap();

    world.dashboard.register().await.unwrap();
    let message =
        world.message("a word about an image", Duration::from_mins(3), |message| message.contains("/fluxcd/")).await;
    assert!(message.contains("cannot be pulled"), "{message}");
    assert_eq!(world.host_cluster().await.unwrap().status.unwrap().phase, Some(Phase::BootstrappingFlux));
    stack::start_mirror().await.unwrap();

    // Nobody touches the cluster: the kubelet and KubeOpera try again by themselves.
    world.ready().await;
}

#[tokio::test]
#[ignore = "starts a cluster"]
async fn an_image_that_cannot_be_pulled_is_named_and_mending_it_is_enough() {
    let world = World::fresh("stack-image").await;
    world.dashboard.register().await.unwrap();
    world.ready().await;
    let deployments = Api::<Deployment>::namespaced(world.client.clone(), FLUX);
    let image_of = |image: &str| {
        Patch::Strategic(json!({ "spec": { "template": { "spec": {
            "containers": [{ "name": "manager", "image": image }] } } } }))
    };
    let good = deployments.get("kustomize-controller").await.unwrap().spec.unwrap().template.spec.unwrap().containers
        [0]
    .image
    .clone()
    .unwrap();

    deployments
        .patch("kustomize-controller", &PatchParams::default(), &image_of("10.201.0.1:5000/no/such/image:v0"))
        .await
        .unwrap();
    let message = world
        .message("a word about the image", Duration::from_mins(2), |message| message.contains("no/such/image"))
        .await;
    assert!(message.contains("kustomize-controller"), "{message}");
    let status = world.host_cluster().await.unwrap().status.unwrap();
    assert_eq!((status.phase, status.flux_healthy), (Some(Phase::Ready), Some(false)), "Ready stays, the flag tells");

    deployments.patch("kustomize-controller", &PatchParams::default(), &image_of(&good)).await.unwrap();
    stack::until("healthy Flux", Duration::from_mins(3), || async {
        let status = world.host_cluster().await?.status.unwrap_or_default();
        anyhow::ensure!(status.flux_healthy == Some(true), "{:?}", status.message);
        Ok(())
    })
    .await
    .unwrap();
}
