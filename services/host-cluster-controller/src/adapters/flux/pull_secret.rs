//! The registry credential on a managed cluster: a copy in every namespace in which the tree pulls with it.
//!
//! Those are Flux's own, for charts that come from one's own registry; `kube-system`, which the tree uses and does not
//! render; and the namespaces that the tree brings, which carry the cluster's label. They stay when KubeOpera lets go of
//! the cluster: what runs there goes on pulling with them.

use std::collections::BTreeMap;

use host_cluster_controller_crd::{LABEL_CLUSTER_ID, is_marked, marks};
use host_cluster_controller_decide::PullSecretSeen;
use k8s_openapi::{
    ByteString,
    api::core::v1::{Namespace, Secret as SecretObject},
};
use kube::{
    Api, Client, ResourceExt,
    api::{ListParams, ObjectMeta, Patch, PatchParams},
};
use kube_kit::{Attempt, is_not_found, trouble};
use vocabulary::{ClusterId, Secret, SecretName, Trouble};

use super::sync::{CONTENT, SOURCE_VERSION, content};
use crate::adapters::{DOCKER_CONFIG, FIELD_MANAGER, FLUX_NAMESPACE};

const KUBE_SYSTEM: &str = "kube-system";
const TYPE: &str = "kubernetes.io/dockerconfigjson";

/// What is in each of the namespaces.
enum Copy {
    /// Nothing, or ours in another form than we wrote it.
    Missing,
    /// Ours, written from this version.
    Of(String),
    /// Somebody else's, who pulls with it as well.
    Theirs,
}

pub(super) async fn look(client: &Client, cluster: ClusterId, name: &SecretName) -> Result<PullSecretSeen, Trouble> {
    let copies = copies(client, cluster, name).await?;
    let ours = copies.into_iter().filter_map(|(namespace, copy)| match copy {
        Copy::Missing => Some((namespace, None)),
        Copy::Of(version) => Some((namespace, Some(version))),
        Copy::Theirs => None,
    });
    Ok(PullSecretSeen { copies: ours.collect() })
}

pub(super) async fn write(
    client: &Client,
    cluster: ClusterId,
    name: &SecretName,
    credential: &Secret,
    version: &str,
) -> Result<(), Trouble> {
    let data = BTreeMap::from([(DOCKER_CONFIG.to_owned(), ByteString(credential.reveal().as_bytes().to_vec()))]);
    let params = PatchParams::apply(FIELD_MANAGER).force();
    for (namespace, copy) in copies(client, cluster, name).await? {
        let is_written = match copy {
            Copy::Theirs => true,
            Copy::Of(written) => written == version,
            Copy::Missing => false,
        };
        if is_written {
            continue;
        }
        let annotations = [(SOURCE_VERSION, version.to_owned()), (CONTENT, content(Some(&data)))];
        let secret = SecretObject {
            metadata: ObjectMeta {
                name: Some(name.to_string()),
                namespace: Some(namespace.clone()),
                labels: Some(marks(cluster)),
                annotations: Some(annotations.map(|(key, value)| (key.to_owned(), value)).into()),
                ..ObjectMeta::default()
            },
            data: Some(data.clone()),
            type_: Some(TYPE.to_owned()),
            ..SecretObject::default()
        };
        let api: Api<SecretObject> = Api::namespaced(client.clone(), &namespace);
        let attempt = format!("write the registry credential to Secret {namespace}/{name}");
        match api.patch(name.as_str(), &params, &Patch::Apply(&secret)).await {
            // The namespace went in between.
            Err(error) if is_not_found(&error) => {}
            answer => drop(answer.map_err(|error| trouble(Attempt(&attempt), &error))?),
        }
    }
    Ok(())
}

/// Every namespace that pulls with it, and what is there.
async fn copies(client: &Client, cluster: ClusterId, name: &SecretName) -> Result<BTreeMap<String, Copy>, Trouble> {
    let mut copies = BTreeMap::new();
    for namespace in namespaces(client, cluster).await? {
        let api: Api<SecretObject> = Api::namespaced(client.clone(), &namespace);
        let attempt = format!("read Secret {namespace}/{name}");
        let found = api.get_opt(name.as_str()).await.map_err(|error| trouble(Attempt(&attempt), &error))?;
        let copy = found.map_or(Copy::Missing, |secret| copy(&secret, cluster));
        copies.insert(namespace, copy);
    }
    Ok(copies)
}

fn copy(secret: &SecretObject, cluster: ClusterId) -> Copy {
    if !is_marked(&secret.metadata, cluster) {
        return Copy::Theirs;
    }
    let annotation = |key: &str| secret.annotations().get(key);
    let is_as_written = annotation(CONTENT).is_some_and(|written| *written == content(secret.data.as_ref()));
    annotation(SOURCE_VERSION).filter(|_| is_as_written).map_or(Copy::Missing, |version| Copy::Of(version.clone()))
}

async fn namespaces(client: &Client, cluster: ClusterId) -> Result<Vec<String>, Trouble> {
    let ours = ListParams::default().labels(&format!("{LABEL_CLUSTER_ID}={cluster}"));
    let found = Api::<Namespace>::all(client.clone()).list_metadata(&ours).await;
    let found = found.map_err(|error| trouble(Attempt("list the namespaces of the cluster's tree"), &error))?;
    let ends = |metadata: &ObjectMeta| metadata.deletion_timestamp.is_some();
    let of_tree = found.items.into_iter().filter(|namespace| !ends(&namespace.metadata));
    let always = [FLUX_NAMESPACE, KUBE_SYSTEM].map(str::to_owned);
    Ok(always.into_iter().chain(of_tree.map(|namespace| namespace.name_any())).collect())
}
