//! What goes wrong, in words that help.

use std::{os::unix::fs::PermissionsExt, time::Duration};

use axum::{Router, http::StatusCode, response::Redirect, routing::any};
use gitops_scaffolder::{Config, Scaffolder};
use gitops_scaffolder_contract::{Destination, GitOpsScaffolder};
use tokio::net::TcpListener;
use vocabulary::{Trouble, TroubleKind};

use crate::stage::{CANARY, READ_ONLY, Stage, inputs, with_domain};

/// The trouble of writing a tree there.
async fn trouble(stage: &Stage, destination: &Destination) -> Trouble {
    let scaffolder = stage.scaffolder_at("a", &destination.url).await;
    scaffolder.ensure_tree(&inputs("prod"), destination).await.unwrap_err()
}

fn is(trouble: &Trouble, kind: TroubleKind, reason: &str) {
    assert_eq!((trouble.kind, trouble.reason.as_str()), (kind, reason), "{trouble}");
    assert!(!trouble.message.contains("CANARY"), "{trouble}");
    assert!(trouble.message.ends_with('.'), "{trouble}");
}

#[tokio::test]
async fn a_credential_that_may_only_read_is_told_so() {
    let stage = Stage::new().await;
    let destination = stage.destination_as("flux", READ_ONLY);

    let trouble = trouble(&stage, &destination).await;

    is(&trouble, TroubleKind::Rejected, "GitPushNotAllowed");
    let sentence = format!("The Git credential may read {} but not write to it.", stage.url());
    assert!(trouble.message.starts_with(&sentence), "{trouble}");
    let inputs = inputs("prod");
    let seen = stage.scaffolder("b").await.look(&inputs.cluster_uid, &inputs.path, &destination).await.unwrap();
    assert_eq!((seen.branch.as_str(), seen.tree_hash), ("main", None));
}

#[tokio::test]
async fn a_wrong_password_is_told_so() {
    let stage = Stage::new().await;

    let trouble = trouble(&stage, &stage.destination_as("kubeopera", "CANARY-wrong")).await;

    is(&trouble, TroubleKind::Rejected, "GitAuthenticationFailed");
}

#[tokio::test]
async fn the_words_of_a_hook_that_refuses_are_passed_on() {
    let stage = Stage::new().await;
    let hook = stage.repository.folder().join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'Branch main is protected: open a merge request.' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();

    let trouble = trouble(&stage, &stage.destination()).await;

    is(&trouble, TroubleKind::Rejected, "GitPushRefused");
    assert!(trouble.message.contains("“Branch main is protected: open a merge request.”"), "{trouble}");
}

#[tokio::test]
async fn a_branch_that_stays_locked_is_told_in_the_servers_words_and_not_blamed_on_others() {
    let stage = Stage::new().await;
    let (scaffolder, before) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&before, &stage.destination()).await.unwrap();
    let lock = stage.repository.folder().join("refs/heads/main.lock");
    std::fs::write(&lock, "").unwrap();
    let changed = with_domain(&before, "prod.acme.com");

    let trouble = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap_err();

    is(&trouble, TroubleKind::Transient, "GitPushNotTaken");
    assert!(trouble.message.contains("cannot lock ref 'refs/heads/main'"), "{trouble}");
    std::fs::remove_file(&lock).unwrap();
    scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();
    assert_eq!(stage.history("main").len(), 2);
}

#[tokio::test]
async fn a_server_that_is_down_is_tried_again_and_recovers() {
    let mut stage = Stage::new().await;
    let (scaffolder, inputs, destination) = (stage.scaffolder("a").await, inputs("prod"), stage.destination());
    stage.close().await;

    let refused = scaffolder.ensure_tree(&inputs, &destination).await.unwrap_err();
    is(&refused, TroubleKind::Transient, "GitUnreachable");

    stage.open().await;
    scaffolder.ensure_tree(&inputs, &destination).await.unwrap();
    assert_eq!(stage.history("main").len(), 1);
}

#[tokio::test]
async fn a_repository_that_is_not_there_is_told_so() {
    let stage = Stage::new().await;
    let url = stage.url().replace("gitops.git", "other.git").parse().unwrap();

    let trouble = trouble(&stage, &Destination { url, ..stage.destination() }).await;

    is(&trouble, TroubleKind::Rejected, "GitRepositoryNotFound");
}

#[tokio::test]
async fn a_server_that_never_answers_is_left_and_no_git_stays_behind() {
    let stage = Stage::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/gitops.git", listener.local_addr().unwrap()).parse().unwrap();
    let config = Config { network_deadline: Duration::from_millis(500), ..stage.config("a").trusting(&url) };
    let scaffolder = Scaffolder::new(config).await.unwrap();

    let trouble =
        scaffolder.ensure_tree(&inputs("prod"), &Destination { url, ..stage.destination() }).await.unwrap_err();

    is(&trouble, TroubleKind::Transient, "GitUnreachable");
    // The dead are there until somebody has looked at them; the living are not.
    let deadline = std::time::Instant::now() + Duration::from_secs(5);
    while !running_in(&stage.work_dir("a")).is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", running_in(&stage.work_dir("a")));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(listener);
}

/// Processes whose working folder is below `folder`.
fn running_in(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let folders = processes.filter_map(|process| std::fs::read_link(process.path().join("cwd")).ok());
    folders.filter(|found| found.starts_with(folder)).collect()
}

/// The URL of a server that sends whoever asks for its repository to another one.
pub(crate) async fn redirecting_to(elsewhere: &str) -> String {
    let elsewhere = elsewhere.to_owned();
    let redirect = move |uri: axum::http::Uri| {
        let page = uri.path_and_query().map(|page| page.as_str().replace("/gitops.git", "")).unwrap_or_default();
        let target = format!("{elsewhere}{page}");
        async move { Redirect::temporary(&target) }
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/gitops.git", listener.local_addr().unwrap());
    tokio::spawn(async { axum::serve(listener, Router::new().fallback(any(redirect))).await.unwrap() });
    url
}

#[tokio::test]
async fn a_repository_that_was_renamed_is_not_followed_and_told_so() {
    let stage = Stage::new().await;
    let url = redirecting_to(&stage.url()).await.parse().unwrap();

    let trouble = trouble(&stage, &Destination { url, ..stage.destination() }).await;

    is(&trouble, TroubleKind::Rejected, "GitRedirectRefused");
    assert!(trouble.message.contains("renamed or moved"), "{trouble}");
}

#[tokio::test]
async fn a_server_with_a_fault_is_tried_again() {
    let stage = Stage::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/gitops.git", listener.local_addr().unwrap()).parse().unwrap();
    let fault = || async { (StatusCode::SERVICE_UNAVAILABLE, format!("down for {CANARY}\n")) };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(any(fault))).await.unwrap() });

    let trouble = trouble(&stage, &Destination { url, ..stage.destination() }).await;

    is(&trouble, TroubleKind::Transient, "GitUnreachable");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_through_a_symbolic_link_is_refused() {
    let stage = Stage::new().await;
    stage.scaffolder("seed").await.ensure_tree(&inputs("seed"), &stage.destination()).await.unwrap();
    let person = stage.person();
    std::fs::create_dir_all(person.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../../elsewhere", person.path("fluxcd/clusters/prod")).unwrap();
    person.push("Link");

    let trouble = trouble(&stage, &stage.destination()).await;

    is(&trouble, TroubleKind::Rejected, "PathEscapesRepository");
    assert_eq!(stage.history("main").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_of_another_cluster_or_of_somebody_else_is_refused() {
    let stage = Stage::new().await;
    let first = inputs("prod");
    stage.scaffolder("a").await.ensure_tree(&first, &stage.destination()).await.unwrap();

    let of_another = trouble(&stage, &stage.destination()).await;
    is(&of_another, TroubleKind::Rejected, "GitPathInUse");
    let sentence = format!("holds the environment of another cluster, prod (HostCluster {}).", first.cluster);
    assert!(of_another.message.contains(&sentence), "{of_another}");
    assert!(of_another.message.contains("delete the folder"), "{of_another}");
    assert_eq!(stage.history("main").len(), 1);

    let person = stage.person();
    person.git(&["rm", "-r", "--quiet", "fluxcd"]);
    person.write("fluxcd/clusters/prod/kustomization.yaml", "theirs\n");
    person.push("Ours now");
    let of_somebody = trouble(&stage, &stage.destination()).await;
    is(&of_somebody, TroubleKind::Rejected, "GitPathInUse");
    assert!(of_somebody.message.contains("kustomization.yaml"), "{of_somebody}");
}
