//! `InstallingKubeOpera`: Flux is pointed at the new tree and reconciles it; then the first administrator is created, if
//! one was asked for.
//!
//! Looks at: the cluster, Flux, the Git credentials and the registry credential here and there, KubeOpera's own Flux objects.

use host_cluster_controller_crd::{GitOpsStatus, ValidSpec};
use jiff::SignedDuration;
use vocabulary::Trouble;

use super::{
    bootstrapping_flux::{controllers_are_ready, is_ready},
    secret_name, target,
};
use crate::{
    copies::{other_git_credentials, other_pull_secret, pull_secret_exists},
    facts::{Facts, FluxSeen, KustomizationSeen, ObjectSeen, SourceSeen, SyncSeen, Thing},
    identity,
    obstacle::Obstacle,
    plan::Milestone,
    step::{Step, SyncWanted},
};

/// How long transient troubles may go on before the phase fails.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(15);
/// How often to look while Flux works.
pub const POLL: SignedDuration = SignedDuration::from_secs(5);
/// What the phase says when it begins.
pub const OPENING: &str = "Pointing Flux at the cluster's tree.";

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec) -> Result<Step, Obstacle> {
    let at = target(spec)?;
    identity::confirm(facts, &at)?;
    let flux = match facts.seen.flux.or_look(|| Thing::Flux(at.clone()))? {
        FluxSeen::Absent => return Ok(Step::Begin(Milestone::FluxBootstrapped)),
        FluxSeen::Present(flux) => flux,
    };
    let Some((tree, wanted)) = wanted(facts, spec) else { return Ok(Step::Begin(Milestone::TreeGenerated)) };
    if let Some(step) = other_git_credentials(facts, spec, &at)? {
        return Ok(step);
    }
    pull_secret_exists(facts, spec)?;
    if let Some(step) = other_pull_secret(facts, spec, &at)? {
        return Ok(step);
    }
    let sync = facts.seen.sync.or_look(|| Thing::Sync(at.clone()))?;
    if differs(sync, &wanted) || !is_asked_for(sync, tree) {
        return Ok(Step::PointFlux { at, wanted });
    }
    controllers_are_ready(flux)?;
    is_applied(sync, tree)?;
    match &spec.administrator {
        None => Ok(Step::Settle(Milestone::PlatformInstalled)),
        Some(administrator) => Ok(Step::EnsureAdministrator {
            cluster: spec.id,
            administrator: administrator.clone(),
            password: secret_name(spec.id.admin_password_secret())?,
        }),
    }
}

/// What Flux should be pointed at; none while the tree was not written.
pub(crate) fn wanted<'a>(facts: &'a Facts, spec: &ValidSpec) -> Option<(&'a str, SyncWanted)> {
    let GitOpsStatus { branch, commit, .. } = facts.previous.git_ops.as_ref()?;
    let commit = commit.as_deref()?;
    let wanted = SyncWanted {
        cluster: spec.id,
        url: spec.git_url.clone(),
        branch: branch.clone(),
        path: spec.git_path.clone(),
        request: commit.to_owned(),
    };
    Some((commit, wanted))
}

/// Whether source and root are not what they should be.
pub(crate) fn differs(sync: &SyncSeen, wanted: &SyncWanted) -> bool {
    let source_fits = sync.source.as_ref().is_some_and(|source| {
        source.url == wanted.url.as_str() && source.branch.as_deref() == Some(wanted.branch.as_str())
    });
    let root_fits = sync.root.as_ref().is_some_and(|root| root.path == wanted.path.as_str());
    !(source_fits && root_fits)
}

/// Whether the source has been asked for a commit, or has it anyway.
fn is_asked_for(sync: &SyncSeen, commit: &str) -> bool {
    sync.source.as_ref().is_some_and(|source| source.requested.as_deref() == Some(commit) || has(source, commit))
}

/// Whether the source holds a commit or something newer. A source that has acted on a request made when the commit
/// existed has fetched it or what came after it.
fn has(source: &SourceSeen, commit: &str) -> bool {
    source.handled_request.as_deref() == Some(commit)
        || source.revision.as_deref().is_some_and(|at| at.ends_with(commit))
}

/// Whether Flux has fetched the tree and applied all of it; otherwise what is awaited.
fn is_applied(sync: &SyncSeen, commit: &str) -> Result<(), Trouble> {
    all_ready(sync)?;
    let Some(source) = &sync.source else { return Ok(()) };
    if !has(source, commit) {
        return Err(Trouble::waiting("SourceOutdated", "Waiting for Flux to fetch the cluster's tree from Git."));
    }
    let behind = sync.kustomizations().find(|one| one.applied_revision != source.revision);
    behind.map_or(Ok(()), |one| {
        Err(Trouble::waiting(
            "ApplyingTree",
            format!("Waiting for Kustomization flux-system/{} to apply the tree.", one.name),
        ))
    })
}

/// Whether the source and every Kustomization do their work; otherwise which does not, and why.
pub(crate) fn all_ready(sync: &SyncSeen) -> Result<(), Trouble> {
    if let Some(source) = &sync.source {
        let object = "GitRepository flux-system/kubeopera".to_owned();
        resumed(source.is_suspended, &object)?;
        is_ready(&ObjectSeen { object, readiness: source.readiness.clone() })?;
    }
    // The children first: while one of them is not ready the root often only says that it waits for them. And before one
    // that waits for another, the other.
    let mut waits_for_another = Ok(());
    for KustomizationSeen { name, is_suspended, readiness, .. } in sync.children.iter().chain(&sync.root) {
        let object = format!("Kustomization flux-system/{name}");
        resumed(*is_suspended, &object)?;
        match is_ready(&ObjectSeen { object, readiness: readiness.clone() }) {
            Err(trouble) if trouble.reason == "DependencyNotReady" => {
                waits_for_another = waits_for_another.and(Err(trouble));
            }
            ready => ready?,
        }
    }
    waits_for_another
}

fn resumed(is_suspended: bool, object: &str) -> Result<(), Trouble> {
    if is_suspended {
        let message = format!("{object} is suspended on the cluster. Set its spec.suspend to false to go on.");
        return Err(Trouble::waiting("SuspendedOnCluster", message));
    }
    Ok(())
}
