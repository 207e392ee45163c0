//! All conditions of a HostCluster, computed afresh each time; transition times are kept where nothing changed.

use host_cluster_controller_crd::{ConditionType, CredentialState, HostClusterStatus, Phase, condition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use crate::{
    credential,
    facts::{Fact, Facts},
    latch,
    phase::{
        ready::{self, Health},
        removing,
    },
    plan::{Milestone, Way},
    sentence::sentence,
    standing::Standing,
    step::{Place, Step},
};

/// `status` is what the pass has learned, `done` the step that was done in it, if one was, and `standing` where the cluster
/// stands after it.
pub(crate) fn conditions(
    facts: &Facts,
    status: &HostClusterStatus,
    done: Option<&Step>,
    standing: &Standing,
) -> Vec<Condition> {
    let Standing { place, phase, reason, message, .. } = standing;
    let mut all = match (done, place, &facts.resource.spec) {
        (Some(Step::Suspend | Step::Refuse), ..) | (_, Place::Removal, _) | (.., Err(_)) => {
            Milestone::ALL.iter().filter_map(|milestone| kept(facts, milestone.condition())).collect()
        }
        (.., Ok(spec)) => {
            let plan = Way::of(&spec.mode).milestones().iter();
            plan.map(|milestone| {
                let is_met = done.and_then(Step::concludes) == Some(*milestone)
                    || latch::is_met(facts, status, spec, *milestone);
                milestone_condition(facts, *milestone, is_met, standing)
            })
            .collect::<Vec<_>>()
        }
    };
    let is_ready = *phase == Phase::Ready && *place != Place::Removal;
    // An upkeep that fails takes nothing from a milestone.
    let why = if is_ready { "Reached" } else { reason };
    all.push(made(facts, ConditionType::Ready, Some(is_ready), why, message));
    all.extend(reachable(facts));
    all.extend(flux_healthy(facts, *place));
    all.extend(credential_valid(facts, status));
    match (done, place) {
        (Some(Step::Suspend), _) => all.push(made(facts, ConditionType::Suspended, Some(true), "Annotated", message)),
        (_, Place::Removal) => {
            let so_far = match done {
                Some(Step::BeginRemoval) => removing::BEGUN,
                Some(Step::LeaveBehind { .. }) => removing::LEFT_BEHIND,
                Some(Step::DeleteKubeconfigs { .. }) => removing::KUBECONFIGS_DELETED,
                _ => removing::progress(facts).unwrap_or(removing::BEGUN),
            };
            all.push(made(facts, ConditionType::Removing, Some(true), so_far, message));
        }
        _ => {}
    }
    all
}

fn milestone_condition(facts: &Facts, milestone: Milestone, is_met: bool, standing: &Standing) -> Condition {
    let type_ = milestone.condition();
    if standing.place == Place::Milestone(milestone) {
        let begun = (standing.phase != Phase::Pending).then_some(false);
        made(facts, type_, begun, &standing.reason, &standing.message)
    } else if is_met {
        made(facts, type_, Some(true), "Reached", milestone.closing())
    } else if latch::was_ever_begun(&facts.previous, milestone) {
        made(
            facts,
            type_,
            Some(false),
            "Reopened",
            "What it depends on has changed; it is its turn after what comes before.",
        )
    } else {
        made(facts, type_, None, "NotBegun", "It is its turn after what comes before.")
    }
}

fn reachable(facts: &Facts) -> Option<Condition> {
    let type_ = ConditionType::Reachable;
    match &facts.seen.cluster {
        Fact::Seen(_) => Some(made(facts, type_, Some(true), "Answered", "The API server answers.")),
        Fact::CouldNotTell(trouble) => {
            Some(made(facts, type_, Some(false), &trouble.reason, &sentence(&trouble.message)))
        }
        Fact::NotLooked => kept(facts, type_),
    }
}

fn flux_healthy(facts: &Facts, place: Place) -> Option<Condition> {
    let type_ = ConditionType::FluxHealthy;
    match health(facts, place) {
        Some(Health::Healthy) => {
            Some(made(facts, type_, Some(true), "Reconciling", "Flux applies the cluster's tree."))
        }
        Some(Health::Unhealthy { reason, why }) => Some(made(facts, type_, Some(false), &reason, &sentence(&why))),
        Some(Health::Unknown { reason, why }) => Some(made(facts, type_, None, &reason, &sentence(&why))),
        None => kept(facts, type_),
    }
}

fn credential_valid(facts: &Facts, status: &HostClusterStatus) -> Option<Condition> {
    let type_ = ConditionType::CredentialValid;
    status.credential.as_ref()?.expires_at.as_ref()?;
    match facts.seen.secrets.seen() {
        Some(_) => {
            let said = credential::said(facts)?;
            let is_good = said.state != CredentialState::Expired;
            Some(made(facts, type_, Some(is_good), said.state.as_str(), &said.message))
        }
        None => kept(facts, type_),
    }
}

/// How Flux does, where it is its turn to do anything.
pub(crate) fn health(facts: &Facts, place: Place) -> Option<Health> {
    let concerns_flux = matches!(place, Place::Ready | Place::Milestone(Milestone::PlatformInstalled));
    ready::flux_health(facts).filter(|_| concerns_flux)
}

fn kept(facts: &Facts, type_: ConditionType) -> Option<Condition> {
    facts.previous.conditions.iter().find(|one| one.type_ == type_.as_str()).cloned()
}

fn made(facts: &Facts, type_: ConditionType, value: Option<bool>, reason: &str, message: &str) -> Condition {
    let old = &facts.previous.conditions;
    condition(old, type_, value, &word(reason), message, facts.resource.generation, facts.now)
}

/// A reason as Kubernetes wants it: letters and digits, a letter first.
pub(crate) fn word(reason: &str) -> String {
    let word: String = reason.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) { word } else { "Unknown".to_owned() }
}
