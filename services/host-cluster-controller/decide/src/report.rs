//! What to publish: the whole status each time, computed from facts, step and outcome; what to tell in events; and when
//! to look again.

use host_cluster_controller_crd::{ConditionType, HostClusterStatus, Phase};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::{
    attempts, conditions, credential,
    facts::{Facts, Removal},
    learn,
    outcome::Outcome,
    phase::ready::Health,
    retry,
    standing::{self, Standing},
    step::Step,
};

/// What a pass leaves behind.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The status to publish; none once the resource is free to go.
    pub status: Option<HostClusterStatus>,
    /// When to look again.
    pub requeue: Requeue,
    /// What to tell, on transitions only.
    pub events: Vec<Event>,
}

/// When to look again, if nothing changes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requeue {
    /// Now: a step was done, the next one may be ready.
    AtOnce,
    /// After this time.
    After(SignedDuration),
    /// Not before somebody changes something.
    AwaitChange,
}

/// Something to tell once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Whether somebody should look into it.
    pub is_warning: bool,
    /// One CamelCase word.
    pub reason: String,
    /// Sentences.
    pub note: String,
}

/// Turns what a pass found, did and met with into what it leaves behind.
pub fn report(facts: &Facts, step: &Step, outcome: &Outcome) -> Report {
    match (step, outcome) {
        (Step::Rest, _) => Report { status: Some(facts.previous.clone()), requeue: rest(facts), events: Vec::new() },
        (Step::ReleaseFinalizer, Outcome::Done) => {
            Report { status: None, requeue: Requeue::AwaitChange, events: Vec::new() }
        }
        _ => publish(facts, step, outcome),
    }
}

fn publish(facts: &Facts, step: &Step, outcome: &Outcome) -> Report {
    let mut status = learn::learn(facts, step, outcome);
    let standing = standing::standing(facts, &status, step, outcome);
    let done = (!matches!(outcome, Outcome::Trouble(_))).then_some(step);
    status.conditions = conditions::conditions(facts, &status, done, &standing);
    status.flux_healthy = match conditions::health(facts, standing.place) {
        Some(Health::Healthy) => Some(true),
        Some(Health::Unhealthy { .. }) => Some(false),
        Some(Health::Unknown { .. }) => None,
        None => status.flux_healthy,
    };
    status.failed_attempts = attempts::failed(facts, &status, step, outcome, &standing);
    let Standing { place: _, phase, reason, message, retry, requeue } = standing;
    if phase != facts.previous.phase.unwrap_or(Phase::Pending) || status.phase_started_at.is_none() {
        status.phase_started_at = Some(Time(facts.now));
    }
    status.phase = Some(phase);
    status.message = Some(message);
    status.retry = retry;
    let mut events = events(facts, step, &status, &conditions::word(&reason));
    events.extend(credential::news(&facts.previous, &status));
    Report { status: Some(status), requeue: not_after(requeue, credential::next_change(facts), facts), events }
}

/// As planned, or earlier where there will be something to say then.
fn not_after(requeue: Requeue, moment: Option<Timestamp>, facts: &Facts) -> Requeue {
    match (requeue, moment) {
        (Requeue::After(planned), Some(moment)) => Requeue::After(planned.min(moment.duration_since(facts.now))),
        _ => requeue,
    }
}

fn rest(facts: &Facts) -> Requeue {
    retry::resting_until(facts).map_or(Requeue::AwaitChange, |due| Requeue::After(due.duration_since(facts.now)))
}

fn events(facts: &Facts, step: &Step, status: &HostClusterStatus, reason: &str) -> Vec<Event> {
    let note = status.message.clone().unwrap_or_default();
    let event = |is_warning: bool, reason: &str| Event { is_warning, reason: reason.to_owned(), note: note.clone() };
    let mut events = Vec::new();
    match step {
        Step::BeginRemoval => events.push(event(
            false,
            match facts.resource.removal {
                Removal::Disconnect => "Disconnecting",
                Removal::Destroy => "Deleting",
            },
        )),
        Step::LeaveBehind { .. } => events.push(event(true, "LeftBehind")),
        _ => {}
    }
    match status.phase {
        Some(Phase::Failed) if facts.previous.phase != Some(Phase::Failed) => events.push(event(true, reason)),
        Some(phase) if facts.previous.phase != Some(phase) => events.push(event(false, phase.as_str())),
        _ => {}
    }
    let value = |status: &HostClusterStatus, type_: ConditionType| {
        status
            .conditions
            .iter()
            .find(|one| one.type_ == type_.as_str())
            .map(|one| (one.status.clone(), one.reason.clone()))
    };
    // One event says it: a cluster that cannot be reached has a Flux whose health is unknown, too.
    for type_ in [ConditionType::Reachable, ConditionType::FluxHealthy] {
        if let (Some((before, _)), Some((after, reason))) = (value(&facts.previous, type_), value(status, type_))
            && before != after
            && facts.previous.phase == Some(Phase::Ready)
            && status.phase == Some(Phase::Ready)
        {
            let is_good = after == "True";
            // Told with the moment at which it ended.
            if reason == credential::EXPIRED {
                break;
            }
            events.push(event(!is_good, if is_good { type_.as_str() } else { &reason }));
            break;
        }
    }
    events
}
