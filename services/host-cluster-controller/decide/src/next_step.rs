//! What to do next. Start reading here.

use host_cluster_controller_crd::{ModeSpec, ValidSpec};
use vocabulary::Trouble;

use crate::{
    facts::{Facts, Thing},
    latch,
    obstacle::Obstacle,
    phase::{bootstrapping_flux, generating_tree, installing, provisioning, ready, removing, validating_access},
    plan::Milestone,
    retry,
    step::{Place, Step},
};

/// What comes next for a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Look at this and ask again: it cannot be decided without.
    Look(Thing),
    /// Do this, report what came of it, and begin anew with fresh facts.
    Do(Step),
}

/// Finds the first thing that is not as it should be and the one step that brings it closer.
///
/// Facts begin with nothing looked at. Each [`Next::Look`] asks for one more thing, so that no pass looks at more than
/// the milestone it works on needs.
pub fn next_step(facts: &Facts) -> Next {
    let place = place(facts);
    match step(facts, place) {
        Ok(step) => Next::Do(step),
        Err(Obstacle::First(step)) => Next::Do(*step),
        Err(Obstacle::NotLooked(thing)) => Next::Look(thing),
        Err(Obstacle::Trouble(trouble)) => Next::Do(Step::Hold { at: place, trouble }),
    }
}

/// Where the work is: letting go, the first milestone that is not met, or Ready.
pub(crate) fn place(facts: &Facts) -> Place {
    if facts.resource.deletion_requested_at.is_some() {
        return Place::Removal;
    }
    let unmet = facts.resource.spec.as_ref().ok().and_then(|spec| latch::first_unmet(facts, spec));
    unmet.map_or(Place::Ready, Place::Milestone)
}

fn step(facts: &Facts, place: Place) -> Result<Step, Obstacle> {
    let resource = &facts.resource;
    if place == Place::Removal {
        return removal(facts);
    }
    if resource.is_suspended {
        return Ok(Step::Suspend);
    }
    if !resource.has_finalizer {
        return Ok(Step::AddFinalizer);
    }
    let Ok(spec) = &resource.spec else { return Ok(Step::Refuse) };
    // Secrets are ours and cheap to look at; a change in one ends any rest.
    if let Err(Obstacle::NotLooked(secrets)) = facts.seen.secrets.or_look(|| Thing::Secrets) {
        return Err(Obstacle::NotLooked(secrets));
    }
    match place {
        Place::Milestone(milestone) if !latch::has_begun(&facts.previous, milestone) => Ok(Step::Begin(milestone)),
        Place::Milestone(_) if retry::resting_until(facts).is_some() => Ok(Step::Rest),
        Place::Milestone(milestone) => towards(facts, spec, milestone),
        Place::Ready | Place::Removal => ready::next_step(facts, spec),
    }
}

fn towards(facts: &Facts, spec: &ValidSpec, milestone: Milestone) -> Result<Step, Obstacle> {
    match (milestone, &spec.mode) {
        (Milestone::AccessValidated, ModeSpec::Connect { kubeconfig }) => {
            validating_access::next_step(facts, spec, kubeconfig)
        }
        (Milestone::InfrastructureReady, ModeSpec::Provision(wanted)) => provisioning::next_step(facts, spec, wanted),
        (Milestone::FluxBootstrapped, _) => bootstrapping_flux::next_step(facts, spec),
        (Milestone::TreeGenerated, _) => generating_tree::next_step(facts, spec),
        (Milestone::PlatformInstalled, _) => installing::next_step(facts, spec),
        (Milestone::AccessValidated | Milestone::InfrastructureReady, _) => {
            Err(Trouble::bug("PlanMismatch", "The plan holds a milestone that this mode does not have.").into())
        }
    }
}

fn removal(facts: &Facts) -> Result<Step, Obstacle> {
    if !facts.resource.has_finalizer {
        return Ok(Step::Rest);
    }
    match removing::progress(facts) {
        None => Ok(Step::BeginRemoval),
        Some(_) if retry::resting_until(facts).is_some() => Ok(Step::Rest),
        Some(_) => removing::next_step(facts),
    }
}
