//! Flux's objects as the tests look at them.

use kube::{
    Api,
    api::{ApiResource, DynamicObject, GroupVersionKind},
};

/// Flux's namespace.
pub(crate) const FLUX: &str = "flux-system";

/// `GitRepository` objects of Flux's namespace.
pub(crate) fn git_repositories(client: &kube::Client) -> Api<DynamicObject> {
    flux_objects(client, "source.toolkit.fluxcd.io", "GitRepository")
}

/// `Kustomization` objects of Flux's namespace.
pub(crate) fn kustomizations(client: &kube::Client) -> Api<DynamicObject> {
    flux_objects(client, "kustomize.toolkit.fluxcd.io", "Kustomization")
}

fn flux_objects(client: &kube::Client, group: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
    Api::namespaced_with(client.clone(), FLUX, &resource)
}
