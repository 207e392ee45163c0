//! Whether a cluster answers.

use jiff::Timestamp;
use k8s_monitor_contract::{Freshness, Unreachable};
use vocabulary::Trouble;

/// A cluster is called unreachable only after so many failures in a row: one lost packet is none.
const FAILURES: u32 = 3;
/// After so many it is no restart any more.
const MANY_FAILURES: u32 = 15;

/// Whether a cluster answers, since when not, and why.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    heard: Option<Timestamp>,
    failures: u32,
    first_failure: Option<Timestamp>,
    why: Option<Trouble>,
}

impl Standing {
    /// The cluster sent something.
    pub(crate) fn hears(&mut self, now: Timestamp) {
        // A clock that is set back does not make what is shown older.
        self.heard = self.heard.max(Some(now));
    }

    /// The cluster answered when it was asked. Returns whether it had been unreachable.
    pub(crate) fn answers(&mut self, now: Timestamp) -> bool {
        let was_unreachable = self.is_unreachable();
        self.hears(now);
        self.failures = 0;
        self.first_failure = None;
        self.why = None;
        was_unreachable
    }

    /// It was asked and did not answer.
    pub(crate) fn fails(&mut self, why: Trouble, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        self.first_failure.get_or_insert(now);
        self.why = Some(why);
    }

    /// Whether that has been so for some time. Nothing else is asked of unreachable clusters.
    pub(crate) const fn is_unreachable(&self) -> bool {
        // Of a cluster that never answered nothing is known that could be kept.
        self.failures >= FAILURES || (self.failures > 0 && self.heard.is_none())
    }

    /// Such clusters are asked less often.
    pub(crate) const fn is_lost_for_long(&self) -> bool {
        self.failures >= MANY_FAILURES
    }

    /// Why the last attempt failed; none if it did not.
    pub(crate) const fn why(&self) -> Option<&Trouble> {
        self.why.as_ref()
    }

    pub(crate) fn freshness(&self) -> Freshness {
        let unreachable = self.why.as_ref().zip(self.first_failure).filter(|_| self.is_unreachable());
        let unreachable = unreachable.map(|(why, first)| Unreachable {
            // What was heard last is a better answer than when somebody first asked, unless clocks disagree.
            since: self.heard.map_or(first, |heard| heard.min(first)),
            reason: why.message.clone(),
        });
        Freshness { as_of: self.heard, unreachable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap_or_default()
    }

    fn silence() -> Trouble {
        Trouble::transient("Timeout", "It did not answer.")
    }

    #[test]
    fn one_or_two_lost_answers_change_nothing_and_the_third_does() {
        let mut standing = Standing::default();
        standing.answers(at(10));
        standing.fails(silence(), at(20));
        standing.fails(silence(), at(25));
        assert_eq!(standing.freshness(), Freshness { as_of: Some(at(10)), unreachable: None });

        standing.fails(silence(), at(30));
        let unreachable = Unreachable { since: at(10), reason: "It did not answer.".into() };
        assert_eq!(standing.freshness(), Freshness { as_of: Some(at(10)), unreachable: Some(unreachable) });

        assert!(standing.answers(at(40)));
        assert_eq!(standing.freshness(), Freshness { as_of: Some(at(40)), unreachable: None });
    }

    #[test]
    fn a_cluster_that_never_answered_is_unreachable_from_its_first_failure() {
        let mut standing = Standing::default();
        assert_eq!(standing.freshness(), Freshness::default());

        standing.fails(silence(), at(20));
        let unreachable = standing.freshness().unreachable;
        assert_eq!(unreachable.map(|unreachable| unreachable.since), Some(at(20)));
    }
}
