//! Create a cluster.

use auth_service_contract::CredentialId;
use host_cluster_controller_crd::ValidSpec;
use http::{Method, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use vocabulary::{Actor, ClusterId};

use super::{
    World, on_both_databases,
    world::{Answer, until},
};
use crate::resources::{bindings, relay::relay_what_is_due};

on_both_databases! {
    each_topology_becomes_the_resource_that_the_controller_takes
    the_same_request_is_done_once_however_often_it_is_sent
    what_cannot_be_created_is_refused_by_its_field_and_nothing_is_stored
    a_credential_that_comes_along_is_saved_and_bound_and_never_shown
    a_credential_of_another_cloud_or_none_is_refused
    two_clusters_share_neither_a_name_nor_a_folder
    only_administrators_create_and_it_is_written_down
    a_binding_without_a_cluster_is_ended_after_a_while
    a_credential_is_free_again_when_its_cluster_is_off_the_record
}

const CREATE: &str = "/api/v1/clusters/create";
const KEY_ID: &str = "AKIACANARY0KEY0ID0WX";
const SECRET: &str = "CANARYsecret/access+key0123456789ABCDEFG";

fn aws_key(label: &str) -> Value {
    json!({"label": label, "secret": {"type": "aws_access_key", "access_key_id": KEY_ID, "secret_access_key": SECRET}})
}

fn eks(name: &str, credential: &str) -> Value {
    json!({"name": name, "provider": "aws", "topology": "managed_eks", "region": "eu-north-1",
        "kubernetes_version": "1.35", "node_count": 2, "instance_type": "m7g.large", "credential_id": credential})
}

fn with(mut body: Value, change: &Value) -> Value {
    for (field, value) in change.as_object().unwrap() {
        if value.is_null() {
            body.as_object_mut().unwrap().remove(field);
        } else {
            body[field] = value.clone();
        }
    }
    body
}

impl World {
    async fn saved(&self, cookie: &str, body: &Value) -> String {
        let saved = self.change(Method::POST, "/api/v1/credentials", cookie, body).await.json();
        saved["credential"]["id"].as_str().unwrap().to_owned()
    }

    async fn create(&self, cookie: &str, body: &Value) -> Answer {
        self.change(Method::POST, CREATE, cookie, body).await
    }

    async fn create_with_key(&self, cookie: &str, key: &str, body: &Value) -> Answer {
        let request = http::Request::post(CREATE)
            .header(header::COOKIE, cookie)
            .header("idempotency-key", key)
            .header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    /// The clusters that a credential is bound to.
    async fn bound(&self, credential: &str) -> Vec<ClusterId> {
        let all = self.platform.auth.credentials().await.unwrap();
        all.into_iter().find(|saved| saved.id.to_string() == credential).unwrap().clusters
    }
}

async fn each_topology_becomes_the_resource_that_the_controller_takes(world: World) {
    let cookie = world.log_in("administrator").await;
    let aws = world.saved(&cookie, &aws_key("AWS")).await;
    let vanilla = json!({"topology": "vanilla_kubeadm", "kubernetes_version": "1.36.4", "instance_type": "t3.medium",
        "control_plane_count": 3, "domain": "my-cluster.acme.com", "admin_email": "admin@acme.com",
        "admin_username": "admin"});

    for (body, mode, provisioning) in [
        (
            with(eks("my-cluster", &aws), &vanilla),
            "provision_vanilla",
            json!({"topology": "vanilla_kubeadm", "controlPlaneCount": 3, "nodeCount": 2, "instanceType": "t3.medium",
                "kubernetesVersion": "1.36.4", "credentialRef": aws}),
        ),
        (
            eks("managed", &aws),
            "provision_eks",
            json!({"topology": "managed_eks", "nodeCount": 2, "instanceType": "m7g.large",
                "kubernetesVersion": "1.35", "credentialRef": aws}),
        ),
    ] {
        let created = world.create(&cookie, &body).await;
        relay_what_is_due(&world.platform).await.unwrap();

        assert_eq!(created.status, StatusCode::CREATED, "{created:?}");
        let cluster = created.json();
        let resources = world.api_server.resources();
        let resource = resources.iter().find(|one| one["metadata"]["name"] == cluster["id"]).unwrap();
        let spec = &resource["spec"];
        assert_eq!((&spec["mode"], &spec["provisioning"]), (&json!(mode), &provisioning));
        assert_eq!((&spec["provider"], &spec["region"]), (&json!("aws"), &json!("eu-north-1")));
        assert_eq!(spec["gitOpsPath"], format!("fluxcd/clusters/{}", body["name"].as_str().unwrap()));
        assert_eq!(spec.get("connectKubeconfigSecretRef"), None);
        assert_eq!(spec.get("domain"), body.get("domain"));
        assert_eq!(spec.get("adminEmail"), body.get("admin_email"));
        let typed = serde_json::from_value(resource.clone()).unwrap();
        ValidSpec::of(&typed).expect("the controller would refuse it");
        assert!(world.bound(&aws).await.iter().any(|bound| cluster["id"] == bound.to_string()));
    }
    assert_eq!(world.bound(&aws).await.len(), 2);
    let deleted = world.call(Method::DELETE, &format!("/api/v1/credentials/{aws}"), Some(&cookie)).await;
    for name in ["managed", "my-cluster"] {
        assert!(deleted.json()["detail"].as_str().unwrap().contains(name), "{deleted:?}");
    }
}

async fn the_same_request_is_done_once_however_often_it_is_sent(world: World) {
    let cookie = world.log_in("administrator").await;
    let saved = world.saved(&cookie, &aws_key("AWS")).await;
    let other = world.saved(&cookie, &aws_key("Other")).await;
    let new = with(eks("south", ""), &json!({"credential_id": null, "credential": aws_key("New")}));

    for (key, body) in [("k1", &eks("north", &saved)), ("k2", &new)] {
        let first = world.create_with_key(&cookie, key, body).await;
        let second = world.create_with_key(&cookie, key, body).await;

        assert_eq!((first.status, second.status), (StatusCode::CREATED, StatusCode::OK), "{first:?} {second:?}");
        assert_eq!(first.json()["id"], second.json()["id"]);
    }
    for (key, change) in [
        ("k1", json!({"name": "east"})),
        ("k1", json!({"node_count": 3})),
        ("k1", json!({"credential_id": other})),
        ("k1", json!({"credential_id": null, "credential": aws_key("AWS 2")})),
        ("k1", json!({"region": "nowhere"})),
    ] {
        let reused = world.create_with_key(&cookie, key, &with(eks("north", &saved), &change)).await;
        assert_eq!(reused.code(), "idempotency_key_reused", "{change}");
    }
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("|create_cluster||denied|")).count(), 5, "{rows:#?}");
    assert_eq!((world.dump("clusters").await.len(), world.bound(&other).await.len()), (2, 0));
}

async fn what_cannot_be_created_is_refused_by_its_field_and_nothing_is_stored(world: World) {
    let cookie = world.log_in("administrator").await;
    let saved = world.saved(&cookie, &aws_key("AWS")).await;
    let new = aws_key("New");

    for (change, code, field) in [
        (json!({"name": "Nope"}), "field_invalid", "name"),
        (json!({"provider": "azure"}), "provider_unknown", "provider"),
        (json!({"topology": "managed_gke"}), "topology_of_other_provider", "topology"),
        (json!({"region": "europe-west4"}), "region_unknown", "region"),
        (json!({"kubernetes_version": "latest"}), "field_invalid", "kubernetes_version"),
        (json!({"kubernetes_version": "1.28"}), "version_unknown", "kubernetes_version"),
        (json!({"node_count": 0}), "node_count_out_of_range", "node_count"),
        (json!({"instance_type": "t3.nano"}), "instance_type_unknown", "instance_type"),
        (json!({"control_plane_count": 3}), "control_planes_managed", "control_plane_count"),
        (
            json!({"topology": "vanilla_kubeadm", "kubernetes_version": "1.36.4", "control_plane_count": 2}),
            "control_planes_not_odd",
            "control_plane_count",
        ),
        (json!({"domain": "acme"}), "field_invalid", "domain"),
        (json!({"admin_email": "admin@acme.com"}), "field_invalid", "admin_username"),
        (json!({"git_path": "../x"}), "git_path_invalid", "git_path"),
        (json!({"credential_id": null}), "field_invalid", "credential_id"),
        (json!({"credential": new}), "field_invalid", "credential_id"),
        (json!({"credential_id": null, "credential": new, "region": "x"}), "region_unknown", "region"),
    ] {
        let refused = world.create(&cookie, &with(eks("north", &saved), &change)).await;

        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{change}: {refused:?}");
        assert_eq!(refused.json()["field"], field, "{change}");
    }
    assert!(world.dump("clusters").await.is_empty() && world.dump("outbox").await.is_empty());
    assert!(world.bound(&saved).await.is_empty());
    assert_eq!(world.platform.auth.credentials().await.unwrap().len(), 1, "none is saved for a cluster that cannot be");
}

async fn a_credential_that_comes_along_is_saved_and_bound_and_never_shown(world: World) {
    let cookie = world.log_in("administrator").await;
    let body = with(eks("north", ""), &json!({"credential_id": null, "credential": aws_key("Production")}));

    let created = world.create(&cookie, &body).await;
    let again = world.create(&cookie, &with(body.clone(), &json!({"name": "south"}))).await;
    relay_what_is_due(&world.platform).await.unwrap();

    assert_eq!(created.status, StatusCode::CREATED, "{created:?}");
    assert_eq!((again.code().as_str(), &again.json()["field"]), ("label_taken", &json!("credential.label")));
    let all = world.platform.auth.credentials().await.unwrap();
    let [saved] = &all[..] else { panic!("not one credential: {all:?}") };
    assert_eq!((saved.label.as_str(), saved.last_four.as_str()), ("Production", "D0WX"));
    assert_eq!(created.json()["id"], saved.clusters[0].to_string());
    let everything = [
        format!("{created:?}{again:?}"),
        json!(world.api_server.resources()).to_string(),
        world.dump("clusters").await.concat(),
        world.told().await.concat(),
    ];
    for text in everything {
        assert!(!text.contains("CANARY"), "{text}");
    }
}

async fn a_credential_of_another_cloud_or_none_is_refused(world: World) {
    let cookie = world.log_in("administrator").await;
    let aws = world.saved(&cookie, &aws_key("AWS")).await;
    let gke = json!({"provider": "gcp", "topology": "managed_gke", "region": "europe-west4",
        "instance_type": "n4-standard-4"});
    let mut gke_with_key = gke.clone();
    gke_with_key["credential_id"] = Value::Null;
    gke_with_key["credential"] = aws_key("New");
    let role =
        json!({"label": "Role", "secret": {"type": "aws_assume_role", "role_arn": "arn:aws:iam::123456789012:role/x"}});
    let broken = with(
        aws_key("New"),
        &json!({"secret": {"type": "aws_access_key", "access_key_id": "CANARY",
        "secret_access_key": SECRET}}),
    );

    for (change, code, field) in [
        (gke, "credential_of_other_provider", "credential_id"),
        (gke_with_key, "credential_of_other_provider", "credential.secret"),
        (json!({"credential_id": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11"}), "no_such_credential", "credential_id"),
        (json!({"credential_id": null, "credential": role}), "save_role_first", "credential.secret"),
        (
            json!({"credential_id": null, "credential": broken}),
            "credential_not_acceptable",
            "credential.secret.access_key_id",
        ),
    ] {
        let refused = world.create(&cookie, &with(eks("north", &aws), &change)).await;

        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{refused:?}");
        assert_eq!(refused.json()["field"], field, "{refused:?}");
        assert!(!refused.text.contains("CANARY"), "{refused:?}");
    }
    assert!(world.dump("clusters").await.is_empty() && world.bound(&aws).await.is_empty());
}

async fn two_clusters_share_neither_a_name_nor_a_folder(world: World) {
    let cookie = world.log_in("administrator").await;
    let saved = world.saved(&cookie, &aws_key("AWS")).await;
    world.create(&cookie, &eks("north", &saved)).await;

    let name = world.create(&cookie, &eks("north", &saved)).await;
    let folder = with(eks("south", &saved), &json!({"git_path": "fluxcd/clusters/north"}));
    let folder = world.create(&cookie, &folder).await;

    assert_eq!((name.status, name.code().as_str()), (StatusCode::CONFLICT, "name_taken"));
    assert_eq!((folder.status, folder.code().as_str()), (StatusCode::CONFLICT, "git_path_in_use"));
    assert_eq!((world.dump("clusters").await.len(), world.bound(&saved).await.len()), (1, 1));
}

async fn only_administrators_create_and_it_is_written_down(world: World) {
    let administrator = world.log_in("administrator").await;
    let saved = world.saved(&administrator, &aws_key("AWS")).await;
    for name in ["viewer", "operator"] {
        let cookie = world.log_in(name).await;
        assert_eq!(world.create(&cookie, &eks("north", &saved)).await.code(), "forbidden");
    }
    let created = world.create(&administrator, &eks("north", &saved)).await.json();
    world.create(&administrator, &eks("north", &saved)).await;

    let rows = world.told().await;

    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["|create_cluster|", "|denied|", "|operator|"]), 1, "{rows:#?}");
    assert_eq!(row(&["|create_cluster|", "|denied|", "|administrator|"]), 1, "{rows:#?}");
    assert_eq!(row(&["|create_cluster|", "|done|", created["id"].as_str().unwrap()]), 1, "{rows:#?}");
    assert_eq!(row(&["|bind_credential|", "|done|"]), 1, "{rows:#?}");
}

async fn a_binding_without_a_cluster_is_ended_after_a_while(world: World) {
    let cookie = world.log_in("administrator").await;
    world.start();
    let saved = world.saved(&cookie, &aws_key("AWS")).await;
    let created = world.create(&cookie, &eks("north", &saved)).await.json();
    let credential: CredentialId = saved.parse().unwrap();
    // As if killed before the cluster was on record.
    world.platform.auth.bind(&Actor::KubeOpera, credential, ClusterId::random()).await.unwrap();
    until("the resources are listed", || async { world.platform.observed.all() }).await;
    let mut orphans = bindings::Orphans::default();
    let (now, minute) = (Timestamp::now(), SignedDuration::from_mins(1));

    for (after, left) in [(0, 2), (9, 2), (11, 1), (30, 1)] {
        bindings::sweep(&world.platform, &mut orphans, now + minute * after).await.unwrap();
        assert_eq!(world.bound(&saved).await.len(), left, "after {after} minutes");
    }
    assert_eq!(created["id"], world.bound(&saved).await[0].to_string());
}

async fn a_credential_is_free_again_when_its_cluster_is_off_the_record(world: World) {
    let cookie = world.log_in("administrator").await;
    let saved = world.saved(&cookie, &aws_key("AWS")).await;
    let created = world.create(&cookie, &eks("north", &saved)).await.json();
    let id: ClusterId = created["id"].as_str().unwrap().parse().unwrap();

    world.platform.finish_removal(id).await.unwrap();

    assert!(world.bound(&saved).await.is_empty());
    assert!(world.dump("clusters").await.is_empty());
}
