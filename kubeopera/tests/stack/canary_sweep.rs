//! Every kind of secret that KubeOpera is ever given, given to one that logs all it can; then a look everywhere.

use std::{path::Path, time::Duration};

use reqwest::{
    Method, StatusCode,
    header::{ETAG, IF_MATCH},
};
use serde_json::{Value, json};
use stack::{Dashboard, LocalCluster, ProgramOptions};
use tokio::process::Command;

use crate::{
    World,
    canaries::{self, Canary},
    kubeconfigs::{field, kubeconfig, token},
    options,
};

const SEEN: Duration = Duration::from_mins(2);

#[tokio::test]
#[ignore = "starts two clusters"]
async fn no_secret_is_anywhere_but_where_it_belongs_however_much_is_logged() {
    stack::start_mirror().await.unwrap();
    let there = LocalCluster::up("stack-sweep-there", &["--control-plane-only"]).await.unwrap();
    let here = LocalCluster::up("stack-sweep-here", &[]).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let temporary = folder.path().join("tmp");
    tokio::fs::create_dir(&temporary).await.unwrap();
    let given = folder.path().join("given");
    tokio::fs::create_dir(&given).await.unwrap();
    let mut canaries = Vec::new();
    let mut canary = note_into(&mut canaries);

    let client_secret = given.join("client-secret");
    tokio::fs::write(&client_secret, canary("the client secret", "CANARY client/secret+oidc=4711")).await.unwrap();
    let hook = format!("https://hooks.acme.invalid/{}", canary("the web hook's address", "CANARY-hook-59fd1c2e"));
    let arguments = [
        "--oidc-issuer",
        "https://idp.acme.invalid",
        "--oidc-client-id",
        "kubeopera",
        "--oidc-client-secret-file",
        client_secret.to_str().unwrap(),
        "--oidc-default-role",
        "viewer",
        "--aws-sts-url",
        "http://127.0.0.1:9",
    ];
    let environment =
        [("RUST_LOG", "trace"), ("KUBEOPERA_NOTICE_HOOK", &hook), ("TMPDIR", temporary.to_str().unwrap())];
    let loud = ProgramOptions {
        arguments: arguments.map(str::to_owned).into(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        ..options()
    };
    let world = World::on(here, loud).await;
    let person = &world.dashboard;

    people_sessions_and_tokens(person, &mut canary).await;
    clouds_that_cannot_be_reached(person, &mut canary).await;

    // The cluster KubeOpera runs on, all the way; then another one, with all that would go there.
    person.register().await.unwrap();
    world.ready().await;
    let pull = canary("the registry's password", "CANARY-pull/pass+word=31e5");
    let registry = json!({ "server": "registry.acme.invalid", "username": "puller", "password": pull });
    told(person, Method::PUT, "/api/v1/settings/registry", &registry, StatusCode::OK).await;
    let of_git = canary("the Git token", "CANARY-git/token+77=a0c1");
    let (ssh, host_key) = ssh_keys(&given).await;
    canary("the Git key", ssh.lines().nth(3).unwrap());
    let known_hosts = format!("git.acme.invalid {host_key}");
    for (url, credential) in [
        ("https://git.acme.invalid/iac.git", json!({ "type": "basic", "password": of_git })),
        (
            "ssh://git@git.acme.invalid/iac.git",
            json!({ "type": "ssh", "private_key": ssh, "known_hosts": known_hosts }),
        ),
    ] {
        let repository = json!({ "url": url, "credential": credential });
        let to_check = json!({ "repository": repository });
        told(person, Method::POST, "/api/v1/settings/git/check", &to_check, StatusCode::OK).await;
        told(person, Method::PUT, "/api/v1/settings/git", &repository, StatusCode::OK).await;
    }
    let pasted = tokio::fs::read_to_string(there.kubeconfig()).await.unwrap();
    let bearer = token(&there.client().await.unwrap(), "kubeopera", true).await;
    canary("the cluster's token", &bearer);
    let cluster = json!({ "server": field(&pasted, "server"), "certificate-authority-data": field(&pasted, "certificate-authority-data") });
    // As a file that was made by hand has it: with a line feed at the end.
    let by_token = kubeconfig(&[("admin@there", cluster, json!({ "token": format!("{bearer}\n") }))]);
    let wanted = json!({ "name": "there", "provider": "on-premises", "region": "berlin", "kubeconfig": by_token });
    let card = told(person, Method::POST, "/api/v1/clusters/connect", &wanted, StatusCode::CREATED).await;
    let path = format!("/api/v1/clusters/{}", card["id"].as_str().unwrap());
    reached_by(&world, &path, "token").await;
    canary("the cluster's key", field(&pasted, "client-key-data"));
    let body = json!({ "kubeconfig": pasted });
    told(person, Method::PUT, &format!("{path}/kubeconfig"), &body, StatusCode::OK).await;
    reached_by(&world, &path, "client_certificate").await;

    drop(canary);
    canaries::are_nowhere_at_all(&world, canaries, &there, &temporary).await;
}

/// Notes a secret that will be looked for, and gives it back.
fn note_into(canaries: &mut Vec<Canary>) -> impl FnMut(&'static str, &str) -> String {
    |name, value| {
        canaries.push(Canary { name, value: value.to_owned() });
        value.to_owned()
    }
}

async fn people_sessions_and_tokens(person: &Dashboard, canary: &mut impl FnMut(&'static str, &str) -> String) {
    canary("the session", person.session().unwrap());
    let password = canary("a person's password", "CANARY pass/word+of=carol 5f");
    let carol = json!({ "username": "carol", "role": "operator", "password": password });
    told(person, Method::POST, "/api/v1/users", &carol, StatusCode::CREATED).await;
    let wrong = canary("a password that is wrong", "CANARY wrong&password=19c");
    let carol = json!({ "username": "carol", "password": wrong });
    told(person, Method::POST, "/api/v1/session", &carol, StatusCode::UNAUTHORIZED).await;
    let mangled = canary("a password in a body that is no JSON", "CANARY-mangled-81d7b2aa");
    let body = format!("{{\"username\": \"carol\", \"password\": \"{mangled}");
    let answer = person.request(Method::POST, "/api/v1/session").header("content-type", "application/json").body(body);
    let answer = answer.send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::BAD_REQUEST);
    assert!(!answer.text().await.unwrap().contains(&mangled), "the answer repeats the body");
    let tomorrow = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(24);
    let wanted = json!({ "label": "CI", "expires_at": tomorrow });
    let made = told(person, Method::POST, "/api/v1/tokens", &wanted, StatusCode::CREATED).await;
    canary("an access token", made["secret"].as_str().unwrap());
}

async fn clouds_that_cannot_be_reached(person: &Dashboard, canary: &mut impl FnMut(&'static str, &str) -> String) {
    let aws = canary("the AWS secret", "CANARYaws/+0123456789abcdefghijklmnopqrs");
    let aws = json!({ "label": "aws", "secret": { "type": "aws_access_key", "access_key_id": "AKIAIOSFODNN7EXAMPLE", "secret_access_key": aws } });
    saved(person, &aws).await;
    let rsa = stack::run(Command::new("openssl").args([
        "genpkey",
        "-quiet",
        "-algorithm",
        "RSA",
        "-pkeyopt",
        "rsa_keygen_bits:2048",
    ]))
    .await
    .unwrap();
    canary("the GCP key", rsa.lines().nth(5).unwrap());
    let key = json!({
        "type": "service_account", "project_id": "acme-prod", "private_key_id": "0123456789abcdef0123456789abcdef01234567",
        "private_key": rsa, "client_email": "kubeopera@acme-prod.iam.gserviceaccount.com", "client_id": "1234567890",
        "token_uri": "https://oauth2.googleapis.com/token",
    });
    saved(person, &json!({ "label": "gcp", "secret": { "type": "gcp_service_account_key", "key": key.to_string() } }))
        .await;
}

/// Waits until Flux is being installed there with a credential of this kind.
async fn reached_by(world: &World, path: &str, kind: &str) {
    stack::until(&format!("a cluster reached by {kind}"), SEEN, || async {
        let card = world.dashboard.get(path).await?;
        anyhow::ensure!(card["credential"]["kind"] == kind && card["phase"] == "BootstrappingFlux", "{card}");
        Ok(())
    })
    .await
    .unwrap();
}

async fn saved(person: &Dashboard, credential: &Value) {
    let saved = told(person, Method::POST, "/api/v1/credentials", credential, StatusCode::CREATED).await;
    let id = saved["credential"]["id"].as_str().unwrap();
    let (_, checked) = sent(person, Method::POST, &format!("/api/v1/credentials/{id}/check"), &json!({})).await;
    assert!(checked.is_object(), "{checked}");
}

async fn told(person: &Dashboard, method: Method, path: &str, body: &Value, expected: StatusCode) -> Value {
    let (status, answer) = sent(person, method, path, body).await;
    assert_eq!(status, expected, "{path}: {answer}");
    answer
}

/// Sends a body as somebody who has seen what is there.
async fn sent(person: &Dashboard, method: Method, path: &str, body: &Value) -> (StatusCode, Value) {
    let mut request = person.request(method.clone(), path).json(body);
    if method == Method::PUT
        && let Some(tag) = person.request(Method::GET, path).send().await.unwrap().headers().get(ETAG)
    {
        request = request.header(IF_MATCH, tag);
    }
    let answer = request.send().await.unwrap();
    (answer.status(), answer.json().await.unwrap_or_default())
}

/// A private key, and the public key that belongs to it.
async fn ssh_keys(folder: &Path) -> (String, String) {
    let file = folder.join("id");
    let mut make = Command::new("ssh-keygen");
    make.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&file);
    stack::run(&mut make).await.unwrap();
    let read = async |file: &Path| tokio::fs::read_to_string(file).await.unwrap();
    (read(&file).await, read(&file.with_extension("pub")).await)
}
