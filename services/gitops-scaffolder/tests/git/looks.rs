//! Whether a tree is still in Git is seen without writing anything.

use gitops_scaffolder::{Config, Mirror, Scaffolder};
use gitops_scaffolder_contract::{GitOpsScaffolder, TreeInputs, TreeSeen};
use vocabulary::{ClusterId, TroubleKind};

use crate::stage::{Stage, inputs, with_domain};

async fn look(stage: &Stage, scaffolder: &Scaffolder, inputs: &TreeInputs) -> TreeSeen {
    scaffolder.look(&inputs.cluster_uid, &inputs.path, &stage.destination()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_is_as_it_was_written_whatever_people_have_edited() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    let written = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let as_written = TreeSeen { branch: written.branch, tree_hash: Some(written.tree_hash) };
    assert_eq!(look(&stage, &scaffolder, &inputs).await, as_written);

    let person = stage.person();
    person.write("fluxcd/clusters/prod/infrastructure/configs/issuers.yaml", "my issuers\n");
    person.git(&["rm", "--quiet", "fluxcd/clusters/prod/infrastructure/controllers/traefik.yaml"]);
    person.push("Make it mine");

    assert_eq!(look(&stage, &scaffolder, &inputs).await, as_written);
    assert_eq!(look(&stage, &stage.scaffolder("another").await, &inputs).await, as_written);
    assert_eq!(stage.history("main").len(), 2, "a look writes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tree_that_is_gone_or_set_back_is_seen_and_comes_back_in_one_commit() {
    let stage = Stage::new().await;
    let (scaffolder, before) = (stage.scaffolder("a").await, inputs("prod"));
    let first = scaffolder.ensure_tree(&before, &stage.destination()).await.unwrap();
    let inputs = with_domain(&before, "prod.acme.com");
    let written = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let person = stage.person();

    person.git(&["revert", "--no-commit", "HEAD"]);
    person.push("Set it back");
    assert_eq!(look(&stage, &scaffolder, &inputs).await.tree_hash, Some(first.tree_hash));

    person.git(&["rm", "-r", "--quiet", "fluxcd"]);
    person.push("Remove it");
    assert_eq!(look(&stage, &scaffolder, &inputs).await.tree_hash, None);

    let commits = stage.history("main").len();
    let again = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    assert_eq!(again.tree_hash, written.tree_hash);
    assert_eq!(look(&stage, &scaffolder, &inputs).await.tree_hash, Some(again.tree_hash));
    assert_eq!(stage.history("main").len(), commits + 1);
}

#[tokio::test]
async fn a_repository_that_began_anew_has_no_tree() {
    let mut stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    let written = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    stage.close().await;
    std::fs::remove_dir_all(stage.repository.folder()).unwrap();
    gitops_scaffolder::repository::ensure(stage.folder.path()).await.unwrap();
    stage.open().await;

    assert_eq!(look(&stage, &scaffolder, &inputs).await.tree_hash, None);

    let again = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    assert_eq!(again.tree_hash, written.tree_hash);
    assert_eq!(stage.history("main"), ["Add the environment of prod"]);
}

#[tokio::test]
async fn another_generator_would_make_another_tree() {
    let stage = Stage::new().await;
    let inputs = inputs("prod");
    let written = stage.scaffolder("a").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let mirror = Mirror::new("registry.acme.com", false).unwrap();
    let config = Config { mirror: Some(mirror), ..stage.config("b") };
    let other = Scaffolder::new(config).await.unwrap();

    let seen = look(&stage, &other, &inputs).await.tree_hash.unwrap();

    assert_ne!(seen, written.tree_hash);
    assert_eq!(other.ensure_tree(&inputs, &stage.destination()).await.unwrap().tree_hash, seen);
}

#[tokio::test]
async fn the_tree_of_another_cluster_is_not_ours() {
    let stage = Stage::new().await;
    let (scaffolder, theirs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&theirs, &stage.destination()).await.unwrap();
    let ours = TreeInputs { cluster_uid: ClusterId::random().to_string(), ..theirs };

    assert_eq!(look(&stage, &scaffolder, &ours).await.tree_hash, None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lock_file_that_cannot_be_read_is_told_and_not_taken_for_a_loss() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let person = stage.person();
    person.write("fluxcd/clusters/prod/.kubeopera/lock.json", "<<<<<<< HEAD\n");
    person.push("Merge badly");

    let trouble = scaffolder.look(&inputs.cluster_uid, &inputs.path, &stage.destination()).await.unwrap_err();

    assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Rejected, "LockFileUnreadable"));
}
