//! Ready: the cluster is managed by KubeOpera and kept in sync with Git.
//!
//! Trouble of the cluster changes conditions and the message, never the phase. Only what is seen to be gone, or to be of
//! another version of KubeOpera, reopens its milestone. What KubeOpera put there is kept as it should be.
//! Looks at: the cluster, Flux, KubeOpera's own Flux objects, the Git credentials and the registry
//! credential here and there; now and then the tree.

use gitops_scaffolder_contract::TreeSeen;
use host_cluster_controller_crd::ValidSpec;
use jiff::SignedDuration;

use super::{bootstrapping_flux::controllers_are_ready, installing, target};
use crate::{
    copies::{other_git_credentials, other_pull_secret},
    facts::{Fact, Facts, FluxFitness, FluxSeen, SyncSeen, Thing},
    identity,
    obstacle::Obstacle,
    plan::{Milestone, Way},
    retry,
    step::{Place, Step},
};

/// How often to look at a healthy cluster.
pub const POLL: SignedDuration = SignedDuration::from_mins(1);
/// How often to look at one that is not.
pub const POLL_WHEN_UNHEALTHY: SignedDuration = SignedDuration::from_secs(15);
/// How long transient troubles of keeping it as it should be count as transient.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(15);
/// How often to look whether the tree is still in Git, and of this version of KubeOpera.
pub const TREE_POLL: SignedDuration = SignedDuration::from_mins(10);
/// How often to do so while Flux cannot fetch or apply it.
pub const TREE_POLL_WHEN_UNHEALTHY: SignedDuration = SignedDuration::from_mins(1);

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec) -> Result<Step, Obstacle> {
    let at = target(spec)?;
    match look_after(facts, spec, &at) {
        // What cannot be looked at cannot be looked after: the report says so.
        Err(Obstacle::Trouble(_)) => Ok(Step::KeepWatch),
        // An upkeep that failed is not tried again before its time; reopening a milestone is not an upkeep.
        Ok(step) if retry::resting_until(facts).is_some() && !is_reopening(&step) => Ok(Step::KeepWatch),
        decided => decided,
    }
}

fn is_reopening(step: &Step) -> bool {
    matches!(step, Step::Begin(_) | Step::Hold { .. })
}

fn look_after(facts: &Facts, spec: &ValidSpec, at: &crate::Target) -> Result<Step, Obstacle> {
    let cluster = facts.seen.cluster.or_look(|| Thing::Cluster(at.clone()))?;
    let first = Way::of(&spec.mode).milestones().first().copied().unwrap_or(Milestone::FluxBootstrapped);
    if facts.previous.cluster_uid.as_ref() != Some(&cluster.uid) {
        return Ok(Step::Hold { at: Place::Milestone(first), trouble: identity::changed() });
    }
    if let Err(trouble) = identity::no_other_has(facts, cluster) {
        return Ok(Step::Hold { at: Place::Milestone(first), trouble });
    }
    match facts.seen.flux.or_look(|| Thing::Flux(at.clone()))? {
        FluxSeen::Absent => return Ok(Step::Begin(Milestone::FluxBootstrapped)),
        FluxSeen::Present(flux) if flux.fitness == FluxFitness::ToBeInstalledAgain => {
            return Ok(Step::InstallFlux { at: at.clone() });
        }
        FluxSeen::Present(_) => {}
    }
    let sync = facts.seen.sync.or_look(|| Thing::Sync(at.clone()))?;
    if sync.source.is_none() || sync.root.is_none() {
        return Ok(Step::Begin(Milestone::PlatformInstalled));
    }
    if let Some((_, wanted)) = installing::wanted(facts, spec)
        && installing::differs(sync, &wanted)
    {
        return Ok(Step::PointFlux { at: at.clone(), wanted });
    }
    if let Some(step) = other_git_credentials(facts, spec, at)? {
        return Ok(step);
    }
    if let Some(step) = other_pull_secret(facts, spec, at)? {
        return Ok(step);
    }
    if is_time_for_the_tree(facts, sync) && is_lost(facts.seen.tree.or_look(|| Thing::Tree)?, facts) {
        return Ok(Step::Begin(Milestone::TreeGenerated));
    }
    Ok(Step::KeepWatch)
}

/// Whether this is one of the passes that look at the tree: one or two after each interval since the cluster became
/// Ready, however often it was restarted. Nothing has to be written down for that.
fn is_time_for_the_tree(facts: &Facts, sync: &SyncSeen) -> bool {
    let Some(since) = &facts.previous.phase_started_at else { return true };
    let is_fetched = sync.source.as_ref().is_some_and(|source| source.readiness.is_ready());
    let is_applied = sync.root.as_ref().is_some_and(|root| root.readiness.is_ready());
    let (interval, pass) =
        if is_fetched && is_applied { (TREE_POLL, POLL) } else { (TREE_POLL_WHEN_UNHEALTHY, POLL_WHEN_UNHEALTHY) };
    let elapsed = facts.now.duration_since(since.0).as_secs();
    // Two passes long, so that one comes within it whatever the jitter.
    elapsed >= interval.as_secs() && elapsed % interval.as_secs() < 2 * pass.as_secs()
}

/// Whether what is in Git is not the tree that was written: removed, set back, on another branch than the default one,
/// or of another version of KubeOpera.
fn is_lost(tree: &TreeSeen, facts: &Facts) -> bool {
    facts
        .previous
        .git_ops
        .as_ref()
        .is_some_and(|written| written.branch != tree.branch || written.tree_hash != tree.tree_hash)
}

/// How Flux on a cluster does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Health {
    /// Controllers available, source fetched, root and every child applied.
    Healthy,
    /// Something of that is not so.
    Unhealthy {
        /// One CamelCase word.
        reason: String,
        /// A sentence.
        why: String,
    },
    /// It cannot be told: unknown is never shown as healthy.
    Unknown {
        /// One CamelCase word.
        reason: String,
        /// A sentence.
        why: String,
    },
}

/// How Flux does, as far as this pass has looked; none if it has not.
pub(crate) fn flux_health(facts: &Facts) -> Option<Health> {
    let unknown = |trouble: &vocabulary::Trouble| Health::Unknown {
        reason: trouble.reason.clone(),
        why: trouble.message.clone(),
    };
    let unhealthy = |trouble: vocabulary::Trouble| Health::Unhealthy { reason: trouble.reason, why: trouble.message };
    if let Fact::CouldNotTell(trouble) = &facts.seen.cluster {
        return Some(unknown(trouble));
    }
    let checked = match (&facts.seen.flux, &facts.seen.sync) {
        (Fact::CouldNotTell(trouble), _) | (_, Fact::CouldNotTell(trouble)) => return Some(unknown(trouble)),
        (Fact::Seen(FluxSeen::Absent), _) => {
            let why = "There is no Flux on the cluster.".to_owned();
            return Some(Health::Unhealthy { reason: "FluxMissing".to_owned(), why });
        }
        (Fact::Seen(FluxSeen::Present(flux)), Fact::Seen(sync)) if sync.source.is_some() && sync.root.is_some() => {
            controllers_are_ready(flux).and_then(|()| installing::all_ready(sync))
        }
        _ => return None,
    };
    Some(checked.map_or_else(unhealthy, |()| Health::Healthy))
}
