//! Records and resources that were torn apart, and an API server that is away.

use serde_json::{Value, json};
use vocabulary::ClusterId;

use super::{World, on_both_databases, register::spec_of, world::until};

on_both_databases! {
    a_resource_that_got_lost_is_made_again
    a_resource_that_somebody_deletes_takes_its_record_with_it
    a_cluster_that_is_being_let_go_of_is_not_registered_meanwhile
    a_resource_of_ours_without_a_record_is_taken_on_record
    a_resource_that_is_not_ours_or_not_valid_is_left_alone
    a_cluster_says_what_it_is_reached_with_and_how_far_from_its_end_that_is
    while_kubernetes_is_away_the_list_shows_what_was_seen_last_and_says_so
    a_list_is_read_page_by_page
}

async fn registered(world: &World, cookie: &str) -> String {
    let id = world.register(cookie).await.json()["id"].as_str().unwrap().to_owned();
    until("the resource is seen", async || {
        let cluster = world.get(&format!("/api/v1/clusters/{id}"), cookie).await.json();
        cluster["message"].as_str().unwrap().contains("host-cluster-controller").then_some(())
    })
    .await;
    id
}

fn resource(id: ClusterId, name: &str) -> Value {
    let mut spec = serde_json::to_value(spec_of(id)).unwrap();
    spec["gitOpsPath"] = format!("fluxcd/clusters/{name}").into();
    json!({"apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster", "spec": spec, "metadata": {
        "name": id, "namespace": "kubeopera-system", "creationTimestamp": "2026-11-29T08:00:00Z",
        "labels": {"kubeopera.io/cluster-name": name}}})
}

async fn a_resource_that_got_lost_is_made_again(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = registered(&world, &cookie).await;
    until("the outbox is empty", async || world.dump("outbox").await.is_empty().then_some(())).await;
    world.api_server.lose(&id);

    // A new process reads all resources and finds one missing.
    let world = world.restarted().await;
    world.start();

    until("the resource is there again", async || (!world.api_server.resources().is_empty()).then_some(())).await;
    assert_eq!(world.api_server.resources()[0]["metadata"]["name"], id);
    assert_eq!(world.dump("clusters").await.len(), 1);
}

async fn a_resource_that_somebody_deletes_takes_its_record_with_it(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = registered(&world, &cookie).await;
    let mut deleting = world.api_server.resources()[0].clone();
    deleting["metadata"]["deletionTimestamp"] = "2026-11-30T09:00:00Z".into();
    deleting["metadata"]["finalizers"] = json!(["kubeopera.io/host-cluster"]);

    world.api_server.put(deleting);
    until("the card says so", async || {
        let cluster = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
        cluster["message"].as_str().unwrap().contains("letting go").then_some(())
    })
    .await;
    world.api_server.delete(&id);

    until("the record is gone", async || world.dump("clusters").await.is_empty().then_some(())).await;
    assert_eq!(world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.code(), "no_such_cluster");
    let again = world.register(&cookie).await;
    assert_eq!(again.status.as_u16(), 201, "it can be registered again");
    assert_ne!(again.json()["id"], id.as_str());
}

async fn a_cluster_that_is_being_let_go_of_is_not_registered_meanwhile(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().parse().unwrap();
    world.platform.begin_removal(id).await.unwrap();

    assert_eq!(world.register(&cookie).await.code(), "being_removed");
}

async fn a_resource_of_ours_without_a_record_is_taken_on_record(world: World) {
    let cookie = world.log_in("viewer").await;
    let id = ClusterId::random();
    world.api_server.put(resource(id, "north"));

    world.start();

    let cluster = until("the cluster is listed", async || {
        world.get("/api/v1/clusters", &cookie).await.json()["items"].get(0).cloned()
    })
    .await;
    assert_eq!(cluster["id"], json!(id));
    assert_eq!((&cluster["name"], &cluster["provider"]), (&json!("north"), &json!("gcp")));
    assert_eq!(cluster["created_at"], "2026-11-29T08:00:00Z");
    assert_eq!(
        (cluster["is_host"].as_bool(), cluster["phases"][0]["phase"].as_str()),
        (Some(false), Some("ValidatingAccess"))
    );
    assert!(world.told().await.iter().any(|row| row.contains("adopt_cluster")));
}

async fn a_resource_that_is_not_ours_or_not_valid_is_left_alone(world: World) {
    let cookie = world.log_in("viewer").await;
    let mut unlabelled = resource(ClusterId::random(), "one");
    unlabelled["metadata"]["labels"] = json!({});
    let mut invalid = resource(ClusterId::random(), "two");
    invalid["spec"]["gitOpsRepoURL"] = "https://user:CANARY@git.acme.com/x.git".into();
    let mut deleting = resource(ClusterId::random(), "three");
    deleting["metadata"]["deletionTimestamp"] = "2026-11-30T09:00:00Z".into();
    let mut same_path = resource(ClusterId::random(), "five");
    same_path["spec"]["gitOpsPath"] = "fluxcd/clusters/zebra".into();
    for resource in [unlabelled, invalid, deleting, resource(ClusterId::random(), "zebra")] {
        world.api_server.put(resource);
    }
    world.start();

    until("the valid one is listed", async || {
        (world.get("/api/v1/clusters", &cookie).await.json()["items"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    world.api_server.put(same_path);
    world.platform.repair_wanted.notify_one();
    until("the second of one path is seen", async || (world.platform.observed.all()?.len() == 5).then_some(())).await;
    crate::resources::repair::repair(&world.platform, &mut std::collections::BTreeSet::new()).await.unwrap();

    let items = world.get("/api/v1/clusters", &cookie).await.json()["items"].clone();
    let names: Vec<_> = items.as_array().unwrap().iter().map(|cluster| cluster["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["zebra"]);
}

async fn a_cluster_says_what_it_is_reached_with_and_how_far_from_its_end_that_is(world: World) {
    let cookie = world.log_in("viewer").await;
    let id = ClusterId::random();
    let mut resource = resource(id, "harbour");
    world.api_server.put(resource.clone());
    world.start();
    let path = format!("/api/v1/clusters/{id}");
    let credential = async || world.get(&path, &cookie).await.json()["credential"].clone();
    until("the cluster is on record", async || {
        (world.get(&path, &cookie).await.status == axum::http::StatusCode::OK).then_some(())
    })
    .await;
    assert_eq!(credential().await, json!(null));

    let ends = "2026-12-31T08:00:00Z";
    for (status, reason, state) in
        [("True", "Valid", "valid"), ("True", "ExpiresSoon", "expires_soon"), ("False", "Expired", "expired")]
    {
        resource["status"] = json!({"phase": "Ready", "credential": {"kind": "clientCertificate", "expiresAt": ends},
            "conditions": [{"type": "CredentialValid", "status": status, "reason": reason, "message": "It ends.",
                "lastTransitionTime": "2026-11-29T08:00:00Z"}]});
        world.api_server.put(resource.clone());
        let expected = json!({"kind": "client_certificate", "expires_at": ends, "state": state});
        until(reason, async || (credential().await == expected).then_some(())).await;
        let list = world.get("/api/v1/clusters", &cookie).await.json();
        assert_eq!(list["items"][0]["credential"], expected);
    }

    resource["status"] = json!({"phase": "Ready", "credential": {"kind": "token"}});
    world.api_server.put(resource);
    let endless = json!({"kind": "token", "expires_at": null, "state": null});
    until("one that does not tell its end", async || (credential().await == endless).then_some(())).await;
}

async fn while_kubernetes_is_away_the_list_shows_what_was_seen_last_and_says_so(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = registered(&world, &cookie).await;
    let mut ready = world.api_server.resources()[0].clone();
    ready["status"] = json!({"phase": "Ready", "message": "Flux healthy and reconciling fluxcd/clusters/home.",
        "fluxHealthy": true, "kubernetesVersion": "1.34.4", "nodes": {"total": 2, "ready": 1}});
    world.api_server.put(ready);
    let list = async || world.get("/api/v1/clusters", &cookie).await.json();
    until("the phase is on the card", async || (list().await["items"][0]["phase"] == "Ready").then_some(())).await;
    assert_eq!(list().await["kubernetes"], json!({"available": true}));

    world.api_server.be_down(true);
    world.platform.access_doubted.notify_one();

    let stale = until("the list says so", async || {
        let list = list().await;
        (list["kubernetes"]["available"] == false).then_some(list)
    })
    .await;
    assert!(stale["kubernetes"]["reason"].as_str().unwrap().ends_with('.'), "{stale}");
    assert_eq!(stale["items"][0]["phase"], "Ready");
    assert!(stale["items"][0]["stale_since"].is_string());

    // A new process has seen nothing and does not make anything up.
    let world = world.restarted().await;
    world.start();
    let unknown = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
    assert_eq!((unknown["phase"].as_str(), unknown["nodes"].is_null()), (Some("Pending"), true));
    assert!(unknown["message"].as_str().unwrap().contains("not known"), "{unknown}");

    world.api_server.be_down(false);
    world.platform.access_doubted.notify_one();
    until("it is known again", async || {
        let list = world.get("/api/v1/clusters", &cookie).await.json();
        (list["items"][0]["phase"] == "Ready" && list["kubernetes"]["available"] == true).then_some(())
    })
    .await;
}

async fn a_list_is_read_page_by_page(world: World) {
    let cookie = world.log_in("viewer").await;
    for name in ["delta", "alpha", "echo", "charlie", "bravo"] {
        world.api_server.put(resource(ClusterId::random(), name));
    }
    world.start();
    until("all are listed", async || {
        (world.get("/api/v1/clusters", &cookie).await.json()["items"].as_array().unwrap().len() == 5).then_some(())
    })
    .await;

    let mut names = Vec::new();
    let mut cursor = String::new();
    for _ in 0..3 {
        let page = world.get(&format!("/api/v1/clusters?limit=2{cursor}"), &cookie).await.json();
        names.extend(
            page["items"].as_array().unwrap().iter().map(|cluster| cluster["name"].as_str().unwrap().to_owned()),
        );
        cursor = page["next_cursor"].as_str().map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
    }

    assert_eq!(names, ["alpha", "bravo", "charlie", "delta", "echo"]);
    assert_eq!(cursor, "", "the third page is the last");
}
