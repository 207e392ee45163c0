//! The Secrets that KubeOpera keeps on its cluster: kubeconfigs, Git and registry credentials, Terraform's state.

use std::collections::BTreeMap;

use host_cluster_controller_crd::{NAMESPACE, PROVISIONING_NAMESPACE};
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, ObjectMeta, PostParams},
};
use kube_kit::{Attempt, trouble};
use serde::{Deserialize, Serialize};
use vocabulary::Trouble;

/// Where they are.
const NAMESPACES: [&str; 2] = [NAMESPACE, PROVISIONING_NAMESPACE];
/// Made by Kubernetes for itself, and of no use elsewhere.
const NOT_OURS: [&str; 2] = ["kubernetes.io/service-account-token", "bootstrap.kubernetes.io/token"];

/// What of a Secret is put back.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    #[serde(rename = "type")]
    kind: Option<String>,
    labels: BTreeMap<String, String>,
    annotations: BTreeMap<String, String>,
    data: BTreeMap<String, ByteString>,
}

/// Each with its namespace and name, as `<namespace>/<name>`.
pub(super) async fn all(client: &Client) -> Result<Vec<(String, Kept)>, Trouble> {
    let mut found = Vec::new();
    for namespace in NAMESPACES {
        let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
        let list = api.list(&ListParams::default()).await;
        let list = list.map_err(|error| trouble(Attempt("read the Secrets to back up"), &error))?;
        for secret in list.items {
            if secret.type_.as_deref().is_some_and(|kind| NOT_OURS.contains(&kind)) {
                continue;
            }
            if namespace == PROVISIONING_NAMESPACE && cluster_provisioner::is_order(&secret.name_any()) {
                continue;
            }
            let name = format!("{namespace}/{}", secret.name_any());
            let Secret { metadata, type_: kind, data, .. } = secret;
            let (labels, annotations) = (metadata.labels.unwrap_or_default(), metadata.annotations.unwrap_or_default());
            found.push((name, Kept { kind, labels, annotations, data: data.unwrap_or_default() }));
        }
    }
    Ok(found)
}

/// Puts one back, unless there is one of its name: that is younger. Says whether it did.
pub(super) async fn put_back(client: &Client, name: &str, kept: Kept) -> Result<bool, Trouble> {
    let (namespace, name) = name.split_once('/').unwrap_or((NAMESPACE, name));
    let secret = Secret {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some(namespace.to_owned()),
            labels: Some(kept.labels),
            annotations: Some(kept.annotations),
            ..ObjectMeta::default()
        },
        type_: kept.kind,
        data: Some(kept.data),
        ..Secret::default()
    };
    let api: Api<Secret> = Api::namespaced(client.clone(), namespace);
    match api.create(&PostParams::default(), &secret).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
        Err(error) => Err(trouble(Attempt("put a Secret back"), &error)),
    }
}
