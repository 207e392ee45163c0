use super::*;

fn at(minutes: i64) -> Timestamp {
    let noon: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    noon + SignedDuration::from_mins(minutes)
}

fn ran(from: i64, to: i64, exit_code: i32) -> Run {
    Run { exit_code, started: Some(at(from)), ended: Some(at(to)) }
}

/// A container now running since then, restarted this often.
fn running(restarts: u32, last_run: Run, since: i64) -> ContainerSeen {
    ContainerSeen { restarts, state: ContainerState::Running(Some(at(since))), last_run: Some(last_run) }
}

fn judge(phase: Phase, containers: &[ContainerSeen]) -> Verdict {
    PodSeen { phase, containers, ..PodSeen::default() }.judge(at(0))
}

const WELL: PodProblems = PodProblems { failed: false, crash_looping: false, restarting: false };
const FAILED: PodProblems = PodProblems { failed: true, ..WELL };
const LOOPING: PodProblems = PodProblems { crash_looping: true, restarting: true, ..WELL };
const RESTARTING: PodProblems = PodProblems { restarting: true, ..WELL };

#[test]
fn a_failed_pod_counts_unless_its_work_was_moved_elsewhere() {
    let failed = |reason, is_disrupted| {
        PodSeen { phase: Phase::Failed, reason, is_disrupted, ..PodSeen::default() }.judge(at(0)).problems
    };
    assert_eq!(failed("", false), FAILED);
    assert_eq!(failed("DeadlineExceeded", false), FAILED);
    assert_eq!(failed("UnexpectedAdmissionError", false), FAILED);
    for reason in ["Evicted", "NodeShutdown", "Terminated", "Preempting"] {
        assert_eq!(failed(reason, false), WELL, "{reason}");
    }
    assert_eq!(failed("", true), WELL);
}

#[test]
fn a_pod_that_is_done_or_being_deleted_has_no_problem() {
    let backing_off = [ContainerSeen { restarts: 9, state: ContainerState::BackingOff, last_run: Some(ran(-1, 0, 1)) }];
    assert_eq!(judge(Phase::Succeeded, &backing_off), Verdict::default());
    for phase in [Phase::Failed, Phase::Running, Phase::Pending] {
        let pod = PodSeen { phase, is_being_deleted: true, containers: &backing_off, ..PodSeen::default() };
        assert_eq!(pod.judge(at(0)), Verdict::default());
    }
}

#[test]
fn a_crash_loop_of_any_container_counts_once_and_also_before_the_pod_runs() {
    let backing_off = ContainerSeen { restarts: 3, state: ContainerState::BackingOff, last_run: Some(ran(-3, -2, 1)) };
    let init = judge(Phase::Pending, &[backing_off, ContainerSeen::default()]);
    assert_eq!((init.problems, init.until), (LOOPING, Some(at(13))));
    assert_eq!(judge(Phase::Running, &[backing_off, backing_off]).problems, LOOPING);
}

#[test]
fn a_crash_loop_goes_on_while_the_container_runs_for_a_moment_between_two_waits() {
    let between = judge(Phase::Running, &[running(4, ran(-3, -2, 1), -1)]);
    assert_eq!((between.problems, between.until), (LOOPING, Some(at(9))));

    let crashed = ContainerSeen { restarts: 4, state: ContainerState::Ended(ran(-1, 0, 137)), last_run: None };
    assert_eq!(judge(Phase::Running, &[crashed]).problems, LOOPING);
}

#[test]
fn a_crash_loop_is_over_when_the_container_has_run_for_ten_minutes() {
    let over = judge(Phase::Running, &[running(4, ran(-13, -12, 1), -10)]);
    assert_eq!((over.problems, over.until), (RESTARTING, Some(at(3))));
}

#[test]
fn one_crash_is_no_loop() {
    // The first restart.
    assert_eq!(judge(Phase::Running, &[running(1, ran(-3, -2, 1), -1)]).problems, RESTARTING);
    // The fifth in months: it ran long before it crashed.
    assert_eq!(judge(Phase::Running, &[running(5, ran(-9999, -2, 1), -1)]).problems, RESTARTING);
}

#[test]
fn an_init_container_that_is_done_at_last_is_no_loop() {
    let done =
        ContainerSeen { restarts: 3, state: ContainerState::Ended(ran(-2, -1, 0)), last_run: Some(ran(-4, -3, 1)) };
    assert_eq!(judge(Phase::Running, &[done]).problems, RESTARTING);
}

#[test]
fn a_restart_is_forgotten_after_fifteen_minutes() {
    let fresh = judge(Phase::Running, &[running(1, ran(-99, -14, 0), -14)]);
    assert_eq!((fresh.problems, fresh.until), (RESTARTING, Some(at(1))));
    let old = judge(Phase::Running, &[running(1, ran(-99, -15, 0), -14)]);
    assert_eq!(old, Verdict::default());
}

#[test]
fn missing_times_count_as_long_ago_and_future_ones_as_now() {
    let unknown = running(7, Run { exit_code: 1, started: None, ended: None }, -1);
    assert_eq!(judge(Phase::Running, &[unknown]), Verdict::default());
    let ahead = judge(Phase::Running, &[running(1, ran(-99, 600, 1), 600)]);
    assert_eq!((ahead.problems, ahead.until), (RESTARTING, Some(at(15))));
}

#[test]
fn a_pod_that_waits_for_its_image_or_a_node_has_no_problem() {
    assert_eq!(judge(Phase::Pending, &[ContainerSeen::default()]), Verdict::default());
    assert_eq!(judge(Phase::Unknown, &[]), Verdict::default());
}
