//! The repository KubeOpera serves itself.

use axum::{
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use gitops_scaffolder::repository;
use gitops_scaffolder_contract::GitOpsScaffolder;
use tower::ServiceExt;

use crate::stage::{CANARY, READ_ONLY, Stage, credentials, inputs, plain_git, with_domain};

const FETCH: &str = "/gitops.git/info/refs?service=git-upload-pack";
const PUSH: &str = "/gitops.git/info/refs?service=git-receive-pack";

async fn ask(stage: &Stage, method: &str, page: &str, name_and_password: Option<&str>) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(page);
    if let Some(text) = name_and_password {
        request = request.header(header::AUTHORIZATION, format!("Basic {}", STANDARD.encode(text)));
    }
    let router = repository::router(stage.repository.clone(), credentials());
    let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[tokio::test]
async fn each_visitor_may_do_what_its_credential_is_for() {
    let stage = Stage::new().await;
    let (writer, reader) = (format!("kubeopera:{CANARY}"), format!("flux:{READ_ONLY}"));
    for (visitor, fetch, push) in [
        (None, StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED),
        (Some("kubeopera:wrong"), StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED),
        (Some("flux:"), StatusCode::UNAUTHORIZED, StatusCode::UNAUTHORIZED),
        (Some(reader.as_str()), StatusCode::OK, StatusCode::FORBIDDEN),
        (Some(writer.as_str()), StatusCode::OK, StatusCode::OK),
    ] {
        assert_eq!(ask(&stage, "GET", FETCH, visitor).await.0, fetch, "{visitor:?}");
        assert_eq!(ask(&stage, "GET", PUSH, visitor).await.0, push, "{visitor:?}");
    }
}

#[tokio::test]
async fn nothing_but_the_two_services_is_served() {
    let stage = Stage::new().await;
    let writer = format!("kubeopera:{CANARY}");
    for (method, page) in [
        ("GET", "/gitops.git/HEAD"),
        ("GET", "/gitops.git/config"),
        ("GET", "/gitops.git/objects/info/packs"),
        ("GET", "/gitops.git/info/refs"),
        ("GET", "/gitops.git/info/refs?service=git-upload-archive"),
        ("GET", "/gitops.git/../gitops.git/info/refs?service=git-upload-pack"),
        ("GET", "/gitops.git/%2e%2e/secret"),
        ("GET", "/gitops.git/git-upload-pack"),
        ("POST", "/gitops.git/info/refs?service=git-upload-pack"),
        ("POST", "/gitops.git/git-upload-pack/"),
        ("DELETE", "/gitops.git/git-receive-pack"),
        ("GET", "/other.git/info/refs?service=git-upload-pack"),
        ("GET", "/"),
    ] {
        assert_eq!(ask(&stage, method, page, Some(&writer)).await.0, StatusCode::NOT_FOUND, "{method} {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_rewrites_or_removes_what_is_there() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let changed = with_domain(&inputs, "prod.acme.com");
    let written = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();
    let person = stage.person();
    person.git(&["reset", "--quiet", "--hard", "HEAD^"]);

    let forced = plain_git(&person.path("."), &["push", "--force", "origin", "HEAD:main"]);
    let deleted = plain_git(&person.path("."), &["push", "origin", ":main"]);

    assert!(!forced.status.success() && !deleted.status.success());
    assert_eq!(stage.git(&["rev-parse", "main"]), written.commit);
}

#[tokio::test]
async fn locks_of_a_machine_that_lost_power_do_not_stay() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    for lock in ["refs/heads/main.lock", "config.lock", "packed-refs.lock"] {
        std::fs::write(stage.repository.folder().join(lock), "").unwrap();
    }

    repository::ensure(stage.folder.path()).await.unwrap();

    let changed = with_domain(&inputs, "prod.acme.com");
    scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();
    assert_eq!(stage.history("main").len(), 2);
}

#[tokio::test]
async fn a_git_that_outlived_its_process_is_waited_for_before_its_locks_are_removed() {
    let stage = Stage::new().await;
    let lock = stage.repository.folder().join("config.lock");
    std::fs::write(&lock, "").unwrap();
    let mut outlived = std::process::Command::new("git")
        .args(["cat-file", "--batch"])
        .current_dir(stage.repository.folder())
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let preparing = repository::ensure(stage.folder.path());
    tokio::pin!(preparing);

    let at_once = tokio::time::timeout(std::time::Duration::from_millis(300), &mut preparing).await;
    assert!(at_once.is_err() && lock.exists(), "the lock was removed under its owner");
    drop(outlived.stdin.take());
    outlived.wait().unwrap();

    preparing.await.unwrap();
    assert!(!lock.exists());
}

#[tokio::test]
async fn preparing_it_again_changes_nothing() {
    let stage = Stage::new().await;
    let inputs = inputs("prod");
    let written = stage.scaffolder("a").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();

    let again = repository::ensure(stage.folder.path()).await.unwrap();

    assert_eq!(again, stage.repository);
    assert_eq!(stage.git(&["rev-parse", "main"]), written.commit);
    assert_eq!(stage.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
}
