//! Branches that take no commits from us.

use std::os::unix::fs::PermissionsExt;

use gitops_scaffolder_contract::{GitOpsScaffolder, TreeInputs};
use vocabulary::{Trouble, TroubleKind};

use crate::stage::{Stage, inputs, with_domain};

const PROPOSAL: &str = "kubeopera/prod";

/// A repository with a first commit, which takes no more of them on branches that match.
async fn protecting(branches: &str) -> Stage {
    let stage = Stage::new().await;
    stage.scaffolder("seed").await.ensure_tree(&inputs("seed"), &stage.destination()).await.unwrap();
    // Like other servers, it lets people replace what they have proposed.
    stage.git(&["config", "receive.denyNonFastForwards", "false"]);
    let hook = stage.repository.folder().join("hooks/update");
    let script = format!(
        "#!/bin/sh\ncase \"$1\" in {branches}) echo 'Branches are protected: open a merge request.' >&2; exit 1;; esac\n"
    );
    std::fs::write(&hook, script).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

async fn refused(stage: &Stage, inputs: &TreeInputs) -> Trouble {
    stage.scaffolder("a").await.ensure_tree(inputs, &stage.destination()).await.unwrap_err()
}

fn is_awaited(trouble: &Trouble) {
    assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Waiting, "GitProposalPushed"), "{trouble}");
    assert!(trouble.message.contains("Merge kubeopera/prod into main"), "{trouble}");
}

impl Stage {
    fn at(&self, branch: &str) -> String {
        self.git(&["rev-parse", branch])
    }
}

#[tokio::test]
async fn a_protected_branch_gets_a_proposal_beside_it_which_is_awaited_and_not_pushed_twice() {
    let stage = protecting("refs/heads/main").await;
    let (inputs, before) = (inputs("prod"), stage.at("main"));

    is_awaited(&refused(&stage, &inputs).await);
    let proposed = stage.at(PROPOSAL);
    is_awaited(&refused(&stage, &inputs).await);

    assert_eq!((stage.at("main"), stage.at(PROPOSAL)), (before.clone(), proposed.clone()));
    assert_eq!(stage.git(&["rev-parse", "kubeopera/prod^"]), before);
    assert_eq!(stage.history(PROPOSAL), ["Add the environment of prod", "Add the environment of seed"]);

    // Somebody merges it.
    stage.git(&["update-ref", "refs/heads/main", PROPOSAL]);
    let written = stage.scaffolder("a").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    assert_eq!((written.branch.as_str(), written.commit), ("main", proposed));
}

#[tokio::test]
async fn another_change_takes_the_place_of_the_one_that_was_proposed() {
    let stage = protecting("refs/heads/main").await;
    let first = inputs("prod");
    refused(&stage, &first).await;
    let proposed = stage.at(PROPOSAL);

    let changed = with_domain(&first, "prod.acme.com");
    is_awaited(&refused(&stage, &changed).await);

    assert_ne!(stage.at(PROPOSAL), proposed);
    assert_eq!(stage.history(PROPOSAL).len(), 2, "one commit on top of the branch");
    assert!(stage.git(&["ls-tree", "-r", "--name-only", PROPOSAL]).contains("prod/apps"));
    stage.git(&["fsck", "--strict"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_do_to_a_proposal_is_not_undone() {
    let stage = protecting("refs/heads/main").await;
    let inputs = inputs("prod");
    refused(&stage, &inputs).await;
    let person = stage.person();
    person.git(&["checkout", "--quiet", PROPOSAL]);
    person.write("fluxcd/clusters/prod/infrastructure/configs/issuers.yaml", "my issuers\n");
    person.push("Use our issuers");
    let theirs = stage.at(PROPOSAL);

    is_awaited(&refused(&stage, &inputs).await);

    assert_eq!(stage.at(PROPOSAL), theirs);
    stage.git(&["update-ref", "refs/heads/main", PROPOSAL]);
    let written = stage.scaffolder("a").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    assert_eq!(written.kept_edits, ["infrastructure/configs/issuers.yaml"]);
}

#[tokio::test]
async fn a_proposal_that_is_deleted_has_the_branch_tried_again() {
    let stage = protecting("refs/heads/main").await;
    let inputs = inputs("prod");
    refused(&stage, &inputs).await;
    std::fs::remove_file(stage.repository.folder().join("hooks/update")).unwrap();
    is_awaited(&refused(&stage, &inputs).await);

    stage.git(&["branch", "--quiet", "-D", PROPOSAL]);
    let written = stage.scaffolder("a").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();

    assert_eq!(written.commit, stage.at("main"));
}

#[tokio::test]
async fn where_no_branch_takes_a_commit_the_servers_words_are_passed_on() {
    let stage = protecting("*").await;

    let trouble = refused(&stage, &inputs("prod")).await;

    assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Rejected, "GitPushRefused"), "{trouble}");
    assert!(trouble.message.contains("“Branches are protected: open a merge request."), "{trouble}");
}
