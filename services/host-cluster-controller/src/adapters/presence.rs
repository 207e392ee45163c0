//! What already runs on a cluster and must be used or left alone rather than installed again.
//!
//! helm-controller takes over objects that exist, so a second cert-manager would hijack the first. What our own tree
//! has installed does not count: a second look must not make the next tree leave it out.

use std::collections::BTreeSet;

use gitops_scaffolder_contract::Present;
use kube::Client;
use kube_kit::{Attempt, View, read, read_all};
use serde::Deserialize;
use vocabulary::Trouble;

use super::{
    FLUX_NAMESPACE, LABEL_HELM_RELEASE, LABEL_HELM_RELEASE_NAMESPACE, LABEL_KUSTOMIZATION,
    LABEL_KUSTOMIZATION_NAMESPACE, OUR_KUSTOMIZATIONS, object::Metadata,
};

const ATTEMPT: Attempt<'static> = Attempt("look for what is already installed on the cluster");
const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// Looks for what others have installed.
pub(super) async fn look(client: &Client) -> Result<Present, Trouble> {
    let ours = our_releases(client).await?;
    let crd = |name: &'static str| {
        let ours = &ours;
        async move {
            let found: Option<Object> = read(client, ATTEMPT, &format!("{CRDS}/{name}"), View::Metadata).await?;
            Ok::<_, Trouble>(found.is_some_and(|crd| !ours.made(&crd)))
        }
    };
    let of_others = |collection: &'static str| {
        let ours = &ours;
        async move {
            let found: Vec<Object> =
                read_all(client, ATTEMPT, collection, &[], View::Metadata).await?.unwrap_or_default();
            Ok::<_, Trouble>(found.into_iter().filter(|object| !ours.made(object)).collect::<Vec<_>>())
        }
    };
    let metrics_api = async {
        let path = "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io";
        let found: Option<Object> = read(client, ATTEMPT, path, View::Metadata).await?;
        Ok::<_, Trouble>(found.is_some_and(|service| !ours.made(&service)))
    };
    let (ingress_classes, storage_classes, cert_manager, cloudnative_pg, prometheus_operator, metrics_api) = futures::try_join!(
        of_others("/apis/networking.k8s.io/v1/ingressclasses"),
        of_others("/apis/storage.k8s.io/v1/storageclasses"),
        crd("certificates.cert-manager.io"),
        crd("clusters.postgresql.cnpg.io"),
        crd("prometheuses.monitoring.coreos.com"),
        metrics_api,
    )?;
    Ok(Present {
        ingress_class: !ingress_classes.is_empty(),
        cert_manager,
        default_storage_class: storage_classes.iter().any(Object::is_default_class),
        cloudnative_pg,
        prometheus_operator,
        metrics_api,
    })
}

/// The Helm releases of our tree, as (namespace, name).
async fn our_releases(client: &Client) -> Result<Ours, Trouble> {
    let collection = "/apis/helm.toolkit.fluxcd.io/v2/helmreleases";
    let selector = [(LABEL_KUSTOMIZATION_NAMESPACE, FLUX_NAMESPACE), (LABEL_KUSTOMIZATION, "")];
    let releases: Option<Vec<Object>> = read_all(client, ATTEMPT, collection, &selector, View::Metadata).await?;
    let ours = releases.unwrap_or_default().into_iter().filter(Object::is_in_our_tree);
    Ok(Ours { releases: ours.map(|release| (release.metadata.namespace, release.metadata.name)).collect() })
}

struct Ours {
    releases: BTreeSet<(String, String)>,
}

impl Ours {
    /// Whether our tree has made this object, by a Kustomization or by a Helm release.
    fn made(&self, object: &Object) -> bool {
        let by_release = object.label(LABEL_HELM_RELEASE_NAMESPACE).zip(object.label(LABEL_HELM_RELEASE));
        object.is_in_our_tree()
            || by_release.is_some_and(|(namespace, name)| self.releases.contains(&(namespace.into(), name.into())))
    }
}

#[derive(Deserialize)]
struct Object {
    #[serde(default)]
    metadata: Metadata,
}

impl Object {
    fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.get(key).map(String::as_str)
    }

    fn is_in_our_tree(&self) -> bool {
        self.label(LABEL_KUSTOMIZATION).is_some_and(|name| name.starts_with(OUR_KUSTOMIZATIONS))
            && self.label(LABEL_KUSTOMIZATION_NAMESPACE) == Some(FLUX_NAMESPACE)
    }

    fn is_default_class(&self) -> bool {
        ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"]
            .into_iter()
            .any(|key| self.metadata.annotations.get(key).is_some_and(|value| value == "true"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
    use serde_json::json;

    use super::*;

    fn labelled(labels: serde_json::Value) -> Object {
        serde_json::from_value(json!({"metadata": {"name": "x", "labels": labels}})).unwrap()
    }

    #[test]
    fn what_our_own_tree_has_installed_is_told_from_what_others_have() {
        let ours = Ours { releases: BTreeSet::from([("cert-manager".to_owned(), "cert-manager".to_owned())]) };

        for (labels, made_by_us) in [
            (json!({}), false),
            (json!({LABEL_KUSTOMIZATION: "kubeopera-crds", LABEL_KUSTOMIZATION_NAMESPACE: "flux-system"}), true),
            (json!({LABEL_KUSTOMIZATION: "kubeopera-crds", LABEL_KUSTOMIZATION_NAMESPACE: "elsewhere"}), false),
            (json!({LABEL_KUSTOMIZATION: "infrastructure", LABEL_KUSTOMIZATION_NAMESPACE: "flux-system"}), false),
            (json!({LABEL_HELM_RELEASE: "cert-manager", LABEL_HELM_RELEASE_NAMESPACE: "cert-manager"}), true),
            (json!({LABEL_HELM_RELEASE: "cert-manager", LABEL_HELM_RELEASE_NAMESPACE: "theirs"}), false),
            (json!({"app.kubernetes.io/managed-by": "Helm"}), false),
        ] {
            assert_eq!(ours.made(&labelled(labels.clone())), made_by_us, "{labels}");
        }
    }
}
