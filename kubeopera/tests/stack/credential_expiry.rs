//! What happens to the kubeconfig of a Ready cluster: its credential ends, somebody replaces it, and somebody puts one
//! there that runs a program.

use std::{path::Path, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use host_cluster_controller_crd::{HostCluster, NAMESPACE, Phase};
use k8s_openapi::api::core::v1::{Event, Secret};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use reqwest::{Method, StatusCode, header::ETAG};
use serde_json::{Value, json};
use stack::{ClientCertificate, LocalCluster};

use crate::{
    World,
    connect_existing::ready,
    host_clusters,
    kubeconfigs::{field, kubeconfig},
    options,
};

/// How long the short-lived certificate lives: its last third is said, and its end.
const LIFE: Duration = Duration::from_secs(90);
/// How long the controller may take to see a change, on a busy machine.
const SEEN: Duration = Duration::from_mins(1);

#[tokio::test]
#[ignore = "starts two clusters"]
async fn a_certificate_that_ends_is_said_before_and_at_its_end_and_another_kubeconfig_is_all_it_takes() {
    stack::start_mirror().await.unwrap();
    let there = LocalCluster::up("stack-expiry-there", &[]).await.unwrap();
    let here = LocalCluster::up("stack-expiry-here", &["--control-plane-only"]).await.unwrap();
    let world = World::on(here, options()).await;
    let pasted = tokio::fs::read_to_string(there.kubeconfig()).await.unwrap();
    let wanted = json!({ "name": "there", "provider": "on-premises", "region": "berlin", "kubeconfig": pasted });
    let (status, card) = world.dashboard.post("connect", &wanted).await.unwrap();
    assert_eq!(status, 201, "{card}");
    ready(&world).await;
    let path = format!("/api/v1/clusters/{}", card["id"].as_str().unwrap());

    let before = world.dashboard.get(&path).await.unwrap()["credential"].clone();
    assert_eq!((before["kind"].as_str(), before["state"].as_str()), (Some("client_certificate"), Some("valid")));
    let ClientCertificate { certificate, key } = there.client_certificate(LIFE).await.unwrap();
    let user =
        json!({ "client-certificate-data": STANDARD.encode(&certificate), "client-key-data": STANDARD.encode(&key) });
    replace(&world, &path, &kubeconfig(&[("admin@there", cluster(&pasted), user)])).await;
    for state in ["valid", "expires_soon", "expired"] {
        let card = until(&world, &path, state, |card| {
            let credential = &card["credential"];
            credential["state"] == state && credential["expires_at"] != before["expires_at"] && card["phase"] == "Ready"
        })
        .await;
        assert_eq!(card["credential"]["kind"], "client_certificate", "{card}");
    }
    let card = until(&world, &path, "why it does not answer", |card| {
        condition(card, "Reachable")["reason"] == "CredentialExpired"
    })
    .await;
    assert_eq!(
        (card["phase"].as_str(), condition(&card, "CredentialValid")["status"].as_str()),
        (Some("Ready"), Some("False"))
    );
    let message = card["message"].as_str().unwrap();
    assert!(message.contains(" expired at ") && !message.contains("may have"), "{message}");
    assert_eq!(told(&world, "CredentialExpiresSoon").await, 1);
    assert_eq!(told(&world, "CredentialExpired").await, 1);

    replace(&world, &path, &pasted).await;
    let card = until(&world, &path, "all is well", |card| {
        card["message"].as_str().unwrap().starts_with("Flux healthy and reconciling")
            && card["credential"]["state"] == "valid"
    })
    .await;
    assert_eq!(condition(&card, "Reachable")["status"], "True", "{card}");
    assert_eq!(told(&world, "CredentialValid").await, 1);

    no_program_of_a_kubeconfig_is_started(&world, &pasted, &path).await;
    nothing_of_a_kubeconfig_is_in(&world, &[&STANDARD.encode(&key), &key]).await;
    it_is_renamed_and_labelled_by_whoever_has_seen_it(&world, &path).await;
}

/// `PATCH` with what was seen: a stale view changes nothing.
async fn it_is_renamed_and_labelled_by_whoever_has_seen_it(world: &World, path: &str) {
    let seen = world.dashboard.request(Method::GET, path).send().await.unwrap().headers()[ETAG].clone();
    let change = json!({ "name": "harbour", "labels": { "team": "blue" } });
    let renaming = || world.dashboard.request(Method::PATCH, path).json(&change);
    let unseen = renaming().send().await.unwrap();
    assert_eq!(unseen.status(), StatusCode::PRECONDITION_REQUIRED);
    let answer = renaming().header("If-Match", &seen).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
    let stale = world.dashboard.request(Method::PATCH, path).json(&json!({ "name": "quay" }));
    assert_eq!(stale.header("If-Match", &seen).send().await.unwrap().status(), StatusCode::PRECONDITION_FAILED);

    stack::until("name and label on the resource", SEEN, || async {
        let labels = world.host_cluster().await?.metadata.labels.unwrap_or_default();
        let expected = [("kubeopera.io/cluster-name", "harbour"), ("team", "blue")];
        anyhow::ensure!(
            expected.iter().all(|(key, value)| labels.get(*key).is_some_and(|is| is == value)),
            "{labels:?}"
        );
        Ok(())
    })
    .await
    .unwrap();
    ready(world).await;
}

/// Neither by the API, nor by a Secret of a resource that somebody made, nor by the Secret a Ready cluster works with.
async fn no_program_of_a_kubeconfig_is_started(world: &World, pasted: &str, path: &str) {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("a-program-ran");
    let touch = |marker: &Path| {
        json!({ "apiVersion": "client.authentication.k8s.io/v1", "command": "/usr/bin/touch", "args": [marker],
            "interactiveMode": "Never" })
    };
    let runs = json!({ "exec": touch(&marker) });
    let plugin =
        json!({ "auth-provider": { "name": "gcp", "config": { "cmd-path": "/usr/bin/touch", "cmd-args": marker } } });
    let with_runs = kubeconfig(&[("admin@there", cluster(pasted), runs)]);
    let with_plugin = kubeconfig(&[("admin@there", cluster(pasted), plugin)]);
    let secrets = Api::<Secret>::namespaced(world.client.clone(), NAMESPACE);
    let before = secrets.list(&ListParams::default()).await.unwrap().items.len();

    for (file, code) in
        [(&with_runs, "kubeconfig_exec_forbidden"), (&with_plugin, "kubeconfig_auth_provider_forbidden")]
    {
        let wanted = json!({ "name": "runs", "provider": "aws", "region": "eu-north-1", "kubeconfig": file });
        let (status, refused) = world.dashboard.post("connect", &wanted).await.unwrap();
        assert_eq!((status.as_u16(), refused["code"].as_str()), (422, Some(code)), "{refused}");
        let (_, check) = world.dashboard.post("kubeconfig-check", &json!({ "kubeconfig": file })).await.unwrap();
        assert_eq!(check["contexts"][0]["refusal"]["code"], code, "{check}");
        let put = world.dashboard.request(Method::PUT, &format!("{path}/kubeconfig"));
        let refused = put.json(&json!({ "kubeconfig": file })).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    }
    assert_eq!(secrets.list(&ListParams::default()).await.unwrap().items.len(), before, "something was stored");

    // A resource of somebody's, with a Secret of theirs.
    let id = "5c1f7e9d-3a1b-4e0a-9b63-0d2f6f1f7a11";
    let name = "hostcluster-5c1f7e9d-input-kubeconfig";
    secret(&secrets, name, &with_runs).await;
    let mut forged = world.host_cluster().await.unwrap();
    forged.metadata = serde_json::from_value(json!({ "name": id, "namespace": NAMESPACE,
        "labels": { "kubeopera.io/cluster-name": "forged" } }))
    .unwrap();
    forged.status = None;
    id.clone_into(&mut forged.spec.cluster_id);
    forged.spec.connect_kubeconfig_secret_ref = Some(name.to_owned());
    "fluxcd/clusters/forged".clone_into(&mut forged.spec.git_ops_path);
    let resources = Api::<HostCluster>::namespaced(world.client.clone(), NAMESPACE);
    resources.create(&PostParams::default(), &forged).await.unwrap();
    stack::until("a refusal on the resource", SEEN, || async {
        let status = resources.get(id).await?.status.unwrap_or_default();
        let message = status.message.unwrap_or_default();
        anyhow::ensure!(status.phase == Some(Phase::Failed) && message.contains("runs a program"), "{message}");
        Ok(())
    })
    .await
    .unwrap();
    resources.delete(id, &DeleteParams::default()).await.unwrap();
    stack::until("an end of it", SEEN, || async {
        let left = host_clusters(&world.client).await?.len();
        anyhow::ensure!(left == 1, "{left} HostClusters");
        Ok(())
    })
    .await
    .unwrap();

    // The Secret that a Ready cluster works with.
    let working = world.host_cluster().await.unwrap().status.unwrap().kubeconfig_secret.unwrap();
    secret(&secrets, &working, &with_runs).await;
    let card = until(world, path, "a refusal of the stored kubeconfig", |card| {
        condition(card, "Reachable")["reason"] == "KubeconfigRefused"
    })
    .await;
    assert_eq!(card["phase"], "Ready");
    assert!(card["message"].as_str().unwrap().contains("runs a program"), "{card}");
    replace(world, path, &format!("{pasted}\n")).await;
    until(world, path, "an answer", |card| condition(card, "Reachable")["status"] == "True").await;
    assert!(!marker.exists(), "a program of a kubeconfig was started");
}

/// A secret is in no answer, status, event, log or database.
async fn nothing_of_a_kubeconfig_is_in(world: &World, secrets: &[&str]) {
    let events = Api::<Event>::all(world.client.clone()).list(&ListParams::default()).await.unwrap();
    let database = tokio::fs::read(world.program.data().join("kubeopera.db")).await.unwrap();
    for (place, text) in [
        ("HostClusters", serde_json::to_string(&host_clusters(&world.client).await.unwrap()).unwrap()),
        ("events", serde_json::to_string(&events.items).unwrap()),
        ("API answers", world.dashboard.list().await.unwrap().to_string()),
        ("the log", world.program.logged().await.unwrap()),
        ("the database", String::from_utf8_lossy(&database).into_owned()),
    ] {
        assert!(secrets.iter().all(|secret| !text.contains(secret)), "a key is seen in {place}");
    }
}

fn cluster(pasted: &str) -> Value {
    let authority = field(pasted, "certificate-authority-data");
    json!({ "server": field(pasted, "server"), "certificate-authority-data": authority })
}

async fn replace(world: &World, path: &str, kubeconfig: &str) {
    let put = world.dashboard.request(Method::PUT, &format!("{path}/kubeconfig"));
    let answer = put.json(&json!({ "kubeconfig": kubeconfig })).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK, "{}", answer.text().await.unwrap());
}

/// Writes a kubeconfig into a Secret, as somebody with rights in the namespace may.
async fn secret(secrets: &Api<Secret>, name: &str, kubeconfig: &str) {
    let object = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name },
        "stringData": { "kubeconfig": kubeconfig } });
    secrets.patch(name, &PatchParams::apply("somebody").force(), &Patch::Apply(object)).await.unwrap();
}

async fn until(world: &World, path: &str, what: &str, expected: impl Fn(&Value) -> bool) -> Value {
    stack::until(what, LIFE + SEEN, || async {
        let card = world.dashboard.get(path).await?;
        anyhow::ensure!(expected(&card), "{card}");
        Ok(card)
    })
    .await
    .unwrap()
}

fn condition(card: &Value, type_: &str) -> Value {
    card["conditions"].as_array().unwrap().iter().find(|one| one["type"] == type_).cloned().unwrap_or_default()
}

/// How often an event of this reason was told of the cluster.
async fn told(world: &World, reason: &str) -> i32 {
    let events = Api::<k8s_openapi::api::events::v1::Event>::all(world.client.clone());
    let all = events.list(&ListParams::default()).await.unwrap().items;
    let of_reason = all.iter().filter(|event| event.reason.as_deref() == Some(reason));
    of_reason.map(|event| event.series.as_ref().map_or(1, |series| series.count)).sum()
}
