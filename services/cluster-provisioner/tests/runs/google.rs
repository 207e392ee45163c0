//! GKE, in front of a stand-in for Google.

use std::time::Duration;

use cluster_provisioner::book::RunResult;
use cluster_provisioner_contract::Topology;
use cluster_provisioner_terraform::{Access, Purpose};
use serde_json::json;
use testkit_terraform::Google;
use tokio_util::sync::CancellationToken;
use vocabulary::TroubleKind;

use super::world::World;

/// Network, subnet, router and its NAT, account with two rights, cluster, nodes.
const RESOURCES: usize = 9;
const CLUSTER: &str = "google_container_cluster";

fn world(google: &Google) -> World {
    google
        .answers(&json!({
            CLUSTER: { "endpoint": "203.0.113.7" },
            "google_client_config": { "access_token": "CANARY-token" },
        }))
        .unwrap();
    let access = Access::Gcp { project: "acme".to_owned() };
    let credential = ("google-credentials.json", r#"{"private_key":"CANARY-key"}"#);
    World::new(Topology::ManagedGke, ("europe-west4", "n4-standard-4"), access, credential, google.environment())
}

fn reason(result: &RunResult) -> (TroubleKind, &str) {
    match result {
        RunResult::Failed(trouble) => (trouble.kind, &trouble.reason),
        RunResult::Succeeded => panic!("it succeeded"),
    }
}

#[tokio::test]
async fn a_cluster_is_created_reached_and_deleted_again() {
    let google = Google::new().unwrap();
    let world = world(&google);

    assert_eq!(world.create(1).await, RunResult::Succeeded);

    assert_eq!((google.inventory(), world.known()), (RESOURCES, RESOURCES));
    assert!(world.kubeconfig().starts_with("https://203.0.113.7|"), "{}", world.kubeconfig());
    assert!(world.kubeconfig().ends_with("|CANARY-token"));
    let journal = google.journal();
    let at = |operation: &str, kind: &str| {
        google.journal().iter().position(|(done, of, _)| done == operation && of == kind).unwrap()
    };
    assert!(at("create", CLUSTER) < at("create", "google_container_node_pool"), "{journal:?}");
    let name = format!("north-{}", world.request.cluster.short());
    assert!(journal.iter().any(|(_, kind, of)| kind == CLUSTER && *of == name), "{journal:?}");

    assert_eq!(world.create(2).await, RunResult::Succeeded, "again changes nothing");
    assert_eq!(google.journal(), journal);

    assert_eq!(world.destroy(1).await, RunResult::Succeeded);
    assert_eq!((google.inventory(), world.known()), (0, 0));
    assert!(at("delete", CLUSTER) < at("delete", "google_compute_subnetwork"));
    assert_eq!(world.destroy(2).await, RunResult::Succeeded, "what is gone is gone");
}

#[tokio::test]
async fn a_run_that_failed_says_what_to_change_and_the_next_goes_on_from_there() {
    let google = Google::new().unwrap();
    let world = world(&google);
    for (attempt, summary, expected) in [
        (
            1,
            "googleapi: Error 403: Insufficient regional quota to satisfy request, insufficient regional quota",
            (TroubleKind::Rejected, "QuotaExceeded"),
        ),
        (
            2,
            "Error 403: Required 'container.clusters.create' permission(s), forbidden",
            (TroubleKind::Rejected, "PermissionMissing"),
        ),
        (3, "Error 503: backend error", (TroubleKind::Transient, "CloudNotAvailable")),
        (4, "something nobody has ever seen", (TroubleKind::Transient, "RunFailed")),
    ] {
        google
            .faults(&json!([{ "type": CLUSTER, "operation": "create", "summary": summary, "detail": "CANARY-detail" }]))
            .unwrap();

        let result = world.create(attempt).await;

        assert_eq!(reason(&result), expected, "{result:?}");
        let RunResult::Failed(trouble) = &result else { panic!("{result:?}") };
        assert!(
            trouble.message.contains("the GKE control plane") && !trouble.message.contains("CANARY"),
            "{trouble:?}"
        );
        assert_eq!((google.inventory(), world.known()), (RESOURCES - 2, RESOURCES - 2), "what was made is kept");
    }
    google.faults(&json!([])).unwrap();
    let creates = |google: &Google| google.journal().iter().filter(|(done, ..)| done == "create").count();
    assert_eq!(world.create(5).await, RunResult::Succeeded);
    assert_eq!((google.inventory(), creates(&google)), (RESOURCES, RESOURCES), "nothing was made twice");
}

#[tokio::test]
async fn the_name_of_a_missing_permission_is_told() {
    let google = Google::new().unwrap();
    let world = world(&google);
    let summary = "Error 403: Required 'compute.networks.create' permission for 'projects/acme', forbidden";
    google.faults(&json!([{ "type": "google_compute_network", "operation": "create", "summary": summary }])).unwrap();

    let RunResult::Failed(trouble) = world.create(1).await else { panic!("it succeeded") };

    assert!(trouble.message.contains("the network (compute.networks.create)"), "{}", trouble.message);
}

#[tokio::test]
async fn runs_killed_again_and_again_lose_nothing_that_was_made() {
    let google = Google::new().unwrap();
    let world = world(&google);
    google.faults(&json!([{ "type": "*", "operation": "create", "seconds": 0.7 }])).unwrap();
    for (attempt, made) in [(1, 1), (2, 3), (3, 5), (4, 7), (5, 8)] {
        let run = format!("create-{attempt}");
        let running = world.run(&run, Purpose::Create, CancellationToken::new());
        // While the next is in the making. What is made at the very moment of the end nobody can note down.
        let noted =
            until(|| google.inventory() >= made && world.page().state.is_some() && google.inventory() == world.known());
        tokio::select! {
            result = running => panic!("it was too fast: {result:?}"),
            () = noted => {}
        }
    }
    assert_eq!(world.create(6).await, RunResult::Succeeded);

    assert_eq!((google.inventory(), world.known()), (RESOURCES, RESOURCES), "{:?}", google.journal());
    assert_eq!(world.destroy(1).await, RunResult::Succeeded);
    assert_eq!(google.inventory(), 0);
}

/// Waits until something holds.
pub(crate) async fn until(holds: impl Fn() -> bool) {
    let deadline = tokio::time::Instant::now() + Duration::from_mins(5);
    while !holds() {
        assert!(tokio::time::Instant::now() < deadline, "still not so");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_run_that_is_asked_to_stop_lets_terraform_finish_what_it_is_at() {
    let google = Google::new().unwrap();
    let world = world(&google);
    google.faults(&json!([{ "type": "google_compute_network", "operation": "create", "seconds": 3.0 }])).unwrap();
    let stop = CancellationToken::new();
    let running = world.run("create-1", Purpose::Create, stop.clone());
    let asking = async {
        until(|| google.journal().iter().any(|(_, kind, _)| kind == "google_service_account")).await;
        stop.cancel();
    };

    let (result, ()) = tokio::join!(running, asking);

    assert_eq!(reason(&result.unwrap()), (TroubleKind::Transient, "RunStopped"));
    assert!(google.journal().iter().any(|(_, kind, _)| kind == "google_compute_network"), "it was at that");
    assert!(!google.journal().iter().any(|(_, kind, _)| kind == CLUSTER), "{:?}", google.journal());
    assert_eq!(google.inventory(), world.known());
}

#[tokio::test]
async fn a_run_that_another_has_taken_over_writes_nothing_more() {
    let google = Google::new().unwrap();
    let world = world(&google);
    google.faults(&json!([{ "type": CLUSTER, "operation": "create", "seconds": 20.0 }])).unwrap();
    let running = world.run("create-1", Purpose::Create, CancellationToken::new());
    let taking_over = async {
        until(|| google.inventory() == RESOURCES - 2).await;
        // The next change of the state is the first thing that fails.
        "create-2".clone_into(&mut world.page.lock().unwrap().run);
    };

    let (result, ()) = tokio::join!(running, taking_over);

    assert!(result.is_err(), "{result:?}");
    assert_eq!(world.page().result, None);
}

#[tokio::test]
async fn what_would_be_lost_stops_a_run_before_it_begins() {
    let google = Google::new().unwrap();
    let world = world(&google);
    assert_eq!(world.create(1).await, RunResult::Succeeded);
    let journal = google.journal();
    // A resource that no module has: a newer KubeOpera made it, or somebody meddled.
    world.change_state(|state| {
        let resources = state["resources"].as_array_mut().unwrap();
        let network = resources.iter().find(|one| one["type"] == "google_compute_network").unwrap().clone();
        resources.push(network);
        resources.last_mut().unwrap()["name"] = json!("unheard_of");
    });

    let result = world.create(2).await;

    assert_eq!(reason(&result), (TroubleKind::Rejected, "WouldBeLost"), "{result:?}");
    assert_eq!(google.journal(), journal, "nothing was changed");
}

#[tokio::test]
async fn deleting_what_others_still_use_is_tried_again_by_the_next_run() {
    let google = Google::new().unwrap();
    let world = world(&google);
    assert_eq!(world.create(1).await, RunResult::Succeeded);
    let summary = "The network resource 'north' is already being used by 'firewalls/k8s-1'";
    let fault = json!([{ "type": "google_compute_network", "operation": "delete", "summary": summary }]);
    google.faults(&fault).unwrap();
    let stop = CancellationToken::new();
    stop.cancel();

    let result = world.run("destroy-1", Purpose::Destroy, stop).await.unwrap();

    assert_eq!(reason(&result).0, TroubleKind::Transient, "{result:?}");
    assert!(google.inventory() > 0 && google.inventory() == world.known());
    google.faults(&json!([])).unwrap();
    assert_eq!(world.destroy(2).await, RunResult::Succeeded);
    assert_eq!(google.inventory(), 0);
}

#[tokio::test]
async fn no_secret_is_told_or_kept_in_the_open() {
    let google = Google::new().unwrap();
    let world = world(&google);
    world.create(1).await;

    let page = format!("{:?}", world.page());
    let bytes = [world.page().state.unwrap(), world.page().kubeconfig.unwrap()].concat();

    assert!(!page.contains("CANARY") && !String::from_utf8_lossy(&bytes).contains("CANARY"), "{page}");
    assert!(!world.page().told.is_empty());
}
