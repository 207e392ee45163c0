//! Clusters at addresses instead of names, over real TLS, and where addresses may lead.

use std::sync::Arc;

use http::StatusCode;
use kube_kit::{KubeconfigOptions, OwnRanges};
use serde_json::{Value, json};

use super::{World, elsewhere::kubeconfig, kubernetes::ApiServer, listening::Listening, on_both_databases};
use crate::{app::OverTheNetwork, resources::relay::relay_what_is_due};

on_both_databases! {
    a_cluster_is_connected_by_its_ipv4_or_its_ipv6_address_and_a_try_that_fails_leaves_nothing
    two_clusters_whose_users_have_one_name_are_each_shown_their_own_credential
    an_address_out_of_the_allowed_ranges_is_refused_with_the_setting_and_nobody_is_called
    an_address_of_the_cluster_kubeopera_is_a_pod_of_is_refused_with_the_other_way_and_nobody_is_called
}

const CONNECT: &str = "/api/v1/clusters/connect";
const CHECK: &str = "/api/v1/clusters/kubeconfig-check";

/// Servers of tests are on this machine.
const HERE: KubeconfigOptions = KubeconfigOptions { allow_loopback: true, allowed_targets: &[], own_ranges: None };

fn wanted(name: &str, kubeconfig: &Value) -> Value {
    json!({"name": name, "provider": "on-premises", "region": "berlin", "kubeconfig": kubeconfig.to_string()})
}

async fn a_cluster_is_connected_by_its_ipv4_or_its_ipv6_address_and_a_try_that_fails_leaves_nothing(world: World) {
    let world = world.reaching(Arc::new(OverTheNetwork), HERE);
    let cookie = world.log_in("operator").await;
    for (at, (address, host)) in [("127.0.0.1", "127.0.0.1"), ("::1", "[0:0:0:0:0:0:0:1]")].into_iter().enumerate() {
        let server = ApiServer::of_cluster(&format!("uid-{at}"));
        let (ip, name) = (address.parse().unwrap(), format!("cluster-{at}"));
        let elsewhere = Listening::at(ip, "10.9.9.9", &server).await;
        let refused = world.post(CONNECT, &cookie, &wanted(&name, &elsewhere.kubeconfig(host))).await;
        assert_eq!(refused.code(), "tls_verification_failed", "{refused:?}");
        assert!(refused.text.contains("10.9.9.9"), "{refused:?}");
        assert_eq!((world.dump("clusters").await.len(), world.api_server.secrets().len()), (at, at), "{host}");

        let listening = Listening::at(ip, address, &server).await;
        let file = listening.kubeconfig(host);
        let check = world.post(CHECK, &cookie, &json!({"kubeconfig": file.to_string()})).await.json();
        let connected = world.post(CONNECT, &cookie, &wanted(&name, &file)).await;
        relay_what_is_due(&world.platform).await.unwrap();

        assert_eq!(check["contexts"][0]["verdict"], "usable", "{check}");
        let shown = if address == "::1" { "[::1]" } else { address };
        assert_eq!(check["contexts"][0]["server"], format!("https://{shown}:{}/", listening.port));
        assert_eq!(connected.status, StatusCode::CREATED, "{connected:?}");
        let id: vocabulary::ClusterId = connected.json()["id"].as_str().unwrap().parse().unwrap();
        let names = |objects: Vec<Value>| {
            objects.iter().map(|one| one["metadata"]["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert!(names(world.api_server.secrets()).contains(&id.input_kubeconfig_secret()));
        assert!(names(world.api_server.resources()).contains(&id.to_string()));
        assert!(world.dump("clusters").await.concat().contains(&format!("uid-{at}")));
    }
}

async fn two_clusters_whose_users_have_one_name_are_each_shown_their_own_credential(world: World) {
    let world = world.reaching(Arc::new(OverTheNetwork), HERE);
    let cookie = world.log_in("operator").await;
    for name in ["one", "two"] {
        let server = ApiServer::of_cluster(&format!("uid-{name}"));
        let listening = Listening::at("127.0.0.1".parse().unwrap(), "127.0.0.1", &server).await;
        let mut file = listening.kubeconfig("127.0.0.1");
        file["users"] = json!([{"name": "admin", "user": {"token": format!("CANARY-{name}")}}]);
        file["contexts"][0]["context"]["user"] = "admin".into();

        let check = world.post(CHECK, &cookie, &json!({"kubeconfig": file.to_string()})).await;
        let connected = world.post(CONNECT, &cookie, &wanted(name, &file)).await;

        assert_eq!((check.status, connected.status), (StatusCode::OK, StatusCode::CREATED), "{connected:?}");
        assert_eq!(listening.credentials(), [format!("Bearer CANARY-{name}")]);
    }
}

async fn an_address_out_of_the_allowed_ranges_is_refused_with_the_setting_and_nobody_is_called(world: World) {
    let ranges = Vec::from(["10.1.0.0/16", "fd00:1::/32"].map(|range| range.parse().unwrap())).leak();
    let others = Arc::new(world.others.clone());
    let world =
        world.reaching(others, KubeconfigOptions { allow_loopback: false, allowed_targets: ranges, own_ranges: None });
    let cookie = world.log_in("operator").await;
    let servers = ["10.1.2.3", "[fd00:1::7]", "10.2.2.3", "[fd00:2::7]"].map(|host| {
        let server = ApiServer::of_cluster("another-uid");
        world.others.add(host, &server);
        (host, server)
    });
    let contexts: Vec<_> = servers.iter().map(|(host, _)| (*host, *host)).collect();

    let check = world.post(CHECK, &cookie, &json!({"kubeconfig": kubeconfig(&contexts).to_string()})).await.json();
    let refused = world.post(CONNECT, &cookie, &wanted("two", &kubeconfig(&[("a", "10.2.2.3")]))).await;

    let verdicts: Vec<_> = check["contexts"].as_array().unwrap().iter().map(|one| one["verdict"].clone()).collect();
    assert_eq!(verdicts, ["usable", "usable", "refused", "refused"], "{check}");
    assert_eq!(check["contexts"][3]["refusal"]["code"], "cluster_address_forbidden");
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "cluster_address_forbidden"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("--allowed-target-cidr"), "{refused:?}");
    assert!(servers[..2].iter().all(|(_, server)| server.requests() > 0));
    assert!(servers[2..].iter().all(|(_, server)| server.requests() == 0));
    assert!(world.dump("clusters").await.is_empty() && world.api_server.secrets().is_empty());
}

async fn an_address_of_the_cluster_kubeopera_is_a_pod_of_is_refused_with_the_other_way_and_nobody_is_called(
    world: World,
) {
    let node = |pods: &str, address: &str| {
        json!({"metadata": {"name": address}, "spec": {"podCIDRs": [pods]},
            "status": {"addresses": [{"type": "InternalIP", "address": address}]}})
    };
    let own: &'static OwnRanges = Box::leak(Box::default());
    world.api_server.join(node("10.244.0.0/24", "10.7.0.4"));
    own.refresh(&world.api_server.client()).await.unwrap();
    let (others, api_server) = (Arc::new(world.others.clone()), world.api_server.clone());
    let world = world.reaching(others, KubeconfigOptions { own_ranges: Some(own), ..KubeconfigOptions::default() });
    let cookie = world.log_in("operator").await;
    let hosts = ["10.244.0.9", "10.7.0.4", "10.244.1.9"];
    let servers = hosts.map(|host| {
        let server = ApiServer::of_cluster("another-uid");
        world.others.add(host, &server);
        server
    });
    let file = kubeconfig(&hosts.map(|host| (host, host)));
    let verdicts = async || {
        let check = world.post(CHECK, &cookie, &json!({"kubeconfig": file.to_string()})).await.json();
        let contexts = check["contexts"].as_array().unwrap().clone();
        contexts.iter().map(|one| one["refusal"]["code"].as_str().unwrap_or("usable").to_owned()).collect::<Vec<_>>()
    };

    let before = verdicts().await;
    let calls = servers.each_ref().map(ApiServer::requests);
    api_server.join(node("10.244.1.0/24", "10.7.0.5"));
    own.refresh(&api_server.client()).await.unwrap();
    let after = verdicts().await;
    let refused = world.post(CONNECT, &cookie, &wanted("two", &kubeconfig(&[("a", "10.244.1.9")]))).await;

    assert_eq!(before, ["cluster_address_forbidden", "cluster_address_forbidden", "usable"]);
    assert_eq!(after, ["cluster_address_forbidden"; 3]);
    assert!(calls[..2] == [0, 0] && calls[2] > 0, "{calls:?}");
    assert_eq!(servers.each_ref().map(ApiServer::requests), calls);
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "cluster_address_forbidden"));
    assert!(refused.json()["detail"].as_str().unwrap().contains("Register This Cluster"), "{refused:?}");
    assert!(world.dump("clusters").await.is_empty() && world.api_server.secrets().is_empty());
}
