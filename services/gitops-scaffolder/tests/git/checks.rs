//! A repository is tried, and nothing is written.

use gitops_scaffolder_contract::{Answer, Destination, GitOpsScaffolder, Question, RepositoryCheck};
use tokio::net::TcpListener;

use crate::{
    stage::{CANARY, READ_ONLY, Stage, inputs},
    troubles::redirecting_to,
};

/// Tries it, and sees that nothing is left of that, neither there nor here.
async fn check(stage: &Stage, destination: &Destination) -> RepositoryCheck {
    let before = stage.git(&["for-each-ref"]);
    let found = stage.scaffolder_at("a", &destination.url).await.check(destination).await.unwrap();
    assert_eq!(stage.git(&["for-each-ref"]), before, "something was written");
    for folder in ["access", "clones"] {
        let left = std::fs::read_dir(stage.work_dir("a").join(folder)).unwrap().count();
        assert_eq!(left, 0, "something was left in {folder}");
    }
    found
}

/// The question that is answered with no, and its reason; every one before is answered with yes, and none after is asked.
fn no(found: &RepositoryCheck) -> (Question, String) {
    assert!(!found.is_usable());
    let asked: Vec<_> = found.answers.iter().map(|(question, _)| *question).collect();
    assert_eq!(asked, Question::ALL);
    let at = found.answers.iter().position(|(_, answer)| matches!(answer, Answer::No(_))).unwrap();
    assert!(found.answers[..at].iter().all(|(_, answer)| *answer == Answer::Yes), "{found:?}");
    assert!(found.answers[at + 1..].iter().all(|(_, answer)| *answer == Answer::NotAsked), "{found:?}");
    let (question, Answer::No(trouble)) = &found.answers[at] else { panic!() };
    assert!(trouble.message.ends_with('.') && !trouble.message.contains("CANARY"), "{trouble}");
    (*question, trouble.reason.clone())
}

#[tokio::test]
async fn a_repository_that_can_be_used_is_told_with_its_branch() {
    let stage = Stage::new().await;
    let empty = check(&stage, &stage.destination()).await;
    stage.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let other_default = check(&stage, &stage.destination()).await;
    stage.scaffolder("b").await.ensure_tree(&inputs("prod"), &stage.destination()).await.unwrap();
    let full = check(&stage, &stage.destination()).await;
    let named = check(&stage, &stage.destination_on("trunk")).await;

    for (found, branch, is_empty) in
        [(empty, "main", true), (other_default, "trunk", true), (full, "trunk", false), (named, "trunk", false)]
    {
        assert!(found.is_usable(), "{found:?}");
        assert_eq!((found.branch.as_deref(), found.is_empty), (Some(branch), Some(is_empty)));
    }
}

#[tokio::test]
async fn what_is_wrong_is_told_at_the_question_it_is_about() {
    let stage = Stage::new().await;
    stage.scaffolder("b").await.ensure_tree(&inputs("prod"), &stage.destination()).await.unwrap();
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}/gitops.git", listener.local_addr().unwrap())
    };
    let at = |url: &str| Destination { url: url.parse().unwrap(), ..stage.destination() };

    for (destination, question, reason) in [
        (at(&nobody), Question::Reach, "GitUnreachable"),
        (at(&redirecting_to(&stage.url()).await), Question::Reach, "GitRedirectRefused"),
        (stage.destination_as("kubeopera", "CANARY-wrong"), Question::Repository, "GitAuthenticationFailed"),
        (at(&stage.url().replace("gitops", "other")), Question::Repository, "GitRepositoryNotFound"),
        (stage.destination_on("nowhere"), Question::Branch, "GitBranchNotFound"),
        (stage.destination_as("flux", READ_ONLY), Question::Push, "GitPushNotAllowed"),
    ] {
        let found = check(&stage, &destination).await;
        assert_eq!(no(&found), (question, reason.to_owned()), "{found:?}");
        assert!(!format!("{found:?}").contains(CANARY));
    }
}

#[tokio::test]
async fn a_default_branch_that_is_not_there_is_told_with_the_branches_that_are() {
    let stage = Stage::new().await;
    stage.scaffolder("b").await.ensure_tree(&inputs("prod"), &stage.destination()).await.unwrap();
    stage.git(&["symbolic-ref", "HEAD", "refs/heads/gone"]);

    let found = check(&stage, &stage.destination()).await;
    let written = stage.scaffolder("c").await.ensure_tree(&inputs("more"), &stage.destination()).await;
    let named = check(&stage, &stage.destination_on("main")).await;

    assert_eq!(no(&found), (Question::Branch, "GitNoDefaultBranch".to_owned()));
    assert!(format!("{found:?}").contains("it has main"), "{found:?}");
    assert_eq!(written.unwrap_err().reason, "GitNoDefaultBranch");
    assert!(named.is_usable(), "{named:?}");
}
