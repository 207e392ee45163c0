//! Whether there is a Flux, whose it is, and whether it can be used.

use std::collections::BTreeMap;

use host_cluster_controller_crd::{KUBEOPERA, LABEL_MANAGED_BY};
use host_cluster_controller_decide::{FluxFitness, FluxInstallation, FluxSeen, ObjectSeen, Readiness};
use kube::Client;
use kube_kit::{Attempt, View, printable, read, read_all, word};
use serde::Deserialize;
use vocabulary::Trouble;

use super::workload::{self, Workload};
use crate::adapters::{FLUX_NAMESPACE, LABEL_KUSTOMIZATION, LABEL_KUSTOMIZATION_NAMESPACE, object::Metadata};

const ATTEMPT: Attempt<'static> = Attempt("look for Flux on the cluster");
/// The CRD that every Flux has.
const SOURCE_CRD: &str =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gitrepositories.source.toolkit.fluxcd.io";
/// The controllers our tree needs.
const CONTROLLERS: [&str; 3] = ["source-controller", "kustomize-controller", "helm-controller"];
/// The oldest Flux of others that our tree works with: its Helm releases retry by strategy, which 2.7 has first.
const OLDEST_MINOR: u32 = 7;
/// Kinds our tree is made of, by the API that serves them.
const APIS: [(&str, &[&str]); 3] = [
    ("source.toolkit.fluxcd.io/v1", &["GitRepository", "HelmRepository", "OCIRepository"]),
    ("kustomize.toolkit.fluxcd.io/v1", &["Kustomization"]),
    ("helm.toolkit.fluxcd.io/v2", &["HelmRelease"]),
];

/// Whose a Flux is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    /// We installed it.
    Ours,
    /// Somebody or something else did.
    Other(String),
}

impl Owner {
    /// Who it is, unless it is us.
    pub(super) fn other(self) -> Option<String> {
        match self {
            Self::Ours => None,
            Self::Other(owner) => Some(owner),
        }
    }
}

/// Whose the Flux on a cluster is; none if there is no Flux.
pub(super) async fn owner(client: &Client) -> Result<Option<Owner>, Trouble> {
    let crd: Option<Object> = read(client, ATTEMPT, SOURCE_CRD, View::Metadata).await?;
    Ok(crd.map(|crd| owner_by_labels(&crd.metadata.labels)))
}

/// Whoever installs Flux leaves labels on its CRDs.
fn owner_by_labels(labels: &BTreeMap<String, String>) -> Owner {
    let label = |key: &str| labels.get(key).map(String::as_str).filter(|value| !value.is_empty());
    if let Some(name) = label(LABEL_KUSTOMIZATION) {
        let namespace = label(LABEL_KUSTOMIZATION_NAMESPACE).unwrap_or(FLUX_NAMESPACE);
        return Owner::Other(format!("flux bootstrap (Kustomization {}/{})", word(namespace), word(name)));
    }
    if labels.keys().any(|key| key.starts_with("fluxcd.controlplane.io/")) {
        return Owner::Other("Flux Operator".to_owned());
    }
    match label(LABEL_MANAGED_BY) {
        Some(KUBEOPERA) => Owner::Ours,
        Some(other) => Owner::Other(printable(other, 60)),
        None => Owner::Other("flux install".to_owned()),
    }
}

/// What is there, apart from whether our own installation is up to date.
pub(super) async fn look(client: &Client) -> Result<FluxSeen, Trouble> {
    let Some(crd) = read::<Object>(client, ATTEMPT, SOURCE_CRD, View::Metadata).await? else {
        return Ok(FluxSeen::Absent);
    };
    let owner = owner_by_labels(&crd.metadata.labels);
    let deployments = controllers(client).await?;
    let mut components = not_served(client).await?;
    let kinds_are_served = components.is_empty();
    for deployment in &deployments {
        components.push(ObjectSeen {
            object: format!("Deployment {}/{}", deployment.namespace(), deployment.name()),
            readiness: workload::readiness(client, deployment).await?,
        });
    }
    let version = version(&crd.metadata.labels, &deployments);
    let fitness = match &owner {
        Owner::Ours => FluxFitness::Usable,
        Owner::Other(owner) => fitness(owner, version.as_deref(), &deployments, kinds_are_served),
    };
    Ok(FluxSeen::Present(FluxInstallation { managed_by_other: owner.other(), version, fitness, components }))
}

/// Flux's own Deployments, in whatever namespace they are, sorted by name.
async fn controllers(client: &Client) -> Result<Vec<Workload>, Trouble> {
    const DEPLOYMENTS: &str = "/apis/apps/v1/deployments";
    let is_flux = |deployment: &Workload| {
        CONTROLLERS.contains(&deployment.name()) || deployment.name() == "notification-controller"
    };
    // All ways of installing set one of these labels; charts of others do not always set the first.
    for label in [("app.kubernetes.io/part-of", "flux"), ("control-plane", "controller")] {
        let found: Option<Vec<Workload>> = read_all(client, ATTEMPT, DEPLOYMENTS, &[label], View::Whole).await?;
        let mut found: Vec<_> = found.unwrap_or_default().into_iter().filter(is_flux).collect();
        if !found.is_empty() {
            found.sort_by(|a, b| a.name().cmp(b.name()));
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Kinds that the API server does not serve (yet), as components that are not ready.
async fn not_served(client: &Client) -> Result<Vec<ObjectSeen>, Trouble> {
    let mut missing = Vec::new();
    for (api, kinds) in APIS {
        let served: Option<Resources> = read(client, ATTEMPT, &format!("/apis/{api}"), View::Whole).await?;
        let served = served.unwrap_or_default().resources;
        for kind in kinds.iter().filter(|kind| !served.iter().any(|resource| resource.kind == **kind)) {
            missing.push(ObjectSeen {
                object: format!("CustomResourceDefinition of {kind}"),
                readiness: Readiness::NotReady {
                    reason: "NotEstablished".to_owned(),
                    why: format!("The API server does not serve {kind} in {api}."),
                },
            });
        }
    }
    Ok(missing)
}

/// The version by label; else by the image of source-controller, whose minor version is Flux's own.
fn version(labels: &BTreeMap<String, String>, deployments: &[Workload]) -> Option<String> {
    let by_label = deployments
        .iter()
        .filter_map(|deployment| deployment.label("app.kubernetes.io/version"))
        .chain(labels.get("app.kubernetes.io/version").map(String::as_str))
        .map(|version| format!("v{}", version.trim_start_matches('v')))
        .find(|version| version.starts_with("v2.") && minor(version).is_some());
    let by_image = || {
        let source = deployments.iter().find(|deployment| deployment.name() == "source-controller")?;
        let (_, tag) = source.image()?.split('@').next()?.rsplit_once(':')?;
        let (major, rest) = tag.strip_prefix('v')?.split_once('.')?;
        let minor: u32 = rest.split('.').next()?.parse().ok()?;
        match major {
            "1" => Some(format!("v2.{minor}")),
            // Before Flux 2.0 source-controller had version 0.x.
            "0" => Some(format!("v0.{minor}")),
            _ => None,
        }
    };
    by_label.map(|version| word(&version)).or_else(by_image)
}

/// `9` of `v2.9.4`.
pub(super) fn minor(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').nth(1)?.parse().ok()
}

/// Whether a Flux that is not ours can carry our tree.
fn fitness(owner: &str, version: Option<&str>, deployments: &[Workload], kinds_are_served: bool) -> FluxFitness {
    let unusable = |what: String| FluxFitness::Unusable { why: what };
    if let Some(version) = version
        && (!version.starts_with("v2.") || minor(version).is_none_or(|minor| minor < OLDEST_MINOR))
    {
        return unusable(format!(
            "Flux {version}, managed by {owner}, is too old: KubeOpera needs v2.{OLDEST_MINOR} or newer. Upgrade it with {owner}."
        ));
    }
    let missing: Vec<_> =
        CONTROLLERS.into_iter().filter(|name| !deployments.iter().any(|found| found.name() == *name)).collect();
    if !missing.is_empty() {
        return unusable(format!(
            "There are CustomResourceDefinitions of Flux, managed by {owner}, but no {}. Complete that installation, or remove \
             its CustomResourceDefinitions so that KubeOpera can install Flux.",
            missing.join(" and no ")
        ));
    }
    if !kinds_are_served {
        return unusable(format!(
            "The Flux on this cluster, managed by {owner}, lacks kinds that KubeOpera's tree uses (GitRepository, \
             HelmRepository, OCIRepository, Kustomization, HelmRelease in their stable versions). Upgrade it with {owner}."
        ));
    }
    if let Some(narrow) = deployments.iter().find(|deployment| {
        deployment.namespace() != FLUX_NAMESPACE && deployment.args().any(|arg| arg == "--watch-all-namespaces=false")
    }) {
        return unusable(format!(
            "The Flux on this cluster, managed by {owner}, looks at namespace {} only, and KubeOpera's objects are in \
             {FLUX_NAMESPACE}. Let it watch all namespaces.",
            word(narrow.namespace())
        ));
    }
    FluxFitness::Usable
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

#[derive(Deserialize, Default)]
struct Resources {
    resources: Vec<Served>,
}

#[derive(Deserialize)]
struct Served {
    kind: String,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
    use serde_json::json;

    use super::*;

    fn labels(labels: serde_json::Value) -> BTreeMap<String, String> {
        serde_json::from_value(labels).unwrap()
    }

    fn controller(name: &str, namespace: &str, tag: &str, args: &[&str], labels: serde_json::Value) -> Workload {
        serde_json::from_value(json!({
            "metadata": {"name": name, "namespace": namespace, "labels": labels},
            "spec": {"template": {"spec": {"containers": [{"image": format!("ghcr.io/fluxcd/{name}:{tag}"), "args": args}]}}},
        }))
        .unwrap()
    }

    fn all(namespace: &str, args: &[&str]) -> Vec<Workload> {
        CONTROLLERS.map(|name| controller(name, namespace, "v1.9.4", args, json!({}))).into()
    }

    #[test]
    fn whoever_installed_flux_is_named() {
        for (given, owner) in [
            (json!({LABEL_MANAGED_BY: "kubeopera", "app.kubernetes.io/part-of": "flux"}), None),
            (
                json!({LABEL_KUSTOMIZATION: "flux-system", LABEL_KUSTOMIZATION_NAMESPACE: "flux-system"}),
                Some("flux bootstrap (Kustomization flux-system/flux-system)"),
            ),
            (json!({LABEL_MANAGED_BY: "Helm", "app.kubernetes.io/instance": "flux"}), Some("Helm")),
            (json!({LABEL_MANAGED_BY: "flux-operator", "fluxcd.controlplane.io/name": "flux"}), Some("Flux Operator")),
            (json!({"app.kubernetes.io/part-of": "flux"}), Some("flux install")),
            (json!({}), Some("flux install")),
        ] {
            assert_eq!(owner_by_labels(&labels(given.clone())).other().as_deref(), owner, "{given}");
        }
    }

    #[test]
    fn the_version_is_told_by_label_or_by_source_controllers_image() {
        let by_image = |tag: &str| {
            version(&BTreeMap::new(), &[controller("source-controller", "flux-system", tag, &[], json!({}))])
        };
        let labelled =
            controller("source-controller", "x", "v1.4.1", &[], json!({"app.kubernetes.io/version": "v2.4.0"}));
        let of_helm =
            controller("source-controller", "x", "v1.8.5", &[], json!({"app.kubernetes.io/version": "2.9.4"}));
        let by_chart =
            controller("source-controller", "x", "v1.4.1", &[], json!({"app.kubernetes.io/version": "1.4.1"}));

        assert_eq!(version(&BTreeMap::new(), &[labelled]).as_deref(), Some("v2.4.0"));
        assert_eq!(version(&BTreeMap::new(), &[of_helm]).as_deref(), Some("v2.9.4"));
        assert_eq!(version(&BTreeMap::new(), &[by_chart]).as_deref(), Some("v2.4"));
        assert_eq!(by_image("v1.9.4").as_deref(), Some("v2.9"));
        assert_eq!(by_image("v1.9.4@sha256:abc").as_deref(), Some("v2.9"));
        assert_eq!(by_image("v0.36.1").as_deref(), Some("v0.36"));
        assert_eq!(by_image("latest"), None);
        assert_eq!(version(&labels(json!({"app.kubernetes.io/version": "v2.9.4"})), &[]).as_deref(), Some("v2.9.4"));
    }

    #[test]
    fn a_flux_of_others_that_cannot_carry_our_tree_is_said_to_be_so() {
        let why = |version: &str, deployments: &[Workload], served: bool| match fitness(
            "Helm",
            Some(version),
            deployments,
            served,
        ) {
            FluxFitness::Unusable { why } => why,
            other => format!("{other:?}"),
        };
        let without_helm: Vec<_> =
            all("flux-system", &[]).into_iter().filter(|c| c.name() != "helm-controller").collect();

        assert_eq!(why("v2.9.4", &all("flux-system", &["--watch-all-namespaces=false"]), true), "Usable");
        assert_eq!(why("v2.7.0", &all("gitops", &[]), true), "Usable");
        assert!(why("v2.6.4", &all("flux-system", &[]), true).contains("too old"));
        assert!(why("v0.36", &all("flux-system", &[]), true).contains("too old"));
        assert!(why("v2.9.4", &without_helm, true).contains("no helm-controller"));
        assert!(why("v2.9.4", &[], true).contains("no source-controller and no kustomize-controller"));
        assert!(why("v2.9.4", &all("flux-system", &[]), false).contains("lacks kinds"));
        assert!(
            why("v2.9.4", &all("gitops", &["--watch-all-namespaces=false"]), true).contains("namespace gitops only")
        );
    }
}
