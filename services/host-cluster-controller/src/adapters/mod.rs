//! The ports of the controller, made real: managed clusters, Flux on them, and the Secrets of the management cluster.
//!
//! Only here are secrets opened. An object on a managed cluster is changed or deleted only if it carries our mark.

mod connect;
mod flux;
mod git_secret;
mod object;
mod presence;
mod secrets;
mod target;

pub use connect::Connections;
pub use flux::{FluxConfig, FluxOnClusters};
pub use secrets::ManagementSecrets;
pub use target::Clusters;

/// Namespace of Flux and of KubeOpera's objects for it on every managed cluster.
const FLUX_NAMESPACE: &str = "flux-system";
/// Key of a registry credential in a Secret of type `kubernetes.io/dockerconfigjson`.
const DOCKER_CONFIG: &str = ".dockerconfigjson";
/// Field manager of everything written to a managed cluster. Flux takes over fields of managers whose names begin with
/// `kubectl`, `before-first-apply` or `kustomize-controller`; this one is left alone.
const FIELD_MANAGER: &str = "kubeopera";
/// Label that Flux puts on what a Kustomization has applied: that Kustomization's name.
const LABEL_KUSTOMIZATION: &str = "kustomize.toolkit.fluxcd.io/name";
/// Label that Flux puts on what a Kustomization has applied: that Kustomization's namespace.
const LABEL_KUSTOMIZATION_NAMESPACE: &str = "kustomize.toolkit.fluxcd.io/namespace";
/// Label that Flux puts on what a Helm release has applied: that release's name.
const LABEL_HELM_RELEASE: &str = "helm.toolkit.fluxcd.io/name";
/// Label that Flux puts on what a Helm release has applied: that release's namespace.
const LABEL_HELM_RELEASE_NAMESPACE: &str = "helm.toolkit.fluxcd.io/namespace";
/// How the names of the Kustomizations of KubeOpera's tree begin.
const OUR_KUSTOMIZATIONS: &str = "kubeopera-";
