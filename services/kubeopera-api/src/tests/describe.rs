//! Name and labels of a cluster.

use http::{Method, Request, StatusCode, header};
use serde_json::{Value, json};

use super::{
    World,
    elsewhere::kubeconfig,
    kubernetes::ApiServer,
    on_both_databases,
    world::{Answer, until},
};
use crate::resources::relay::relay_what_is_due;

on_both_databases! {
    a_cluster_gets_another_name_and_labels_and_its_resource_follows
    of_two_that_change_what_they_saw_one_is_told_to_look_again
    a_change_says_what_it_was_made_to
    labels_are_those_of_kubernetes_and_none_of_kubeoperas_own
    two_clusters_never_share_a_name
    labels_that_others_put_on_the_resource_stay_theirs
    a_change_that_is_made_while_an_earlier_one_is_on_its_way_is_not_lost
    a_database_that_is_lost_has_the_labels_again_from_the_resources
    a_cluster_in_the_cloud_keeps_its_name_and_gets_labels
}

impl World {
    /// A connected cluster's path.
    async fn north(&self, cookie: &str) -> String {
        self.connect_as(cookie, "north").await
    }

    async fn connect_as(&self, cookie: &str, name: &str) -> String {
        let host = format!("{name}.acme.com");
        self.others.add(&host, &ApiServer::of_cluster(&format!("{name}-uid")));
        let body = json!({"name": name, "provider": "aws", "region": "eu-north-1",
            "kubeconfig": kubeconfig(&[(name, &host)]).to_string()});
        let answer = self.post("/api/v1/clusters/connect", cookie, &body).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        relay_what_is_due(&self.platform).await.unwrap();
        format!("/api/v1/clusters/{}", answer.json()["id"].as_str().unwrap())
    }

    async fn describe(&self, path: &str, cookie: &str, tag: &str, body: &Value) -> Answer {
        self.change_seen(tag, Method::PATCH, path, cookie, body).await
    }

    /// The only resource's labels but those every one has, and the name.
    async fn labels_of_resource(&self) -> (Value, Value) {
        relay_what_is_due(&self.platform).await.unwrap();
        let [resource] = &self.api_server.resources()[..] else { panic!("not one resource") };
        let mut labels = resource["metadata"]["labels"].clone();
        let name = labels.as_object_mut().unwrap().remove("kubeopera.io/cluster-name").unwrap();
        (name, labels)
    }
}

async fn a_cluster_gets_another_name_and_labels_and_its_resource_follows(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let tag = world.tag(&path, &cookie).await;

    let body = json!({"name": "polaris", "labels": {"env": "prod", "acme.com/team": ""}});
    let changed = world.describe(&path, &cookie, &tag, &body).await;

    assert_eq!(changed.status, StatusCode::OK, "{changed:?}");
    let cluster = changed.json();
    assert_eq!((&cluster["name"], &cluster["labels"]), (&body["name"], &body["labels"]));
    assert_eq!(changed.headers[header::ETAG], world.tag(&path, &cookie).await);
    assert_eq!(world.labels_of_resource().await, (json!("polaris"), body["labels"].clone()));
    let spec = world.api_server.resources()[0]["spec"].clone();
    assert_eq!(spec["gitOpsPath"], "fluxcd/clusters/north", "the folder in Git does not move");

    let tag = changed.headers[header::ETAG].to_str().unwrap();
    let less = world.describe(&path, &cookie, tag, &json!({"labels": {"env": "dev"}})).await;
    assert_eq!((&less.json()["name"], less.status), (&json!("polaris"), StatusCode::OK), "what is left out stays");
    assert_eq!(world.labels_of_resource().await, (json!("polaris"), json!({"env": "dev"})));
    let tag = less.headers[header::ETAG].to_str().unwrap();
    let none = world.describe(&path, &cookie, tag, &json!({"labels": {}})).await;
    assert_eq!(none.status, StatusCode::OK);
    assert_eq!(world.labels_of_resource().await, (json!("polaris"), json!({})));
    assert!(!world.api_server.resources()[0].to_string().contains("kubeopera.io/labels"));
    let found = world.get("/api/v1/clusters?q=polar", &cookie).await.json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("change_cluster") && row.contains("done")).count(), 3);
}

async fn of_two_that_change_what_they_saw_one_is_told_to_look_again(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let tag = world.tag(&path, &cookie).await;

    let bodies: Vec<_> = (0..8).map(|number| json!({"labels": {"n": number.to_string()}})).collect();
    let all = bodies.iter().map(|body| world.describe(&path, &cookie, &tag, body));
    let answers = futures::future::join_all(all).await;

    let won: Vec<_> = answers.iter().filter(|answer| answer.status == StatusCode::OK).collect();
    let [won] = &won[..] else { panic!("not one of them: {answers:?}") };
    for lost in answers.iter().filter(|answer| answer.status != StatusCode::OK) {
        assert_eq!((lost.status.as_u16(), lost.code().as_str()), (412, "changed_meanwhile"), "{lost:?}");
        assert!(lost.json()["hint"].as_str().unwrap().contains("Read it again"));
    }
    assert_eq!(world.get(&path, &cookie).await.json()["labels"], won.json()["labels"]);
    // How the cluster does is nobody's change.
    world.start();
    let tag = world.tag(&path, &cookie).await;
    let mut resource = world.api_server.resources()[0].clone();
    resource["status"] = json!({"phase": "Ready"});
    world.api_server.put(resource);
    until("it is Ready", async || (world.get(&path, &cookie).await.json()["phase"] == "Ready").then_some(())).await;
    assert_ne!(world.tag(&path, &cookie).await, tag);
    assert_eq!(world.describe(&path, &cookie, &tag, &json!({"name": "polaris"})).await.status, StatusCode::OK);
}

async fn a_change_says_what_it_was_made_to(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let tag = world.tag(&path, &cookie).await;
    let body = json!({"name": "polaris"});

    let without = world.change(Method::PATCH, &path, &cookie, &body).await;
    assert_eq!((without.status.as_u16(), without.code().as_str()), (428, "if_match_required"));
    assert_eq!(without.json()["field"], "If-Match");
    for other in ["\"0-abc\"", "\"x\"", "x", &format!("W/{tag}"), "\"-1-x\""] {
        let refused = world.describe(&path, &cookie, other, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (412, "changed_meanwhile"), "{other}");
    }
    let rows = world.told().await;
    let denied = rows.iter().filter(|row| row.contains("|change_cluster|") && row.contains("|denied|")).count();
    assert_eq!(denied, 6, "{rows:#?}");
    let nobody = "/api/v1/clusters/7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";
    assert_eq!(world.describe(nobody, &cookie, &tag, &body).await.code(), "no_such_cluster");
    let same = world.describe(&path, &cookie, &tag, &json!({"name": "north"})).await;
    assert_eq!(same.headers[header::ETAG], tag, "nothing was changed");
    assert_eq!(world.describe(&path, &cookie, "*", &body).await.json()["name"], "polaris");

    let tag = world.tag(&path, &cookie).await;
    world.call(Method::POST, &format!("{path}/disconnect"), Some(&cookie)).await;
    assert_eq!(world.describe(&path, &cookie, &tag, &json!({"name": "south"})).await.code(), "being_removed");
}

async fn labels_are_those_of_kubernetes_and_none_of_kubeoperas_own(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let tag = world.tag(&path, &cookie).await;
    let many: serde_json::Map<_, _> = (0..33).map(|number| (format!("n{number}"), json!(""))).collect();

    for (body, field) in [
        (json!({"labels": {"kubeopera.io/host": "true"}}), "labels"),
        (json!({"labels": {"x.kubeopera.io/host": "true"}}), "labels"),
        (json!({"labels": {"<b>": ""}}), "labels"),
        (json!({"labels": {"env": "a b"}}), "labels.env"),
        (json!({"labels": {"env": "\u{202e}"}}), "labels.env"),
        (json!({"labels": {"env": 1}}), "labels.env"),
        (json!({"labels": many}), "labels"),
        (json!({"labels": ["env"]}), "labels"),
        (json!({"name": "North"}), "name"),
        (json!({"name": "n\u{43e}rth"}), "name"),
        (json!({"is_host": true}), "is_host"),
        (json!({"git_path": "x"}), "git_path"),
    ] {
        let refused = world.describe(&path, &cookie, &tag, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "field_invalid"), "{body}");
        assert_eq!(refused.json()["field"], field, "{body}");
    }
    let twice = Request::patch(&path)
        .header(header::COOKIE, &cookie)
        .header(header::IF_MATCH, &tag)
        .header(header::CONTENT_TYPE, "application/json");
    let twice = world.send(twice.body(r#"{"labels":{"env":"a","env":"b"}}"#.into()).unwrap()).await;
    assert_eq!((twice.status.as_u16(), twice.json()["field"].as_str()), (400, Some("labels.env")));
    assert_eq!(world.tag(&path, &cookie).await, tag, "nothing was changed");
}

async fn two_clusters_never_share_a_name(world: World) {
    let cookie = world.log_in("operator").await;
    let (north, south) = (world.north(&cookie).await, world.connect_as(&cookie, "south").await);
    let body = json!({"name": "polaris"});
    let (of_north, of_south) = (world.tag(&north, &cookie).await, world.tag(&south, &cookie).await);

    let taken = world.describe(&north, &cookie, &of_north, &json!({"name": "south"})).await;
    assert_eq!((taken.status.as_u16(), taken.code().as_str()), (409, "name_taken"));
    let answers = futures::future::join(
        world.describe(&north, &cookie, &of_north, &body),
        world.describe(&south, &cookie, &of_south, &body),
    )
    .await;
    let mut statuses = [answers.0.status.as_u16(), answers.1.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409], "{answers:?}");
}

async fn labels_that_others_put_on_the_resource_stay_theirs(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let mut resource = world.api_server.resources()[0].clone();
    resource["metadata"]["labels"]["theirs"] = "1".into();
    resource["metadata"]["annotations"] = json!({"theirs": "1"});
    world.api_server.put(resource);

    for labels in [json!({"ours": "1"}), json!({"ours": "2"}), json!({})] {
        let tag = world.tag(&path, &cookie).await;
        assert_eq!(world.describe(&path, &cookie, &tag, &json!({"labels": labels})).await.json()["labels"], labels);
        let mut expected = labels.clone();
        expected["theirs"] = "1".into();
        assert_eq!(world.labels_of_resource().await.1, expected);
    }
    assert_eq!(world.api_server.resources()[0]["metadata"]["annotations"]["theirs"], "1");
}

async fn a_change_that_is_made_while_an_earlier_one_is_on_its_way_is_not_lost(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let id = path.rsplit('/').next().unwrap().parse().unwrap();
    let tag = world.tag(&path, &cookie).await;
    let first = world.describe(&path, &cookie, &tag, &json!({"labels": {"n": "1"}})).await;
    let on_its_way = crate::store::outbox::of(&world.platform.db, &[id]).await.unwrap().remove(0);

    // A relay has read the record, and a second change is made before it says that it is done.
    let tag = first.headers[header::ETAG].to_str().unwrap();
    world.describe(&path, &cookie, tag, &json!({"labels": {"n": "2"}})).await;
    crate::store::outbox::done(&world.platform.db, &on_its_way).await.unwrap();

    assert_eq!(world.dump("outbox").await.len(), 1, "the second is still asked for");
    assert_eq!(world.labels_of_resource().await.1, json!({"n": "2"}));
    assert!(world.dump("outbox").await.is_empty());
    // Killed after the write and before it was said to be done: once more changes nothing.
    let told = world.api_server.told().len();
    crate::store::outbox::ask(&world.platform.db, id, jiff::Timestamp::now()).await.unwrap();
    relay_what_is_due(&world.platform).await.unwrap();
    assert_eq!(world.api_server.told().len(), told);
}

async fn a_database_that_is_lost_has_the_labels_again_from_the_resources(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.north(&cookie).await;
    let tag = world.tag(&path, &cookie).await;
    let body = json!({"name": "polaris", "labels": {"env": "prod"}});
    world.describe(&path, &cookie, &tag, &body).await;
    assert_eq!(world.labels_of_resource().await, (json!("polaris"), json!({"env": "prod"})));
    let mut resource = world.api_server.resources()[0].clone();
    resource["metadata"]["labels"]["theirs"] = "1".into();
    world.api_server.put(resource);

    world.platform.finish_removal(path.rsplit('/').next().unwrap().parse().unwrap()).await.unwrap();
    world.start();

    let again = until("it is on record again", async || {
        let answer = world.get(&path, &cookie).await;
        (answer.status == StatusCode::OK).then(|| answer.json())
    })
    .await;
    assert_eq!((&again["name"], &again["labels"]), (&json!("polaris"), &json!({"env": "prod"})));
}

async fn a_cluster_in_the_cloud_keeps_its_name_and_gets_labels(world: World) {
    let cookie = world.log_in("operator").await;
    let path = format!("/api/v1/clusters/{}", world.provisioned().await);
    let tag = world.tag(&path, &cookie).await;

    let refused = world.describe(&path, &cookie, &tag, &json!({"name": "sky", "labels": {"env": "prod"}})).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "name_is_in_cloud"));
    let labelled = world.describe(&path, &cookie, &tag, &json!({"name": "cloud", "labels": {"env": "prod"}})).await;
    assert_eq!((labelled.status, &labelled.json()["labels"]), (StatusCode::OK, &json!({"env": "prod"})));
}
