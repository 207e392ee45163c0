//! Ready: the cluster is managed by KubeOpera and kept in sync with Git.
//!
//! Trouble of the cluster changes conditions and the message, never the phase. Only what is seen to be gone reopens its
//! milestone. What KubeOpera put there is kept as it should be.
//! Looks at: the cluster, Flux, KubeOpera's own Flux objects, the Git credentials here and there.

use host_cluster_controller_crd::ValidSpec;
use jiff::SignedDuration;

use super::{bootstrapping_flux::controllers_are_ready, installing, target};
use crate::{
    facts::{Fact, Facts, FluxFitness, FluxSeen, GitSecretSeen, SecretSeen, Thing},
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
    if facts.previous.cluster_uid.as_ref() != Some(&cluster.uid) {
        let first = Way::of(&spec.mode).milestones().first().copied().unwrap_or(Milestone::FluxBootstrapped);
        return Ok(Step::Hold { at: Place::Milestone(first), trouble: identity::changed() });
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
    let secrets = facts.seen.secrets.or_look(|| Thing::Secrets)?;
    if let SecretSeen::Present { version } = &secrets.git_credentials {
        let written = facts.seen.git_secret.or_look(|| Thing::GitSecret(at.clone()))?;
        if *written != (GitSecretSeen::Present { version: Some(version.clone()) }) {
            let (from, version) = (spec.git_credentials.clone(), version.clone());
            return Ok(Step::WriteGitSecret { at: at.clone(), from, version });
        }
    }
    Ok(Step::KeepWatch)
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
