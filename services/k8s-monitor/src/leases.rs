//! The Leases by which scheduler and controller manager show that somebody acts as them.
//!
//! Whoever acts renews its Lease every two seconds, so that a missing renewal shows long before the Lease runs out,
//! which takes 15. Whoever ends in order gives it up, and whoever waits for it takes it a few seconds later. What is
//! seen here only says when to look: a Lease is read before anything is said against its component, as a watch may be
//! late.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use k8s_monitor_health::HAND_OVER;
use serde::Deserialize;
use tokio::time::Instant;

use crate::watch::{Metadata, Text};

/// More than any cluster has in kube-system.
pub(crate) const MOST: usize = 2_000;
/// Two renewals that do not come, with client-go's usual two seconds between them.
const SOONEST: Duration = Duration::from_secs(4);
/// So many renewals tell how fast they come.
const TELLING: u32 = 4;
/// What Kubernetes gives a Lease that does not say for how long it is.
const USUAL: SignedDuration = SignedDuration::from_secs(15);

/// A component that is led by whoever holds its Lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Scheduler,
    ControllerManager,
}

impl Component {
    const ALL: [Self; 2] = [Self::Scheduler, Self::ControllerManager];

    /// Its name, which is that of its Lease in kube-system.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Scheduler => "kube-scheduler",
            Self::ControllerManager => "kube-controller-manager",
        }
    }

    fn of(lease: &Lease<'_>) -> Option<Self> {
        Self::ALL.into_iter().find(|component| component.name() == &*lease.metadata.name)
    }
}

/// What is looked at of a Lease (coordination.k8s.io/v1).
#[derive(Deserialize, Default)]
#[serde(default)]
pub(crate) struct Lease<'a> {
    #[serde(borrow)]
    pub(crate) metadata: Metadata<'a>,
    #[serde(borrow)]
    spec: Spec<'a>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    holder_identity: Text<'a>,
    lease_duration_seconds: Option<i64>,
    #[serde(borrow)]
    renew_time: Text<'a>,
}

impl Lease<'_> {
    /// Somebody holds it. Whoever ends in order gives it up.
    pub(crate) fn is_held(&self) -> bool {
        !self.spec.holder_identity.is_empty()
    }

    /// When it was renewed last, by the clock of whoever holds it.
    pub(crate) fn renewed(&self) -> Option<Timestamp> {
        self.spec.renew_time.time()
    }

    /// How long a renewal lasts.
    pub(crate) fn duration(&self) -> SignedDuration {
        self.spec.lease_duration_seconds.map_or(USUAL, SignedDuration::from_secs)
    }
}

/// What the watch of Leases tells of both components.
#[derive(Default)]
pub(crate) struct Leases {
    scheduler: Renewals,
    controller_manager: Renewals,
    is_followed: bool,
}

/// The renewals of one Lease that were heard since it is followed.
#[derive(Default)]
struct Renewals {
    holder: String,
    /// The last one, which may have been to give the Lease up: its time by the clock of whoever holds it, and when it
    /// was heard.
    last: Option<(Timestamp, Instant)>,
    is_given_up: bool,
    count: u32,
    /// The longest pause between two of them; a single long one is forgotten after a while.
    pause: Duration,
    duration: Duration,
    /// That the next one is missing was told.
    is_missed: bool,
}

/// What a Lease that was seen means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Somebody acts as this component.
    Renewed(Component),
    /// It is nothing new, or about nothing of ours.
    Nothing,
}

/// How a component stands by the renewals that were heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The last renewal is recent.
    Acting,
    /// Renewals came and have stopped: this was the last one, and so long ago.
    Silent { renewed: Timestamp, ago: Duration },
    /// They tell nothing yet.
    Untold,
}

impl Leases {
    /// They are followed from now on, or not any more. A pause in the following is none in the renewals.
    pub(crate) fn follow(&mut self, is_followed: bool) {
        *self = Self { is_followed, ..Self::default() };
    }

    /// A Lease is there, as it is now.
    pub(crate) fn put(&mut self, lease: &Lease<'_>, now: Instant) -> Seen {
        let Some(component) = Component::of(lease) else { return Seen::Nothing };
        let renewals = self.of_mut(component);
        if !lease.is_held() {
            renewals.give_up(lease.renewed(), now);
            return Seen::Nothing;
        }
        let known = renewals.last.map(|(renewed, _)| renewed);
        let Some(renewed) = lease.renewed().filter(|renewed| Some(*renewed) != known) else { return Seen::Nothing };
        let before = renewals.last.replace((renewed, now));
        let holder = lease.spec.holder_identity.kept().unwrap_or_default();
        let is_successor = std::mem::take(&mut renewals.is_given_up) || holder != renewals.holder;
        renewals.holder = holder;
        renewals.duration = lease.duration().unsigned_abs();
        renewals.is_missed = false;
        let Some((_, before)) = before else { return Seen::Nothing };
        // How long a successor takes tells nothing about renewals.
        let pause = if is_successor { Duration::ZERO } else { now.duration_since(before) };
        renewals.pause = pause.max(renewals.pause.mul_f64(0.9));
        renewals.count = renewals.count.saturating_add(1);
        Seen::Renewed(component)
    }

    /// How a component stands.
    pub(crate) fn standing(&self, component: Component, now: Instant) -> Standing {
        let renewals = self.of(component);
        let (Some((renewed, heard)), Some(due)) = (renewals.last, self.due(component)) else { return Standing::Untold };
        if now < due { Standing::Acting } else { Standing::Silent { renewed, ago: now.duration_since(heard) } }
    }

    /// When the next renewal will be missed that is not yet, if none comes.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        let waiting = Component::ALL.into_iter().filter(|component| !self.of(*component).is_missed);
        waiting.filter_map(|component| self.due(component)).min()
    }

    /// Takes note of those that are missed by now. Returns whether there are any.
    pub(crate) fn miss(&mut self, now: Instant) -> bool {
        let mut are_missed = false;
        for component in Component::ALL {
            let is_due = self.due(component).is_some_and(|due| due <= now);
            let is_missed = &mut self.of_mut(component).is_missed;
            are_missed |= is_due && !std::mem::replace(is_missed, is_due);
        }
        are_missed
    }

    fn due(&self, component: Component) -> Option<Instant> {
        let renewals = self.of(component);
        let (_, heard) = renewals.last.filter(|_| self.is_followed && (renewals.count > 0 || renewals.is_given_up))?;
        heard.checked_add(renewals.patience())
    }

    const fn of(&self, component: Component) -> &Renewals {
        match component {
            Component::Scheduler => &self.scheduler,
            Component::ControllerManager => &self.controller_manager,
        }
    }

    const fn of_mut(&mut self, component: Component) -> &mut Renewals {
        match component {
            Component::Scheduler => &mut self.scheduler,
            Component::ControllerManager => &mut self.controller_manager,
        }
    }
}

impl Renewals {
    /// Whoever held it does not any more, from now on.
    fn give_up(&mut self, at: Option<Timestamp>, now: Instant) {
        if let Some((renewed, _)) = self.last.filter(|_| !self.is_given_up) {
            self.last = Some((at.unwrap_or(renewed), now));
            self.is_given_up = true;
            self.is_missed = false;
        }
    }

    /// How long no renewal has to come until one is missed: twice as long as they take here, at least two of the usual
    /// ones and at most as long as the Lease lasts; after it was given up, as long as a successor may take.
    fn patience(&self) -> Duration {
        if self.is_given_up {
            return HAND_OVER.unsigned_abs();
        }
        let learned = if self.count >= TELLING { (self.pause * 2).max(SOONEST) } else { self.duration };
        learned.min(self.duration.max(SOONEST))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A Lease of the scheduler that was renewed in this second.
    fn lease(second: u64, holder: &str) -> String {
        format!(
            r#"{{"metadata": {{"name": "kube-scheduler", "managedFields": []}}, "spec": {{"holderIdentity": "{holder}",
                "leaseDurationSeconds": 15, "renewTime": "2026-11-30T12:{:02}:{:02}.123456Z"}}}}"#,
            second / 60,
            second % 60
        )
    }

    /// Leases that were renewed in these seconds after a start.
    fn renewed(start: Instant, seconds: &[u64]) -> Leases {
        let mut leases = Leases::default();
        leases.follow(true);
        for second in seconds {
            put(&mut leases, &lease(*second, "one"), start + Duration::from_secs(*second));
        }
        leases
    }

    fn put(leases: &mut Leases, text: &str, now: Instant) -> Seen {
        leases.put(&serde_json::from_str(text).unwrap(), now)
    }

    fn due_after(leases: &Leases, last: Instant) -> Option<Duration> {
        leases.next_due().map(|due| due.duration_since(last))
    }

    #[test]
    fn two_renewals_that_do_not_come_are_missed_once() {
        let start = Instant::now();
        let mut leases = renewed(start, &[0, 2, 4, 6, 8]);
        let last = start + Duration::from_secs(8);
        assert_eq!(due_after(&leases, last), Some(SOONEST));
        assert_eq!(leases.standing(Component::Scheduler, last + Duration::from_secs(3)), Standing::Acting);
        assert!(!leases.miss(last + Duration::from_secs(3)));

        let later = last + SOONEST;
        assert!(leases.miss(later) && !leases.miss(later));
        assert_eq!(leases.next_due(), None);
        let Standing::Silent { ago, .. } = leases.standing(Component::Scheduler, later) else { panic!("acting") };
        assert_eq!(ago, SOONEST);
        assert_eq!(leases.standing(Component::ControllerManager, later), Standing::Untold);

        assert_eq!(put(&mut leases, &lease(13, "two"), later), Seen::Renewed(Component::Scheduler));
        assert_eq!(leases.standing(Component::Scheduler, later), Standing::Acting);
    }

    #[test]
    fn where_renewals_are_slow_one_is_missed_later_and_never_later_than_the_lease_lasts() {
        let start = Instant::now();
        let slow = renewed(start, &[0, 5, 8, 12, 17]);
        assert_eq!(due_after(&slow, start + Duration::from_secs(17)), Some(Duration::from_secs(10)));
        let slower = renewed(start, &[0, 12, 24, 36, 48]);
        assert_eq!(due_after(&slower, start + Duration::from_secs(48)), Some(Duration::from_secs(15)));
        // After one or two nobody knows.
        let new = renewed(start, &[0, 2, 4]);
        assert_eq!(due_after(&new, start + Duration::from_secs(4)), Some(Duration::from_secs(15)));
        // What is there when the watch begins may be old.
        assert_eq!(renewed(start, &[0]).next_due(), None);
    }

    #[test]
    fn how_long_a_successor_takes_is_no_pause_between_renewals() {
        let start = Instant::now();
        let mut leases = renewed(start, &[0, 2, 4, 6, 8]);
        let later = start + Duration::from_secs(30);
        put(&mut leases, &lease(30, "two"), later);
        assert_eq!(due_after(&leases, later), Some(SOONEST));
    }

    #[test]
    fn a_lease_that_is_given_up_is_missed_once_nobody_took_it_over() {
        let start = Instant::now();
        let mut leases = renewed(start, &[0, 2, 4, 6, 8]);
        let given_up = start + Duration::from_secs(9);
        assert_eq!(put(&mut leases, &lease(9, ""), given_up), Seen::Nothing);
        // Told once more, it is not newer.
        assert_eq!(put(&mut leases, &lease(9, ""), given_up + Duration::from_secs(1)), Seen::Nothing);
        let over = HAND_OVER.unsigned_abs();
        assert_eq!(due_after(&leases, given_up), Some(over));
        assert_eq!(leases.standing(Component::Scheduler, given_up + over / 2), Standing::Acting);

        let later = given_up + over;
        assert!(leases.miss(later) && !leases.miss(later));
        let Standing::Silent { renewed, ago } = leases.standing(Component::Scheduler, later) else { panic!("acting") };
        assert_eq!((renewed.to_string().as_str(), ago), ("2026-11-30T12:00:09.123456Z", over));
        assert_eq!(put(&mut leases, &lease(15, "two"), later), Seen::Renewed(Component::Scheduler));
    }

    #[test]
    fn a_lease_that_is_handed_over_in_order_is_never_missed() {
        let start = Instant::now();
        let mut leases = renewed(start, &[0, 2, 4, 6, 8]);
        put(&mut leases, &lease(9, ""), start + Duration::from_secs(9));
        // As late as client-go may try.
        let taken = start + Duration::from_millis(13_400);
        assert!(!leases.miss(taken));
        assert_eq!(put(&mut leases, &lease(13, "two"), taken), Seen::Renewed(Component::Scheduler));
        // That it took so long tells nothing about how often the successor renews it.
        assert_eq!(due_after(&leases, taken), Some(SOONEST));

        // Not even where it was not known yet how fast renewals come.
        let mut new = renewed(start, &[0]);
        put(&mut new, &lease(1, ""), start + Duration::from_secs(1));
        assert_eq!(due_after(&new, start + Duration::from_secs(1)), Some(HAND_OVER.unsigned_abs()));
    }

    #[test]
    fn a_watch_that_was_interrupted_is_no_missed_renewal() {
        let start = Instant::now();
        let mut leases = renewed(start, &[0, 2, 4, 6, 8]);
        leases.follow(false);
        assert_eq!((leases.next_due(), leases.miss(start + Duration::from_mins(1))), (None, false));
        leases.follow(true);
        assert_eq!(leases.next_due(), None);
    }

    #[test]
    fn what_is_no_lease_of_a_component_tells_nothing() {
        let mut leases = renewed(Instant::now(), &[]);
        for text in ["{}", r#"{"metadata": {"name": "apiserver-x"}}"#, r#"{"metadata": {"name": "kube-scheduler"}}"#] {
            assert_eq!(put(&mut leases, text, Instant::now()), Seen::Nothing, "{text}");
        }
        let odd = r#"{"metadata": {"name": "kube-scheduler"}, "spec": {"holderIdentity": "a", "leaseDurationSeconds": -5,
            "renewTime": "never"}}"#;
        assert_eq!(put(&mut leases, odd, Instant::now()), Seen::Nothing);
    }
}
