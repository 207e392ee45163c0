//! Disconnect and Delete.

use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use vocabulary::ClusterId;

use super::{
    World,
    elsewhere::kubeconfig,
    kubernetes::ApiServer,
    on_both_databases,
    world::{Answer, until},
};
use crate::{
    resources::relay::relay_what_is_due,
    store::{clusters, outbox},
};

on_both_databases! {
    disconnecting_deletes_the_resource_and_the_record_goes_with_it
    what_goes_and_what_stays_is_listed_before
    a_receipt_tells_what_is_gone_and_what_is_left_with_the_commands_that_remove_it
    a_crash_after_the_click_costs_nothing
    a_cluster_that_has_no_resource_yet_goes_with_its_kubeconfig
    only_the_exact_name_deletes_and_only_what_kubeopera_provisioned
    deleting_says_destroy_before_it_deletes_however_often_it_is_asked_for
    disconnect_and_delete_are_never_mixed_up
    a_cluster_is_not_disconnected_before_its_infrastructure_is_complete
    a_cluster_that_failed_before_anything_was_made_is_let_go_of
    the_host_is_never_deleted_but_let_go_of_and_registered_again_while_others_stay
}

impl World {
    async fn connected(&self, cookie: &str) -> String {
        self.others.add("api.acme.com", &ApiServer::of_cluster("north-uid"));
        let file = kubeconfig(&[("north", "api.acme.com")]).to_string();
        let body = json!({"name": "north", "provider": "aws", "region": "eu-north-1", "kubeconfig": file,
            "admin_email": "admin@acme.com", "admin_username": "admin"});
        let answer = self.post("/api/v1/clusters/connect", cookie, &body).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        answer.json()["id"].as_str().unwrap().to_owned()
    }

    /// A cluster that KubeOpera provisioned, with its resource.
    pub(super) async fn provisioned(&self) -> String {
        let id = ClusterId::random();
        let spec = json!({
            "clusterID": id, "mode": "provision_vanilla", "provider": "aws", "region": "eu-north-1",
            "provisioning": {"topology": "vanilla_kubeadm", "nodeCount": 2, "instanceType": "t3.medium",
                "kubernetesVersion": "1.31.0", "credentialRef": "c1"},
            "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git", "gitOpsPath": "fluxcd/clusters/cloud",
            "gitCredentialsSecretRef": "gitops-iac-credentials",
        });
        let record = clusters::Record {
            id,
            name: "cloud".parse().unwrap(),
            kube_system_uid: None,
            is_host: false,
            spec: serde_json::from_value(spec).unwrap(),
            created_at: jiff::Timestamp::now(),
            removing_since: None,
            labels: vocabulary::ClusterLabels::new(),
            revision: 0,
        };
        self.put_on_record(&record).await;
        outbox::ask(&self.platform.db, id, record.created_at).await.unwrap();
        relay_what_is_due(&self.platform).await.unwrap();
        id.to_string()
    }

    fn infrastructure_is(&self, phase: &str, ready: Option<&str>) {
        let condition = |status| {
            json!({"type": "InfrastructureReady", "status": status, "reason": "Told", "message": "It is told.",
                "lastTransitionTime": "2026-01-01T00:00:00Z"})
        };
        let mut resource = self.resource();
        resource["status"] = json!({"phase": phase, "message": "It is told.",
            "provisioning": {"attempt": i32::from(ready.is_some())},
            "conditions": ready.map(condition).into_iter().collect::<Vec<_>>()});
        self.api_server.put(resource);
    }

    async fn disconnect(&self, cookie: &str, id: &str) -> Answer {
        self.call(Method::POST, &format!("/api/v1/clusters/{id}/disconnect"), Some(cookie)).await
    }

    async fn delete(&self, cookie: &str, id: &str, name: &str) -> Answer {
        let request = http::Request::delete(format!("/api/v1/clusters/{id}"))
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(json!({"name": name}).to_string().into()).unwrap()).await
    }

    fn resource(&self) -> Value {
        self.api_server.resources()[0].clone()
    }
}

async fn disconnecting_deletes_the_resource_and_the_record_goes_with_it(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let id = world.connected(&cookie).await;
    until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;

    let answer = world.disconnect(&cookie, &id).await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{answer:?}");
    assert!(answer.json()["message"].as_str().unwrap().contains("letting go"), "{answer:?}");
    until("it is being deleted", async || world.resource()["metadata"]["deletionTimestamp"].is_string().then_some(()))
        .await;
    assert_eq!(world.disconnect(&cookie, &id).await.status, StatusCode::ACCEPTED);
    assert!(world.resource()["metadata"]["annotations"].get("kubeopera.io/removal").is_none());
    assert_eq!(world.dump("clusters").await.len(), 1, "the controller has not let go of it yet");

    world.api_server.delete(&id);

    until("the record is gone", async || world.dump("clusters").await.is_empty().then_some(())).await;
    assert_eq!(world.disconnect(&cookie, &id).await.status, StatusCode::NOT_FOUND);
    let rows = world.told().await;
    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["|operator|", "|disconnect_cluster|", &format!("{id} (north)"), "|done|"]), 1, "{rows:#?}");
    assert_eq!(row(&["|disconnect_cluster|", "|unchanged|"]), 1);
    assert_eq!(row(&["|remove_cluster|", &id, "|done|"]), 1);
    let again = world.connected(&cookie).await;
    assert_ne!(again, id);
}

async fn a_receipt_tells_what_is_gone_and_what_is_left_with_the_commands_that_remove_it(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    for left_behind in [None, Some("The cluster does not answer.")] {
        let id = world.connected(&cookie).await;
        let receipt = format!("/api/v1/clusters/{id}/receipt");
        until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;
        assert_eq!(world.get(&receipt, &cookie).await.status, StatusCode::NOT_FOUND, "it is not let go of yet");
        world.disconnect(&cookie, &id).await;
        until("it goes", async || world.resource()["metadata"]["deletionTimestamp"].is_string().then_some(())).await;
        let mut resource = world.resource();
        resource["status"] = json!({"message": "Letting go.", "leftBehind": left_behind});
        world.api_server.put(resource);

        world.api_server.delete(&id);

        let receipt = until("the receipt", async || {
            let answer = world.get(&receipt, &cookie).await;
            (answer.status == StatusCode::OK).then(|| answer.json())
        })
        .await;
        let named = |list: &str| {
            let things = receipt[list].as_array().unwrap().iter();
            things.map(|thing| thing["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let on_cluster = ["kubeopera", "kubeopera-*", "kubeopera", "kubeopera-git"];
        assert_eq!((&receipt["name"], &receipt["is_destroyed"]), (&json!("north"), &json!(false)));
        assert!(named("gone").contains(&format!("hostcluster-{}-input-kubeconfig", &id[..8])));
        assert_eq!(receipt["left_because"], json!(left_behind));
        let commands = receipt["commands"].to_string();
        if left_behind.is_some() {
            assert_eq!(named("left"), on_cluster);
            assert!(
                commands.contains(&format!("kubeopera.io/cluster-id={id}")) && commands.contains("suspend"),
                "{commands}"
            );
        } else {
            assert!(named("gone").ends_with(&on_cluster.map(str::to_owned)), "{receipt}");
            assert_eq!((named("left"), commands.as_str()), (Vec::new(), "[]"));
        }
        assert!(receipt["stays"][0].as_str().unwrap().contains("Everything that runs"), "{receipt}");
    }
}

async fn what_goes_and_what_stays_is_listed_before(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.connected(&cookie).await;
    relay_what_is_due(&world.platform).await.unwrap();
    let before = (world.resource(), world.dump("clusters").await, world.dump("outbox").await);

    let list = world.get(&format!("/api/v1/clusters/{id}/disconnect"), &cookie).await.json();

    let goes: Vec<_> = list["goes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|thing| {
            format!(
                "{} {} {}",
                thing["place"].as_str().unwrap(),
                thing["kind"].as_str().unwrap(),
                thing["name"].as_str().unwrap()
            )
        })
        .collect();
    let short = &id[..8];
    assert_eq!(
        goes,
        [
            format!("kubeopera HostCluster {id}"),
            format!("kubeopera Secret hostcluster-{short}-input-kubeconfig"),
            format!("kubeopera Secret hostcluster-{short}-kubeconfig"),
            format!("kubeopera Secret hostcluster-{short}-admin-password"),
            "cluster Kustomization kubeopera".to_owned(),
            "cluster Kustomization kubeopera-*".to_owned(),
            "cluster GitRepository kubeopera".to_owned(),
            "cluster Secret kubeopera-git".to_owned(),
        ]
    );
    assert!(list["stays"][0].as_str().unwrap().contains("Everything that runs"));
    assert_eq!(before, (world.resource(), world.dump("clusters").await, world.dump("outbox").await));
}

async fn a_crash_after_the_click_costs_nothing(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.connected(&cookie).await;
    relay_what_is_due(&world.platform).await.unwrap();
    world.api_server.be_down(true);

    assert_eq!(world.disconnect(&cookie, &id).await.status, StatusCode::ACCEPTED);
    relay_what_is_due(&world.platform).await.unwrap();
    let card = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await.json();
    assert!(card["message"].as_str().unwrap().contains("could not be deleted so far"), "{card}");
    world.api_server.be_down(false);
    let world = world.restarted().await;
    world.start();

    until("it is being deleted", async || world.resource()["metadata"]["deletionTimestamp"].is_string().then_some(()))
        .await;
    world.api_server.delete(&id);
    until("the record is gone", async || world.dump("clusters").await.is_empty().then_some(())).await;
}

async fn a_cluster_that_has_no_resource_yet_goes_with_its_kubeconfig(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.connected(&cookie).await;
    assert_eq!(world.api_server.secrets().len(), 1);

    // The outbox still asks for the resource.
    assert_eq!(world.disconnect(&cookie, &id).await.status, StatusCode::ACCEPTED);
    relay_what_is_due(&world.platform).await.unwrap();
    relay_what_is_due(&world.platform).await.unwrap();

    assert!(world.dump("clusters").await.is_empty() && world.dump("outbox").await.is_empty());
    assert!(world.api_server.secrets().is_empty() && world.api_server.resources().is_empty());
}

async fn only_the_exact_name_deletes_and_only_what_kubeopera_provisioned(world: World) {
    let operator = world.log_in("operator").await;
    let administrator = world.log_in("administrator").await;
    let host = world.register(&operator).await.json()["id"].as_str().unwrap().to_owned();
    let connected = world.connected(&operator).await;
    let provisioned = world.provisioned().await;

    for (cookie, id, name, status, code) in [
        (&administrator, &host, "home", 409, "host_cluster_protected"),
        (&administrator, &connected, "north", 409, "not_provisioned_by_kubeopera"),
        (&administrator, &provisioned, "Cloud", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, " cloud", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, "cloud ", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, "", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, "\u{441}loud", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, "clou\u{200b}d", 422, "confirmation_mismatch"),
        (&administrator, &provisioned, "north", 422, "confirmation_mismatch"),
        (&operator, &provisioned, "cloud", 403, "forbidden"),
    ] {
        let refused = world.delete(cookie, id, name).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (status, code), "{name:?}");
    }
    let without = world.call(Method::DELETE, &format!("/api/v1/clusters/{provisioned}"), Some(&administrator)).await;
    assert_eq!(without.code(), "json_required");
    relay_what_is_due(&world.platform).await.unwrap();
    for resource in world.api_server.resources() {
        assert!(resource["metadata"].get("deletionTimestamp").is_none(), "{resource}");
        assert!(resource["metadata"].get("annotations").is_none(), "{resource}");
    }
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("|delete_cluster|") && row.contains("|denied|")).count(), 11);
}

async fn the_host_is_never_deleted_but_let_go_of_and_registered_again_while_others_stay(world: World) {
    world.start();
    let administrator = world.log_in("administrator").await;
    let host = world.register(&administrator).await.json();
    let (id, name) = (host["id"].as_str().unwrap().to_owned(), host["name"].as_str().unwrap());
    let other = world.connected(&administrator).await;
    until("both resources", async || (world.api_server.resources().len() == 2).then_some(())).await;

    let refused = world.delete(&administrator, &id, name).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "host_cluster_protected"));
    assert!(refused.json()["hint"].as_str().unwrap().contains("Disconnect it"), "{refused:?}");
    assert_eq!(world.disconnect(&administrator, &id).await.status, StatusCode::ACCEPTED);
    let being_deleted = || {
        let resources = world.api_server.resources();
        let names = |resource: &Value| resource["metadata"]["name"].as_str().map(str::to_owned);
        let going = resources.iter().filter(|resource| resource["metadata"]["deletionTimestamp"].is_string());
        going.filter_map(names).collect::<Vec<_>>()
    };
    until("it is being deleted", async || (!being_deleted().is_empty()).then_some(())).await;
    assert_eq!(being_deleted(), std::slice::from_ref(&id));
    world.api_server.delete(&id);
    until("the record is gone", async || (world.dump("clusters").await.len() == 1).then_some(())).await;

    let again = world.register(&administrator).await.json();
    assert!(again["is_host"] == true && again["id"] != id && again["id"] != other, "{again}");
}

async fn deleting_says_destroy_before_it_deletes_however_often_it_is_asked_for(world: World) {
    let cookie = world.log_in("administrator").await;
    let id = world.provisioned().await;

    let clicks = futures::future::join_all((0..4).map(|_| world.delete(&cookie, &id, "cloud"))).await;
    relay_what_is_due(&world.platform).await.unwrap();
    let later = world.delete(&cookie, &id, "cloud").await;

    for answer in clicks.iter().chain([&later]) {
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{answer:?}");
    }
    let resource = world.resource();
    assert_eq!(resource["metadata"]["annotations"]["kubeopera.io/removal"], "destroy");
    assert!(resource["metadata"]["deletionTimestamp"].is_string());
    let told = world.api_server.told();
    let first = told.iter().position(|line| line.contains("kubeopera.io/removal")).unwrap();
    assert!(!told[first].contains("deletionTimestamp"), "the annotation has to come first");
    let rows = world.told().await;
    let count =
        |outcome: &str| rows.iter().filter(|row| row.contains("|delete_cluster|") && row.contains(outcome)).count();
    assert_eq!((count("|done|"), count("|unchanged|")), (1, 4));
}

async fn disconnect_and_delete_are_never_mixed_up(world: World) {
    let cookie = world.log_in("administrator").await;
    let id = world.provisioned().await;
    // Complete, whatever failed after that.
    world.infrastructure_is("Failed", Some("True"));
    assert_eq!(world.disconnect(&cookie, &id).await.status, StatusCode::ACCEPTED);
    relay_what_is_due(&world.platform).await.unwrap();

    let delete = world.delete(&cookie, &id, "cloud").await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!((delete.status.as_u16(), delete.code().as_str()), (409, "being_removed"));
    assert!(world.resource()["metadata"]["annotations"].get("kubeopera.io/removal").is_none());
    world.api_server.delete(&id);
    crate::app::Platform::finish_removal(&world.platform, id.parse().unwrap()).await.unwrap();

    let id = world.provisioned().await;
    assert_eq!(world.delete(&cookie, &id, "cloud").await.status, StatusCode::ACCEPTED);
    assert_eq!(world.disconnect(&cookie, &id).await.code(), "being_removed");
}

async fn a_cluster_is_not_disconnected_before_its_infrastructure_is_complete(world: World) {
    world.start();
    let cookie = world.log_in("administrator").await;
    let id = world.provisioned().await;
    // At once, before anybody has seen that it is provisioned, as a Job may just be starting; and when it has failed, as it
    // is tried again and there may be something in the cloud.
    for (phase, ready) in
        [("Pending", None), ("Provisioning", Some("False")), ("Failed", Some("False")), ("Failed", Some("Unknown"))]
    {
        world.infrastructure_is(phase, ready);

        let refused = world.disconnect(&cookie, &id).await;

        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "cluster_busy"), "{phase} {ready:?}");
    }
    let rows = world.told().await;
    assert!(
        rows.last().is_some_and(|row| row.contains("|disconnect_cluster|") && row.contains("|denied|")),
        "{rows:#?}"
    );
    assert_eq!(world.delete(&cookie, &id, "cloud").await.status, StatusCode::ACCEPTED);
}

async fn a_cluster_that_failed_before_anything_was_made_is_let_go_of(world: World) {
    world.start();
    let cookie = world.log_in("administrator").await;
    let id = world.provisioned().await;
    world.infrastructure_is("Failed", None);

    let answer = world.disconnect(&cookie, &id).await;

    assert!(answer.status.is_success(), "{answer:?}");
}
