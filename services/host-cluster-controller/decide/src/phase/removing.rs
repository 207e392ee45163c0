//! Letting go, once somebody has deleted the resource: not a phase of the product but a plan of its own.
//!
//! Disconnect leaves everything running: Kustomizations are suspended and *seen* to be so before they are deleted, because
//! Flux prunes what an unsuspended one has applied. A cluster that cannot be reached never makes it hang. Destroying
//! infrastructure takes the annotation of kubeopera-api (see [`Removal`]).
//! Looks at: the cluster, KubeOpera's own Flux objects, the Git credentials there, the run.

use cluster_provisioner_contract::RunStatus;
use host_cluster_controller_crd::{ConditionType, ModeSpec};
use jiff::SignedDuration;
use vocabulary::Trouble;

use super::{provisioning::no_provisioner, target};
use crate::{
    facts::{Facts, GitSecretSeen, KustomizationSeen, Removal, SyncSeen, Target, Thing},
    identity, latch,
    obstacle::Obstacle,
    plan::{DESTROY, DISCONNECT, Milestone, Parting},
    step::Step,
};

/// How long a cluster that does not answer is asked again before KubeOpera lets go of it.
pub const GRACE: SignedDuration = SignedDuration::from_mins(1);
/// How long a cluster that answers, but refuses what is asked, keeps the resource from going.
pub const STUBBORN: SignedDuration = SignedDuration::from_mins(5);
/// How long a Kustomization may take to go before its controller counts as absent.
pub const CONTROLLER_ABSENT: SignedDuration = SignedDuration::from_secs(30);
/// How long transient troubles may go on before they are called a failure.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);
/// How often to look while something is going away.
pub const POLL: SignedDuration = SignedDuration::from_secs(5);

/// Reason of the condition Removing: it has begun.
pub(crate) const BEGUN: &str = "Begun";
/// Reason: what is on the cluster stays there.
pub(crate) const LEFT_BEHIND: &str = "LeftBehind";
/// Reason: the stored kubeconfigs are gone, so that the cluster cannot be reached any more.
pub(crate) const KUBECONFIGS_DELETED: &str = "KubeconfigsDeleted";

pub(crate) fn next_step(facts: &Facts) -> Result<Step, Obstacle> {
    let plan = match facts.resource.removal {
        Removal::Disconnect => DISCONNECT,
        Removal::Destroy => DESTROY,
    };
    for parting in plan {
        if let Some(step) = towards(facts, *parting)? {
            return Ok(step);
        }
    }
    Ok(Step::ReleaseFinalizer)
}

/// The reason of the condition Removing: how far letting go has come, where that cannot be seen in the world.
pub(crate) fn progress(facts: &Facts) -> Option<&str> {
    let removing = ConditionType::Removing.as_str();
    facts.previous.conditions.iter().find(|one| one.type_ == removing).map(|one| one.reason.as_str())
}

/// The next step towards one parting; none if there is nothing left to do.
fn towards(facts: &Facts, parting: Parting) -> Result<Option<Step>, Obstacle> {
    match parting {
        Parting::KustomizationsSuspended => on_cluster(facts, |_, at, sync| {
            Ok(sync.kustomizations().any(|one| !one.is_suspended).then_some(Step::SuspendKustomizations { at }))
        }),
        Parting::KustomizationsDeleted => on_cluster(facts, delete),
        Parting::SourceDeleted => {
            on_cluster(facts, |_, at, sync| Ok(sync.source.is_some().then_some(Step::DeleteSource { at })))
        }
        Parting::GitSecretDeleted => on_cluster(facts, |facts, at, _| {
            let written = facts.seen.git_secret.or_look(|| Thing::GitSecret(at.clone()))?;
            Ok((*written != GitSecretSeen::Absent).then_some(Step::DeleteGitSecret { at }))
        }),
        Parting::InfrastructureDestroyed => destroy(facts),
        Parting::KubeconfigsDeleted => {
            let is_host = facts.resource.spec.as_ref().is_ok_and(|spec| spec.mode == ModeSpec::Host);
            let are_gone = progress(facts) == Some(KUBECONFIGS_DELETED);
            Ok(facts.resource.id.filter(|_| !is_host && !are_gone).map(|cluster| Step::DeleteKubeconfigs { cluster }))
        }
    }
}

/// A step on the cluster itself, unless nothing of ours is there, it was given up, or another KubeOpera has taken it over.
fn on_cluster(
    facts: &Facts,
    step: impl FnOnce(&Facts, Target, &SyncSeen) -> Result<Option<Step>, Obstacle>,
) -> Result<Option<Step>, Obstacle> {
    let nothing_was_written = !latch::was_ever_begun(&facts.previous, Milestone::FluxBootstrapped);
    if nothing_was_written || matches!(progress(facts), Some(LEFT_BEHIND | KUBECONFIGS_DELETED)) {
        return Ok(None);
    }
    if let Some(retry) = &facts.previous.retry
        && facts.time_since_deletion() > STUBBORN
    {
        return Ok(give_up(
            facts,
            format!("The cluster answers, but does not do what is asked of it ({}).", retry.reason),
        ));
    }
    let looked = facts.resource.spec.as_ref().map_err(|_| invalid_spec()).and_then(target).map_err(Obstacle::from);
    match looked.and_then(|at| {
        // Its mark is on the Git credentials, which are written first and taken away last: nothing there is ours any more.
        if identity::recognise(facts, &at)?.managed_by_other.is_some() {
            return Ok(None);
        }
        let sync = facts.seen.sync.or_look(|| Thing::Sync(at.clone()))?;
        step(facts, at, sync)
    }) {
        Err(Obstacle::Trouble(trouble)) => unreachable(facts, trouble),
        // A cluster that was never identified was never written to.
        Err(Obstacle::First(_)) => Ok(None),
        decided => decided,
    }
}

/// What to do about a cluster that cannot be asked: ask again for a while, then let go.
fn unreachable(facts: &Facts, trouble: Trouble) -> Result<Option<Step>, Obstacle> {
    let is_waiting = trouble.kind == vocabulary::TroubleKind::Waiting;
    if facts.time_since_deletion() < GRACE || (is_waiting && facts.time_since_deletion() < STUBBORN) {
        return Err(Trouble::waiting(trouble.reason, trouble.message).into());
    }
    let is_another = trouble == identity::changed();
    Ok(give_up(facts, if is_another { "Another cluster answers there now.".to_owned() } else { trouble.message }))
}

fn give_up(facts: &Facts, why: String) -> Option<Step> {
    match facts.resource.removal {
        Removal::Disconnect => Some(Step::LeaveBehind { why }),
        // What is on the cluster goes with its infrastructure.
        Removal::Destroy => None,
    }
}

fn delete(facts: &Facts, at: Target, sync: &SyncSeen) -> Result<Option<Step>, Obstacle> {
    let is_stuck = |one: &KustomizationSeen| {
        one.deletion_requested_at.is_some_and(|asked| facts.now.duration_since(asked) > CONTROLLER_ABSENT)
    };
    if sync.kustomizations().any(|one| one.deletion_requested_at.is_none()) {
        return Ok(Some(Step::DeleteKustomizations { at }));
    }
    if sync.kustomizations().any(is_stuck) {
        return Ok(Some(Step::FreeKustomizations { at }));
    }
    match sync.kustomizations().next() {
        None => Ok(None),
        Some(one) => Err(Trouble::waiting(
            "KustomizationGoing",
            format!("Waiting for Kustomization flux-system/{} to go.", one.name),
        )
        .into()),
    }
}

fn destroy(facts: &Facts) -> Result<Option<Step>, Obstacle> {
    if !facts.has_provisioner {
        return Err(no_provisioner().into());
    }
    match facts.seen.run.or_look(|| Thing::Run)? {
        // There was a Job, and nobody has said what became of what it made.
        RunStatus::Absent if facts.previous.provisioning.as_ref().is_some_and(|run| run.job_name.is_some()) => {
            Err(run_forgotten().into())
        }
        RunStatus::Destroyed | RunStatus::Absent => Ok(None),
        RunStatus::Vanished { .. }
        | RunStatus::Running { .. }
        | RunStatus::Succeeded { .. }
        | RunStatus::Failed { .. } => Ok(facts.resource.id.map(|cluster| Step::EnsureDestroyed { cluster })),
    }
}

fn run_forgotten() -> Trouble {
    Trouble::rejected(
        "StateUnavailable",
        "cluster-provisioner has nothing written down of this cluster's runs any more, so that it is not known what there is \
         in the cloud. Nothing was deleted there. Put its Secrets back from a backup; or delete in the cloud's console what \
         has the tag kubeopera.io/cluster-id of this cluster, and then have KubeOpera give its infrastructure up.",
    )
}

fn invalid_spec() -> Trouble {
    Trouble::rejected("InvalidSpec", "The spec of the HostCluster is not acceptable, so the cluster cannot be reached.")
}
