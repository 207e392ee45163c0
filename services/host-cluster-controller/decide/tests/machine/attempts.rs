//! What a status tells of attempts that did not succeed.

use host_cluster_controller_crd::{FailedAttempts, Phase};
use host_cluster_controller_decide::{Milestone, Next, Step, Way};
use jiff::SignedDuration;

use crate::scene::{Scene, ready, start, towards, written};

fn of(scene: &Scene, phase: Phase) -> Option<&FailedAttempts> {
    scene.status.failed_attempts.iter().find(|of| of.phase == phase)
}

#[test]
fn what_failed_in_a_phase_is_still_told_when_the_phase_is_done() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated).unreachable();
    scene.pass();
    scene = scene.later(60);
    scene.pass();
    let said = scene.message().to_owned();
    let failed = of(&scene, Phase::ValidatingAccess).unwrap();
    assert_eq!(failed.count, 2);
    assert_eq!(failed.last_at.0.duration_since(failed.first_at.0), SignedDuration::from_secs(60));
    assert!(said.starts_with(&failed.message) && !failed.message.contains("Retrying"), "{failed:?}");

    // Looking again too early is no attempt.
    scene = scene.later(1);
    assert_eq!(scene.pass().0, Step::Rest);
    assert_eq!(of(&scene, Phase::ValidatingAccess).map(|failed| failed.count), Some(2));

    scene = scene.later(600).answering().unclaimed();
    while scene.condition("AccessValidated").0 != "True" {
        scene.pass();
    }
    let kept = of(&scene, Phase::ValidatingAccess).unwrap();
    assert_eq!((scene.status.retry.clone(), kept.count, scene.message() == said), (None, 2, false));
}

#[test]
fn attempts_are_counted_on_after_somebody_asked_for_one_at_once() {
    let mut scene = towards(Way::Host, Milestone::FluxBootstrapped).secrets_at("absent", "-").answering().unclaimed();
    scene = scene.identified().flux_ready();
    scene.pass();
    scene = scene.later(5).retry_requested("now");
    scene.pass();
    assert_eq!(scene.phase(), "Failed");
    assert_eq!(scene.status.retry.as_ref().map(|retry| retry.attempt), Some(1), "the clock began anew");
    let failed = of(&scene, Phase::BootstrappingFlux).unwrap();
    assert_eq!((failed.count, failed.reason.as_str()), (2, "GitCredentialsMissing"));
}

#[test]
fn a_phase_that_begins_anew_begins_without_a_past_and_so_do_those_after_it() {
    let mut scene = ready(Way::Connect);
    let failed = |phase| FailedAttempts {
        phase,
        count: 3,
        first_at: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(start()),
        last_at: k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(start()),
        reason: "Unreachable".to_owned(),
        message: "The API server does not answer.".to_owned(),
    };
    scene.status.failed_attempts =
        [Phase::BootstrappingFlux, Phase::GeneratingGitOpsTree, Phase::InstallingKubeOpera].map(failed).to_vec();
    scene = scene.edited(|resource| resource.spec.domain = Some("acme.com".to_owned()));
    assert_eq!(scene.pass().0, Step::Begin(Milestone::TreeGenerated));
    assert_eq!(of(&scene, Phase::GeneratingGitOpsTree), None);

    scene = scene.answering().present();
    let Next::Do(step) = scene.next() else { panic!() };
    scene.publish(&step, &written("another-commit"));
    assert_eq!(scene.phase(), "InstallingKubeOpera");
    let phases: Vec<_> = scene.status.failed_attempts.iter().map(|of| of.phase).collect();
    assert_eq!(phases, [Phase::BootstrappingFlux], "what still holds keeps its past");
}

#[test]
fn what_fails_once_the_cluster_is_ready_belongs_to_no_phase() {
    let mut scene = ready(Way::Connect).answering().flux_ready().synced().git_secret();
    scene.pass();
    scene = scene.unreachable();
    scene.pass();
    assert_eq!((scene.phase(), scene.status.failed_attempts.as_slice()), ("Ready", [].as_slice()));
}
