//! The Flux Kustomizations of a tree: one per layer, each waiting for those it stands on.
//!
//! The GitRepository they read and the root Kustomization that applies them are not here: the controller applies both,
//! so that a tree can never remove itself.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::{cluster::Cluster, layer::Layer, object::Object};

/// Where Flux's own objects live.
pub const FLUX_NAMESPACE: &str = "flux-system";
/// The GitRepository that the controller applies.
pub const GIT_REPOSITORY: &str = "kubeopera";

/// The Kustomization of a layer. A layer with nothing in it is not `rendered`; what stands on it then waits for what
/// it would have waited for.
pub(crate) fn kustomization(cluster: &Cluster, layer: Layer, rendered: &BTreeSet<Layer>) -> Object {
    let mut spec = json!({
        "interval": "1h",
        "retryInterval": "30s",
        "timeout": layer.timeout(),
        "path": format!("./{}/{}", cluster.path, layer.folder()),
        "prune": layer.prunes(),
        // Removing a Kustomization is how KubeOpera lets go of a cluster: what it applied stays.
        "deletionPolicy": "Orphan",
        "wait": layer.waits_for_health(),
        "sourceRef": { "kind": "GitRepository", "name": GIT_REPOSITORY },
    });
    let depends_on: Vec<Value> =
        standing_on(layer, rendered).into_iter().map(|layer| json!({ "name": layer.kustomization() })).collect();
    if let (false, Some(spec)) = (depends_on.is_empty(), spec.as_object_mut()) {
        spec.insert("dependsOn".to_owned(), depends_on.into());
    }
    Object::namespaced("kustomize.toolkit.fluxcd.io/v1", "Kustomization", FLUX_NAMESPACE, &layer.kustomization())
        .with("spec", spec)
}

fn standing_on(layer: Layer, rendered: &BTreeSet<Layer>) -> BTreeSet<Layer> {
    let mut found = BTreeSet::new();
    for below in layer.stands_on() {
        if rendered.contains(below) {
            found.insert(*below);
        } else {
            found.extend(standing_on(*below, rendered));
        }
    }
    found
}
