//! One change, one commit, whatever happens meanwhile.

use std::time::Duration;

use futures::future::join_all;
use gitops_scaffolder_contract::{GitOpsScaffolder, TreeInputs};
use vocabulary::{ClusterId, hex};

use sha2::{Digest, Sha256};

use crate::stage::{Stage, inputs, plain_git, with_domain};

#[tokio::test]
async fn an_empty_repository_gets_the_tree_in_one_commit_and_no_other() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));

    let first = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let second = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let third = stage.scaffolder("another").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();

    assert_eq!(first.branch, "main");
    assert_eq!((&second, &third), (&first, &first));
    assert_eq!(stage.history("main"), ["Add the environment of prod"]);
    assert_eq!(stage.git(&["rev-parse", "main"]), first.commit);
    let files = stage.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(files.lines().all(|path| path.starts_with("fluxcd/clusters/prod/")), "{files}");
    assert!(files.contains("fluxcd/clusters/prod/infrastructure/controllers/cert-manager.yaml"), "{files}");
    let body = stage.git(&["log", "-1", "--format=%an <%ae>%n%(trailers)", "main"]);
    let trailers = format!("KubeOpera-Cluster: {}\nKubeOpera-Tree: {}", inputs.cluster, first.tree_hash);
    assert_eq!(body, format!("KubeOpera <bot@kubeopera.io>\n{trailers}"));
}

#[tokio::test]
async fn new_inputs_are_one_more_commit() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    let first = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();

    let changed = with_domain(&inputs, "prod.acme.com");
    let second = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();

    assert_ne!(second.tree_hash, first.tree_hash);
    assert_eq!(stage.history("main"), ["Update the environment of prod", "Add the environment of prod"]);
    assert_eq!(stage.git(&["rev-parse", "main^"]), first.commit);
}

#[tokio::test]
async fn the_default_branch_is_the_one_the_repository_says() {
    let stage = Stage::new().await;
    stage.git(&["symbolic-ref", "HEAD", "refs/heads/trunk"]);
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));

    let before = scaffolder.look(&inputs.cluster_uid, &inputs.path, &stage.destination()).await.unwrap();
    let written = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let after = scaffolder.look(&inputs.cluster_uid, &inputs.path, &stage.destination()).await.unwrap();

    assert_eq!((before.branch.as_str(), before.tree_hash), ("trunk", None));
    assert_eq!(written.branch, "trunk");
    assert_eq!(stage.history("trunk").len(), 1);
    assert_eq!(after.branch, "trunk");
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_clusters_at_once_lose_nothing() {
    let stage = Stage::new().await;
    let (scaffolder, destination) = (stage.scaffolder("a").await, stage.destination());
    let clusters: Vec<TreeInputs> = (0..20).map(|number| inputs(&format!("cluster-{number}"))).collect();

    let written = join_all(clusters.iter().map(|inputs| scaffolder.ensure_tree(inputs, &destination))).await;

    assert!(written.iter().all(Result::is_ok), "{written:?}");
    assert_everything_is_there(&stage, &clusters);
}

#[tokio::test(flavor = "multi_thread")]
async fn several_scaffolders_and_a_person_pushing_at_once_lose_nothing() {
    let stage = Stage::new().await;
    let destination = stage.destination();
    let seed = inputs("seed");
    stage.scaffolder("seed").await.ensure_tree(&seed, &destination).await.unwrap();
    let clusters: Vec<TreeInputs> = (0..4).map(|number| inputs(&format!("cluster-{number}"))).collect();
    let mut scaffolders = Vec::new();
    for number in 0..clusters.len() {
        scaffolders.push(stage.scaffolder(&number.to_string()).await);
    }

    let person = stage.person();
    let pushing = tokio::task::spawn_blocking(move || {
        for number in 0..5 {
            person.write("notes.txt", &format!("{number}\n"));
            person.git(&["add", "notes.txt"]);
            person.git(&["commit", "--quiet", "-m", &format!("Note {number}")]);
            while !crate::stage::plain_git(&person.path("."), &["push", "--quiet"]).status.success() {
                person.git(&["pull", "--quiet", "--rebase"]);
            }
        }
    });
    let ensure = scaffolders.iter().zip(&clusters).map(|(one, inputs)| one.ensure_tree(inputs, &destination));
    let written = join_all(ensure).await;
    pushing.await.unwrap();

    assert!(written.iter().all(Result::is_ok), "{written:?}");
    let mut all = clusters;
    all.push(seed);
    assert_everything_is_there(&stage, &all);
    assert_eq!(stage.history("main").iter().filter(|subject| subject.starts_with("Note")).count(), 5);
}

/// Each with a clone of its own, as twenty installations have that share a repository.
#[tokio::test(flavor = "multi_thread")]
async fn twenty_writers_at_the_same_second_lose_nothing() {
    let stage = Stage::new().await;
    let destination = stage.destination();
    stage.scaffolder("seed").await.ensure_tree(&inputs("seed"), &destination).await.unwrap();
    let mut writers = Vec::new();
    for number in 0..20 {
        writers.push((stage.scaffolder(&number.to_string()).await, inputs(&format!("cluster-{number}"))));
    }
    let deadline = std::time::Instant::now() + Duration::from_mins(5);

    let written = join_all(writers.iter().map(async |(scaffolder, inputs)| {
        loop {
            match scaffolder.ensure_tree(inputs, &destination).await {
                // Whoever was overtaken too often is told so, and comes again.
                Err(trouble) if trouble.reason == "GitBusy" && std::time::Instant::now() < deadline => {}
                written => return written,
            }
        }
    }));
    let written = written.await;

    assert!(written.iter().all(Result::is_ok), "{written:?}");
    let clusters: Vec<_> = writers.into_iter().map(|(_, inputs)| inputs).collect();
    assert_everything_is_there(&stage, &clusters);
    assert_eq!(stage.git(&["rev-list", "--min-parents=2", "main"]), "", "the history is a line");
}

fn assert_everything_is_there(stage: &Stage, clusters: &[TreeInputs]) {
    let files = stage.git(&["ls-tree", "-r", "--name-only", "main"]);
    let history = stage.history("main");
    for cluster in clusters {
        let lock = format!("{}/.kubeopera/lock.json", cluster.path);
        assert!(files.lines().any(|path| path == lock), "{lock}");
        let subject = format!("Add the environment of {}", cluster.name);
        assert_eq!(history.iter().filter(|found| **found == subject).count(), 1, "{subject}: {history:?}");
    }
    stage.git(&["fsck", "--strict"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_operation_cut_off_anywhere_leaves_no_second_commit() {
    let stage = Stage::new().await;
    let (scaffolder, destination) = (stage.scaffolder("a").await, stage.destination());
    let plain = inputs("prod");
    let started = std::time::Instant::now();
    scaffolder.ensure_tree(&plain, &destination).await.unwrap();
    let whole = started.elapsed();

    for round in 1..=16_u32 {
        let changed = with_domain(&plain, &format!("r{round}.acme.com"));
        // Cut off at every stage of the way; the git programs that run at that moment die with it.
        let cut = Duration::from_micros(u64::try_from(whole.as_micros()).unwrap() * u64::from(round) / 14);
        let _ = tokio::time::timeout(cut, scaffolder.ensure_tree(&changed, &destination)).await;
        if round % 8 == 0 {
            // Another process takes over, with the same working folder.
            stage.scaffolder("a").await.ensure_tree(&changed, &destination).await.unwrap();
        }
        let written = scaffolder.ensure_tree(&changed, &destination).await.unwrap();

        assert_eq!(written.commit, stage.git(&["rev-parse", "main"]), "round {round}");
        assert_eq!(stage.history("main").len(), round as usize + 1, "round {round}");
    }
    stage.git(&["fsck", "--strict"]);
}

#[tokio::test]
async fn a_broken_clone_is_made_anew() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let clones = stage.work_dir("a").join("clones");
    let clone = std::fs::read_dir(clones).unwrap().next().unwrap().unwrap().path();
    std::fs::remove_dir_all(clone.join("objects")).unwrap();
    std::fs::write(clone.join("shallow.lock"), "").unwrap();

    let changed = with_domain(&inputs, "prod.acme.com");
    scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();

    assert_eq!(stage.history("main").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn large_files_of_others_stay_on_the_server_and_a_clone_that_has_grown_is_made_anew() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let person = stage.person();
    let noise: String = (0..400_000_u32).map(|number| number.wrapping_mul(2_654_435_761).to_string()).collect();
    person.write("film.bin", &noise);
    person.push("Add a film");
    let clone = std::fs::read_dir(stage.work_dir("a").join("clones")).unwrap().next().unwrap().unwrap().path();
    // More objects than Git itself would put up with.
    let grown = clone.join("objects/17");
    std::fs::create_dir_all(&grown).unwrap();
    for number in 0..7000 {
        std::fs::write(grown.join(format!("{number:038}")), "").unwrap();
    }

    let changed = with_domain(&inputs, "prod.acme.com");
    let written = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();
    let again = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();

    assert_eq!(again, written);
    assert!(!grown.join(format!("{:038}", 1)).exists(), "the clone was kept");
    let missing = plain_git(&clone, &["cat-file", "-e", &stage.git(&["rev-parse", "main:film.bin"])]);
    assert!(!missing.status.success(), "the film was fetched");
    assert!(stage.git(&["show", "main:film.bin"]) == noise, "and is still there");
    stage.git(&["fsck", "--strict"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_people_change_is_theirs() {
    let stage = Stage::new().await;
    let (scaffolder, inputs) = (stage.scaffolder("a").await, inputs("prod"));
    let first = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let person = stage.person();
    let at = |path: &str| format!("fluxcd/clusters/prod/{path}");
    person.write(&at("overrides/values.yaml"), "mine\n");
    person.write(&at("overrides/more/extra.yaml"), "mine too\n");
    person.write(&at("infrastructure/configs/issuers.yaml"), "my issuers\n");
    person.write("somewhere/else.yaml", "unrelated\n");
    person.write(&at("notes \"and\" film.bin"), &"x".repeat(3 << 20));
    person.push("Make it mine");

    let same = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let changed = with_domain(&inputs, "prod.acme.com");
    let updated = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();

    assert_eq!((same.tree_hash, same.kept_edits.len()), (first.tree_hash, 1));
    assert_eq!(updated.kept_edits, ["infrastructure/configs/issuers.yaml"]);
    let show = |path: &str| stage.git(&["show", &format!("main:{path}")]);
    assert_eq!(show(&at("overrides/values.yaml")), "mine");
    assert_eq!(show(&at("overrides/more/extra.yaml")), "mine too");
    assert_eq!(show(&at("infrastructure/configs/issuers.yaml")), "my issuers");
    assert_eq!(show("somewhere/else.yaml"), "unrelated");
    assert!(show(&at("apps/kubeopera/kubeopera.yaml")).contains("prod.acme.com"));
    let history = ["Update the environment of prod", "Make it mine", "Add the environment of prod"];
    assert_eq!(stage.history("main"), history);
}

/// What an older version generated is in no clone of ours: it is had from Git's history, by the id in the lock file.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_of_the_tree_reaches_edited_files_too() {
    let stage = Stage::new().await;
    let inputs = inputs("prod");
    let now = stage.scaffolder("first").await.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let person = stage.person();
    let at = |path: &str| format!("fluxcd/clusters/prod/{path}");
    let (monitoring, lock) = (at("infrastructure/monitoring/kube-prometheus-stack.yaml"), at(".kubeopera/lock.json"));
    let read = |path: &str| std::fs::read_to_string(person.path(path)).unwrap();
    let generated = read(&monitoring);
    let line = generated.lines().find(|line| line.trim_start().starts_with("tag: ")).unwrap();
    // As the version before this one left it: another version of the chart, and a lock file that says so.
    let older = generated.replace(line, "    tag: \"1.0.0\"");
    person.write(&monitoring, &older);
    let (sha256, blob) = (hex(&Sha256::digest(&older)), person.git(&["hash-object", "-w", &monitoring]));
    let mut locked: serde_json::Value = serde_json::from_str(&read(&lock)).unwrap();
    locked["files"]["infrastructure/monitoring/kube-prometheus-stack.yaml"] =
        serde_json::json!({ "class": "owned", "sha256": sha256, "blob": blob });
    person.write(&lock, &serde_json::to_string_pretty(&locked).unwrap());
    person.push("Be generated by an older version");
    person.write(&monitoring, &older.replace("retention: 7d", "retention: 90d"));
    person.push("Keep metrics longer");

    let scaffolder = stage.scaffolder("upgraded").await;
    let upgraded = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();
    let again = scaffolder.ensure_tree(&inputs, &stage.destination()).await.unwrap();

    assert_eq!(upgraded.tree_hash, now.tree_hash);
    assert_eq!(again, upgraded);
    let text = stage.git(&["show", &format!("main:{monitoring}")]);
    assert_eq!(text, generated.replace("retention: 7d", "retention: 90d").trim());
    assert_eq!(stage.history("main")[..2], ["Update the environment of prod", "Keep metrics longer"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_of_lines_that_were_edited_is_left_to_people_and_told_in_the_commit() {
    let stage = Stage::new().await;
    let (scaffolder, before) = (stage.scaffolder("a").await, with_domain(&inputs("prod"), "old.acme.com"));
    scaffolder.ensure_tree(&before, &stage.destination()).await.unwrap();
    let person = stage.person();
    let monitoring = "infrastructure/monitoring/kube-prometheus-stack.yaml";
    let path = format!("fluxcd/clusters/prod/{monitoring}");
    let mine = std::fs::read_to_string(person.path(&path)).unwrap().replace("old.acme.com", "mine.acme.com");
    person.write(&path, &mine);
    person.push("Have a name of our own");

    let changed = with_domain(&before, "new.acme.com");
    let updated = scaffolder.ensure_tree(&changed, &stage.destination()).await.unwrap();

    assert_eq!(updated.kept_edits, [monitoring]);
    assert_eq!(stage.git(&["show", &format!("main:{path}")]), mine.trim());
    let told = stage.git(&["log", "-1", "--format=%b", "main"]);
    assert!(told.contains(&format!("- {monitoring}\n")), "{told}");
    assert!(stage.git(&["log", "-1", "--format=%(trailers)", "main"]).starts_with("KubeOpera-Cluster: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_that_comes_back_under_another_id_takes_over_its_folder_in_one_commit() {
    let stage = Stage::new().await;
    let (scaffolder, before) = (stage.scaffolder("a").await, inputs("prod"));
    scaffolder.ensure_tree(&before, &stage.destination()).await.unwrap();
    let person = stage.person();
    let at = |path: &str| format!("fluxcd/clusters/prod/{path}");
    person.write(&at("overrides/values.yaml"), "mine\n");
    person.write(&at("infrastructure/configs/issuers.yaml"), "my issuers\n");
    person.push("Make it mine");

    let again = TreeInputs { cluster: ClusterId::random(), ..before.clone() };
    let taken_over = scaffolder.ensure_tree(&again, &stage.destination()).await.unwrap();
    let same = scaffolder.ensure_tree(&again, &stage.destination()).await.unwrap();

    assert_eq!(same, taken_over);
    let history = ["Update the environment of prod", "Make it mine", "Add the environment of prod"];
    assert_eq!(stage.history("main"), history);
    assert_eq!(taken_over.kept_edits, ["infrastructure/configs/issuers.yaml"]);
    let show = |path: &str| stage.git(&["show", &format!("main:{}", at(path))]);
    assert_eq!(show("overrides/values.yaml"), "mine");
    assert_eq!(show("infrastructure/configs/issuers.yaml"), "my issuers");
    let marked = show("sync/apps.yaml");
    let (old, new) = (before.cluster.to_string(), again.cluster.to_string());
    assert!(marked.contains(&new) && !marked.contains(&old), "{marked}");
}
