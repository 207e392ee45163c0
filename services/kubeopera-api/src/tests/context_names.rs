//! Contexts have any name that people and programs give them, and none of it reaches an address or a name of ours.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;
use k8s_openapi::ByteString;
use kube_kit::{KubeconfigOptions, ValidKubeconfig};
use serde_json::{Value, json};

use super::{World, elsewhere::kubeconfig, kubernetes::ApiServer, on_both_databases};
use crate::resources::relay::relay_what_is_due;

on_both_databases! {
    a_context_of_any_name_is_shown_chosen_and_used_and_every_page_of_its_cluster_works
    a_context_whose_name_cannot_be_shown_is_refused_with_the_command_that_renames_it
}

const CHECK: &str = "/api/v1/clusters/kubeconfig-check";

async fn a_context_of_any_name_is_shown_chosen_and_used_and_every_page_of_its_cluster_works(world: World) {
    let cookie = world.log_in("operator").await;
    let longest = "n".repeat(253);
    let names = [
        "arn:aws:eks:eu-north-1:1:cluster/x",
        "kubernetes-admin@kubernetes",
        "prod / north (old)",
        "..",
        "a%2Fb?c=d#e",
        "<b>\"north\"</b> 🚀",
        &longest,
    ];
    let hosts: Vec<_> = (0..names.len()).map(|at| format!("{at}.acme.com")).collect();
    let contexts: Vec<_> = names.iter().copied().zip(hosts.iter().map(String::as_str)).collect();
    for (at, host) in hosts.iter().enumerate() {
        world.others.add(host, &ApiServer::of_cluster(&format!("uid-{at}")));
    }
    let file = kubeconfig(&contexts).to_string();

    let check = world.post(CHECK, &cookie, &json!({"kubeconfig": file})).await.json();
    let shown: Vec<_> = check["contexts"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(shown, names);

    for (at, name) in names.iter().enumerate() {
        let body = json!({"name": format!("c{at}"), "provider": "on-premises", "region": "berlin", "kubeconfig": file,
            "context": name});
        let connected = world.post("/api/v1/clusters/connect", &cookie, &body).await;
        assert_eq!(connected.status, StatusCode::CREATED, "{name}: {connected:?}");
        relay_what_is_due(&world.platform).await.unwrap();
        let id = connected.json()["id"].as_str().unwrap().to_owned();
        let parsed: vocabulary::ClusterId = id.parse().unwrap();
        let secret_name = parsed.input_kubeconfig_secret();
        let secrets = world.api_server.secrets();
        let secret = secrets.iter().find(|one| one["metadata"]["name"] == secret_name.as_str()).unwrap();
        assert_eq!(server_in(secret), format!("https://{at}.acme.com:6443/"), "{name}");
        for page in ["", "/monitor", "/disconnect"] {
            let answer = world.get(&format!("/api/v1/clusters/{id}{page}"), &cookie).await;
            assert_eq!(answer.status, StatusCode::OK, "{name}{page}: {answer:?}");
        }
    }
    for page in ["", "/multi"] {
        let answer = world.get(&format!("/api/v1/clusters{page}"), &cookie).await;
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        assert!(names.iter().all(|name| !answer.text.contains(name) || *name == ".."), "{answer:?}");
    }
}

/// The server that whoever reads a Secret of ours connects to.
fn server_in(secret: &Value) -> String {
    let bytes = |text: &Value| ByteString(STANDARD.decode(text.as_str().unwrap()).unwrap());
    let data: BTreeMap<_, _> =
        secret["data"].as_object().unwrap().iter().map(|(key, text)| (key.clone(), bytes(text))).collect();
    let kubeconfig = ValidKubeconfig::in_secret("Secret x", &data, KubeconfigOptions::default()).unwrap();
    kubeconfig.server().to_string()
}

async fn a_context_whose_name_cannot_be_shown_is_refused_with_the_command_that_renames_it(world: World) {
    let cookie = world.log_in("operator").await;
    world.others.add("a.acme.com", &ApiServer::of_cluster("a-uid"));
    let longer = "n".repeat(254);
    for name in [&longer, "north\u{1b}[2Jsouth", "north\nsouth"] {
        let file = kubeconfig(&[(name, "a.acme.com")]);
        let check = world.post(CHECK, &cookie, &json!({"kubeconfig": file.to_string()})).await;
        let verdict = &check.json()["contexts"][0];
        assert_eq!(verdict["refusal"]["code"], "kubeconfig_context_name", "{verdict}");
        assert!(verdict["refusal"]["commands"].to_string().contains("kubectl config rename-context"), "{verdict}");
        assert!(verdict["name"].as_str().unwrap().chars().all(|c| !c.is_control()));

        let body =
            json!({"name": "north", "provider": "on-premises", "region": "berlin", "kubeconfig": file.to_string()});
        let refused = world.post("/api/v1/clusters/connect", &cookie, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "kubeconfig_context_name"));
    }
    assert!(world.dump("clusters").await.is_empty() && world.api_server.secrets().is_empty());
}
