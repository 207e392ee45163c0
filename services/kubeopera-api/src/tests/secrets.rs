//! The canary sweep: nothing secret in the log at its most talkative, in answers, or in the database file.

use http::Method;
use serde_json::json;
use testkit_log::Log;

use super::{
    World,
    tokens::tomorrow,
    world::{Answer, PASSWORD},
};

#[tokio::test]
async fn passwords_and_tokens_are_in_no_log_no_answer_and_no_file() {
    let log = Log::of_this_process().unwrap();
    let story = async {
        let world = World::on_sqlite().await;
        let mut answers = Vec::new();
        let cookie = world.log_in("operator").await;
        for (name, password) in [("operator", "CANARY-guess"), ("CANARY-name", "x"), ("operator", PASSWORD)] {
            answers.push(world.try_log_in(name, password).await);
        }
        let broken = r#"{"username":"operator","password":"CANARY-broken"#;
        let request = http::Request::post("/api/v1/session?CANARY-query=1").header("content-type", "application/json");
        answers.push(world.send(request.body(axum::body::Body::from(broken)).unwrap()).await);
        world.api_server.refuse_creates(&[403, 500]);
        answers.push(world.register(&cookie).await);
        crate::resources::relay::relay_what_is_due(&world.platform).await.unwrap();
        answers.push(world.get("/api/v1/clusters", &cookie).await);
        let administrator = world.log_in("administrator").await;
        let token = make_token(&world, &administrator, &mut answers).await;
        save_credentials(&world, &administrator, &mut answers).await;
        panic_in_a_handler(&world, &administrator, &mut answers).await;
        answers.push(world.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await);
        let mut files = Vec::new();
        for file in std::fs::read_dir(world.folder.path()).unwrap() {
            files.extend(std::fs::read(file.unwrap().path()).unwrap());
        }
        (cookie, token, answers, files)
    };

    let (cookie, access_token, answers, files) = story.await;

    let token = cookie.split_once('=').unwrap().1;
    let log = log.text();
    assert!(log.contains("answered"), "nothing was logged");
    let files = String::from_utf8_lossy(&files);
    assert!(files.contains("argon2id"), "not the database");
    let said = format!("{answers:?}");
    let fault = answers.iter().find(|answer| answer.status == 500).unwrap().json();
    assert!(log.contains(fault["request_id"].as_str().unwrap()), "the fault cannot be found in the log");
    for (place, text) in [("log", log.as_str()), ("answers", said.as_str()), ("database", &files)] {
        for secret in ["CANARY", token, &access_token] {
            if let Some(at) = text.find(secret) {
                let around: String = text.get(at.saturating_sub(200)..).unwrap_or_default().chars().take(300).collect();
                panic!("{secret} is in the {place}: {around}");
            }
        }
    }
}

/// A fault of ours tells the id of its request and nothing else, and others are served on.
async fn panic_in_a_handler(world: &World, cookie: &str, answers: &mut Vec<Answer>) {
    const PATH: &str = "/api/v1/settings/git/check";
    let credential = json!({"type": "basic", "password": "CANARY-git"});
    let body = json!({"repository": {"url": "https://git.acme.com/x.git", "credential": credential}});
    world.git.panic_with("CANARY-in-the-panic");

    let panicked = world.change(Method::POST, PATH, cookie, &body).await;

    assert_eq!((panicked.status.as_u16(), panicked.code().as_str()), (500, "internal_error"));
    assert!(world.change(Method::POST, PATH, cookie, &body).await.status.is_success());
    answers.push(panicked);
}

/// The one answer that shows the token is left out of what is swept.
async fn make_token(world: &World, cookie: &str, answers: &mut Vec<Answer>) -> String {
    let body = json!({"label": "CI", "expires_at": tomorrow()});
    let made = world.change(Method::POST, "/api/v1/tokens", cookie, &body).await.json();
    let secret = made["secret"].as_str().unwrap().to_owned();
    answers.push(world.get("/api/v1/tokens", cookie).await);
    for token in [secret.as_str(), "ko_pat_CANARY"] {
        let request = http::Request::get("/api/v1/users").header("authorization", format!("Bearer {token}"));
        answers.push(world.send(request.body(axum::body::Body::empty()).unwrap()).await);
    }
    secret
}

async fn save_credentials(world: &World, cookie: &str, answers: &mut Vec<Answer>) {
    const PATH: &str = "/api/v1/credentials";
    let good = |label: &str| {
        let (id, secret) = ("AKIACANARY0KEY0ID0WX", "CANARYsecret/access+key0123456789ABCDEFG");
        json!({"label": label, "secret": {"type": "aws_access_key", "access_key_id": id, "secret_access_key": secret}})
    };
    let saved = world.change(Method::POST, PATH, cookie, &good("Production")).await;
    let path = format!("{PATH}/{}", saved.json()["credential"]["id"].as_str().unwrap());
    answers.push(saved);
    for body in [
        good("Production"),
        good("CANARY\u{202e}"),
        json!({"label": "A", "secret": {"type": "aws_access_key", "access_key_id": "CANARY", "secret_access_key": "CANARY"}}),
        json!({"label": "A", "secret": {"type": "aws_assume_role", "role_arn": "CANARY"}}),
        json!({"label": "A", "secret": {"type": "gcp_service_account_key", "key": "{\"type\":\"CANARY\"}"}}),
        json!({"label": "A", "secret": {"type": "CANARY"}}),
        json!({"label": "A", "secret": "CANARY"}),
    ] {
        answers.push(world.change(Method::POST, PATH, cookie, &body).await);
    }
    answers.push(world.change(Method::PATCH, &path, cookie, &good("Staging")).await);
    answers.push(world.call(Method::POST, &format!("{path}/check"), Some(cookie)).await);
    let id = path.rsplit('/').next().unwrap().parse().unwrap();
    let cluster = vocabulary::ClusterId::random();
    world.platform.auth.bind(&vocabulary::Actor::KubeOpera, id, cluster).await.unwrap();
    assert!(format!("{:?}", world.platform.auth.open(id, cluster).await.unwrap()).contains("••••"));
    answers.push(world.call(Method::DELETE, &path, Some(cookie)).await);
    answers.push(world.get(PATH, cookie).await);
}
