//! What was written down is lost: nothing in the cloud is called gone for that.

use cluster_provisioner::book::{Book, BookError, RunResult};
use cluster_provisioner_contract::{ClusterProvisioner, RunState, RunStatus};
use serde_json::json;
use vocabulary::{Trouble, TroubleKind};

use super::{
    life::{state, told},
    world::World,
};

/// A cluster with a finished run, whose book somebody then deleted.
async fn without_a_book() -> World {
    let world = World::new();
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.ends("create-1", RunResult::Succeeded).await;
    world.api_server.remove_named(&format!("secrets/provision-{}", world.request.cluster));
    world
}

fn is_lost(trouble: &Trouble) -> bool {
    (trouble.kind, trouble.reason.as_str()) == (TroubleKind::Rejected, "StateUnavailable")
}

#[tokio::test]
async fn a_cluster_whose_book_is_lost_is_neither_gone_nor_made_anew() {
    let world = without_a_book().await;
    let cluster = world.request.cluster;
    world.api_server.remove("jobs");

    for _ in 0..2 {
        let RunStatus::Failed { trouble, .. } = world.provisioner.ensure_destroyed(cluster).await.unwrap() else {
            panic!("it is called gone")
        };
        assert!(
            is_lost(&trouble) && trouble.message.contains(&format!("kubeopera.io/cluster-id={cluster}")),
            "{trouble:?}"
        );
    }
    assert!(
        matches!(world.provisioner.run_status(cluster).await, Ok(RunStatus::Failed { trouble, .. }) if is_lost(&trouble))
    );
    assert!(is_lost(&world.provisioner.ensure_run(&world.request, 2).await.unwrap_err()));
    assert!(world.api_server.all("jobs").is_empty());
}

#[tokio::test]
async fn a_ledger_that_cannot_be_read_is_not_one_that_is_not_there() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    let book = world.book("create-1");
    assert_eq!(book.read().await.unwrap().ledger, None, "nothing was begun");
    let encode = |bytes: &[u8]| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, bytes);
    for damaged in [&b"{\"lines\":[]}"[..], b"[{", b"\xff", b""] {
        world.change_book(&json!({ "data": { "ledger": encode(damaged) } }));

        let Err(BookError::Unavailable(trouble)) = book.read().await else { panic!("{damaged:?} is taken for none") };

        assert!(is_lost(&trouble) && trouble.message.contains(&format!("provision-{cluster}")), "{trouble:?}");
    }
}

#[tokio::test]
async fn giving_up_ends_it_and_says_what_is_left() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.book("create-1").write(state(b"sealed")).await.unwrap();

    let waiting = world.provisioner.give_up(cluster).await.unwrap_err();
    assert_eq!(waiting.kind, TroubleKind::Waiting, "what works might make something yet");
    assert!(world.api_server.all("jobs").is_empty(), "it is stopped");
    world.provisioner.give_up(cluster).await.unwrap();
    world.provisioner.give_up(cluster).await.unwrap();

    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));
    let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
    assert_eq!((shown.state, shown.resources[0].gone_at), (RunState::GivenUp, None));
    assert_eq!(world.api_server.kinds(), ["configmaps"]);
}

#[tokio::test]
async fn giving_up_that_was_cut_off_starts_no_run_that_deletes() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.ends("create-1", RunResult::Succeeded).await;
    let book = world.api_server.all("secrets").into_iter().find(|one| one["data"]["run"].is_string()).unwrap();
    world.provisioner.give_up(cluster).await.unwrap();
    world.api_server.put(&format!("/api/v1/namespaces/kubeopera-provisioning/secrets/provision-{cluster}"), book);

    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));
    assert_eq!(world.api_server.kinds(), ["configmaps"]);
}

#[tokio::test]
async fn no_run_is_started_of_a_cluster_that_is_given_up_meanwhile() {
    for is_to_be_deleted in [true, false] {
        let world = World::new();
        let cluster = world.request.cluster;
        world.provisioner.ensure_run(&world.request, 1).await.unwrap();
        world.ends("create-1", RunResult::Succeeded).await;
        world.api_server.remove("jobs");

        world.is_given_up_meanwhile();
        let outcome = if is_to_be_deleted {
            world.provisioner.ensure_destroyed(cluster).await.map(drop)
        } else {
            world.provisioner.ensure_run(&world.request, 2).await
        };

        assert_eq!(outcome.unwrap_err().reason, "RunChanging");
        assert_eq!(world.api_server.kinds(), ["configmaps"]);
        assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));
        let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
        assert_eq!((shown.run.as_str(), shown.state), ("create-1", RunState::GivenUp));
    }
}

#[tokio::test]
async fn what_a_run_needs_that_was_just_being_started_goes_when_its_cluster_is_given_up() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.ends("create-1", RunResult::Succeeded).await;
    for _ in 0..2 {
        world.provisioner.ensure_destroyed(cluster).await.unwrap();
    }
    // All that comes after the page, which the leader makes when everything is gone already.
    let late = world.api_server.everything();
    world.api_server.remove("jobs");
    world.provisioner.give_up(cluster).await.unwrap();
    world
        .api_server
        .put_all(late.into_iter().filter(|(path, _)| !path.ends_with(&format!("secrets/provision-{cluster}"))));
    assert_eq!(world.api_server.all("jobs").len(), 1);

    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));

    assert_eq!(world.api_server.kinds(), ["configmaps"]);
}

#[tokio::test]
async fn giving_up_is_gone_on_with_from_the_last_page_on() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.ends("create-1", RunResult::Succeeded).await;
    world.api_server.remove("jobs");
    let given_up = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, "given-up");
    world.change_book(&json!({ "data": { "run": given_up } }));
    assert_eq!(world.provisioner.ensure_run(&world.request, 2).await.unwrap_err().reason, "RunChanging");

    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));

    assert_eq!(world.api_server.kinds(), ["configmaps"]);
    let shown = world.provisioner.provisioning(cluster).await.unwrap().unwrap();
    assert_eq!(shown.state, RunState::GivenUp);
}

#[tokio::test]
async fn whoever_comes_late_deletes_no_job_and_turns_no_page_of_another() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.ends("create-1", RunResult::Succeeded).await;
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    world.provisioner.ensure_destroyed(cluster).await.unwrap();

    world.api_server.remove("jobs");
    let late = world.provisioner.ensure_run(&world.request, 2).await.unwrap_err();
    assert_eq!(late.reason, "BeingDestroyed");
    assert!(world.api_server.deletions().iter().all(|body| body["preconditions"]["uid"].is_string()));

    world.api_server.conflict_next("provision-");
    let conflict = world.provisioner.ensure_destroyed(cluster).await.unwrap_err();
    assert_eq!((conflict.kind, conflict.reason.as_str()), (TroubleKind::Waiting, "RunChanging"));
    world.book("destroy-1").write(told("still this run's")).await.unwrap();
}

#[tokio::test]
async fn the_credential_goes_with_its_job() {
    let world = World::new();
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();

    let job = &world.api_server.all("jobs")[0];
    let order = world.api_server.all("secrets").into_iter().find(|one| one["data"]["order.json"].is_string()).unwrap();
    let owner = json!({ "apiVersion": "batch/v1", "kind": "Job", "name": job["metadata"]["name"], "uid": job["metadata"]["uid"] });
    assert_eq!(order["metadata"]["ownerReferences"], json!([owner]));
}

#[tokio::test]
async fn only_a_run_that_deletes_is_given_the_way_into_its_own_cluster() {
    let world = World::new();
    let cluster = world.request.cluster;
    let order = || {
        let all = world.api_server.all("secrets");
        all.into_iter().find(|one| one["data"]["order.json"].is_string()).map(|one| one["data"]["kubeconfig"].clone())
    };
    let kubeconfig = |of| {
        json!({ "apiVersion": "v1", "kind": "Secret", "data": { "kubeconfig": "Q0FOQVJZ" },
            "metadata": { "name": cluster.kubeconfig_secret(), "labels": { "kubeopera.io/cluster-id": of } } })
    };
    let path = format!("/api/v1/namespaces/kubeopera-system/secrets/{}", cluster.kubeconfig_secret());
    world.api_server.put(&path, kubeconfig(cluster));
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    assert_eq!(order(), Some(json!(null)));

    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    assert_eq!(order(), Some(json!("Q0FOQVJZ")));

    world.api_server.put(&path, kubeconfig(vocabulary::ClusterId::random()));
    world.ends("destroy-1", RunResult::Failed(Trouble::transient("StillInUse", "Something is in use."))).await;
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    assert_eq!(order(), Some(json!(null)), "another cluster's is not taken");
}
