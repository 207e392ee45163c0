//! Another kubeconfig for a connected cluster.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use super::{
    World,
    elsewhere::kubeconfig,
    kubernetes::{ApiServer, UID},
    on_both_databases,
    world::Answer,
};
use crate::resources::relay::relay_what_is_due;

on_both_databases! {
    a_kubeconfig_is_replaced_by_the_very_bytes_that_were_supplied
    a_kubeconfig_of_another_cluster_is_refused_with_where_it_leads
    nothing_is_replaced_unless_the_kubeconfig_can_be_used
    clusters_without_a_kubeconfig_take_none
    a_person_tries_ten_kubeconfigs_in_ten_minutes
}

impl World {
    /// A connected cluster's path.
    async fn connected_at(&self, host: &str, cookie: &str) -> String {
        self.others.add(host, &ApiServer::of_cluster("north-uid"));
        let body = json!({"name": "north", "provider": "aws", "region": "eu-north-1",
            "kubeconfig": kubeconfig(&[("north", host)]).to_string()});
        let answer = self.post("/api/v1/clusters/connect", cookie, &body).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{answer:?}");
        relay_what_is_due(&self.platform).await.unwrap();
        format!("/api/v1/clusters/{}", answer.json()["id"].as_str().unwrap())
    }

    async fn replace(&self, path: &str, cookie: &str, file: &Value) -> Answer {
        let body = json!({"kubeconfig": file.to_string()});
        self.change(Method::PUT, &format!("{path}/kubeconfig"), cookie, &body).await
    }

    fn stored(&self) -> Value {
        let [secret] = &self.api_server.secrets()[..] else { panic!("not one Secret") };
        secret["data"].clone()
    }
}

async fn a_kubeconfig_is_replaced_by_the_very_bytes_that_were_supplied(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.connected_at("old.acme.com", &cookie).await;
    world.others.add("new.acme.com", &ApiServer::of_cluster("north-uid"));
    let text = format!("\u{feff}# new\r\n{}\r\n", kubeconfig(&[("a", "old.acme.com"), ("b", "new.acme.com")]));
    let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let body = json!({"kubeconfig": STANDARD.encode(&bytes), "encoding": "base64", "context": "b"});
    let name = world.api_server.secrets()[0]["metadata"]["name"].clone();

    for outcome in ["done", "unchanged"] {
        let replaced = world.change(Method::PUT, &format!("{path}/kubeconfig"), &cookie, &body).await;

        assert_eq!(replaced.status, StatusCode::OK, "{replaced:?}");
        assert_eq!(replaced.json()["name"], "north");
        assert_eq!(world.stored(), json!({"kubeconfig": STANDARD.encode(&bytes), "context": STANDARD.encode("b")}));
        assert_eq!(world.api_server.secrets()[0]["metadata"]["name"], name);
        let rows = world.told().await;
        let told = rows.iter().filter(|row| row.contains("replace_kubeconfig") && row.contains(outcome)).count();
        assert_eq!(told, 1, "{rows:#?}");
        assert!(!rows.concat().contains("CANARY") && !rows.concat().contains("acme.com"));
    }
    // Without a choice of context nothing of the former choice is left.
    assert_eq!(world.replace(&path, &cookie, &kubeconfig(&[("b", "new.acme.com")])).await.status, StatusCode::OK);
    assert!(world.stored().get("context").is_none());
    // A Secret that somebody deleted is made again.
    world.api_server.lose_secrets();
    assert_eq!(world.replace(&path, &cookie, &kubeconfig(&[("c", "new.acme.com")])).await.status, StatusCode::OK);
    assert!(world.stored().get("kubeconfig").is_some());
}

async fn a_kubeconfig_of_another_cluster_is_refused_with_where_it_leads(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.connected_at("north.acme.com", &cookie).await;
    let before = world.stored();
    world.others.add("stranger.acme.com", &ApiServer::of_cluster("stranger-uid"));
    world.others.add("host.acme.com", &ApiServer::of_cluster(UID));

    for (host, leads_to) in [("stranger.acme.com", "does not know"), ("host.acme.com", "KubeOpera runs on")] {
        let refused = world.replace(&path, &cookie, &kubeconfig(&[("x", host)])).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "another_cluster"), "{host}");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("north") && detail.contains(leads_to), "{detail}");
        assert_eq!(refused.json()["field"], "kubeconfig");
    }
    // The cluster was built anew behind its address.
    world.others.add("north.acme.com", &ApiServer::of_cluster("newly-built-uid"));
    let rebuilt = world.replace(&path, &cookie, &kubeconfig(&[("x", "north.acme.com")])).await;
    assert_eq!(rebuilt.code(), "another_cluster");

    assert_eq!(world.stored(), before);
    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("replace_kubeconfig") && row.contains("denied")).count(), 3);
}

async fn nothing_is_replaced_unless_the_kubeconfig_can_be_used(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.connected_at("north.acme.com", &cookie).await;
    let before = world.stored();
    let reader = ApiServer::of_cluster("north-uid");
    reader.grant_everything(false);
    world.others.add("reader.acme.com", &reader);
    let mut exec = kubeconfig(&[("a", "north.acme.com")]);
    exec["users"][0]["user"] = json!({"exec": {"command": "aws"}});

    for (file, status, code) in [
        (kubeconfig(&[("a", "reader.acme.com")]), 422, "insufficient_permissions"),
        (kubeconfig(&[("a", "nobody.acme.com")]), 422, "cluster_unreachable"),
        (kubeconfig(&[("a", "169.254.169.254")]), 422, "cluster_address_forbidden"),
        (exec, 422, "kubeconfig_exec_forbidden"),
        (json!("token: CANARY"), 400, "kubeconfig_malformed"),
    ] {
        let refused = world.replace(&path, &cookie, &file).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (status, code), "{refused:?}");
        assert!(!refused.text.contains("CANARY"));
        assert_eq!(world.stored(), before);
    }
    let extra = json!({"kubeconfig": "x", "name": "north"});
    let refused = world.change(Method::PUT, &format!("{path}/kubeconfig"), &cookie, &extra).await;
    assert_eq!((refused.code().as_str(), &refused.json()["field"]), ("field_invalid", &json!("name")));
    world.api_server.be_down(true);
    let refused = world.replace(&path, &cookie, &kubeconfig(&[("new", "north.acme.com")])).await;
    assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE, "{refused:?}");
    world.api_server.be_down(false);
    assert_eq!(world.stored(), before);
}

async fn clusters_without_a_kubeconfig_take_none(world: World) {
    let cookie = world.log_in("operator").await;
    world.others.add("host.acme.com", &ApiServer::of_cluster(UID));
    let host = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let cloud = world.provisioned().await;
    let file = kubeconfig(&[("a", "host.acme.com")]);

    for (id, why) in [(host, "service account"), (cloud, "provisioned")] {
        let refused = world.replace(&format!("/api/v1/clusters/{id}"), &cookie, &file).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (409, "no_kubeconfig_to_replace"), "{id}");
        assert!(refused.json()["detail"].as_str().unwrap().contains(why), "{refused:?}");
    }
    let nobody = "/api/v1/clusters/7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";
    assert_eq!(world.replace(nobody, &cookie, &file).await.code(), "no_such_cluster");
    assert!(world.api_server.secrets().is_empty());
}

async fn a_person_tries_ten_kubeconfigs_in_ten_minutes(world: World) {
    let cookie = world.log_in("operator").await;
    let path = world.connected_at("north.acme.com", &cookie).await;
    let file = kubeconfig(&[("a", "nobody.acme.com")]);

    // To connect it was the first.
    for _ in 1..10 {
        assert_eq!(world.replace(&path, &cookie, &file).await.code(), "cluster_unreachable");
    }
    let refused = world.replace(&path, &cookie, &file).await;

    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (429, "connect_rate_limited"));
    assert!(refused.headers.contains_key(header::RETRY_AFTER));
}
