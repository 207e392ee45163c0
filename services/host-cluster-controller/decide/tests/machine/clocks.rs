//! When the next attempt comes, for each kind of trouble.

use host_cluster_controller_crd::RetryKind;
use host_cluster_controller_decide::{Fact, Milestone, Next, Outcome, Requeue, Step, Way};
use jiff::SignedDuration;
use vocabulary::Trouble;

use crate::scene::{Scene, towards, unreachable};

/// Fails each attempt the moment it is due, and tells the pauses between.
fn pauses(mut scene: Scene, trouble: &Trouble, attempts: usize) -> Vec<(i64, &'static str)> {
    let mut pauses = Vec::new();
    for _ in 0..attempts {
        scene.seen.cluster = Fact::CouldNotTell(trouble.clone());
        let (step, report) = scene.pass();
        assert!(matches!(step, Step::Hold { .. }), "{step:?}");
        let Requeue::After(pause) = report.requeue else { panic!("{:?}", report.requeue) };
        pauses.push((pause.as_secs(), scene.phase()));
        scene.now += pause;
    }
    pauses
}

fn rejected() -> Trouble {
    Trouble::rejected("Unauthorized", "The credential is not accepted. Supply a new kubeconfig.")
}

#[test]
fn network_troubles_are_retried_ever_more_slowly_for_five_minutes_and_then_called_a_failure() {
    let pauses = pauses(towards(Way::Connect, Milestone::AccessValidated), &unreachable(), 16);

    let validating: Vec<i64> =
        pauses.iter().filter(|(_, phase)| *phase == "ValidatingAccess").map(|(at, _)| *at).collect();
    assert_eq!(validating.iter().sum::<i64>(), 300, "the last attempt comes at five minutes: {pauses:?}");
    assert!(validating.windows(2).rev().skip(1).all(|two| two[0] <= two[1]), "{pauses:?}");
    let failed: Vec<i64> = pauses.iter().filter(|(_, phase)| *phase == "Failed").map(|(at, _)| *at).collect();
    assert_eq!(failed[..4], [60, 60, 120, 240], "{pauses:?}");
    assert!(failed.iter().all(|pause| (60..=300).contains(pause)), "{pauses:?}");
}

#[test]
fn a_rejection_fails_at_once_and_is_tried_again_ever_more_slowly() {
    let pauses = pauses(towards(Way::Connect, Milestone::AccessValidated), &rejected(), 7);

    assert_eq!(pauses.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [60, 120, 240, 480, 960, 1800, 1800]);
    assert!(pauses.iter().all(|(_, phase)| *phase == "Failed"));
}

#[test]
fn jitter_spreads_attempts_over_the_whole_pause_and_never_beyond() {
    let scene = towards(Way::Host, Milestone::FluxBootstrapped).unreachable();
    for (jitter, pause) in [(0.0, 2), (1.0, 2), (f64::NAN, 2), (7.0, 2), (-1.0, 2)] {
        let mut facts = scene.facts();
        facts.jitter = jitter;
        let Next::Do(step) = host_cluster_controller_decide::next_step(&facts) else { panic!() };
        let report = host_cluster_controller_decide::report(&facts, &step, &Outcome::Done);
        let Requeue::After(after) = report.requeue else { panic!() };
        assert!((0..=pause).contains(&after.as_secs()), "{jitter}: {after:?}");
    }
}

#[test]
fn before_its_time_nothing_is_tried() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated).unreachable();
    scene.pass();
    let due = scene.status.retry.clone().unwrap().next_attempt_at.0;

    for early in [0, 1] {
        let waiting = Scene { now: due - SignedDuration::from_millis(1500 - early * 1000), ..scene.clone() };
        let (step, report) = waiting.clone().pass();
        assert_eq!(step, Step::Rest);
        assert_eq!(report.status.unwrap(), scene.status, "nothing is published while resting");
        assert!(report.events.is_empty());
    }
    assert_ne!(Scene { now: due, ..scene }.pass().0, Step::Rest);
}

#[test]
fn a_change_of_what_was_wrong_asks_for_an_attempt_at_once() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated);
    scene.seen.cluster = Fact::CouldNotTell(rejected());
    scene.pass();
    assert_eq!(scene.clone().later(5).pass().0, Step::Rest);

    let edited = scene.clone().later(5).edited(|resource| resource.spec.domain = Some("acme.com".to_owned()));
    let another_kubeconfig = scene.clone().later(5).secrets_at("git-1", "kubeconfig-2");
    let another_git_secret = scene.clone().later(5).secrets_at("git-2", "kubeconfig-1");
    let asked = scene.clone().later(5).retry_requested("2026-03-01T08:00:05Z");
    let to_be_taken_over = scene.clone().later(5).taking_over("another-kubeopera");

    for (what, changed) in [
        ("the spec", edited),
        ("the kubeconfig", another_kubeconfig),
        ("the Git credentials", another_git_secret),
        ("the annotation", asked),
        ("the annotation to take it over", to_be_taken_over),
    ] {
        let mut changed = changed;
        let (step, _) = changed.pass();
        assert!(matches!(step, Step::Hold { .. }), "{what}: {step:?}");
        assert_eq!(changed.status.retry.as_ref().unwrap().attempt, 1, "{what}: a new run of troubles");
        assert_eq!(changed.later(5).pass().0, Step::Rest, "{what} asks once");
    }
}

#[test]
fn somebody_else_working_is_no_trouble() {
    let mut scene =
        towards(Way::Host, Milestone::FluxBootstrapped).answering().unclaimed().identified().flux_starting();
    let (_, first) = scene.pass();
    scene = scene.later(3);
    let (_, second) = scene.pass();

    assert_eq!(scene.status.retry, None);
    assert_eq!(first.status, second.status, "nothing new is published while nothing changes");
    assert_eq!(second.requeue, Requeue::After(SignedDuration::from_secs(3)));
}

#[test]
fn another_rejection_begins_anew_and_another_network_trouble_does_not() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated);
    for _ in 0..4 {
        scene.seen.cluster = Fact::CouldNotTell(rejected());
        scene.pass();
        scene = scene.later(1800);
    }
    scene.seen.cluster =
        Fact::CouldNotTell(Trouble::rejected("TLSVerificationFailed", "The certificate is not trusted."));
    scene.pass();
    assert_eq!(scene.status.retry.as_ref().unwrap().attempt, 1);

    scene = scene.later(1800);
    scene.seen.cluster = Fact::CouldNotTell(unreachable());
    scene.pass();
    assert_eq!(scene.phase(), "ValidatingAccess", "what was rejected before does not use up the patience");
    scene = scene.later(200);
    scene.seen.cluster = Fact::CouldNotTell(Trouble::transient("Timeout", "It did not answer in time."));
    scene.pass();
    let retry = scene.status.retry.clone().unwrap();
    assert_eq!((retry.attempt, retry.kind), (2, RetryKind::Transient));
    assert_eq!(scene.now.duration_since(retry.since.0), SignedDuration::from_secs(200));
}

#[test]
fn a_clock_that_jumps_neither_stops_the_retries_nor_makes_them_wait_for_years() {
    let mut scene = towards(Way::Connect, Milestone::AccessValidated).unreachable();
    scene.pass();
    let back = Scene { now: scene.now - SignedDuration::from_hours(1), ..scene.clone() };
    let forth = Scene { now: scene.now + SignedDuration::from_hours(1), ..scene.clone() };

    for mut jumped in [back, forth] {
        let (step, report) = jumped.pass();
        assert!(matches!(step, Step::Hold { .. }), "{step:?}");
        let Requeue::After(after) = report.requeue else { panic!() };
        assert!((1..=300).contains(&after.as_secs()), "{after:?}");
    }
}

#[test]
fn a_run_that_keeps_failing_is_started_ever_more_slowly() {
    let mut scene =
        towards(Way::Provision, Milestone::InfrastructureReady).run(cluster_provisioner_contract::RunStatus::Absent);
    scene.pass();
    let failed = || cluster_provisioner_contract::RunStatus::Failed {
        job: "provision-x".to_owned(),
        trouble: Trouble::rejected("QuotaExceeded", "There is no quota."),
    };
    let mut pauses = Vec::new();
    for attempt in 2..6 {
        scene = scene.later(600).run(failed());
        let (_, report) = scene.pass();
        let Requeue::After(pause) = report.requeue else { panic!() };
        pauses.push(pause.as_secs());
        scene = scene.later(pause.as_secs());
        let (step, _) = scene.pass();
        assert!(matches!(step, Step::EnsureRun { attempt: started, .. } if started == attempt), "{step:?}");
    }
    assert_eq!(pauses, [60, 120, 240, 480]);
}
