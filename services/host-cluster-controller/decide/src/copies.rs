//! Copies: what a cluster needs of the Secrets on the management cluster is written to it anew whenever it is another, in
//! whatever phase the cluster is. Whoever changes a token changes it here.

use host_cluster_controller_crd::{NAMESPACE, ValidSpec};
use vocabulary::Trouble;

use crate::{
    facts::{Facts, GitSecretSeen, SecretSeen, Target, Thing},
    obstacle::Obstacle,
    step::Step,
};

/// The step that writes the Git credentials to the cluster, unless it has them as they are here.
pub(crate) fn other_git_credentials(facts: &Facts, spec: &ValidSpec, at: &Target) -> Result<Option<Step>, Obstacle> {
    let secrets = facts.seen.secrets.or_look(|| Thing::Secrets)?;
    // Without them here, the cluster does with those it has.
    let SecretSeen::Present { version } = &secrets.git_credentials else { return Ok(None) };
    let written = facts.seen.git_secret.or_look(|| Thing::GitSecret(at.clone()))?;
    let is_same = *written == GitSecretSeen::Present { version: Some(version.clone()) };
    let (from, version) = (spec.git_credentials.clone(), version.clone());
    Ok((!is_same).then(|| Step::WriteGitSecret { at: at.clone(), from, url: spec.git_url.clone(), version }))
}

/// The step that writes the registry credential to where the cluster pulls with it, unless it is there as it is here.
/// Namespaces come one after the other, as Flux applies the tree.
pub(crate) fn other_pull_secret(facts: &Facts, spec: &ValidSpec, at: &Target) -> Result<Option<Step>, Obstacle> {
    let Some(name) = &spec.registry_pull_secret else { return Ok(None) };
    let secrets = facts.seen.secrets.or_look(|| Thing::Secrets)?;
    let Some(SecretSeen::Present { version }) = &secrets.registry_pull else { return Ok(None) };
    let there = facts.seen.pull_secret.or_look(|| Thing::PullSecret { at: at.clone(), name: name.clone() })?;
    let is_same = there.copies.values().all(|written| written.as_ref() == Some(version));
    let (from, version) = (name.clone(), version.clone());
    Ok((!is_same).then(|| Step::WritePullSecret { at: at.clone(), from, version }))
}

/// A registry credential that is named has to be there before anything is pulled with it.
pub(crate) fn pull_secret_exists(facts: &Facts, spec: &ValidSpec) -> Result<(), Obstacle> {
    match (&spec.registry_pull_secret, &facts.seen.secrets.or_look(|| Thing::Secrets)?.registry_pull) {
        (Some(name), Some(SecretSeen::Absent)) => Err(Trouble::rejected(
            "RegistryPullSecretMissing",
            format!(
                "The Secret {name} with the registry credential does not exist. Create it in namespace {NAMESPACE} with type \
                 kubernetes.io/dockerconfigjson, or remove spec.registryPullSecretRef."
            ),
        )
        .into()),
        _ => Ok(()),
    }
}
