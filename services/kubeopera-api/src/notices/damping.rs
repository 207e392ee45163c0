//! Which change of a cluster's colour is worth a notice: one that lasts.

use jiff::{SignedDuration, Timestamp};
use k8s_monitor_contract::Colour;

/// A colour that has held for this long is told.
const HELD: SignedDuration = SignedDuration::from_mins(1);
/// After a notice that could not be sent.
const TRIED_AGAIN: SignedDuration = SignedDuration::from_mins(1);
/// Between two notices of a cluster, so that one that changes all the time is heard of now and then.
const BETWEEN: SignedDuration = SignedDuration::from_mins(5);

/// How a cluster is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Colour(Colour),
    Unreachable,
}

impl Shown {
    const ALL: [Self; 4] =
        [Self::Colour(Colour::Green), Self::Colour(Colour::Amber), Self::Colour(Colour::Red), Self::Unreachable];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Colour(Colour::Green) => "green",
            Self::Colour(Colour::Amber) => "amber",
            Self::Colour(Colour::Red) => "red",
            Self::Unreachable => "unreachable",
        }
    }

    /// The inverse of [`Shown::as_str`]; none for what no version of KubeOpera that is known here has written.
    fn from_text(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shown| shown.as_str() == text)
    }
}

/// What was seen of a cluster, and what was told.
#[derive(Debug, Default)]
pub(super) struct Damped {
    /// How it is shown now, and since when.
    seen: Option<(Shown, Timestamp)>,
    told: Option<Shown>,
    not_before: Option<Timestamp>,
}

impl Damped {
    /// A cluster of which this was told then, as [`Shown::as_str`] has it.
    pub(super) fn told_before(told: &str, at: Timestamp) -> Self {
        Self { seen: None, told: Shown::from_text(told), not_before: at.checked_add(BETWEEN).ok() }
    }

    /// Takes in how a cluster is shown now. Returns what was told before and what is to be told, if anything is.
    pub(super) fn see(&mut self, is: Shown, now: Timestamp) -> Option<(Option<Shown>, Shown)> {
        let since = match self.seen {
            Some((before, since)) if before == is => since,
            _ => now,
        };
        self.seen = Some((is, since));
        // That all is well at the start is no news.
        if self.told.unwrap_or(Shown::Colour(Colour::Green)) == is {
            self.told = Some(is);
            return None;
        }
        let has_held = now.duration_since(since) >= HELD;
        let may_tell = self.not_before.is_none_or(|time| now >= time);
        (has_held && may_tell).then_some((self.told, is))
    }

    /// It was told.
    pub(super) fn told(&mut self, is: Shown) {
        self.told = Some(is);
        self.not_before = self.seen.and_then(|(_, since)| since.checked_add(HELD + BETWEEN).ok());
    }

    /// It could not be told now.
    pub(super) fn not_told(&mut self, now: Timestamp) {
        self.not_before = now.checked_add(TRIED_AGAIN).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: Shown = Shown::Colour(Colour::Green);
    const RED: Shown = Shown::Colour(Colour::Red);

    fn at(seconds: i64) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds)
    }

    /// What is told of a cluster that is shown like this from these seconds on, looked at every five.
    fn told(course: &[(i64, Shown)], end: i64) -> Vec<(i64, Shown)> {
        let mut damped = Damped::default();
        let mut told = Vec::new();
        for second in (0..end).step_by(5) {
            let Some((_, is)) = course.iter().rev().find(|(from, _)| *from <= second) else { continue };
            if let Some((_, is)) = damped.see(*is, at(second)) {
                damped.told(is);
                told.push((second, is));
            }
        }
        told
    }

    #[test]
    fn a_change_that_lasts_is_told_once_and_its_end_once() {
        assert_eq!(told(&[(0, GREEN), (100, RED), (1000, GREEN)], 2000), [(160, RED), (1060, GREEN)]);
    }

    #[test]
    fn what_comes_and_goes_is_not_told() {
        assert_eq!(told(&[(0, GREEN), (100, RED), (155, GREEN), (300, Shown::Unreachable), (330, GREEN)], 600), []);
    }

    #[test]
    fn a_cluster_that_changes_all_the_time_is_heard_of_now_and_then() {
        let course: Vec<_> = (0..40).map(|turn| (turn * 90, if turn % 2 == 0 { GREEN } else { RED })).collect();
        let told = told(&course, 3600);
        assert!((5..=12).contains(&told.len()), "{told:?}");
        assert!(told.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 300), "{told:?}");
    }

    #[test]
    fn at_the_start_only_what_is_not_well_is_told() {
        assert_eq!(told(&[(0, GREEN)], 600), []);
        assert_eq!(told(&[(0, RED)], 600), [(60, RED)]);
    }

    #[test]
    fn what_was_told_before_is_not_told_again_and_its_end_is() {
        let mut damped = Damped::told_before("red", at(0));
        for second in [0, 60, 600] {
            assert_eq!(damped.see(RED, at(second)), None);
        }
        damped.see(GREEN, at(700));
        assert_eq!(damped.see(GREEN, at(760)), Some((Some(RED), GREEN)));
    }

    #[test]
    fn what_could_not_be_told_is_due_still_but_not_at_once() {
        let mut damped = Damped::default();
        damped.see(RED, at(0));
        assert_eq!(damped.see(RED, at(60)), Some((None, RED)));
        damped.not_told(at(60));
        assert_eq!(damped.see(RED, at(65)), None);
        assert_eq!(damped.see(RED, at(120)), Some((None, RED)));
    }
}
