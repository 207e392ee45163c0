//! From asking for a run to its end.

use cluster_provisioner::{
    Ledger,
    book::{Book, BookError, Entry, RunResult},
};
use cluster_provisioner_contract::{ClusterProvisioner, RunStatus};
use serde_json::{Value, json};
use vocabulary::{ClusterId, Trouble, TroubleKind};

use super::world::World;

fn text(secret: &Value, key: &str) -> String {
    let bytes =
        base64::Engine::decode(&base64::engine::general_purpose::STANDARD, secret["data"][key].as_str().unwrap());
    String::from_utf8(bytes.unwrap()).unwrap()
}

/// A control plane and a network, with a state that has them.
pub(crate) fn state(sealed: &[u8]) -> Entry {
    let there = ["aws_eks_cluster.this", "module.network.aws_vpc.this"];
    Entry { state: Some(sealed.to_vec()), ledger: Some(ledger(&there)), ..Entry::default() }
}

pub(crate) fn ledger(there: &[&str]) -> Ledger {
    let line = |address: &&str| {
        let kind = address.rsplit('.').nth(1).unwrap();
        json!({ "address": address, "kind": kind, "id": "arn:aws:eks:::north" })
    };
    serde_json::from_value(json!(there.iter().map(line).collect::<Vec<_>>())).unwrap()
}

pub(crate) fn told(progress: &str) -> Entry {
    Entry { progress: Some(progress.to_owned()), ..Entry::default() }
}

fn progress(status: &RunStatus) -> &str {
    match status {
        RunStatus::Running { progress, .. } => progress,
        other => panic!("it does not run: {other:?}"),
    }
}

#[tokio::test]
async fn a_run_is_a_job_with_an_order_and_a_right_to_its_own_book_alone() {
    let world = World::new();
    let cluster = world.request.cluster;
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(RunStatus::Absent));

    for _ in 0..3 {
        world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    }

    let [job] = &world.api_server.all("jobs")[..] else { panic!("not one Job") };
    assert_eq!(job["metadata"]["name"], format!("provision-{cluster}"));
    assert_eq!(job["metadata"]["namespace"], "kubeopera-provisioning");
    let (spec, pod) = (&job["spec"], &job["spec"]["template"]["spec"]);
    assert_eq!((&spec["backoffLimit"], &pod["restartPolicy"]), (&json!(0), &json!("Never")));
    assert_eq!(pod["containers"][0]["image"], "kubeopera:1");
    assert!(!job.to_string().contains("CANARY"), "no secret in a Job");
    let order = world.api_server.all("secrets").into_iter().find(|one| one["data"]["order.json"].is_string()).unwrap();
    assert!(text(&order, "aws-credentials").contains("CANARY-secret"));
    let variables: Value = serde_json::from_str(&text(&order, "terraform.tfvars.json")).unwrap();
    assert_eq!(
        (&variables["cloud_name"], &variables["node_count"]),
        (&json!(format!("north-{}", cluster.short())), &json!(2))
    );
    let role = &world.api_server.all("roles")[0];
    assert_eq!(role["rules"][0]["resourceNames"], json!([format!("provision-{cluster}")]));
    assert_eq!(role["rules"][0]["verbs"], json!(["get", "patch"]));
    let status = world.provisioner.run_status(cluster).await.unwrap();
    assert_eq!(progress(&status), "Waiting for the run to start.");

    world.book("create-1").write(told("Creating the network (1 of 41 resources done).")).await.unwrap();
    let status = world.provisioner.run_status(cluster).await.unwrap();
    assert_eq!(progress(&status), "Creating the network (1 of 41 resources done).");
}

#[tokio::test]
async fn a_finished_run_leaves_a_kubeconfig_and_no_credential() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();

    world.ends("create-1", RunResult::Succeeded).await;

    let job = format!("provision-{cluster}");
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(RunStatus::Succeeded { job: job.clone() }));
    assert_eq!(world.provisioner.kubeconfig(cluster).await.unwrap().reveal(), "CANARY-kubeconfig");
    let left = json!(world.api_server.all("secrets")).to_string();
    assert!(!left.contains("aws-credentials"), "{left}");
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    assert_eq!(world.api_server.all("jobs").len(), 1, "what is done is not done again");
    // A Job that somebody tidied away has been all the same.
    world.api_server.remove("jobs");
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(RunStatus::Succeeded { job }));
}

#[tokio::test]
async fn the_next_attempt_gets_a_new_job_the_old_state_and_the_only_pen() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    let first = world.book("create-1");
    first.write(state(b"sealed")).await.unwrap();
    let trouble = Trouble::rejected("QuotaExceeded", "A quota does not allow the network.");
    world.ends("create-1", RunResult::Failed(trouble.clone())).await;
    let failed = RunStatus::Failed { job: format!("provision-{cluster}"), trouble };
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(failed));

    let waiting = world.provisioner.ensure_run(&world.request, 2).await.unwrap_err();
    assert_eq!(waiting.kind, TroubleKind::Waiting);
    world.provisioner.ensure_run(&world.request, 2).await.unwrap();

    assert_eq!(world.api_server.all("jobs")[0]["metadata"]["labels"]["kubeopera.io/run"], "create-2");
    assert_eq!(progress(&world.provisioner.run_status(cluster).await.unwrap()), "Waiting for the run to start.");
    assert_eq!(world.book("create-2").read().await.unwrap().state, Some(b"sealed".to_vec()));
    for outcome in
        [first.write(told("still here")).await, first.write(state(b"older")).await, first.read().await.map(drop)]
    {
        assert_eq!(outcome, Err(BookError::TakenOver));
    }
    assert_eq!(world.book("create-2").read().await.unwrap().state, Some(b"sealed".to_vec()));
}

#[tokio::test]
async fn a_run_that_vanishes_or_dies_without_a_word_is_recovered_or_told() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.api_server.remove("jobs");

    let vanished = RunStatus::Vanished { job: format!("provision-{cluster}") };
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(vanished));
    let left = json!(world.api_server.all("secrets")).to_string();
    assert!(!left.contains("aws-credentials"), "a Job that has vanished leaves no credential: {left}");
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    assert_eq!(world.api_server.all("jobs").len(), 1);

    let pod = json!({
        "metadata": { "name": "p", "labels": { "kubeopera.io/cluster-id": cluster } },
        "status": { "containerStatuses": [{ "name": "provision", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "terminated": { "exitCode": 137, "reason": "OOMKilled" } } }] },
    });
    world.api_server.put("/api/v1/namespaces/kubeopera-provisioning/pods/p-1", pod);
    world.job_ends("Failed");
    let RunStatus::Failed { trouble, .. } = world.provisioner.run_status(cluster).await.unwrap() else {
        panic!("not failed")
    };
    assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Transient, "RunLost"));
    assert!(trouble.message.contains("needed more than 1.5 GiB of memory"), "{}", trouble.message);
    let left = json!(world.api_server.all("secrets")).to_string();
    assert!(!left.contains("aws-credentials"), "a run that is lost leaves no credential: {left}");
}

#[tokio::test]
async fn a_pod_that_cannot_start_says_why() {
    let world = World::new();
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    let pod = json!({
        "metadata": { "name": "p" },
        "status": { "containerStatuses": [{ "name": "provision", "image": "", "imageID": "", "ready": false, "restartCount": 0,
            "state": { "waiting": { "reason": "ImagePullBackOff" } } }] },
    });
    world.api_server.put("/api/v1/namespaces/kubeopera-provisioning/pods/p-1", pod);

    let status = world.provisioner.run_status(world.request.cluster).await.unwrap();

    assert!(progress(&status).contains("ImagePullBackOff"), "{status:?}");
}

#[tokio::test]
async fn deleting_first_stops_what_creates_then_deletes_then_forgets() {
    let world = World::new();
    let cluster = world.request.cluster;
    world.provisioner.ensure_run(&world.request, 1).await.unwrap();
    world.book("create-1").write(state(b"sealed")).await.unwrap();

    let stopping = world.provisioner.ensure_destroyed(cluster).await.unwrap();
    assert_eq!(progress(&stopping), "Stopping the run that creates the cluster.");
    world.provisioner.ensure_destroyed(cluster).await.unwrap();
    assert_eq!(world.api_server.all("jobs")[0]["metadata"]["labels"]["kubeopera.io/run"], "destroy-1");
    assert_eq!(world.book("destroy-1").read().await.unwrap().state, Some(b"sealed".to_vec()));

    let trouble = Trouble::transient("StillInUse", "Something still uses the network.");
    world.ends("destroy-1", RunResult::Failed(trouble.clone())).await;
    let failed = RunStatus::Failed { job: format!("provision-{cluster}"), trouble };
    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(failed), "told once");
    let again = world.provisioner.ensure_destroyed(cluster).await.unwrap();
    assert_eq!(progress(&again), "Trying again to delete the infrastructure.");
    assert_eq!(world.api_server.all("jobs")[0]["metadata"]["labels"]["kubeopera.io/run"], "destroy-2");

    world.ends("destroy-2", RunResult::Succeeded).await;
    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));
    assert_eq!(world.api_server.kinds(), ["configmaps"], "nothing is left but the record");
    assert_eq!(world.provisioner.ensure_destroyed(cluster).await, Ok(RunStatus::Destroyed));
    assert_eq!(world.provisioner.run_status(cluster).await, Ok(RunStatus::Destroyed));
}

#[tokio::test]
async fn a_cluster_that_was_never_begun_is_gone_at_once() {
    let world = World::new();
    assert_eq!(world.provisioner.ensure_destroyed(world.request.cluster).await, Ok(RunStatus::Absent));
    assert!(world.api_server.is_empty());
}

#[tokio::test]
async fn a_credential_that_was_not_chosen_for_the_cluster_starts_nothing() {
    let mut world = World::new();
    for (cluster, credential, reason) in [
        (ClusterId::random(), world.request.credential.clone(), "CredentialNotPermitted"),
        (world.request.cluster, "0b9a4f6e-1c8d-4f67-9f0a-3f6d1c2b7a12".to_owned(), "NoSuchCredential"),
        (world.request.cluster, "x".to_owned(), "NoSuchCredential"),
    ] {
        (world.request.cluster, world.request.credential) = (cluster, credential);
        let trouble = world.provisioner.ensure_run(&world.request, 1).await.unwrap_err();
        assert_eq!((trouble.kind, trouble.reason.as_str()), (TroubleKind::Rejected, reason));
    }
    assert!(world.api_server.is_empty());
}
