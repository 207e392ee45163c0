//! Lives of clusters in a world where anything goes wrong. Whatever it is, the machine ends where it should, and never
//! does what it must not.

use host_cluster_controller_crd::Phase;
use host_cluster_controller_decide::Way;
use jiff::SignedDuration;
use proptest::prelude::*;
use vocabulary::TroubleKind;

use crate::{
    scene::id,
    world::{Fault, World},
};

fn any_kind() -> impl Strategy<Value = TroubleKind> {
    prop_oneof![
        Just(TroubleKind::Waiting),
        Just(TroubleKind::Transient),
        Just(TroubleKind::Rejected),
        Just(TroubleKind::Bug)
    ]
}

/// Every fault but a cache that lags behind.
fn a_fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::None),
        2 => any_kind().prop_map(Fault::Look),
        2 => any_kind().prop_map(Fault::Act),
        1 => Just(Fault::AnswerLost),
        1 => Just(Fault::KilledBefore),
        1 => Just(Fault::KilledAfter),
        1 => Just(Fault::Twice),
    ]
}

fn any_way() -> impl Strategy<Value = Way> {
    prop_oneof![Just(Way::Host), Just(Way::Connect), Just(Way::Provision)]
}

prop_compose! {
    fn a_world()(way in any_way(), administrator: bool, registry: bool, runs_to_fail in 0..3u32, seed: u64) -> World {
        let mut world = World::new(way, administrator);
        world.resource.spec.registry_pull_secret_ref = registry.then(|| id().registry_pull_secret());
        (world.runs_to_fail, world.seed) = (runs_to_fail, seed);
        world
    }
}

/// Goes through faults, one a pass, with the clock as the reports ask for.
fn suffer(world: &mut World, faults: &[Fault]) {
    for fault in faults {
        if world.is_gone {
            return;
        }
        let pause = world.pass(*fault);
        world.now += pause;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_goes_wrong_on_the_way_the_cluster_becomes_ready_once_it_stops_going_wrong(
        mut world in a_world(), faults in prop::collection::vec(a_fault(), 0..60),
    ) {
        suffer(&mut world, &faults);
        world.run_until(World::is_ready);

        world.phases_follow_the_plan();
        prop_assert_eq!(world.commits.len(), 1, "one commit");
        if world.way == Way::Provision {
            prop_assert_eq!(world.runs, world.runs_to_fail + 1, "one run that succeeds");
        }
        prop_assert!(!world.was_pruned);
    }

    #[test]
    fn a_cache_that_lags_behind_delays_and_does_no_harm(
        mut world in a_world(), faults in prop::collection::vec(prop_oneof![a_fault(), Just(Fault::StaleStatus)], 0..60),
    ) {
        suffer(&mut world, &faults);
        world.run_until(World::is_ready);

        prop_assert_eq!(world.commits.len(), 1, "one commit");
        prop_assert!(!world.was_pruned && !world.was_destroyed);
    }

    #[test]
    fn a_cluster_disconnected_at_any_moment_goes_without_a_trace_and_keeps_its_workloads(
        mut world in a_world(),
        before in prop::collection::vec(a_fault(), 0..60),
        after in prop::collection::vec(a_fault(), 0..20),
    ) {
        suffer(&mut world, &before);
        let ran = world.workloads;
        // Deleted before the finalizer is on it, the supplied kubeconfig is for whoever put it there.
        let was_ours = world.resource.metadata.finalizers.is_some();
        world.delete(false);
        suffer(&mut world, &after);
        world.run_until(|world| world.is_gone);

        let was_told = world.events.iter().any(|event| event.reason == "LeftBehind");
        prop_assert!(!world.has_traces() || was_told, "left behind without a word");
        prop_assert!(!was_ours || !(world.has_supplied_kubeconfig || world.has_stored_kubeconfig));
        prop_assert!(!world.was_pruned && !world.was_destroyed);
        prop_assert!(world.workloads || !ran);
    }

    #[test]
    fn a_created_cluster_is_destroyed_when_asked_at_any_moment(
        administrator: bool,
        before in prop::collection::vec(a_fault(), 0..60),
        after in prop::collection::vec(a_fault(), 0..20),
    ) {
        let mut world = World::new(Way::Provision, administrator);
        suffer(&mut world, &before);
        let existed = world.infrastructure;
        world.delete(true);
        suffer(&mut world, &after);
        world.run_until(|world| world.is_gone);

        prop_assert!(world.was_destroyed || !existed);
        prop_assert!(!world.was_pruned, "Flux removed workloads by itself");
    }

    #[test]
    fn a_connected_cluster_is_never_destroyed(
        way in prop_oneof![Just(Way::Host), Just(Way::Connect)],
        before in prop::collection::vec(a_fault(), 0..60),
    ) {
        let mut world = World::new(way, false);
        suffer(&mut world, &before);
        world.delete(true);
        world.run_until(|world| world.is_gone);

        prop_assert!(!world.was_destroyed);
    }

    #[test]
    fn edits_at_any_moment_are_followed(
        mut world in a_world(),
        edits in prop::collection::vec((0..5u8, prop::collection::vec(a_fault(), 0..12)), 0..6),
    ) {
        for (edit, faults) in &edits {
            suffer(&mut world, faults);
            match edit {
                0 => world.edit(|resource| resource.spec.domain = Some("harbour.acme.com".to_owned())),
                1 => world.edit(|resource| resource.spec.domain = None),
                2 => world.git_version += 1,
                3 => world.pull_version += 1,
                _ => world.kubeconfig_version += 1,
            }
        }
        world.run_until(World::is_ready);
        // Upkeep that an edit asks for may follow only after the next look.
        for _ in 0..4 {
            let pause = world.pass(Fault::None);
            world.now += pause;
        }
        world.run_until(World::is_ready);

        if world.resource.spec.registry_pull_secret_ref.is_some() {
            let version = format!("pull-{}", world.pull_version);
            let copies: Vec<_> = world.pull_secrets.iter().map(|(name, of)| (name.as_str(), of.as_str())).collect();
            prop_assert_eq!(copies, [("flux-system", version.as_str()), ("kubeopera", version.as_str())]);
        }
        let commits = world.commits.len();
        let quiet = world.writes;
        for _ in 0..10 {
            let pause = world.pass(Fault::None);
            world.now += pause;
        }
        prop_assert_eq!(world.commits.len(), commits, "nothing is written any more");
        prop_assert_eq!(world.writes, quiet, "nothing is published any more: {:?}", world.last_steps());
    }

    #[test]
    fn vandalism_heals(mut world in a_world(), losses in prop::collection::vec(0..2u8, 1..4)) {
        world.run_until(World::is_ready);
        for loss in losses {
            if loss == 0 { world.lose_flux() } else { world.lose_sync() }
            let pause = world.pass(Fault::None);
            world.now += pause;
            world.run_until(World::is_ready);
            prop_assert!(world.has_traces());
        }
    }
}

#[test]
fn an_undisturbed_life_shows_every_phase_once_and_in_order() {
    for (way, phases) in [
        (Way::Host, "Pending BootstrappingFlux GeneratingGitOpsTree InstallingKubeOpera Ready"),
        (Way::Connect, "Pending ValidatingAccess BootstrappingFlux GeneratingGitOpsTree InstallingKubeOpera Ready"),
        (Way::Provision, "Pending Provisioning BootstrappingFlux GeneratingGitOpsTree InstallingKubeOpera Ready"),
    ] {
        let mut world = World::new(way, true);

        world.run_until(World::is_ready);

        let seen: Vec<_> = world.phases.iter().map(|phase| phase.as_str()).collect();
        assert_eq!(seen.join(" "), phases);
        assert_eq!(
            world.status.message.as_deref(),
            Some("Flux healthy and reconciling fluxcd/clusters/harbour. Administrator admin@acme.com created.")
        );
    }
}

#[test]
fn a_cluster_that_is_killed_before_and_after_every_single_step_comes_to_the_same_end() {
    for way in Way::ALL {
        let mut calm = World::new(way, true);
        calm.run_until(World::is_ready);
        for killed in [Fault::KilledBefore, Fault::KilledAfter, Fault::AnswerLost, Fault::Twice] {
            for at in 0..calm.steps.len() {
                let mut world = World::new(way, true);
                for pass in 0..=at {
                    let pause = world.pass(if pass == at { killed } else { Fault::None });
                    world.now += pause;
                }
                world.run_until(World::is_ready);

                world.phases_follow_the_plan();
                assert_eq!(world.commits, calm.commits, "{way:?} {killed:?} at {at}");
                assert_eq!(world.administrators, calm.administrators, "{way:?} {killed:?} at {at}");
                assert_eq!(world.runs, calm.runs, "{way:?} {killed:?} at {at}");
                assert_eq!(world.status.message, calm.status.message, "{way:?} {killed:?} at {at}");
            }
        }
    }
}

#[test]
fn a_cluster_that_went_silent_is_let_go_of_after_a_minute() {
    let mut world = World::new(Way::Connect, false);
    world.run_until(World::is_ready);
    world.answers = false;
    world.delete(false);
    let deleted = world.now;

    world.run_until(|world| world.is_gone);

    assert!(world.now.duration_since(deleted) <= SignedDuration::from_secs(70), "{:?}", world.now - deleted);
    assert!(world.events.iter().any(|event| event.reason == "LeftBehind" && event.is_warning));
    assert!(world.workloads && !world.has_stored_kubeconfig);
    let left = world.status.left_behind.as_deref();
    assert!(left.is_some_and(|why| why.ends_with('.')), "the last status says why: {left:?}");
}

#[test]
fn a_cluster_whose_flux_has_stopped_is_let_go_of_all_the_same() {
    let mut world = World::new(Way::Host, false);
    world.run_until(World::is_ready);
    world.controllers_run = false;
    world.delete(false);

    world.run_until(|world| world.is_gone);

    assert!(!world.has_traces() && world.workloads);
    assert!(world.steps.iter().any(|step| step == "FreeKustomizations"));
}

#[test]
fn a_cluster_that_is_out_of_reach_while_ready_stays_ready_and_says_so() {
    let mut world = World::new(Way::Host, false);
    world.run_until(World::is_ready);
    world.answers = false;
    let pause = world.pass(Fault::None);
    world.now += pause;

    assert_eq!(world.status.phase, Some(Phase::Ready));
    assert_eq!(world.status.flux_healthy, None);
    assert!(world.status.message.as_deref().unwrap().starts_with("The cluster cannot be asked how it does."));

    world.answers = true;
    world.run_until(World::is_ready);
    let written = world.writes;
    world.pass(Fault::None);
    assert_eq!(world.writes, written, "a healthy cluster is looked at without a write");
}

#[test]
fn a_silent_cluster_fails_after_five_minutes_and_recovers_by_itself() {
    let mut world = World::new(Way::Connect, false);
    world.answers = false;
    let began = world.now;

    world.run_until(|world| world.status.phase == Some(Phase::Failed));

    let patience = world.now.duration_since(began);
    assert!((295..=315).contains(&patience.as_secs()), "{patience:?}");
    world.answers = true;
    world.run_until(World::is_ready);
    assert!(world.now.duration_since(began) < SignedDuration::from_mins(10), "{:?}", world.now - began);
}

/// What takes the tree out of Git, or out of date.
type Loss = fn(&mut World);

const LOSSES: [(&str, Loss, i64); 2] = [
    ("another repository in its place", World::lose_repository, 2),
    ("another version of KubeOpera", |world| world.generator += 1, 13),
];

#[test]
fn a_tree_that_is_lost_or_of_another_version_is_written_again_in_one_commit_and_the_phases_say_so() {
    for (what, lose, minutes) in LOSSES {
        let mut world = World::new(Way::Host, true);
        world.run_until(World::is_ready);
        let written = world.tree.clone();
        for _ in 0..25 {
            let pause = world.pass(Fault::None);
            world.now += pause;
        }
        assert_eq!((world.commits.len(), &world.tree), (1, &written), "{what}: nothing was lost");
        lose(&mut world);
        let (lost, shown) = (world.now, world.phases.len());

        world.run_until(|world| world.commits.len() == 2 && world.is_ready());

        assert!(world.now.duration_since(lost) < SignedDuration::from_mins(minutes), "{what}: {:?}", world.now - lost);
        let shown: Vec<_> = world.phases.iter().skip(shown).map(|phase| phase.as_str()).collect();
        assert_eq!(shown.join(" "), "GeneratingGitOpsTree InstallingKubeOpera Ready", "{what}");
        assert_eq!(world.tree.as_ref().map(|(_, version)| *version), Some(world.generator), "{what}");
        let quiet = world.writes;
        for _ in 0..25 {
            let pause = world.pass(Fault::None);
            world.now += pause;
        }
        assert_eq!((world.commits.len(), world.writes), (2, quiet), "{what}: once is enough");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases / 4, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_goes_wrong_while_a_lost_tree_comes_back_it_comes_back_once(
        mut world in a_world(), loss in 0..LOSSES.len(), faults in prop::collection::vec(a_fault(), 0..60),
    ) {
        world.run_until(World::is_ready);
        LOSSES[loss].1(&mut world);
        suffer(&mut world, &faults);
        world.run_until(|world| world.commits.len() > 1 && world.is_ready());
        for _ in 0..25 {
            let pause = world.pass(Fault::None);
            world.now += pause;
        }

        prop_assert_eq!(world.commits.len(), 2);
        prop_assert!(world.is_ready() && !world.was_pruned);
    }
}
