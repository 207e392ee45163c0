//! That nothing Terraform has made is lost, with a script in its place that can be as odd as Terraform seldom is.

use cluster_provisioner::{Ledger, book::RunResult};
use cluster_provisioner_contract::Topology;
use cluster_provisioner_terraform::{Access, Purpose};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{google::until, world::World};

/// Says how the cluster is reached, and has a state after `apply`.
const MAKES_A_CLUSTER: &str = r#"
case "$1" in
apply) echo '{"resources":["made"]}' >terraform.tfstate ;;
output) echo '{"endpoint":{"value":"https://203.0.113.7"},"certificate_authority":{"value":""},"token":{"value":"t"}}' ;;
esac
"#;

/// Makes a cluster, and has a credential that the cloud no longer takes when it is to be deleted.
const EXPIRES: &str = r#"
case "$1 $2" in
"plan -destroy" | destroy*)
    echo '{"type":"diagnostic","diagnostic":{"severity":"error","summary":"invalid_grant","detail":""}}'
    exit 1
    ;;
apply*) echo '{"resources":["made"]}' >terraform.tfstate ;;
output*) echo '{"endpoint":{"value":"https://203.0.113.7"},"certificate_authority":{"value":""},"token":{"value":"t"}}' ;;
esac
"#;

/// Deletes all it knows of, and may not ask what else there is.
const MAY_NOT_LIST: &str = r#"
case "$PWD $1" in
*aws-leftovers*apply)
    echo '{"type":"diagnostic","diagnostic":{"severity":"error","summary":"AccessDenied","detail":""}}'
    exit 1
    ;;
esac
"#;

/// Deletes all it knows of, and finds nothing else.
const FINDS_NOTHING: &str = r#"[ "$1" = output ] && echo '{"arns":{"value":[]}}'; exit 0"#;

/// Has a state at once, and then never stops saying something.
const TALKS: &str = r#"
[ "$1" = apply ] || exit 0
echo '{"resources":["made"]}' >terraform.tfstate
while :; do echo '{"@message":"still at it"}'; sleep 0.02; done
"#;

/// Has a state that grows until it is asked to stop.
const GROWS: &str = r#"
[ "$1" = apply ] || exit 0
trap 'printf "\"made\"]}" >>new; mv new terraform.tfstate; exit 1' TERM
printf '{"resources":[' >new
printf '"' >>new
head -c 1000000 /dev/urandom | base64 -w 0 | head -c 1130000 >>new
printf '",' >>new
(cat new; printf '"begun"]}') >begun
mv begun terraform.tfstate
while :; do sleep 0.1; done
"#;

fn world(script: &'static str) -> World {
    let credential = ("google-credentials.json", r#"{"private_key":"CANARY-key"}"#);
    let access = Access::Gcp { project: "acme".to_owned() };
    let mut world = World::new(Topology::ManagedGke, ("europe-west4", "n4-standard-4"), access, credential, vec![]);
    world.in_place_of_terraform = Some(script);
    world
}

#[tokio::test]
async fn the_last_state_is_kept_before_the_result_though_the_api_server_is_away_at_terraforms_end() {
    let world = world(MAKES_A_CLUSTER);
    world.page.lock().unwrap().away = 3;

    assert_eq!(world.create(1).await, RunResult::Succeeded);

    assert_eq!((world.page().away, world.state()), (0, json!({ "resources": ["made"] })));
}

#[tokio::test]
async fn no_result_is_written_down_while_the_state_is_not() {
    let world = world(MAKES_A_CLUSTER);
    world.page.lock().unwrap().away = u32::MAX;
    let tried_twice_at_the_end = || u32::MAX - world.page().away >= 2 && world.page().told.len() == 2;

    tokio::select! {
        result = world.run("create-1", Purpose::Create, CancellationToken::new()) => panic!("it ended: {result:?}"),
        () = until(tried_twice_at_the_end) => {}
    }

    assert_eq!((world.page().result, world.page().state), (None, None));
}

#[tokio::test]
async fn what_was_begun_and_has_no_state_is_never_called_gone() {
    let world = world("exit 0");
    assert_eq!(world.destroy(1).await, RunResult::Succeeded, "nothing was ever begun");

    // Cut off at the very moment at which Terraform was to make something.
    world.page.lock().unwrap().ledger = Some(Ledger::default());

    let RunResult::Failed(trouble) = world.destroy(2).await else { panic!("it succeeded") };
    assert_eq!(trouble.reason, "StateUnavailable");
    assert!(trouble.message.contains("kubeopera.io/cluster-id"), "{}", trouble.message);
}

#[tokio::test]
async fn nothing_is_deleted_from_within_a_cluster_before_the_cloud_has_taken_the_credential() {
    let mut world = world(EXPIRES);
    assert_eq!(world.create(1).await, RunResult::Succeeded);

    let RunResult::Failed(trouble) = world.destroy(1).await else { panic!("it succeeded") };
    assert_eq!((trouble.reason.as_str(), *world.clears.lock().unwrap()), ("CredentialRefused", 0));

    world.in_place_of_terraform = Some(MAKES_A_CLUSTER);
    assert_eq!(world.destroy(2).await, RunResult::Succeeded);
    assert_eq!(*world.clears.lock().unwrap(), 1);
}

#[tokio::test]
async fn what_may_be_left_is_said_unless_the_cloud_says_that_nothing_is() {
    let of_google = world(MAKES_A_CLUSTER);
    let credential = ("aws-credentials", "[default]\n");
    let mut of_aws = World::new(Topology::ManagedEks, ("eu-north-1", "m7g.large"), Access::Aws, credential, vec![]);
    of_aws.in_place_of_terraform = Some(MAKES_A_CLUSTER);
    for world in [&of_google, &of_aws] {
        assert_eq!((world.create(1).await, world.page().remark), (RunResult::Succeeded, None));
    }

    assert_eq!(of_google.destroy(1).await, RunResult::Succeeded);
    of_aws.in_place_of_terraform = Some(MAY_NOT_LIST);
    assert_eq!(of_aws.destroy(1).await, RunResult::Succeeded);

    for (world, why) in
        [(&of_google, "Google Cloud is not asked."), (&of_aws, "the credential may not tag:GetResources.")]
    {
        let remark = world.page().remark.unwrap();
        assert!(remark.starts_with("All that Terraform knew of is gone.") && remark.contains(why), "{remark}");
        let not_let_go = "made from within the cluster may be left. a cluster that is dead does not answer.";
        assert!(remark.ends_with(not_let_go), "{remark}");
    }

    of_aws.in_place_of_terraform = Some(FINDS_NOTHING);
    of_aws.page.lock().unwrap().remark = None;
    assert_eq!((of_aws.destroy(2).await, of_aws.page().remark), (RunResult::Succeeded, None));
}

#[tokio::test]
async fn nothing_is_made_before_it_is_written_down_that_something_may_be() {
    let world = world(r#"[ "$1" = apply ] && sleep 600; exit 0"#);

    tokio::select! {
        result = world.run("create-1", Purpose::Create, CancellationToken::new()) => panic!("it ended: {result:?}"),
        () = until(|| world.page().ledger.is_some()) => {}
    }

    assert_eq!(world.page().state, None);
}

#[tokio::test]
async fn a_state_is_kept_however_much_terraform_says() {
    let world = world(TALKS);

    tokio::select! {
        result = world.run("create-1", Purpose::Create, CancellationToken::new()) => panic!("it ended: {result:?}"),
        () = until(|| world.page().state.is_some()) => {}
    }
}

#[tokio::test]
async fn terraform_is_stopped_before_its_state_is_too_large_to_be_kept() {
    let world = world(GROWS);

    let RunResult::Failed(trouble) = world.create(1).await else { panic!("it succeeded") };

    assert_eq!(trouble.reason, "StateTooLarge");
    assert_eq!(world.state()["resources"][1], "made", "what it was at is kept");
}
