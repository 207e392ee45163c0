//! The registry credential of new clusters.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{World, elsewhere::kubeconfig, kubernetes::ApiServer, on_both_databases, world::Answer};
use crate::resources::{registry_pull, relay::relay_what_is_due, repair};

on_both_databases! {
    a_registry_credential_goes_in_and_only_its_server_and_user_come_out
    clusters_that_come_later_get_it_and_follow_it
    a_cluster_brings_its_own_which_the_setting_leaves_alone
    the_same_request_with_another_registry_is_another_request
    what_is_no_registry_credential_is_refused_by_its_field_and_nothing_is_stored
    a_credential_of_a_cluster_that_nobody_knows_goes
    no_annotation_of_a_secret_repeats_what_is_in_it
    changes_are_written_down_without_the_password
    of_two_who_change_what_they_both_saw_the_second_is_told
    a_removal_that_fails_is_written_down_as_failed
}

const PATH: &str = "/api/v1/settings/registry";
const CONNECT: &str = "/api/v1/clusters/connect";

fn credential(password: &str) -> Value {
    json!({"server": "https://Registry.acme.com:5000/", "username": "bot", "password": password})
}

impl World {
    async fn set_registry(&self, cookie: &str, password: &str) -> Answer {
        self.change_seen("*", Method::PUT, PATH, cookie, &credential(password)).await
    }

    async fn unset_registry(&self, cookie: &str) -> Answer {
        self.change_seen("*", Method::DELETE, PATH, cookie, &json!(null)).await
    }

    /// The password in a cluster's Secret.
    fn pulls_with(&self, spec: &Value) -> Value {
        let config = self.secret(&spec["registryPullSecretRef"]);
        let config: Value = serde_json::from_str(config[".dockerconfigjson"].as_str().unwrap()).unwrap();
        config["auths"]["registry.acme.com:5000"]["password"].clone()
    }

    fn cluster_with_registry(&self, name: &str, registry: &Value) -> Value {
        let host = format!("{name}.acme.com");
        self.others.add(&host, &ApiServer::of_cluster(&format!("{name}-uid")));
        json!({"name": name, "provider": "aws", "region": "eu-north-1", "registry": registry,
            "kubeconfig": kubeconfig(&[(name, &host)]).to_string()})
    }
}

async fn a_registry_credential_goes_in_and_only_its_server_and_user_come_out(world: World) {
    let administrator = world.log_in("administrator").await;
    let none = world.get(PATH, &administrator).await.json();

    let set = world.set_registry(&administrator, "CANARY-pull\n").await;
    let seen = world.get(PATH, &administrator).await;
    let gone = world.unset_registry(&administrator).await;
    let gone_again = world.unset_registry(&administrator).await;
    let at_last = world.get(PATH, &administrator).await.json();

    assert_eq!((&none, &at_last), (&json!({"credential": null}), &none));
    assert_eq!(set.json(), json!({"credential": {"server": "registry.acme.com:5000", "username": "bot"}}));
    assert_eq!(seen.json(), set.json());
    assert_eq!((gone.status, gone_again.status), (StatusCode::NO_CONTENT, StatusCode::NO_CONTENT));
    assert!(world.api_server.secrets().is_empty());
}

async fn clusters_that_come_later_get_it_and_follow_it(world: World) {
    let administrator = world.log_in("administrator").await;
    let before = world.connect(&administrator, "before").await;
    world.set_registry(&administrator, "CANARY-first").await;

    let after = world.connect(&administrator, "after").await;
    assert_eq!(world.register(&administrator).await.status, StatusCode::CREATED);
    relay_what_is_due(&world.platform).await.unwrap();
    let home = world.spec("home");
    for spec in [&after, &home] {
        let short = &spec["clusterID"].as_str().unwrap()[..8];
        assert_eq!(spec["registryPullSecretRef"], format!("hostcluster-{short}-registry-pull"));
        assert_eq!(world.pulls_with(spec), "CANARY-first");
        let secrets = world.api_server.secrets();
        let of = secrets.iter().find(|secret| secret["metadata"]["name"] == spec["registryPullSecretRef"]).unwrap();
        assert_eq!(of["type"], "kubernetes.io/dockerconfigjson");
        assert_eq!(of["metadata"]["labels"]["kubeopera.io/cluster-id"], spec["clusterID"]);
    }
    assert_eq!(before.get("registryPullSecretRef"), None);
    assert_eq!(world.spec("before"), before, "what had none stays without");

    world.set_registry(&administrator, "CANARY-second").await;
    registry_pull::follow_setting(&world.platform.client).await.unwrap();
    assert_eq!((world.pulls_with(&after), world.pulls_with(&home)), (json!("CANARY-second"), json!("CANARY-second")));

    world.unset_registry(&administrator).await;
    registry_pull::follow_setting(&world.platform.client).await.unwrap();
    assert_eq!(world.pulls_with(&after), "CANARY-second", "what it has it keeps");
    for table in ["clusters", "outbox", "audit_entries"] {
        let rows = world.dump(table).await.concat();
        assert!(!rows.contains("CANARY"), "{table}: {rows}");
    }
}

async fn a_cluster_brings_its_own_which_the_setting_leaves_alone(world: World) {
    let administrator = world.log_in("administrator").await;
    world.set_registry(&administrator, "CANARY-of-platform").await;
    let body = world.cluster_with_registry("north", &credential("CANARY-own"));

    let connected = world.change(Method::POST, CONNECT, &administrator, &body).await;
    relay_what_is_due(&world.platform).await.unwrap();
    world.set_registry(&administrator, "CANARY-of-platform-again").await;
    registry_pull::follow_setting(&world.platform.client).await.unwrap();

    assert_eq!(connected.status, StatusCode::CREATED, "{connected:?}");
    assert!(!connected.text.contains("CANARY"), "{connected:?}");
    assert_eq!(world.pulls_with(&world.spec("north")), "CANARY-own");
}

async fn the_same_request_with_another_registry_is_another_request(world: World) {
    let operator = world.log_in("operator").await;
    let send = async |password: &str| {
        let body = world.cluster_with_registry("north", &credential(password)).to_string();
        let request = http::Request::post(CONNECT).header("cookie", &operator).header("idempotency-key", "k1");
        world.send(request.header("content-type", "application/json").body(body.into()).unwrap()).await
    };

    let (first, again, other) = (send("CANARY-own").await, send("CANARY-own").await, send("CANARY-other").await);

    assert_eq!((first.status, again.status), (StatusCode::CREATED, StatusCode::OK), "{first:?} {again:?}");
    assert_eq!(other.code(), "idempotency_key_reused");
}

async fn what_is_no_registry_credential_is_refused_by_its_field_and_nothing_is_stored(world: World) {
    let administrator = world.log_in("administrator").await;
    for (server, username, password, code, field) in [
        ("ghcr.io/acme", "bot", "CANARY", "registry_server_invalid", "server"),
        ("http://ghcr.io", "bot", "CANARY", "registry_server_invalid", "server"),
        ("ghcr.io", "CANARY:x", "CANARY", "registry_credential_invalid", "username"),
        ("ghcr.io", "bot", "", "registry_credential_invalid", "password"),
    ] {
        let body = json!({"server": server, "username": username, "password": password});
        let refused = world.change_seen("*", Method::PUT, PATH, &administrator, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{refused:?}");
        assert_eq!(refused.json()["field"], field);
        assert!(!refused.text.contains("CANARY"), "{refused:?}");

        let body = world.cluster_with_registry("north", &body);
        let refused = world.change(Method::POST, CONNECT, &administrator, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{refused:?}");
        assert_eq!(refused.json()["field"], format!("registry.{field}"));
    }
    assert!(world.api_server.secrets().is_empty());
}

async fn a_credential_of_a_cluster_that_nobody_knows_goes(world: World) {
    let administrator = world.log_in("administrator").await;
    world.set_registry(&administrator, "CANARY-of-platform").await;
    let kept = world.connect(&administrator, "north").await;
    // As if somebody was killed between the Secret and the record.
    registry_pull::give(&world.platform.client, vocabulary::ClusterId::random()).await.unwrap();
    world.api_server.age_secrets();
    world.start();
    super::world::until("the resources are seen", async || world.platform.observed.all()).await;

    repair::sweep(&world.platform).await.unwrap();

    let secrets = world.api_server.secrets();
    let mut names: Vec<_> = secrets.iter().map(|secret| secret["metadata"]["name"].as_str().unwrap()).collect();
    names.retain(|name| !name.ends_with("-input-kubeconfig"));
    let mut wanted = ["registry-pull", kept["registryPullSecretRef"].as_str().unwrap()];
    wanted.sort_unstable();
    assert_eq!(names, wanted);
}

async fn no_annotation_of_a_secret_repeats_what_is_in_it(world: World) {
    let administrator = world.log_in("administrator").await;
    let git = json!({"url": "https://git.acme.com/x.git", "credential": {"type": "basic", "password": "CANARY-git"}});
    world.change_seen("*", Method::PUT, "/api/v1/settings/git", &administrator, &git).await;
    let own = credential("CANARY-own");
    world.set_registry(&administrator, "CANARY-of-platform").await;
    world.change(Method::POST, CONNECT, &administrator, &world.cluster_with_registry("north", &own)).await;

    let secrets = world.api_server.secrets();

    assert_eq!(secrets.len(), 4, "Git, registry, the cluster's own registry, kubeconfig: {secrets:?}");
    for secret in secrets {
        let metadata = secret["metadata"].to_string();
        assert!(!metadata.contains("last-applied") && !metadata.contains("CANARY"), "{metadata}");
    }
}

async fn changes_are_written_down_without_the_password(world: World) {
    let administrator = world.log_in("administrator").await;
    let operator = world.log_in("operator").await;
    world.set_registry(&administrator, "CANARY").await;
    world.unset_registry(&administrator).await;
    assert_eq!(world.set_registry(&operator, "CANARY").await.code(), "forbidden");

    let rows = world.told().await;
    let of = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(of(&["|change_registry_setting|", "registry.acme.com:5000", "|done|"]), 1, "{rows:?}");
    assert_eq!(of(&["|change_registry_setting|", "|done|"]), 2, "{rows:?}");
    assert_eq!(of(&["operator", "|change_registry_setting|", "|denied|"]), 1, "{rows:?}");
    assert!(!rows.concat().contains("CANARY"), "{rows:?}");
}

async fn of_two_who_change_what_they_both_saw_the_second_is_told(world: World) {
    let administrator = world.log_in("administrator").await;
    let (mine, theirs) = (credential("CANARY-mine"), credential("CANARY-theirs"));
    for method in [Method::PUT, Method::DELETE] {
        let without = world.change(method, PATH, &administrator, &mine).await;
        assert_eq!((without.status.as_u16(), without.code().as_str()), (428, "if_match_required"));
    }

    // Nothing is set, something is, and nothing is again.
    for theirs in [Some(&theirs), Some(&credential("CANARY-theirs-again")), None] {
        let seen = world.tag(PATH, &administrator).await;
        let first = match theirs {
            Some(theirs) => world.change_seen(&seen, Method::PUT, PATH, &administrator, theirs).await,
            None => world.change_seen(&seen, Method::DELETE, PATH, &administrator, &json!(null)).await,
        };
        assert!(first.status.is_success(), "{first:?}");
        let secrets = world.api_server.secrets();
        for method in [Method::PUT, Method::DELETE] {
            let second = world.change_seen(&seen, method, PATH, &administrator, &mine).await;
            assert_eq!((second.status.as_u16(), second.code().as_str()), (412, "changed_meanwhile"));
        }
        assert_eq!(world.api_server.secrets(), secrets);
        if let Some(tag) = first.headers.get("etag") {
            assert_eq!(*tag, world.tag(PATH, &administrator).await);
        }
    }
    let seen = world.tag(PATH, &administrator).await;
    let last = world.change_seen(&seen, Method::PUT, PATH, &administrator, &mine).await;
    assert_eq!(last.json()["credential"]["username"], "bot");
}

async fn a_removal_that_fails_is_written_down_as_failed(world: World) {
    let administrator = world.log_in("administrator").await;
    world.set_registry(&administrator, "CANARY").await;
    let before = world.audit().await.len();
    world.api_server.be_down(true);

    let failed = world.unset_registry(&administrator).await;

    assert_eq!((failed.status.as_u16(), failed.code().as_str()), (503, "not_available"));
    let rows = world.audit().await.split_off(before);
    let rows: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.outcome.as_str())).collect();
    assert_eq!(rows, [("change_registry_setting", "asked"), ("change_registry_setting", "failed")]);
}
