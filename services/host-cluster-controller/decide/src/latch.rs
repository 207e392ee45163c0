//! When a milestone counts as met: once met it stays so for the inputs it was met with.
//!
//! The memory is the conditions and fingerprints of the previous status. The phase is never read back.

use host_cluster_controller_crd::{ConditionType, HostClusterStatus, ModeSpec, ValidSpec};
use serde::Serialize;
use sha2::{Digest, Sha256};
use vocabulary::hex;

use crate::{
    facts::{Facts, SecretSeen},
    plan::{Milestone, Way},
};

/// What is remembered as the version of a Secret that is not there.
pub(crate) const ABSENT: &str = "absent";
/// Key in `status.fingerprints`: version of the supplied kubeconfig's Secret when it was seen last.
pub(crate) const KUBECONFIG: &str = "kubeconfig";
/// Key: version of the Git credentials' Secret when it was seen last.
pub(crate) const GIT_CREDENTIALS: &str = "gitCredentials";
/// Key: version of the registry credential's Secret when it was seen last.
pub(crate) const REGISTRY_PULL: &str = "registryPull";
/// Key: the value of the annotation that asked for the last attempt at once.
pub(crate) const RETRY_REQUESTED: &str = "retryRequested";
/// Key: the KubeOpera from which the cluster was to be taken over at the last attempt.
pub(crate) const TAKE_OVER: &str = "takeOver";
/// Key: what the last provisioning run was asked to make.
pub(crate) const RUN: &str = "run";

/// The first milestone of the plan that is not met.
pub(crate) fn first_unmet(facts: &Facts, spec: &ValidSpec) -> Option<Milestone> {
    Way::of(&spec.mode).milestones().iter().copied().find(|milestone| !is_met(facts, &facts.previous, spec, *milestone))
}

/// Whether a milestone is met by a status: its condition is true, for the inputs of today.
pub(crate) fn is_met(facts: &Facts, status: &HostClusterStatus, spec: &ValidSpec, milestone: Milestone) -> bool {
    if !is_done(status, milestone) {
        return false;
    }
    let reached_with = status.fingerprints.get(milestone.condition().as_str());
    if reached_with != Some(&fingerprint(spec, status, milestone)) {
        return false;
    }
    // Another kubeconfig has to be validated; one that is gone does not matter, since a copy is kept.
    let other_kubeconfig = supplied_kubeconfig(facts)
        .is_some_and(|version| version != ABSENT && has_changed(status, KUBECONFIG, Some(version)));
    milestone != Milestone::AccessValidated || !other_kubeconfig
}

/// Whether the work towards a milestone was published as begun.
pub(crate) fn has_begun(status: &HostClusterStatus, milestone: Milestone) -> bool {
    condition(status, milestone) == Some("False")
}

/// Whether a milestone is met by what a status says.
pub(crate) fn is_done(status: &HostClusterStatus, milestone: Milestone) -> bool {
    condition(status, milestone) == Some("True")
}

/// Whether the work towards a milestone was ever begun, whatever came of it.
pub(crate) fn was_ever_begun(status: &HostClusterStatus, milestone: Milestone) -> bool {
    matches!(condition(status, milestone), Some("False" | "True"))
}

fn condition(status: &HostClusterStatus, milestone: Milestone) -> Option<&str> {
    let type_ = milestone.condition().as_str();
    status.conditions.iter().find(|condition| condition.type_ == type_).map(|condition| condition.status.as_str())
}

/// Whether somebody changed something since the last attempt: the spec, a Secret it names, an annotation that asks for
/// an attempt, or that the resource was to be left alone.
pub(crate) fn inputs_changed(facts: &Facts) -> bool {
    let status = &facts.previous;
    let spec_changed = status.observed_generation.is_some_and(|generation| generation != facts.resource.generation);
    let says_anew =
        |annotation: &Option<String>, key| annotation.is_some() && annotation.as_ref() != status.fingerprints.get(key);
    let asked_anew =
        says_anew(&facts.resource.retry_requested, RETRY_REQUESTED) || says_anew(&facts.resource.take_over, TAKE_OVER);
    let was_suspended = status.conditions.iter().any(|one| one.type_ == ConditionType::Suspended.as_str());
    spec_changed
        || asked_anew
        || was_suspended
        || has_changed(status, KUBECONFIG, supplied_kubeconfig(facts))
        || has_changed(status, GIT_CREDENTIALS, git_credentials(facts))
        || has_changed(status, REGISTRY_PULL, registry_pull(facts))
}

/// Whether a Secret has another version than when it was seen last. One that cannot be looked at has not changed.
fn has_changed(status: &HostClusterStatus, key: &str, now: Option<&str>) -> bool {
    now.is_some_and(|now| status.fingerprints.get(key).is_some_and(|then| then != now))
}

/// The version of the supplied kubeconfig's Secret, where it was looked for.
pub(crate) fn supplied_kubeconfig(facts: &Facts) -> Option<&str> {
    facts.seen.secrets.seen()?.kubeconfig.as_ref().map(version)
}

/// The version of the Git credentials' Secret, where it was looked for.
pub(crate) fn git_credentials(facts: &Facts) -> Option<&str> {
    facts.seen.secrets.seen().map(|secrets| version(&secrets.git_credentials))
}

/// The version of the registry credential's Secret, where it was looked for.
pub(crate) fn registry_pull(facts: &Facts) -> Option<&str> {
    facts.seen.secrets.seen()?.registry_pull.as_ref().map(version)
}

fn version(secret: &SecretSeen) -> &str {
    match secret {
        SecretSeen::Present { version } => version,
        SecretSeen::Absent => ABSENT,
    }
}

/// A hash of what a milestone depends on. Each depends on what it truly needs and on nothing else: another kubeconfig
/// does not write the tree anew, and another domain does not install Flux again.
pub(crate) fn fingerprint(spec: &ValidSpec, status: &HostClusterStatus, milestone: Milestone) -> String {
    match milestone {
        Milestone::AccessValidated => match &spec.mode {
            ModeSpec::Connect { kubeconfig } => hash(kubeconfig),
            ModeSpec::Host | ModeSpec::Provision(_) => hash(&()),
        },
        Milestone::InfrastructureReady => run_fingerprint(spec),
        Milestone::FluxBootstrapped => hash(&spec.git_credentials),
        Milestone::TreeGenerated => hash(&(
            (&spec.id, &spec.name, &spec.provider, &spec.region),
            (&spec.git_url, &spec.git_branch, &spec.git_path, &spec.domain, &spec.registry_pull_secret),
            spec.administrator.as_ref().map(|administrator| &administrator.email),
        )),
        Milestone::PlatformInstalled => hash(&(
            (&spec.git_url, &spec.git_path),
            status.git_ops.as_ref().map(|tree| (&tree.branch, &tree.commit)),
            spec.administrator.as_ref().map(|administrator| (&administrator.email, &administrator.username)),
        )),
    }
}

/// A hash of what a provisioning run makes.
pub(crate) fn run_fingerprint(spec: &ValidSpec) -> String {
    match &spec.mode {
        ModeSpec::Provision(wanted) => hash(&(
            (&spec.provider, &spec.region, wanted.topology, wanted.nodes),
            (&wanted.instance_type, &wanted.kubernetes_version, &wanted.credential),
        )),
        ModeSpec::Host | ModeSpec::Connect { .. } => hash(&()),
    }
}

/// The first 16 bytes of the SHA-256 of a value's JSON: enough to tell inputs apart.
fn hash(inputs: &impl Serialize) -> String {
    let json = serde_json::to_vec(inputs).unwrap_or_default();
    hex(&Sha256::digest(json)).chars().take(32).collect()
}
