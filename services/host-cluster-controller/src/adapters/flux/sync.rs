//! KubeOpera's own objects on a managed cluster: the Git credentials, the source, the root Kustomization.
//!
//! They are applied here and not by the tree they point to, so that nothing can prune itself, and letting go needs
//! nothing but the cluster. What does not carry the cluster's label is neither changed by a removal nor deleted.

use std::{collections::BTreeMap, time::Duration};

use gitops_scaffolder_contract::GitCredential;
use host_cluster_controller_crd::{Installation, KUBEOPERA, LABEL_MANAGED_BY, is_marked, marks};
use host_cluster_controller_decide::{GitSecretSeen, SyncWanted};
use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret},
};
use kube::{
    Api, Client,
    api::{ApiResource, DeleteParams, DynamicObject, ObjectMeta, Patch, PatchParams, PostParams, Preconditions},
    core::GroupVersionKind,
};
use kube_kit::{Applier, Attempt, printable, trouble, unless_gone, wait_until, word};
use serde_json::json;
use sha2::{Digest, Sha256};
use vocabulary::{ClusterId, Trouble, hex};

use super::health::{self, Kustomization, NAME, REQUESTED_AT};
use crate::{
    adapters::{FIELD_MANAGER, FLUX_NAMESPACE, git_secret::data_for_flux},
    ports::SyncPart,
};

/// Secret with the Git credentials.
const GIT_SECRET: &str = "kubeopera-git";
/// Annotation: version of the Secret on the management cluster that the credentials were written from.
pub(super) const SOURCE_VERSION: &str = "kubeopera.io/source-version";
/// Annotation: SHA-256 of the credentials as they were written. Another means that somebody changed them.
pub(super) const CONTENT: &str = "kubeopera.io/content-sha256";
/// Flux's own finalizer: what prunes.
const FLUX_FINALIZER: &str = "finalizers.fluxcd.io";
/// How long one call waits for a reconciliation under way; the next call waits on.
const QUIET_WITHIN: Duration = Duration::from_secs(10);

/// The KubeOpera that manages the cluster, by its mark on the Git credentials: they are the first object of its own that it
/// writes, and the last that it takes away.
pub(in crate::adapters) async fn installation(client: &Client) -> Result<Option<Installation>, Trouble> {
    let api: Api<Secret> = Api::namespaced(client.clone(), FLUX_NAMESPACE);
    let found = api.get_metadata_opt(GIT_SECRET).await;
    let found =
        found.map_err(|error| trouble(Attempt("look whether another KubeOpera manages the cluster"), &error))?;
    let marked = found.and_then(|secret| Installation::of(&secret.metadata));
    Ok(marked.map(|Installation { id, url }| Installation { id: word(&id), url: url.map(|url| printable(&url, 200)) }))
}

/// The Git credentials on the cluster that carry its label; without a version if they are not as this KubeOpera wrote them.
pub(super) async fn git_secret(
    client: &Client,
    cluster: ClusterId,
    installation: &Installation,
) -> Result<GitSecretSeen, Trouble> {
    let api: Api<Secret> = Api::namespaced(client.clone(), FLUX_NAMESPACE);
    let found =
        api.get_opt(GIT_SECRET).await.map_err(|error| trouble(Attempt("read Flux's Git credentials"), &error))?;
    let Some(secret) = found.filter(|secret| is_marked(&secret.metadata, cluster)) else {
        return Ok(GitSecretSeen::Absent);
    };
    let annotation = |key: &str| secret.metadata.annotations.as_ref()?.get(key).cloned();
    let is_as_written = Installation::of(&secret.metadata).as_ref() == Some(installation)
        && annotation(CONTENT).is_some_and(|written| written == content(secret.data.as_ref()));
    Ok(GitSecretSeen::Present { version: if is_as_written { annotation(SOURCE_VERSION) } else { None } })
}

/// Writes the Git credentials, and the namespace if there is none.
pub(super) async fn write_git_secret(
    client: &Client,
    cluster: ClusterId,
    installation: &Installation,
    credential: &GitCredential,
    version: &str,
) -> Result<(), Trouble> {
    const ATTEMPT: Attempt<'static> = Attempt("write Flux's Git credentials");
    ensure_namespace(client).await?;
    let data = data_for_flux(credential);
    let mut labels = marks(cluster);
    // Flux looks again as soon as the Secret changes.
    labels.insert("reconcile.fluxcd.io/watch".to_owned(), "Enabled".to_owned());
    let annotations = [(SOURCE_VERSION, version.to_owned()), (CONTENT, content(Some(&data)))];
    let mut secret = Secret {
        metadata: ObjectMeta {
            name: Some(GIT_SECRET.to_owned()),
            namespace: Some(FLUX_NAMESPACE.to_owned()),
            labels: Some(labels),
            annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
            ..ObjectMeta::default()
        },
        data: Some(data),
        type_: Some("Opaque".to_owned()),
        ..Secret::default()
    };
    installation.mark(&mut secret.metadata);
    let api: Api<Secret> = Api::namespaced(client.clone(), FLUX_NAMESPACE);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    api.patch(GIT_SECRET, &params, &Patch::Apply(&secret)).await.map(drop).map_err(|error| trouble(ATTEMPT, &error))
}

/// A Flux that others installed may live in another namespace.
async fn ensure_namespace(client: &Client) -> Result<(), Trouble> {
    let api: Api<Namespace> = Api::all(client.clone());
    let attempt = format!("create namespace {FLUX_NAMESPACE}");
    let failed = |error: kube::Error| trouble(Attempt(&attempt), &error);
    if api.get_opt(FLUX_NAMESPACE).await.map_err(failed)?.is_some() {
        return Ok(());
    }
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(FLUX_NAMESPACE.to_owned());
    namespace.metadata.labels = Some([(LABEL_MANAGED_BY.to_owned(), KUBEOPERA.to_owned())].into());
    match api.create(&PostParams::default(), &namespace).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        answer => answer.map(drop).map_err(failed),
    }
}

/// Makes source and root Kustomization be as wanted, and asks Flux to look at once.
pub(super) async fn point(applier: &Applier, wanted: &SyncWanted, installation: &Installation) -> Result<(), Trouble> {
    for mut object in [source(wanted), root(wanted)] {
        installation.mark(&mut object.metadata);
        applier.apply(&object).await?;
    }
    Ok(())
}

fn source(wanted: &SyncWanted) -> DynamicObject {
    // Only the cluster's own folder becomes part of the artifact: a commit to another cluster's folder is no news.
    // `sparseCheckout` would take first-level folders only (https://github.com/fluxcd/source-controller/issues/1774).
    let ignore = format!("/*\n!/{}\n", wanted.path);
    object(wanted, "source.toolkit.fluxcd.io", "GitRepository").data(json!({"spec": {
        "interval": "1m",
        "timeout": "60s",
        "url": wanted.url.as_str(),
        "ref": {"branch": wanted.branch},
        "secretRef": {"name": GIT_SECRET},
        "ignore": ignore,
        "suspend": false,
    }}))
}

fn root(wanted: &SyncWanted) -> DynamicObject {
    object(wanted, "kustomize.toolkit.fluxcd.io", "Kustomization").data(json!({"spec": {
        "interval": "10m",
        "retryInterval": "1m",
        "timeout": "5m",
        "path": format!("./{}", wanted.path),
        "sourceRef": {"kind": "GitRepository", "name": NAME},
        "prune": true,
        // Whoever deletes the root by hand stops the syncing, and does not take down the platform.
        "deletionPolicy": "Orphan",
        "wait": false,
        "suspend": false,
    }}))
}

fn object(wanted: &SyncWanted, group: &str, kind: &str) -> DynamicObject {
    let mut object = DynamicObject::new(NAME, &ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind)));
    object.metadata.namespace = Some(FLUX_NAMESPACE.to_owned());
    object.metadata.labels = Some(marks(wanted.cluster));
    object.metadata.annotations = Some([(REQUESTED_AT.to_owned(), wanted.request.clone())].into());
    object
}

/// Suspends the cluster's Kustomizations, the root first: while it works it would bring back a child's old form.
///
/// A suspended Kustomization prunes nothing when it is deleted, in every version of Flux; `deletionPolicy` says the same
/// to those that know it, and an API server that does not know it leaves it out.
pub(super) async fn suspend(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let (roots, children): (Vec<_>, Vec<_>) =
        health::kustomizations(client, cluster).await?.into_iter().partition(|one| one.metadata.name == NAME);
    for root in &roots {
        suspend_one(client, root).await?;
    }
    let quiet = wait_until(QUIET_WITHIN, Duration::from_millis(500), || async {
        let all = health::kustomizations(client, cluster).await?;
        let works = all.iter().any(|one| one.metadata.name == NAME && one.status.is_reconciling());
        Ok(if works { None } else { Some(()) })
    });
    if !roots.is_empty() && quiet.await?.is_none() {
        return Err(Trouble::waiting(
            "RootStillReconciling",
            "Waiting for Flux to finish the reconciliation of Kustomization flux-system/kubeopera that is under way.",
        ));
    }
    for child in &children {
        suspend_one(client, child).await?;
    }
    Ok(())
}

async fn suspend_one(client: &Client, kustomization: &Kustomization) -> Result<(), Trouble> {
    if kustomization.spec.suspend {
        return Ok(());
    }
    let name = &kustomization.metadata.name;
    let attempt = format!("suspend Kustomization {FLUX_NAMESPACE}/{name}");
    let patch = json!({"spec": {"suspend": true, "deletionPolicy": "Orphan"}});
    let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
    let api = flux_objects(client, "kustomize.toolkit.fluxcd.io", "Kustomization");
    unless_gone(api.patch(name, &params, &Patch::Merge(patch)).await, Attempt(&attempt))
}

/// Removes one part of what KubeOpera put there.
pub(super) async fn remove(client: &Client, cluster: ClusterId, part: SyncPart) -> Result<(), Trouble> {
    match part {
        SyncPart::Kustomizations => delete_suspended(client, cluster).await,
        SyncPart::KustomizationFinalizers => free_suspended(client, cluster).await,
        SyncPart::Source => delete_source(client, cluster).await,
        SyncPart::GitSecret => delete_git_secret(client, cluster).await,
    }
}

/// Deletes each Kustomization exactly as it was seen to be suspended: one that was changed since is left for the next
/// pass to look at.
async fn delete_suspended(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let mut all = health::kustomizations(client, cluster).await?;
    all.sort_by_key(|one| one.metadata.name == NAME);
    let api = flux_objects(client, "kustomize.toolkit.fluxcd.io", "Kustomization");
    for one in all.iter().filter(|one| one.spec.suspend && one.metadata.deletion_timestamp.is_none()) {
        let name = &one.metadata.name;
        let as_seen = Preconditions { resource_version: one.metadata.resource_version.clone(), uid: None };
        let params = DeleteParams::background().preconditions(as_seen);
        let attempt = format!("delete Kustomization {FLUX_NAMESPACE}/{name}");
        unless_gone(api.delete(name, &params).await, Attempt(&attempt))?;
    }
    Ok(())
}

/// Takes Flux's finalizer, and no other, off what is suspended and waits for a controller that does not answer.
async fn free_suspended(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let api = flux_objects(client, "kustomize.toolkit.fluxcd.io", "Kustomization");
    let all = health::kustomizations(client, cluster).await?;
    for one in all.iter().filter(|one| one.spec.suspend && one.metadata.deletion_timestamp.is_some()) {
        let left: Vec<_> = one.metadata.finalizers.iter().filter(|finalizer| *finalizer != FLUX_FINALIZER).collect();
        let name = &one.metadata.name;
        let attempt = format!("take the finalizer off Kustomization {FLUX_NAMESPACE}/{name}");
        let patch = json!({"metadata": {"resourceVersion": one.metadata.resource_version, "finalizers": left}});
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        unless_gone(api.patch(name, &params, &Patch::Merge(patch)).await, Attempt(&attempt))?;
    }
    Ok(())
}

async fn delete_source(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    if health::source(client, cluster).await?.is_none() {
        return Ok(());
    }
    let api = flux_objects(client, "source.toolkit.fluxcd.io", "GitRepository");
    unless_gone(
        api.delete(NAME, &DeleteParams::background()).await,
        Attempt("delete GitRepository flux-system/kubeopera"),
    )
}

async fn delete_git_secret(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    const ATTEMPT: &str = "delete Flux's Git credentials";
    let api: Api<Secret> = Api::namespaced(client.clone(), FLUX_NAMESPACE);
    let found = api.get_metadata_opt(GIT_SECRET).await.map_err(|error| trouble(Attempt(ATTEMPT), &error))?;
    if found.is_none_or(|secret| !is_marked(&secret.metadata, cluster)) {
        return Ok(());
    }
    unless_gone(api.delete(GIT_SECRET, &DeleteParams::default()).await, Attempt(ATTEMPT))
}

fn flux_objects(client: &Client, group: &str, kind: &str) -> Api<DynamicObject> {
    let resource = match kind {
        // The rule that makes a plural out of a kind would not find this one.
        "GitRepository" => {
            ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, "v1", kind), "gitrepositories")
        }
        _ => ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind)),
    };
    Api::namespaced_with(client.clone(), FLUX_NAMESPACE, &resource)
}

/// SHA-256 over keys and values, each with its length, so that nothing can be shifted from one to the other.
pub(super) fn content(data: Option<&BTreeMap<String, ByteString>>) -> String {
    let mut digest = Sha256::new();
    for (key, value) in data.into_iter().flatten() {
        for bytes in [key.as_bytes(), &value.0] {
            digest.update((bytes.len() as u64).to_be_bytes());
            digest.update(bytes);
        }
    }
    hex(&digest.finalize())
}

#[cfg(test)]
mod tests;
