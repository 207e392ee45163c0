//! A credential that ends: said before, said at the moment, and over when there is another.

use host_cluster_controller_crd::CredentialKind;
use host_cluster_controller_decide::{Fact, Report, Requeue, Way};
use jiff::SignedDuration;
use vocabulary::Trouble;

use crate::scene::{Scene, TREE_HASH, ready, start};

const DAY: i64 = 24 * 60 * 60;

fn healthy(way: Way) -> Scene {
    ready(way).answering().flux_ready().synced().git_secret().tree("trunk", Some(TREE_HASH))
}

fn told(report: &Report) -> Vec<(bool, &str)> {
    report.events.iter().map(|event| (event.is_warning, event.reason.as_str())).collect()
}

fn says(scene: &Scene) -> (String, String) {
    scene.condition("CredentialValid")
}

fn pair(status: &str, reason: &str) -> (String, String) {
    (status.to_owned(), reason.to_owned())
}

#[test]
fn a_credential_that_ends_is_told_two_weeks_before_at_its_end_and_when_it_is_replaced() {
    let year = 365 * DAY;
    let mut scene = healthy(Way::Connect).with_token(Some(0), year).at(DAY);
    let (_, first) = scene.pass();
    assert_eq!((says(&scene), told(&first)), (pair("True", "Valid"), vec![]), "good news is no news");
    let published = scene.status.credential.clone().unwrap();
    assert_eq!(published.kind, CredentialKind::Token);
    assert_eq!(published.expires_at.unwrap().0, start() + SignedDuration::from_secs(year));

    let (_, before) = scene.clone().at(year - 14 * DAY - 1).pass();
    assert_eq!((told(&before), before.requeue), (vec![], Requeue::After(SignedDuration::from_secs(1))));

    scene = scene.at(year - 14 * DAY);
    let (_, warned) = scene.pass();
    assert_eq!(says(&scene), pair("True", "ExpiresSoon"));
    assert_eq!(told(&warned), [(true, "CredentialExpiresSoon")]);
    assert!(warned.events[0].note.contains("expires at 2027-03-01 08:00:00 UTC"), "{}", warned.events[0].note);
    assert_eq!(told(&scene.clone().later(60).pass().1), [], "once");

    let (_, last) = scene.clone().at(year - 5).pass();
    assert_eq!(last.requeue, Requeue::After(SignedDuration::from_secs(5)), "the moment itself is not missed");

    scene = scene.at(year);
    let (_, over) = scene.pass();
    assert_eq!(says(&scene), pair("False", "Expired"));
    assert_eq!((told(&over), scene.phase()), (vec![(true, "CredentialExpired")], "Ready"));
    scene = scene.later(15);
    scene.seen.cluster = Fact::CouldNotTell(Trouble::rejected("CredentialExpired", "The credential has expired."));
    let (_, refused) = scene.pass();
    assert_eq!((told(&refused), scene.phase()), (vec![], "Ready"), "it was told at the moment");
    assert_eq!(scene.condition("Reachable"), pair("False", "CredentialExpired"));
    assert!(scene.message().contains("The credential has expired."), "{}", scene.message());

    scene = scene.later(45).answering().with_token(Some(year), 2 * year);
    let (_, mended) = scene.pass();
    assert_eq!(says(&scene), pair("True", "Valid"));
    assert!(told(&mended).contains(&(false, "CredentialValid")), "{:?}", told(&mended));
}

#[test]
fn one_that_lives_shortly_is_said_to_expire_for_the_last_third_of_its_life() {
    let hour = 60 * 60;
    let said_at = |seconds| {
        let mut scene = healthy(Way::Connect).with_token(Some(0), 3 * hour).at(seconds);
        scene.pass();
        says(&scene)
    };
    assert_eq!(said_at(2 * hour - 1), pair("True", "Valid"));
    assert_eq!(said_at(2 * hour), pair("True", "ExpiresSoon"));
    assert_eq!(said_at(3 * hour), pair("False", "Expired"));
}

#[test]
fn one_that_does_not_tell_since_when_it_counts_is_told_two_weeks_before() {
    let mut scene = healthy(Way::Connect).with_token(None, 14 * DAY + 10 * 60).at(0);
    scene.pass();
    assert_eq!(says(&scene), pair("True", "Valid"));
    scene = scene.at(10 * 60);
    scene.pass();
    assert_eq!(says(&scene), pair("True", "ExpiresSoon"));
}

#[test]
fn of_a_credential_that_does_not_tell_its_end_and_of_none_nothing_is_said() {
    let mut scene = healthy(Way::Connect).with_token(None, 0);
    if let Fact::Seen(secrets) = &mut scene.seen.secrets {
        secrets.credential.as_mut().unwrap().expires_at = None;
    }
    let (_, report) = scene.pass();
    assert_eq!((says(&scene), told(&report)), (pair("", ""), vec![]));
    assert_eq!(scene.status.credential.clone().unwrap().expires_at, None);

    let mut host = healthy(Way::Host);
    host.pass();
    assert_eq!((host.status.credential.clone(), says(&host)), (None, pair("", "")));
}

#[test]
fn of_a_cluster_that_kubeopera_made_nobody_is_asked_to_replace_the_kubeconfig() {
    let mut scene = healthy(Way::Provision).with_token(Some(0), DAY).at(DAY);
    let (_, report) = scene.pass();
    let note = &report.events[0].note;
    assert!(note.contains("renews it by itself") && !note.contains("Replace"), "{note}");
}
