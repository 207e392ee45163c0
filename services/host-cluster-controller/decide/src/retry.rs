//! What each kind of trouble means for the clock.
//!
//! | kind | next attempt | phase |
//! | --- | --- | --- |
//! | waiting | after the phase's poll interval | unchanged |
//! | transient | after 2 s, 4 s, … 5 min (at random up to that) while the phase's patience lasts, measured from the first failure of the run | unchanged |
//! | transient for longer than that | after as long again as it has been exhausted, 1 to 5 min | Failed |
//! | rejected, bug | after 1 min, 2 min, … 30 min; at once when the spec, a Secret or the retry annotation changes | Failed |

use host_cluster_controller_crd::{RetryKind, RetryStatus};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use vocabulary::{Trouble, TroubleKind};

use crate::{facts::Facts, latch};

const SHORTEST: SignedDuration = SignedDuration::from_secs(2);
const LONGEST: SignedDuration = SignedDuration::from_mins(5);
const SLOWEST: SignedDuration = SignedDuration::from_mins(30);
const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// What a trouble means for the clock.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Clock {
    /// Look again after a while; nothing is wrong.
    Poll,
    /// Try again at the time in the retry status.
    Again {
        /// To be published.
        retry: RetryStatus,
        /// Whether the phase is Failed until then.
        has_failed: bool,
    },
}

/// The clock for a trouble. `patience` bounds how long transient troubles go on before they count as a failure;
/// `attempts_before` are attempts known from elsewhere (provisioning runs).
pub(crate) fn clock(facts: &Facts, trouble: &Trouble, patience: SignedDuration, attempts_before: i32) -> Clock {
    let kind = match trouble.kind {
        TroubleKind::Waiting => return Clock::Poll,
        TroubleKind::Transient => RetryKind::Transient,
        TroubleKind::Rejected => RetryKind::Rejected,
        TroubleKind::Bug => RetryKind::Bug,
    };
    // Another reason of a rejection means that the last one was put right: its run of troubles is over. Transient
    // troubles of whatever reason are one run, or taking turns they would never exhaust anybody's patience.
    let run = facts.previous.retry.as_ref().filter(|run| {
        run.kind == kind
            && (kind == RetryKind::Transient || run.reason == trouble.reason)
            && !latch::inputs_changed(facts)
    });
    let attempt = run.map_or(1, |run| run.attempt.saturating_add(1)).max(attempts_before);
    let since = run.map_or(facts.now, |run| run.since.0.min(facts.now));
    let elapsed = facts.now.duration_since(since);
    let is_patient = kind == RetryKind::Transient && elapsed < patience;
    let delay = match kind {
        RetryKind::Transient if is_patient => backoff(attempt, facts.jitter).min(patience - elapsed),
        RetryKind::Transient => (elapsed - patience).clamp(MINUTE, LONGEST),
        RetryKind::Rejected | RetryKind::Bug => doubled(MINUTE, attempt, SLOWEST),
    };
    Clock::Again {
        retry: RetryStatus {
            attempt,
            kind,
            since: Time(since),
            next_attempt_at: Time(later(facts.now, SignedDuration::from_secs(delay.as_secs().max(1)))),
            reason: trouble.reason.clone(),
        },
        has_failed: !is_patient,
    }
}

/// Until when there is nothing to do: a trouble said when the next attempt is due, and nothing has changed since.
pub(crate) fn resting_until(facts: &Facts) -> Option<Timestamp> {
    let due = facts.previous.retry.as_ref()?.next_attempt_at.0;
    // A clock that was set back must not make us wait for longer than any clock of ours would.
    let is_due = facts.now >= due || due.duration_since(facts.now) > SLOWEST;
    if is_due || latch::inputs_changed(facts) { None } else { Some(due) }
}

/// Full jitter between the shortest pause and a limit that doubles with each attempt, as in
/// <https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>.
fn backoff(attempt: i32, jitter: f64) -> SignedDuration {
    let limit = doubled(SHORTEST, attempt, LONGEST);
    SHORTEST + share(limit - SHORTEST, jitter)
}

/// A part of a duration: none of it for 0, all of it for 1.
pub(crate) fn share(of: SignedDuration, part: f64) -> SignedDuration {
    if part.is_nan() { of } else { of.mul_f64(part.clamp(0.0, 1.0)) }
}

/// `first`, twice that, four times that, …, for attempts 1, 2, 3, …
fn doubled(first: SignedDuration, attempt: i32, limit: SignedDuration) -> SignedDuration {
    let doublings = u32::try_from(attempt.saturating_sub(1)).unwrap_or(0).min(20);
    first.saturating_mul(1 << doublings).min(limit)
}

fn later(now: Timestamp, delay: SignedDuration) -> Timestamp {
    now.checked_add(delay).unwrap_or(now)
}
