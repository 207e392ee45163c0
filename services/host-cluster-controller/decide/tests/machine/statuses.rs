//! What is published: conditions and their transitions, events, and what is carried over.

use host_cluster_controller_crd::{ConditionType, condition};
use host_cluster_controller_decide::{Fact, Milestone, Outcome, Readiness, Step, Way};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use proptest::prelude::*;

use crate::scene::{Scene, UID, a_cluster, neighbour, ready, start, sync, towards};

fn any_value() -> impl Strategy<Value = Option<bool>> {
    prop_oneof![Just(None), Just(Some(true)), Just(Some(false))]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_transition_time_moves_exactly_when_the_value_changes(
        changes in prop::collection::vec((any_value(), "[A-Z][a-z]{1,8}", ".{0,20}", 0..10_000i64), 1..20),
    ) {
        let mut known: Vec<Condition> = Vec::new();
        let mut now: Timestamp = start();
        let mut since = now;
        for (value, reason, message, later) in changes {
            now += SignedDuration::from_secs(later);
            let before = known.first().map(|one| one.status.clone());
            let made = condition(&known, ConditionType::Ready, value, &reason, &message, 3, now);
            if before.as_ref() != Some(&made.status) {
                since = now;
            }
            prop_assert_eq!(made.last_transition_time.0, since);
            prop_assert_eq!((&made.reason, &made.message, made.observed_generation), (&reason, &message, Some(3)));
            let expected = match value { Some(true) => "True", Some(false) => "False", None => "Unknown" };
            prop_assert_eq!(&made.status, expected);
            known = vec![made];
        }
    }
}

fn healthy(way: Way) -> Scene {
    ready(way).answering().flux_ready().synced().git_secret()
}

#[test]
fn every_milestone_of_the_plan_is_a_condition_from_the_beginning() {
    let mut scene = a_cluster(Way::Connect);
    scene.pass();
    for milestone in Way::Connect.milestones() {
        let type_ = milestone.condition().as_str();
        assert_eq!(scene.condition(type_).0, "Unknown", "{type_}");
    }
    assert_eq!(scene.condition("InfrastructureReady").0, "", "not of this plan");
    assert_eq!(scene.condition("Ready").0, "False");
}

#[test]
fn a_status_of_the_way_to_ready_is_as_the_product_describes_it() {
    let mut scene = healthy(Way::Connect);
    scene.pass();
    let status = &scene.status;

    assert_eq!(status.kubeconfig_secret.as_deref(), Some("hostcluster-7e9d3a1b-kubeconfig"));
    assert_eq!(status.cluster_uid.as_deref(), Some(UID));
    assert_eq!(status.kubernetes_version.as_deref(), Some("1.34.4"));
    assert_eq!(status.nodes.map(|nodes| (nodes.total, nodes.ready)), Some((3, 2)));
    assert_eq!(status.flux_healthy, Some(true));
    let flux = status.flux.clone().unwrap();
    assert_eq!((flux.version.as_deref(), flux.managed_by.as_deref()), (Some("v2.9.4"), Some("kubeopera")));
    let tree = status.git_ops.clone().unwrap();
    assert_eq!((tree.branch.as_str(), tree.commit.is_some()), ("trunk", true));
    assert_eq!(tree.applied_revision, sync().root.unwrap().applied_revision);
    assert_eq!(status.observed_generation, Some(1));
    for type_ in [
        "AccessValidated",
        "FluxBootstrapped",
        "TreeGenerated",
        "PlatformInstalled",
        "Ready",
        "Reachable",
        "FluxHealthy",
    ] {
        assert_eq!(scene.condition(type_).0, "True", "{type_}");
    }
}

#[test]
fn the_phase_carries_the_time_it_began() {
    let mut scene = towards(Way::Host, Milestone::FluxBootstrapped);
    let began = scene.status.phase_started_at.clone().unwrap().0;
    scene = scene.later(30).answering().unclaimed();
    scene.pass();
    assert_eq!(scene.status.phase_started_at.clone().unwrap().0, began, "the phase goes on");

    scene = scene.later(30).flux_ready().git_secret();
    let now = scene.now;
    scene.pass();
    assert_eq!((scene.phase(), scene.status.phase_started_at.clone().unwrap().0), ("GeneratingGitOpsTree", now));
}

#[test]
fn events_are_told_on_transitions_and_not_again() {
    let mut scene = towards(Way::Host, Milestone::FluxBootstrapped).secrets_at("absent", "-").answering().unclaimed();
    scene = scene.identified().flux_ready();
    let (_, failed) = scene.pass();
    assert_eq!(failed.events.len(), 1);
    assert!(failed.events[0].is_warning && failed.events[0].reason == "GitCredentialsMissing", "{:?}", failed.events);

    scene = scene.later(61);
    let (_, again) = scene.pass();
    assert_eq!(again.events, [], "it has failed before");

    scene = scene.later(300).secrets().git_secret();
    let (_, mended) = scene.pass();
    assert_eq!(mended.events.iter().map(|event| event.reason.as_str()).collect::<Vec<_>>(), ["GeneratingGitOpsTree"]);
}

#[test]
fn a_ready_cluster_tells_when_its_health_changes_and_when_it_is_back() {
    let mut scene = healthy(Way::Host);
    scene.pass();

    scene = scene.unreachable();
    let (_, lost) = scene.pass();
    assert_eq!(scene.phase(), "Ready");
    assert_eq!(scene.condition("Reachable"), ("False".to_owned(), "Unreachable".to_owned()));
    assert_eq!(scene.condition("FluxHealthy").0, "Unknown");
    assert_eq!(scene.condition("Ready").0, "True");
    assert_eq!(lost.events.len(), 1, "{:?}", lost.events);
    assert!(lost.events[0].is_warning && lost.events[0].reason == "Unreachable");

    scene = scene.later(15);
    assert_eq!(scene.pass().1.events, []);

    scene = scene.later(15).answering();
    let (_, back) = scene.pass();
    assert_eq!(back.events.iter().map(|event| event.reason.as_str()).collect::<Vec<_>>(), ["Reachable"]);
}

#[test]
fn a_second_resource_for_a_cluster_fails_and_the_first_is_not_touched() {
    let mut second = towards(Way::Host, Milestone::FluxBootstrapped).answering().claimed_by(neighbour(UID));
    second.pass();
    assert_eq!(second.phase(), "Failed");
    assert_eq!(second.status.cluster_uid, None, "the first one's identity is not taken");
    assert!(second.message().contains("as quay"), "{}", second.message());

    // A watch that missed the other one's identification: both believe that the cluster is theirs. The older one keeps it.
    let mut both = towards(Way::Host, Milestone::FluxBootstrapped).identified().answering().claimed_by(neighbour(UID));
    both.pass();
    assert_eq!(both.phase(), "Failed");
    let mut younger = neighbour(UID);
    younger.created_at = Some(start() + SignedDuration::from_secs(1));
    let mut older = towards(Way::Host, Milestone::FluxBootstrapped).identified().answering().claimed_by(younger);
    older.seen.flux = Fact::Seen(host_cluster_controller_decide::FluxSeen::Absent);
    assert!(matches!(older.pass().0, Step::InstallFlux { .. }));
}

#[test]
fn a_neighbour_that_is_being_let_go_of_claims_nothing() {
    let mut going = neighbour(UID);
    going.is_being_deleted = true;
    let mut scene = towards(Way::Host, Milestone::FluxBootstrapped).answering().claimed_by(going);
    assert_eq!(scene.pass().0, Step::Identify);
}

#[test]
fn a_cluster_that_another_kubeopera_has_taken_over_is_let_go_of_without_touching_anything_on_it() {
    let mut scene = ready(Way::Connect).going().of_another_kubeopera().synced().git_secret();
    let mut steps = Vec::new();
    while steps.last() != Some(&Step::ReleaseFinalizer) && steps.len() < 10 {
        steps.push(scene.pass().0);
    }
    assert_eq!(steps, [Step::DeleteKubeconfigs { cluster: crate::scene::id() }, Step::ReleaseFinalizer]);
}

#[test]
fn of_a_cluster_that_is_another_one_nothing_is_told() {
    let mut scene = ready(Way::Host).answering_as("another");
    if let Fact::Seen(cluster) = &mut scene.seen.cluster {
        cluster.nodes.total = 99;
    }
    scene.pass();

    assert_eq!(scene.phase(), "Failed");
    assert_eq!(scene.status.cluster_uid.as_deref(), Some(UID));
    assert_ne!(scene.status.nodes.map(|nodes| nodes.total), Some(99));

    // It is put right: nothing has to be done again.
    scene = scene.later(61).secrets().answering().unclaimed().flux_ready().git_secret();
    scene.pass();
    assert_eq!(scene.phase(), "Ready", "{}", scene.message());
}

#[test]
fn a_suspended_resource_is_left_as_it_is_and_goes_on_afterwards() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated).unreachable();
    scene.pass();
    let before = scene.status.clone();
    let mut suspended = scene.clone().suspended();
    suspended.pass();

    assert_eq!(suspended.condition("Suspended").0, "True");
    assert_eq!(suspended.phase(), "ValidatingAccess");
    assert_eq!((&suspended.status.fingerprints, &suspended.status.retry), (&before.fingerprints, &before.retry));
    let (again, report) = suspended.clone().later(100).pass();
    assert_eq!((again, report.status.unwrap()), (Step::Suspend, suspended.status.clone()));

    suspended.resource.metadata.annotations = None;
    let (step, _) = suspended.pass();
    assert!(matches!(step, Step::Hold { .. }), "{step:?}");
    assert_eq!(suspended.condition("Suspended").0, "");
}

#[test]
fn another_domain_writes_the_tree_again_and_another_kubeconfig_does_not() {
    let mut scene = ready(Way::Connect).edited(|resource| resource.spec.domain = Some("acme.com".to_owned()));
    let (step, _) = scene.pass();
    assert_eq!(step, Step::Begin(Milestone::TreeGenerated));
    assert_eq!(scene.condition("FluxBootstrapped").0, "True");
    assert_eq!(scene.condition("TreeGenerated").0, "False");
    scene = scene.answering().present();
    let host_cluster_controller_decide::Next::Do(step) = scene.next() else { panic!() };
    scene.publish(&step, &crate::scene::written("another-commit"));
    assert_eq!(scene.phase(), "InstallingKubeOpera", "another commit has to be applied");

    let mut scene = ready(Way::Connect).secrets_at("git-1", "kubeconfig-2");
    scene.pass();
    assert_eq!(scene.phase(), "ValidatingAccess");
    scene = scene.answering().unclaimed();
    let (step, _) = scene.pass();
    assert!(matches!(step, Step::KeepKubeconfig { .. }), "{step:?}");
    assert_eq!(scene.phase(), "Ready", "all that comes after still holds");
}

#[test]
fn an_upkeep_that_fails_leaves_the_cluster_ready_and_is_not_repeated_before_its_time() {
    let trouble = vocabulary::Trouble::rejected("Forbidden", "The credential may not write Secrets.");
    let mut scene = healthy(Way::Host).secrets_at("git-2", "-");
    let host_cluster_controller_decide::Next::Do(step) = scene.next() else { panic!() };
    assert!(matches!(step, Step::WriteGitSecret { .. }));
    scene.publish(&step, &Outcome::Trouble(trouble));
    assert_eq!(scene.phase(), "Ready");
    assert_eq!(scene.message(), "The credential may not write Secrets. Retrying (attempt 2).");
    let told = scene.status.clone();

    scene = scene.later(15);
    let (step, report) = scene.pass();
    assert_eq!((step, report.status.unwrap()), (Step::KeepWatch, told), "nothing new to say");

    scene = scene.later(60);
    let (step, _) = scene.pass();
    assert!(matches!(step, Step::WriteGitSecret { .. }));
    assert_eq!(
        (scene.status.retry.clone(), scene.message()),
        (None, "Flux healthy and reconciling fluxcd/clusters/harbour.")
    );
}

#[test]
fn an_unacceptable_spec_is_told_field_by_field_and_mended_by_an_edit() {
    let mut scene =
        a_cluster(Way::Host).known().edited(|resource| resource.spec.admin_email = Some("captain".to_owned()));
    scene.pass();
    assert_eq!((scene.phase(), scene.condition("Ready").1.as_str()), ("Failed", "InvalidSpec"));
    assert!(scene.message().contains("spec.adminEmail"), "{}", scene.message());
    assert!(!scene.message().contains("captain"), "what was typed is not repeated");
    let (_, report) = scene.clone().later(600).pass();
    assert_eq!(report.status.unwrap(), scene.status, "said once");

    scene = scene.edited(|resource| resource.spec.admin_email = None);
    assert_eq!(scene.pass().0, Step::Begin(Milestone::FluxBootstrapped));
}

#[test]
fn of_kustomizations_that_wait_for_one_another_the_one_that_is_awaited_is_named() {
    let not_ready = |reason: &str, why: &str| Readiness::NotReady { reason: reason.to_owned(), why: why.to_owned() };
    let mut seen = sync();
    let mut awaited = seen.children[0].clone();
    awaited.name = "kubeopera-controllers".to_owned();
    awaited.readiness = not_ready("HealthCheckFailed", "Deployment cert-manager/webhook: Its pods are starting.");
    seen.children[0].readiness = not_ready("DependencyNotReady", "It waits for Kustomization kubeopera-controllers.");
    seen.children.push(awaited);
    let mut scene =
        towards(Way::Host, Milestone::PlatformInstalled).answering().flux_ready().git_secret().sync(seen.clone());
    scene.pass();
    assert_eq!(
        scene.message(),
        "Waiting for Kustomization flux-system/kubeopera-controllers: Deployment cert-manager/webhook: Its pods are starting."
    );

    seen.children.pop();
    let mut scene = scene.sync(seen);
    scene.pass();
    assert_eq!(
        scene.message(),
        "Waiting for Kustomization flux-system/kubeopera-apps: It waits for Kustomization kubeopera-controllers."
    );
}
