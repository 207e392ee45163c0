//! Secrets beside the HostClusters: how those of this service are written and taken away.

use host_cluster_controller_crd::NAMESPACE;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client,
    api::{DeleteParams, Patch, PatchParams, PostParams},
};
use kube_kit::{Attempt, is_not_found, trouble};
use vocabulary::Trouble;

use super::MANAGER;

pub(super) fn secrets(client: &Client) -> Api<Secret> {
    Api::namespaced(client.clone(), NAMESPACE)
}

/// Makes a Secret be exactly this.
pub(super) async fn apply(client: &Client, secret: &Secret, attempt: Attempt<'_>) -> Result<(), Trouble> {
    let name = secret.metadata.name.as_deref().unwrap_or_default();
    let params = PatchParams::apply(MANAGER).force();
    let applied = secrets(client).patch(name, &params, &Patch::Apply(secret)).await;
    applied.map(drop).map_err(|error| trouble(attempt, &error))
}

/// Makes a Secret exist. One of that name that is there is never written over; `false` if there is.
pub(super) async fn create(client: &Client, secret: &Secret, attempt: Attempt<'_>) -> Result<bool, Trouble> {
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    match secrets(client).create(&params, secret).await {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(false),
        Err(error) => Err(trouble(attempt, &error)),
    }
}

/// Makes a Secret be exactly this if it still is the version that the new one names; `false` if it is another, or gone.
pub(super) async fn replace(client: &Client, secret: &Secret, attempt: Attempt<'_>) -> Result<bool, Trouble> {
    let name = secret.metadata.name.as_deref().unwrap_or_default();
    let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
    match secrets(client).replace(name, &params, secret).await {
        Ok(_) => Ok(true),
        Err(error) if is_conflict(&error) || is_not_found(&error) => Ok(false),
        Err(error) => Err(trouble(attempt, &error)),
    }
}

/// Whether the Secret is another one, or another version of it, than the request was for.
pub(super) fn is_conflict(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.is_conflict())
}

/// Deletes a Secret; `false` if it was not there (any more).
pub(super) async fn delete(
    client: &Client,
    name: &str,
    params: &DeleteParams,
    attempt: Attempt<'_>,
) -> Result<bool, Trouble> {
    match secrets(client).delete(name, params).await {
        Ok(_) => Ok(true),
        Err(error) if is_not_found(&error) => Ok(false),
        Err(error) => Err(trouble(attempt, &error)),
    }
}
