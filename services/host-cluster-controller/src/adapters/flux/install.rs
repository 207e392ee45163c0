//! Applying Flux's manifest, in the order in which the API server can take it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use futures::{StreamExt, TryStreamExt, stream};
use host_cluster_controller_crd::{KUBEOPERA, LABEL_MANAGED_BY};
use kube::{
    Client,
    api::{DynamicObject, ListParams},
};
use kube_kit::{Applier, Attempt, View, is_not_found, read, trouble, wait_until};
use vocabulary::Trouble;

use super::{
    detect,
    manifest::{CrdSeen, INSTALLATION, Manifest, kind},
};

/// The API server takes well under a second to serve a new kind.
const CRDS_ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);

/// Makes Flux be installed as the manifest says; does not wait for its controllers.
///
/// Another's Flux is never touched, and what is stored in a version that the manifest no longer has is not orphaned.
pub(super) async fn install(applier: &Applier, manifest: &Manifest) -> Result<(), Trouble> {
    let client = applier.client();
    if let Some(owner) = detect::owner(client).await?.and_then(detect::Owner::other) {
        return Err(Trouble::rejected(
            "FluxManagedByOther",
            format!("Flux on this cluster is managed by {owner}, so it is not changed. Upgrade it there."),
        ));
    }
    let crds: Vec<_> = manifest.crds().collect();
    for (name, versions) in &crds {
        refuse_lost_versions(client, name, versions).await?;
    }
    applier.apply_all(&manifest.foundation()).await?;
    for (name, _) in &crds {
        wait_for_crd(client, name).await?;
    }
    applier.apply_all(&manifest.rest()).await?;
    Ok(())
}

/// The API server refuses a CRD without a version in which objects are still stored, halfway through an upgrade.
async fn refuse_lost_versions(client: &Client, name: &str, versions: &[&str]) -> Result<(), Trouble> {
    let seen = crd(client, name).await?;
    let stored = seen.as_ref().map(CrdSeen::stored_versions).unwrap_or_default();
    let lost: Vec<_> =
        stored.iter().filter(|stored| !versions.contains(&stored.as_str())).map(String::as_str).collect();
    if lost.is_empty() {
        return Ok(());
    }
    Err(Trouble::rejected(
        "FluxStoredVersions",
        format!(
            "Flux was not upgraded: objects of {name} are still stored in version {}, which the new Flux no longer has. Run \
             `flux migrate` on the cluster, or upgrade Flux one minor version at a time.",
            lost.join(", ")
        ),
    ))
}

async fn wait_for_crd(client: &Client, name: &str) -> Result<(), Trouble> {
    let established = wait_until(CRDS_ESTABLISHED_WITHIN, Duration::from_millis(200), || async {
        Ok(crd(client, name).await?.filter(CrdSeen::is_established))
    });
    established.await?.map(drop).ok_or_else(|| {
        Trouble::transient(
            "CRDNotEstablished",
            format!("The API server has not yet accepted the CustomResourceDefinition {name}."),
        )
    })
}

async fn crd(client: &Client, name: &str) -> Result<Option<CrdSeen>, Trouble> {
    let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
    read(client, Attempt("read Flux's CustomResourceDefinitions"), &path, View::Whole).await
}

/// Whether every object of the manifest is there, from this very manifest with these very patches.
pub(super) async fn is_installed(applier: &Applier, manifest: &Manifest) -> Result<bool, Trouble> {
    let mut collections: BTreeMap<_, Vec<&DynamicObject>> = BTreeMap::new();
    for object in &manifest.objects {
        let namespace = object.metadata.namespace.as_deref();
        collections.entry((kind(object), namespace)).or_default().push(object);
    }
    let looks: Vec<_> =
        collections.into_values().map(|objects| is_complete(applier, objects, &manifest.installation)).collect();
    let complete: Vec<bool> = stream::iter(looks).buffer_unordered(6).try_collect().await?;
    Ok(complete.into_iter().all(|complete| complete))
}

/// Whether all these objects of one collection are there, made by this installation.
async fn is_complete(applier: &Applier, objects: Vec<&DynamicObject>, installation: &str) -> Result<bool, Trouble> {
    let Some(first) = objects.first() else { return Ok(true) };
    let present = installed(applier, first, installation).await?;
    Ok(objects.iter().all(|object| object.metadata.name.as_ref().is_some_and(|name| present.contains(name))))
}

/// Names of the objects of one collection that this installation has made.
async fn installed(applier: &Applier, like: &DynamicObject, installation: &str) -> Result<BTreeSet<String>, Trouble> {
    let params = ListParams::default().labels(&format!("{LABEL_MANAGED_BY}={KUBEOPERA}"));
    let found = match applier.api(like).await?.list_metadata(&params).await {
        Ok(found) => found.items,
        Err(error) if is_not_found(&error) => Vec::new(),
        Err(error) => return Err(trouble(Attempt("look at the installed Flux"), &error)),
    };
    let ours = found.into_iter().filter(|object| {
        object
            .metadata
            .annotations
            .as_ref()
            .and_then(|all| all.get(INSTALLATION))
            .is_some_and(|value| value == installation)
    });
    Ok(ours.filter_map(|object| object.metadata.name).collect())
}
