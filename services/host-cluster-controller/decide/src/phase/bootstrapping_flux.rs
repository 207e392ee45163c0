//! `BootstrappingFlux`: Flux is installed on the cluster and given credentials for the GitOps repository.
//!
//! A Flux that somebody else installed is used as it is and never written to.
//! Looks at: the cluster, the other `HostCluster`s, Flux, the Git credentials here and there.

use host_cluster_controller_crd::ValidSpec;
use jiff::SignedDuration;
use vocabulary::{SecretName, Trouble};

use super::target;
use crate::{
    copies::other_git_credentials,
    facts::{Facts, FluxFitness, FluxInstallation, FluxSeen, ObjectSeen, Readiness, SecretSeen, Thing},
    identity,
    obstacle::Obstacle,
    plan::Milestone,
    step::Step,
};

/// How long transient troubles may go on before the phase fails.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// How often to look while Flux's controllers start.
pub const POLL: SignedDuration = SignedDuration::from_secs(3);
/// What the phase says when it begins.
pub const OPENING: &str = "Installing Flux on the cluster.";

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec) -> Result<Step, Obstacle> {
    let at = target(spec)?;
    identity::establish(facts, &at)?;

    let flux = match facts.seen.flux.or_look(|| Thing::Flux(at.clone()))? {
        FluxSeen::Absent => return Ok(Step::InstallFlux { at }),
        FluxSeen::Present(flux) => flux,
    };
    match &flux.fitness {
        FluxFitness::Usable => {}
        FluxFitness::ToBeInstalledAgain => return Ok(Step::InstallFlux { at }),
        FluxFitness::Unusable { why } => return Err(Trouble::rejected("FluxUnusable", why.clone()).into()),
    }
    controllers_are_ready(flux)?;

    git_credentials_exist(facts, &spec.git_credentials)?;
    Ok(other_git_credentials(facts, spec, &at)?.unwrap_or(Step::Settle(Milestone::FluxBootstrapped)))
}

/// Whether every part of Flux does its work; otherwise which does not, and why.
pub(crate) fn controllers_are_ready(flux: &FluxInstallation) -> Result<(), Trouble> {
    flux.components.iter().try_for_each(is_ready)
}

/// Whether an object does its work; otherwise what is awaited, or what has to be changed.
pub(crate) fn is_ready(object: &ObjectSeen) -> Result<(), Trouble> {
    match &object.readiness {
        Readiness::Ready => Ok(()),
        Readiness::NotReady { reason, why } => {
            Err(Trouble::waiting(reason.clone(), format!("Waiting for {}: {why}", object.object)))
        }
        Readiness::Stalled { reason, why } => {
            Err(Trouble::rejected(reason.clone(), format!("{} does not go on by itself: {why}", object.object)))
        }
    }
}

/// The Secret with the Git credentials has to be there.
pub(crate) fn git_credentials_exist(facts: &Facts, name: &SecretName) -> Result<(), Obstacle> {
    match &facts.seen.secrets.or_look(|| Thing::Secrets)?.git_credentials {
        SecretSeen::Present { .. } => Ok(()),
        SecretSeen::Absent => Err(Trouble::rejected(
            "GitCredentialsMissing",
            format!(
                "The Secret {name} with the credentials for the GitOps repository does not exist. Create it in namespace \
                 {} with the keys username and password, or identity and known_hosts.",
                host_cluster_controller_crd::NAMESPACE
            ),
        )
        .into()),
    }
}
