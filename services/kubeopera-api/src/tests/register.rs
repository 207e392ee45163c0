//! Register This Cluster.

use http::StatusCode;
use serde_json::{Value, json};

use super::kubernetes::UID;
use super::{World, on_both_databases, world::until};
use crate::{resources::relay::relay_what_is_due, store::clusters};

on_both_databases! {
    one_click_makes_one_record_and_one_resource
    twenty_clicks_at_once_make_one_record_and_one_resource
    the_card_is_there_before_anything_is_written_to_kubernetes
    what_kubernetes_refuses_is_said_on_the_card_and_tried_again
    an_answer_that_is_lost_on_the_way_makes_no_second_resource
    a_crash_between_record_and_resource_costs_nothing
    a_name_or_path_that_is_taken_gets_a_number
    a_cluster_that_was_connected_before_stays_one_entry
    a_host_cluster_that_was_taken_on_record_is_known_by_its_uid_from_the_first_click
    there_is_only_ever_one_host_cluster
    an_api_server_that_does_not_answer_is_a_problem_and_nothing_is_stored
    two_starts_at_once_bring_the_tables_up_to_date_once
}

async fn one_click_makes_one_record_and_one_resource(world: World) {
    let cookie = world.log_in("operator").await;

    let first = world.register(&cookie).await;
    let second = world.register(&cookie).await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!((first.status, second.status), (StatusCode::CREATED, StatusCode::OK));
    let cluster = first.json();
    assert_eq!(cluster["id"], second.json()["id"]);
    assert_eq!(cluster["name"], "home");
    assert_eq!((&cluster["provider"], &cluster["region"]), (&json!("aws"), &json!("eu-north-1")));
    assert_eq!((&cluster["mode"], &cluster["is_host"]), (&json!("connect_existing"), &json!(true)));
    assert_eq!(cluster["phase"], "Pending");
    let states: Vec<_> =
        cluster["phases"].as_array().unwrap().iter().map(|step| (&step["phase"], &step["state"])).collect();
    assert_eq!(states.len(), 3, "{states:?}");
    assert!(states.iter().all(|(_, state)| *state == "waiting"), "{states:?}");

    let [resource] = &world.api_server.resources()[..] else { panic!("not one resource") };
    assert_eq!(resource["metadata"]["name"], cluster["id"]);
    assert_eq!(resource["metadata"]["labels"]["kubeopera.io/host"], "true");
    assert_eq!(resource["metadata"]["labels"]["kubeopera.io/cluster-name"], "home");
    let spec = &resource["spec"];
    assert_eq!(spec["clusterID"], cluster["id"]);
    assert_eq!(spec["mode"], "connect_existing");
    assert_eq!(spec.get("connectKubeconfigSecretRef"), None);
    assert_eq!(spec["gitOpsRepoURL"], "https://git.acme.com/gitops-iac.git");
    assert_eq!(spec["gitOpsPath"], "fluxcd/clusters/home");
    assert_eq!(spec["gitCredentialsSecretRef"], "gitops-iac-credentials");
    assert_eq!(spec["domain"], "host.acme.com");
    let typed = serde_json::from_value(resource.clone()).unwrap();
    host_cluster_controller_crd::ValidSpec::of(&typed).expect("the controller would refuse it");
}

async fn twenty_clicks_at_once_make_one_record_and_one_resource(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;

    let answers = futures::future::join_all((0..20).map(|_| world.register(&cookie))).await;

    let created = answers.iter().filter(|answer| answer.status == StatusCode::CREATED).count();
    assert_eq!(created, 1, "{:?}", answers.iter().map(|answer| answer.status).collect::<Vec<_>>());
    let mut ids: Vec<_> = answers.iter().map(|answer| answer.json()["id"].to_string()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(world.dump("clusters").await.len(), 1);
    until("the outbox is empty", async || world.dump("outbox").await.is_empty().then_some(())).await;
    assert_eq!(world.api_server.resources().len(), 1);
}

async fn the_card_is_there_before_anything_is_written_to_kubernetes(world: World) {
    let cookie = world.log_in("operator").await;

    let cluster = world.register(&cookie).await.json();

    assert_eq!(world.api_server.creates(), 0);
    let list = world.get("/api/v1/clusters", &cookie).await.json();
    assert_eq!(list["items"][0]["id"], cluster["id"]);
    assert_eq!(list["items"][0]["phase"], "Pending");
    assert!(!list["items"][0]["message"].as_str().unwrap().is_empty());
}

async fn what_kubernetes_refuses_is_said_on_the_card_and_tried_again(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    for (status, kind) in [(503, "transient"), (403, "rejected")] {
        world.api_server.refuse_creates(&[status]);
        make_due(&world).await;

        relay_what_is_due(&world.platform).await.unwrap();

        let card = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
        assert_eq!(card["phase"], "Pending");
        let message = card["message"].as_str().unwrap();
        assert!(message.contains("could not be created") && !message.contains("HIDDEN"), "{kind}: {message}");
        assert!(card["retry"]["next_attempt_at"].is_string(), "{card}");
    }
    make_due(&world).await;

    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!(world.api_server.resources().len(), 1);
    assert!(world.dump("outbox").await.is_empty());
    let card = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
    assert_eq!(card["retry"], Value::Null);
}

async fn an_answer_that_is_lost_on_the_way_makes_no_second_resource(world: World) {
    let cookie = world.log_in("operator").await;
    world.register(&cookie).await;
    world.api_server.lose_answers_to_creates(1);

    relay_what_is_due(&world.platform).await.unwrap();
    assert_eq!(world.dump("outbox").await.len(), 1, "nobody knows that it was done");
    make_due(&world).await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert!(world.dump("outbox").await.is_empty());
    assert_eq!((world.api_server.creates(), world.api_server.resources().len()), (2, 1));
}

async fn a_crash_between_record_and_resource_costs_nothing(world: World) {
    let cookie = world.log_in("operator").await;
    let before = world.register(&cookie).await.json();
    assert_eq!(world.api_server.creates(), 0);

    let world = world.restarted().await;
    world.start();

    until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;
    let after = world.register(&cookie).await;
    assert_eq!((after.status, &after.json()["id"]), (StatusCode::OK, &before["id"]));
}

async fn a_name_or_path_that_is_taken_gets_a_number(world: World) {
    let cookie = world.log_in("operator").await;
    let other = |name: &str, path: &str| {
        let id = vocabulary::ClusterId::random();
        let mut spec = spec_of(id);
        spec.git_ops_path = path.to_owned();
        clusters::Record {
            id,
            name: name.parse().unwrap(),
            kube_system_uid: None,
            is_host: false,
            spec,
            created_at: jiff::Timestamp::now(),
            removing_since: None,
            labels: vocabulary::ClusterLabels::new(),
            revision: 0,
        }
    };
    world.put_on_record(&other("home", "somewhere/else")).await;
    world.put_on_record(&other("other", "fluxcd/clusters/home-2")).await;

    let cluster = world.register(&cookie).await.json();

    assert_eq!(cluster["name"], "home-3");
}

async fn a_cluster_that_was_connected_before_stays_one_entry(world: World) {
    let cookie = world.log_in("operator").await;
    let id = vocabulary::ClusterId::random();
    let connected = clusters::Record {
        id,
        name: "north".parse().unwrap(),
        kube_system_uid: Some(UID.to_owned()),
        is_host: false,
        spec: spec_of(id),
        created_at: jiff::Timestamp::now(),
        removing_since: None,
        labels: vocabulary::ClusterLabels::new(),
        revision: 0,
    };
    world.put_on_record(&connected).await;

    let answer = world.register(&cookie).await;

    assert_eq!((answer.status, &answer.json()["id"]), (StatusCode::OK, &json!(id)));
    assert_eq!(answer.json()["is_host"], true);
    assert_eq!(world.dump("clusters").await.len(), 1);
}

async fn a_host_cluster_that_was_taken_on_record_is_known_by_its_uid_from_the_first_click(world: World) {
    let cookie = world.log_in("operator").await;
    let id = vocabulary::ClusterId::random();
    let mut spec = spec_of(id);
    spec.connect_kubeconfig_secret_ref = None;
    let adopted = clusters::Record {
        id,
        name: "north".parse().unwrap(),
        kube_system_uid: None,
        is_host: true,
        spec,
        created_at: jiff::Timestamp::now(),
        removing_since: None,
        labels: vocabulary::ClusterLabels::new(),
        revision: 0,
    };
    world.put_on_record(&adopted).await;

    let answer = world.register(&cookie).await;

    assert_eq!((answer.status, &answer.json()["id"]), (StatusCode::OK, &json!(id)));
    assert!(clusters::by_kube_system_uid(&world.platform.db, UID).await.unwrap().is_some());
    world.api_server.become_another_cluster();
    assert_eq!(world.register(&cookie).await.code(), "another_host_cluster");
}

/// Any spec.
pub(super) fn spec_of(id: vocabulary::ClusterId) -> host_cluster_controller_crd::HostClusterSpec {
    serde_json::from_value(json!({
        "clusterID": id, "mode": "connect_existing", "provider": "gcp", "region": "europe-west4",
        "connectKubeconfigSecretRef": id.input_kubeconfig_secret(),
        "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git", "gitOpsPath": "fluxcd/clusters/north",
        "gitCredentialsSecretRef": "gitops-iac-credentials",
    }))
    .unwrap()
}

async fn there_is_only_ever_one_host_cluster(world: World) {
    let cookie = world.log_in("operator").await;
    world.register(&cookie).await;
    world.api_server.become_another_cluster();

    let refused = world.register(&cookie).await;

    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "another_host_cluster"));
    assert_eq!(world.dump("clusters").await.len(), 1);
}

async fn an_api_server_that_does_not_answer_is_a_problem_and_nothing_is_stored(world: World) {
    let cookie = world.log_in("operator").await;
    world.api_server.be_down(true);

    let refused = world.register(&cookie).await;

    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::SERVICE_UNAVAILABLE, "not_available"));
    assert!(refused.headers.contains_key("retry-after"));
    assert!(world.dump("clusters").await.is_empty() && world.dump("outbox").await.is_empty());
}

async fn two_starts_at_once_bring_the_tables_up_to_date_once(world: World) {
    // On PostgreSQL a new database; on SQLite a new file.
    let url = if world.url.starts_with("sqlite") {
        format!("sqlite://{}?mode=rwc", world.folder.path().join("another.db").display())
    } else {
        tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap()
    };
    let start = async || {
        let db = service_kit::database::open(&url).await.unwrap();
        crate::store::migrate(&db).await
    };

    let started = futures::future::join_all((0..6).map(|_| start())).await;

    for result in started {
        result.unwrap();
    }
}

/// Lets the pause before the next attempt pass.
async fn make_due(world: &World) {
    let db = &world.platform.db;
    sea_orm::ConnectionTrait::execute_unprepared(db, "UPDATE outbox SET next_attempt_at = 0").await.unwrap();
}
