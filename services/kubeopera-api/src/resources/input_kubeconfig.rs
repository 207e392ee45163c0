//! The Secrets with kubeconfigs as they were supplied.

use std::{collections::BTreeMap, time::Duration};

use host_cluster_controller_crd::{
    KUBEOPERA, LABEL_CLUSTER_ID, LABEL_MANAGED_BY, NAMESPACE, is_marked, marked_for, marks,
};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{
    Client,
    api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions},
};
use kube_kit::{Attempt, is_not_found, trouble};
use vocabulary::{ClusterId, Trouble};

use super::{
    MANAGER,
    secrets::{self, secrets},
};

/// The supplied file, byte by byte.
const KUBECONFIG: &str = "kubeconfig";
/// The context to use, if it is not the file's current one.
const CONTEXT: &str = "context";
/// A Secret without a record that is older is left over: no request takes that long.
const LEFT_OVER_AFTER: Duration = Duration::from_mins(10);

/// What somebody supplied.
pub(crate) struct Given<'a> {
    pub(crate) kubeconfig: &'a [u8],
    /// The context to use, if it is not the file's current one.
    pub(crate) context: Option<String>,
}

/// Whether a Secret holds what was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// It was written now.
    Now,
    /// It was there and holds the same.
    Before,
    /// It was there and holds something else, and was left alone.
    Another,
}

impl Given<'_> {
    fn data(&self) -> BTreeMap<String, ByteString> {
        let context = self.context.iter().map(|context| (CONTEXT.to_owned(), ByteString(context.clone().into_bytes())));
        context.chain([(KUBECONFIG.to_owned(), ByteString(self.kubeconfig.to_vec()))]).collect()
    }

    fn secret(&self, cluster: ClusterId) -> Secret {
        Secret {
            metadata: ObjectMeta {
                name: Some(cluster.input_kubeconfig_secret()),
                namespace: Some(NAMESPACE.to_owned()),
                labels: Some(marks(cluster)),
                ..ObjectMeta::default()
            },
            data: Some(self.data()),
            type_: Some("Opaque".to_owned()),
            ..Secret::default()
        }
    }
}

/// Makes the Secret exist. One that is there is never written over.
pub(crate) async fn keep(client: &Client, cluster: ClusterId, given: &Given<'_>) -> Result<Kept, Trouble> {
    if secrets::create(client, &given.secret(cluster), Attempt("store the kubeconfig in a Secret")).await? {
        return Ok(Kept::Now);
    }
    Ok(if is(client, cluster, given).await? { Kept::Before } else { Kept::Another })
}

/// Makes the Secret hold exactly this, whatever it held. Of two at once the later one counts.
pub(crate) async fn replace(client: &Client, cluster: ClusterId, given: &Given<'_>) -> Result<Kept, Trouble> {
    if is(client, cluster, given).await? {
        return Ok(Kept::Before);
    }
    // A merge would leave keys behind that were not given, and an apply those that another way of writing made.
    let (wanted, name) = (given.secret(cluster), cluster.input_kubeconfig_secret());
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    match secrets(client).replace(&name, &params, &wanted).await {
        Ok(_) => Ok(Kept::Now),
        Err(error) if is_not_found(&error) => keep(client, cluster, given).await,
        Err(error) => Err(trouble(Attempt("replace the kubeconfig in its Secret"), &error)),
    }
}

/// Whether the cluster's Secret holds exactly this.
pub(crate) async fn is(client: &Client, cluster: ClusterId, given: &Given<'_>) -> Result<bool, Trouble> {
    let attempt = Attempt("read the Secret with the kubeconfig");
    let found = secrets(client).get_opt(&cluster.input_kubeconfig_secret()).await;
    let found = found.map_err(|error| trouble(attempt, &error))?;
    Ok(found.is_some_and(|secret| is_marked(&secret.metadata, cluster) && secret.data == Some(given.data())))
}

/// Deletes it; one that is gone is fine.
pub(crate) async fn delete(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let attempt = Attempt("delete the Secret with the kubeconfig");
    secrets::delete(client, &cluster.input_kubeconfig_secret(), &DeleteParams::default(), attempt).await.map(drop)
}

/// Deletes Secrets of clusters that nobody knows: whoever connected them was killed before they were on record.
pub(crate) async fn sweep(client: &Client, is_known: impl Fn(ClusterId) -> bool) -> Result<(), Trouble> {
    let attempt = Attempt("delete left-over Secrets with kubeconfigs");
    let ours = ListParams::default().labels(&format!("{LABEL_MANAGED_BY}={KUBEOPERA},{LABEL_CLUSTER_ID}"));
    let all = secrets(client).list_metadata(&ours).await.map_err(|error| trouble(attempt, &error))?;
    for secret in all.items {
        let metadata = secret.metadata;
        let Some(cluster) = marked_for(&metadata).and_then(|id| id.parse::<ClusterId>().ok()) else { continue };
        let names = [cluster.input_kubeconfig_secret(), cluster.registry_pull_secret()];
        let Some(name) = metadata.name.clone().filter(|name| names.contains(name)) else { continue };
        let is_old = metadata.creation_timestamp.is_some_and(|made| made.0 + LEFT_OVER_AFTER < Timestamp::now());
        if !is_old || is_known(cluster) {
            continue;
        }
        let params = DeleteParams::default()
            .preconditions(Preconditions { uid: metadata.uid, resource_version: metadata.resource_version });
        // Otherwise another process was faster.
        if secrets::delete(client, &name, &params, attempt).await? {
            tracing::info!(cluster.id = %cluster, "a Secret of a cluster that is not known was deleted");
        }
    }
    Ok(())
}
