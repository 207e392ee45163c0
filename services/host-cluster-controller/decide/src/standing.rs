//! Where a cluster stands after a pass: the phase, one reason and one message for it, and the clock.

use host_cluster_controller_crd::{HostClusterStatus, Phase, RetryStatus, ValidSpec};
use jiff::SignedDuration;
use vocabulary::Trouble;

use crate::{
    facts::{Facts, Removal},
    latch,
    next_step::place,
    outcome::Outcome,
    phase::{
        ready::{self, Health},
        removing,
    },
    plan::{Milestone, Way},
    report::Requeue,
    retry::{self, Clock},
    sentence::sentence,
    step::{Place, Step},
};

/// Where a cluster stands.
pub(crate) struct Standing {
    pub(crate) place: Place,
    pub(crate) phase: Phase,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) retry: Option<RetryStatus>,
    pub(crate) requeue: Requeue,
}

/// `status` is what the pass has learned (see [`crate::learn`]).
pub(crate) fn standing(facts: &Facts, status: &HostClusterStatus, step: &Step, outcome: &Outcome) -> Standing {
    if let Step::Hold { at, trouble } = step {
        return held(facts, status, *at, trouble);
    }
    if let Outcome::Trouble(trouble) = outcome {
        return held(facts, status, place(facts), trouble);
    }
    match step {
        Step::Suspend => suspended(facts),
        Step::Refuse => refused(facts),
        Step::Begin(milestone) => begun(*milestone),
        _ if place(facts) == Place::Removal => removing(facts, status, step),
        _ => done(facts, status, step),
    }
}

/// The place after a step: that of the next milestone if this one is met now.
fn place_after(facts: &Facts, status: &HostClusterStatus, step: &Step) -> Place {
    let Ok(spec) = &facts.resource.spec else { return place(facts) };
    let is_open =
        |milestone: &Milestone| step.concludes() != Some(*milestone) && !latch::is_met(facts, status, spec, *milestone);
    Way::of(&spec.mode).milestones().iter().copied().find(is_open).map_or(Place::Ready, Place::Milestone)
}

/// The name of the work at a place.
fn phase(facts: &Facts, status: &HostClusterStatus, place: Place) -> Phase {
    match place {
        Place::Milestone(milestone) if latch::was_ever_begun(status, milestone) => milestone.phase(),
        Place::Milestone(_) => Phase::Pending,
        Place::Ready => Phase::Ready,
        // Letting go has no phase of its own: it shows how far the cluster had come.
        Place::Removal => match place_after(facts, status, &Step::Rest) {
            Place::Removal => Phase::Pending,
            came => phase(facts, status, came),
        },
    }
}

fn held(facts: &Facts, status: &HostClusterStatus, place: Place, trouble: &Trouble) -> Standing {
    let (patience, poll, attempts) = match place {
        Place::Milestone(Milestone::InfrastructureReady) => {
            let milestone = Milestone::InfrastructureReady;
            (milestone.patience(), milestone.poll(), status.provisioning.as_ref().map_or(0, |run| run.attempt))
        }
        Place::Milestone(milestone) => (milestone.patience(), milestone.poll(), 0),
        Place::Ready => (ready::PATIENCE, ready::POLL_WHEN_UNHEALTHY, 0),
        Place::Removal => (removing::PATIENCE, removing::POLL, 0),
    };
    let may_fail = match place {
        Place::Milestone(_) => true,
        Place::Removal => facts.resource.removal == Removal::Destroy,
        Place::Ready => false,
    };
    let undisturbed = phase(facts, status, place);
    let said = match place {
        Place::Removal => format!("{} {}", parting(facts), sentence(&trouble.message)),
        Place::Milestone(_) | Place::Ready => sentence(&trouble.message),
    };
    let (phase, message, retry, requeue) = match retry::clock(facts, trouble, patience, attempts) {
        Clock::Poll => (undisturbed, said, None, Requeue::After(poll)),
        Clock::Again { retry, has_failed } => {
            let phase = if has_failed && may_fail { Phase::Failed } else { undisturbed };
            let next = retry.attempt.saturating_add(1);
            let requeue = Requeue::After(retry.next_attempt_at.0.duration_since(facts.now));
            (phase, format!("{said} Retrying (attempt {next})."), Some(retry), requeue)
        }
    };
    Standing { place, phase, reason: trouble.reason.clone(), message, retry, requeue }
}

fn begun(milestone: Milestone) -> Standing {
    Standing {
        place: Place::Milestone(milestone),
        phase: milestone.phase(),
        reason: "Started".to_owned(),
        message: milestone.opening().to_owned(),
        retry: None,
        requeue: Requeue::AtOnce,
    }
}

fn suspended(facts: &Facts) -> Standing {
    Standing {
        place: place(facts),
        phase: facts.previous.phase.unwrap_or(Phase::Pending),
        reason: "Suspended".to_owned(),
        message: format!(
            "Left alone on request. Remove the annotation {} to continue.",
            host_cluster_controller_crd::ANNOTATION_SUSPENDED
        ),
        retry: facts.previous.retry.clone(),
        requeue: Requeue::AwaitChange,
    }
}

fn refused(facts: &Facts) -> Standing {
    let problems = facts.resource.spec.as_ref().err().into_iter().flatten();
    let rules: Vec<String> = problems.map(|problem| format!("{}: {}", problem.field, problem.rule)).collect();
    Standing {
        place: place(facts),
        phase: Phase::Failed,
        reason: "InvalidSpec".to_owned(),
        message: sentence(&format!("The HostCluster is not acceptable. {}", rules.join(" "))),
        retry: None,
        requeue: Requeue::AwaitChange,
    }
}

/// A step on the way to Ready, or at it, is done.
fn done(facts: &Facts, status: &HostClusterStatus, step: &Step) -> Standing {
    let place = place_after(facts, status, step);
    let milestone = match (place, &facts.resource.spec) {
        (Place::Milestone(milestone), _) => milestone,
        (_, Ok(spec)) => return watched(facts, status, step, spec),
        (_, Err(_)) => return refused(facts),
    };
    if step.concludes().is_some() {
        return begun(milestone);
    }
    let (reason, message) = said(step);
    let pause = match step {
        // Whatever is written to a cluster may be undone there by somebody else: such a quarrel must stay slow.
        Step::InstallFlux { .. }
        | Step::WriteGitSecret { .. }
        | Step::WritePullSecret { .. }
        | Step::PointFlux { .. } => Requeue::After(QUARREL),
        _ => Requeue::AtOnce,
    };
    Standing {
        place,
        phase: phase(facts, status, place),
        reason: reason.to_owned(),
        message: message.to_owned(),
        retry: None,
        requeue: pause,
    }
}

/// Least time between two writes to a managed cluster.
const QUARREL: SignedDuration = SignedDuration::from_secs(1);

/// What is told of a step that brings a milestone closer without meeting it.
fn said(step: &Step) -> (&'static str, &'static str) {
    match step {
        Step::AddFinalizer => ("Registered", "KubeOpera knows the cluster and is about to begin."),
        Step::Identify => ("Identified", "The API server answers. Preparing the cluster."),
        Step::EnsureRun { .. } => ("RunStarted", "cluster-provisioner has been asked to create the cluster."),
        Step::InstallFlux { .. } => ("FluxApplied", "Flux has been applied. Waiting for its controllers to start."),
        Step::WriteGitSecret { .. } => {
            ("GitCredentialsWritten", "Flux runs and has the credentials for the repository.")
        }
        Step::WritePullSecret { .. } => (
            "RegistryCredentialWritten",
            "The cluster has the credential for the registry. Waiting for its tree to be applied.",
        ),
        Step::PointFlux { .. } => ("FluxPointed", "Flux has been pointed at the cluster's tree and is fetching it."),
        _ => ("Progressing", "Working on it."),
    }
}

/// Ready: how the cluster does.
fn watched(facts: &Facts, status: &HostClusterStatus, step: &Step, spec: &ValidSpec) -> Standing {
    let health = ready::flux_health(facts).unwrap_or(Health::Healthy);
    // An upkeep that failed and is not due yet is still what there is to say.
    let pending = matches!(step, Step::KeepWatch) && retry::resting_until(facts).is_some();
    let retry = if pending { facts.previous.retry.clone() } else { None };
    let message = match &health {
        Health::Healthy if pending => facts.previous.message.clone().unwrap_or_default(),
        Health::Healthy => healthy(status, spec),
        Health::Unhealthy { why, .. } => format!("Flux is not healthy. {}", sentence(why)),
        Health::Unknown { why, .. } => format!("The cluster cannot be asked how it does. {}", sentence(why)),
    };
    let is_watching = matches!(step, Step::KeepWatch) || step.concludes().is_some();
    let poll = if health == Health::Healthy { ready::POLL } else { ready::POLL_WHEN_UNHEALTHY };
    Standing {
        place: Place::Ready,
        phase: Phase::Ready,
        reason: "Ready".to_owned(),
        message,
        retry,
        // Spread over a tenth, so that clusters that became Ready together are not looked at together for ever.
        requeue: Requeue::After(if is_watching { poll + retry::share(poll, facts.jitter) / 10 } else { QUARREL }),
    }
}

fn healthy(status: &HostClusterStatus, spec: &ValidSpec) -> String {
    let is_healthy = format!("Flux healthy and reconciling {}.", spec.git_path);
    match (&spec.administrator, &status.admin_password_secret_ref) {
        (Some(administrator), Some(_)) => format!("{is_healthy} Administrator {} created.", administrator.email),
        _ => is_healthy,
    }
}

fn removing(facts: &Facts, status: &HostClusterStatus, step: &Step) -> Standing {
    let detail = match step {
        Step::LeaveBehind { why } => format!(
            " What KubeOpera put on the cluster stays there, in namespace flux-system: {} The cluster itself is unharmed.",
            sentence(why)
        ),
        Step::SuspendKustomizations { .. } => " Flux has been told to leave the cluster's workloads alone.".to_owned(),
        Step::DeleteKustomizations { .. } | Step::FreeKustomizations { .. } => {
            " KubeOpera's Kustomizations are being deleted.".to_owned()
        }
        Step::DeleteSource { .. } => " The Flux source has been deleted.".to_owned(),
        Step::DeleteGitSecret { .. } => " The Git credentials on the cluster have been deleted.".to_owned(),
        Step::EnsureDestroyed { .. } => " The infrastructure is being torn down.".to_owned(),
        Step::DeleteKubeconfigs { .. } => " The stored kubeconfig has been deleted.".to_owned(),
        _ => String::new(),
    };
    let place = Place::Removal;
    Standing {
        place,
        phase: phase(facts, status, place),
        reason: "Removing".to_owned(),
        message: format!("{}{detail}", parting(facts)),
        retry: None,
        requeue: match step {
            Step::EnsureDestroyed { .. } => Requeue::After(removing::POLL),
            Step::SuspendKustomizations { .. }
            | Step::DeleteKustomizations { .. }
            | Step::FreeKustomizations { .. } => Requeue::After(QUARREL),
            _ => Requeue::AtOnce,
        },
    }
}

/// What is being done to a cluster that is let go of.
const fn parting(facts: &Facts) -> &'static str {
    match facts.resource.removal {
        Removal::Disconnect => "Disconnecting the cluster.",
        Removal::Destroy => "Deleting the cluster and its infrastructure.",
    }
}
