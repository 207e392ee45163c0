use super::*;

fn is_unhealthy(state: &ComponentState) -> bool {
    matches!(state, ComponentState::Unhealthy(_))
}

fn is_unknown(state: &ComponentState) -> bool {
    matches!(state, ComponentState::Unknown(_))
}

#[test]
fn all_checks_passing_is_healthy() {
    let body = "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\nreadyz check passed\n";
    assert_eq!(judge_readyz(200, body), (ComponentState::Healthy, ComponentState::Healthy));
}

#[test]
fn a_failing_check_of_etcd_is_about_etcd_alone() {
    let body = "[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n";
    let (api_server, etcd) = judge_readyz(500, body);
    assert_eq!(api_server, ComponentState::Healthy);
    assert!(is_unhealthy(&etcd));
}

#[test]
fn any_other_failing_check_is_about_the_api_server() {
    let body = "[+]etcd ok\n[-]informer-sync failed: reason withheld\nreadyz check failed\n";
    let (api_server, etcd) = judge_readyz(500, body);
    assert_eq!(
        api_server,
        ComponentState::Unhealthy("Of the API server's checks in /readyz fail: informer-sync.".into())
    );
    assert_eq!(etcd, ComponentState::Healthy);
}

#[test]
fn an_api_server_that_tells_no_checks_is_taken_by_its_status() {
    let (api_server, etcd) = judge_readyz(200, "ok");
    assert_eq!(api_server, ComponentState::Healthy);
    assert!(is_unknown(&etcd));
    assert!(is_unhealthy(&judge_readyz(503, "<html>").0));
}

#[test]
fn what_may_not_be_read_is_unknown() {
    for status in [401, 403, 404] {
        let (api_server, etcd) = judge_readyz(status, "[-]etcd failed");
        assert!(is_unknown(&api_server) && is_unknown(&etcd), "{status}");
    }
}

#[test]
fn a_hostile_answer_brings_no_text_of_its_own() {
    let body = format!("[-]<script>{} failed\n[-]b\n[-]c\n[-]d\n[-]é\n[x\n", "a".repeat(500));
    let (ComponentState::Unhealthy(reason), _) = judge_readyz(500, &body) else { panic!("healthy") };
    assert!(reason.len() < 200 && !reason.contains('<') && reason.ends_with("b, c and 2 more."), "{reason}");
}

#[test]
fn a_lease_that_is_not_renewed_in_time_has_no_holder() {
    let now: Timestamp = "2026-11-30T12:00:00Z".parse().unwrap();
    let judge = |seconds, duration| {
        let renewed = now - SignedDuration::from_secs(seconds);
        judge_lease("kube-scheduler", true, Some(renewed), SignedDuration::from_secs(duration), now)
    };
    assert_eq!(judge(15, 15), ComponentState::Healthy);
    assert!(is_unhealthy(&judge(16, 15)));
    assert_eq!(judge(-3, 15), ComponentState::Healthy);
    // A lease of a hundred years hides nothing.
    assert!(is_unhealthy(&judge(301, 3_000_000_000)));
    assert!(is_unknown(&judge_lease("kube-scheduler", true, None, SignedDuration::from_secs(15), now)));
}

#[test]
fn a_lease_that_was_given_up_has_no_holder_once_nobody_took_it_over() {
    let now: Timestamp = "2026-11-30T12:00:05Z".parse().unwrap();
    let judge = |seconds| {
        let given_up = now - SignedDuration::from_secs(seconds);
        judge_lease("kube-scheduler", false, Some(given_up), SignedDuration::from_secs(1), now)
    };
    // Whoever waits for it may have to try once more.
    assert_eq!((judge(0), judge(4)), (ComponentState::Healthy, ComponentState::Healthy));
    let ComponentState::Unhealthy(reason) = judge(5) else { panic!("healthy") };
    assert_eq!(reason, "Nobody acts as kube-scheduler: its Lease was given up at 2026-11-30T12:00:00Z.");
}
