//! What is remembered of attempts at a phase that did not succeed. For people only: nothing is decided by it.

use host_cluster_controller_crd::{FailedAttempts, HostClusterStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use vocabulary::Trouble;

use crate::{
    facts::Facts,
    latch,
    outcome::Outcome,
    plan::Milestone,
    sentence::sentence,
    standing::Standing,
    step::{Place, Step},
};

/// Those of the phases that are done and of the one under way. `status` has the conditions of this pass.
pub(crate) fn failed(
    facts: &Facts,
    status: &HostClusterStatus,
    step: &Step,
    outcome: &Outcome,
    standing: &Standing,
) -> Vec<FailedAttempts> {
    let known =
        |milestone: Milestone| facts.previous.failed_attempts.iter().find(|of| of.phase == milestone.phase()).cloned();
    Milestone::ALL
        .into_iter()
        .filter_map(|milestone| match standing.place {
            Place::Milestone(present) if present == milestone => {
                // A phase that was done and begins anew begins without a past.
                let before = known(milestone).filter(|_| !latch::is_done(&facts.previous, milestone));
                match trouble(step, outcome) {
                    Some(trouble) if standing.retry.is_some() => {
                        Some(one_more(facts, before, milestone, trouble, standing))
                    }
                    _ => before,
                }
            }
            Place::Milestone(_) => known(milestone).filter(|_| latch::is_done(status, milestone)),
            Place::Ready | Place::Removal => known(milestone),
        })
        .collect()
}

const fn trouble<'a>(step: &'a Step, outcome: &'a Outcome) -> Option<&'a Trouble> {
    match (step, outcome) {
        (Step::Hold { trouble, .. }, _) | (_, Outcome::Trouble(trouble)) => Some(trouble),
        _ => None,
    }
}

fn one_more(
    facts: &Facts,
    before: Option<FailedAttempts>,
    milestone: Milestone,
    trouble: &Trouble,
    standing: &Standing,
) -> FailedAttempts {
    // Attempts that were made elsewhere are in the retry.
    let in_this_run = standing.retry.as_ref().map_or(1, |retry| retry.attempt);
    let now = Time(facts.now);
    let (count, first_at) = before.map_or((1, now.clone()), |before| (before.count.saturating_add(1), before.first_at));
    FailedAttempts {
        phase: milestone.phase(),
        count: count.max(in_this_run),
        first_at,
        last_at: now,
        reason: standing.reason.clone(),
        message: sentence(&trouble.message),
    }
}
