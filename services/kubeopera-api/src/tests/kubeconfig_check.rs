//! The kubeconfig doctor.

use base64::{Engine, engine::general_purpose::STANDARD};
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::{
    World,
    elsewhere::kubeconfig,
    kubernetes::{ApiServer, UID},
    on_both_databases,
    world::Answer,
};

on_both_databases! {
    a_context_that_can_be_used_is_shown_with_its_cluster
    each_context_that_cannot_be_used_says_why_and_what_mends_it
    a_cluster_that_is_known_is_named
    a_person_has_ten_checks_in_ten_minutes_also_when_they_come_at_once
    a_file_that_is_none_is_refused_and_never_quoted
    nothing_is_stored_and_nobody_is_called_for_a_file_that_is_refused
    of_many_contexts_only_some_are_called_and_the_others_when_they_are_asked_for
}

impl World {
    pub(super) async fn post(&self, path: &str, cookie: &str, body: &Value) -> Answer {
        let request = http::Request::post(path)
            .header(header::HOST, "kubeopera.acme.com")
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/json");
        let answer = self.send(request.body(body.to_string().into()).unwrap()).await;
        assert!(!answer.text.contains("CANARY"), "{answer:?}");
        answer
    }

    async fn check(&self, cookie: &str, kubeconfig: &Value) -> Answer {
        self.post("/api/v1/clusters/kubeconfig-check", cookie, &json!({"kubeconfig": kubeconfig.to_string()})).await
    }
}

async fn a_context_that_can_be_used_is_shown_with_its_cluster(world: World) {
    let cookie = world.log_in("operator").await;
    world.others.add("api.acme.com", &ApiServer::of_cluster("another-uid"));
    let file = kubeconfig(&[("arn:aws:eks:eu-north-1:1:cluster/x", "api.acme.com")]);

    let text = world.check(&cookie, &file).await;
    let utf16: Vec<u8> = format!("\u{feff}{file}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let uploaded = json!({"kubeconfig": STANDARD.encode(utf16), "encoding": "base64"});
    let uploaded = world.post("/api/v1/clusters/kubeconfig-check", &cookie, &uploaded).await;

    for answer in [text, uploaded] {
        assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
        let check = answer.json();
        assert_eq!(check["preferred"], "arn:aws:eks:eu-north-1:1:cluster/x");
        let verdict = &check["contexts"][0];
        assert_eq!((&verdict["verdict"], &verdict["refusal"]), (&json!("usable"), &Value::Null), "{verdict}");
        assert_eq!(verdict["server"], "https://api.acme.com:6443/");
        assert_eq!(
            verdict["cluster"],
            json!({"kubernetes_version": "1.34.4", "nodes": {"total": 2, "ready": 1}, "provider": "aws",
                "region": "eu-north-1", "known_as": null})
        );
    }
}

async fn each_context_that_cannot_be_used_says_why_and_what_mends_it(world: World) {
    let cookie = world.log_in("operator").await;
    for (host, code) in [("unauthorized.acme.com", 401), ("redirect.acme.com", 302), ("overloaded.acme.com", 503)] {
        let server = ApiServer::of_cluster("another-uid");
        server.answer_always(code);
        world.others.add(host, &server);
    }
    let reader = ApiServer::of_cluster("another-uid");
    reader.grant_everything(false);
    world.others.add("reader.acme.com", &reader);
    world.others.add("good.acme.com", &ApiServer::of_cluster("another-uid"));
    let mut file = kubeconfig(&[
        ("good", "good.acme.com"),
        ("unauthorized", "unauthorized.acme.com"),
        ("overloaded", "overloaded.acme.com"),
        ("reader", "reader.acme.com"),
        ("nobody", "nobody.acme.com"),
        ("laptop", "127.0.0.1"),
        ("metadata", "169.254.169.254"),
        ("lost", "good.acme.com"),
        ("expired", "good.acme.com"),
        ("ends soon", "good.acme.com"),
        ("of oc login", "good.acme.com"),
    ]);
    let token = |seconds: i64| {
        let end = jiff::Timestamp::now().as_second() + seconds;
        let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(format!(r#"{{"exp":{end}}}"#));
        json!({"token": format!("e30.{claims}.c2ln")})
    };
    file["contexts"][7]["context"]["user"] = "gone".into();
    file["users"][8]["user"] = token(-60);
    file["users"][9]["user"] = token(3600);
    file["users"][10]["user"] = json!({"token": "sha256~CANARY"});

    let check = world.check(&cookie, &file).await.json();

    let codes: Vec<_> = check["contexts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|verdict| (verdict["name"].as_str().unwrap(), verdict["refusal"]["code"].as_str().unwrap_or("usable")))
        .collect();
    assert_eq!(
        codes,
        [
            ("good", "usable"),
            ("unauthorized", "unauthorized"),
            ("overloaded", "cluster_not_available"),
            ("reader", "insufficient_permissions"),
            ("nobody", "cluster_unreachable"),
            ("laptop", "cluster_address_forbidden"),
            ("metadata", "cluster_address_forbidden"),
            ("lost", "kubeconfig_unresolved_reference"),
            ("expired", "credential_expired"),
            ("ends soon", "usable"),
            ("of oc login", "usable"),
        ]
    );
    let commands = |at: usize| check["contexts"][at]["refusal"]["commands"].to_string();
    assert!(commands(3).contains("kubectl create clusterrolebinding"), "{}", commands(3));
    assert!(commands(8).contains("kubectl config set-credentials kubeopera"), "{}", commands(8));
    let soon = &check["contexts"][9];
    assert_eq!(soon["warnings"][0]["code"], "credential_ends_soon");
    assert!(soon["expires_at"].is_string());
    assert_eq!(check["contexts"][10]["warnings"][0]["code"], "credential_may_end_soon");

    file["users"][9]["user"] = json!({"exec": {"command": "aws"}});
    let check = world.check(&cookie, &file).await.json();
    for verdict in check["contexts"].as_array().unwrap() {
        assert_ne!(verdict["verdict"], "usable", "the file is kept as a whole: {verdict}");
    }
    assert_eq!(check["contexts"][0]["refusal"]["code"], "kubeconfig_exec_forbidden");
    assert_eq!(check["contexts"][0]["refusal"]["field"], "kubeconfig.users[9].user.exec");
}

async fn a_cluster_that_is_known_is_named(world: World) {
    let cookie = world.log_in("operator").await;
    world.others.add("10.0.0.7", &ApiServer::of_cluster(UID));
    let file = kubeconfig(&[("by-address", "10.0.0.7")]);

    let before = world.check(&cookie, &file).await.json();
    let id = world.register(&cookie).await.json()["id"].clone();
    let after = world.check(&cookie, &file).await.json();

    assert_eq!(before["contexts"][0]["refusal"]["code"], "is_host_cluster");
    assert_eq!(after["contexts"][0]["refusal"]["code"], "cluster_already_known");
    assert_eq!(after["contexts"][0]["cluster"]["known_as"], json!({"id": id, "name": "home"}));
    assert!(after["contexts"][0]["refusal"]["message"].as_str().unwrap().contains("home"));
}

async fn a_person_has_ten_checks_in_ten_minutes_also_when_they_come_at_once(world: World) {
    let cookie = world.log_in("operator").await;
    let file = kubeconfig(&[("a", "127.0.0.1")]);

    let answers = futures::future::join_all((0..14).map(|_| world.check(&cookie, &file))).await;

    let refused: Vec<_> = answers.iter().filter(|answer| answer.status != StatusCode::OK).collect();
    assert_eq!(refused.len(), 4);
    for answer in refused {
        assert_eq!((answer.status.as_u16(), answer.code().as_str()), (429, "connect_rate_limited"));
        let wait: u64 = answer.headers[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
        assert!((500..=600).contains(&wait), "{wait}");
    }
    let another = world.log_in("administrator").await;
    assert_eq!(world.check(&another, &file).await.status, StatusCode::OK);
    let rows = world.told().await;
    let count = |outcome: &str| {
        rows.iter()
            .filter(|row| row.contains("|operator|") && row.contains(&format!("|check_kubeconfig||{outcome}|")))
            .count()
    };
    assert_eq!((count("done"), count("denied")), (10, 4), "{rows:#?}");
}

async fn a_file_that_is_none_is_refused_and_never_quoted(world: World) {
    let cookie = world.log_in("operator").await;
    let large = json!("#".repeat(1023 * 1024 + 1));
    let level = |c: u8| format!("{0}: &{0} [*{1},*{1},*{1}]\n", char::from(c), char::from(c - 1));
    let bomb = (b'b'..b'z').map(level).collect::<Vec<_>>().concat();
    for (body, status, code) in [
        (json!({"kubeconfig": "users:\n- token: CANARY\n \t: ["}), 400, "kubeconfig_malformed"),
        (json!({"kubeconfig": "%PDF-1.7 CANARY"}), 400, "kubeconfig_malformed"),
        (json!({"kubeconfig": format!("a: &a [x]\n{bomb}")}), 400, "kubeconfig_malformed"),
        (json!({"kubeconfig": ""}), 422, "kubeconfig_unresolved_reference"),
        (json!({"kubeconfig": large}), 413, "kubeconfig_too_large"),
        (json!({"kubeconfig": "apiVersion: v1"}), 422, "kubeconfig_unresolved_reference"),
        (json!({"kubeconfig": "CANARY!", "encoding": "base64"}), 422, "field_invalid"),
        (json!({"kubeconfig": "x", "role": 1}), 422, "field_invalid"),
        (json!({"kubeconfig": "x".repeat(4 << 20)}), 413, "body_too_large"),
    ] {
        let refused = world.post("/api/v1/clusters/kubeconfig-check", &cookie, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (status, code), "{refused:?}");
    }
}

async fn nothing_is_stored_and_nobody_is_called_for_a_file_that_is_refused(world: World) {
    let cookie = world.log_in("operator").await;
    let server = ApiServer::of_cluster("another-uid");
    world.others.add("api.acme.com", &server);
    let mut file = kubeconfig(&[("a", "api.acme.com"), ("b", "api.acme.com")]);
    file["users"][1]["user"]["exec"] = json!({"command": "touch", "args": ["/tmp/CANARY"]});

    let check = world.check(&cookie, &file).await;

    assert_eq!(check.status, StatusCode::OK);
    assert_eq!(server.requests(), 0);
    assert_eq!(world.api_server.requests(), 0);
    assert!(world.dump("clusters").await.is_empty() && world.dump("outbox").await.is_empty());
    assert!(!world.told().await.concat().contains("CANARY"));
}

async fn of_many_contexts_only_some_are_called_and_the_others_when_they_are_asked_for(world: World) {
    let cookie = world.log_in("operator").await;
    let server = ApiServer::of_cluster("another-uid");
    world.others.add("api.acme.com", &server);
    let names: Vec<_> = (0..40).map(|n| format!("c{n}")).collect();
    let contexts: Vec<_> = names.iter().map(|name| (name.as_str(), "api.acme.com")).collect();
    let mut file = kubeconfig(&contexts);
    file["current-context"] = "c30".into();

    let all = world.check(&cookie, &file).await.json();
    let asked = json!({"kubeconfig": file.to_string(), "context": "c39"});
    let one = world.post("/api/v1/clusters/kubeconfig-check", &cookie, &asked).await.json();
    let none = json!({"kubeconfig": file.to_string(), "context": "CANARY"});
    let none = world.post("/api/v1/clusters/kubeconfig-check", &cookie, &none).await;

    let verdicts: Vec<_> = all["contexts"].as_array().unwrap().iter().collect();
    let order: Vec<_> = verdicts.iter().map(|verdict| verdict["name"].as_str().unwrap()).collect();
    assert_eq!(order, names);
    assert_eq!(verdicts.iter().filter(|verdict| verdict["verdict"] == "usable").count(), 8);
    assert_eq!((&verdicts[30]["verdict"], &verdicts[39]["verdict"]), (&json!("usable"), &json!("not_checked")));
    assert_eq!(one["contexts"].as_array().unwrap().len(), 1);
    assert_eq!(one["contexts"][0]["verdict"], "usable");
    assert_eq!(none.code(), "kubeconfig_unresolved_reference");
    assert_eq!(world.api_server.requests(), 1, "which cluster KubeOpera runs on is asked once for all of them");
}
