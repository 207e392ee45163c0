//! The Secrets with registry credentials: the one that is set for the platform, and one for each cluster, which is what its
//! HostCluster names. A cluster's own is left as it is; one that came from the setting follows it.

use std::collections::BTreeMap;

use host_cluster_controller_crd::{KUBEOPERA, LABEL_CLUSTER_ID, LABEL_MANAGED_BY, NAMESPACE, marked_for};
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use kube::{
    Client,
    api::{DeleteParams, ListParams, ObjectMeta, Preconditions},
};
use kube_kit::{Attempt, is_not_found, trouble};
use vocabulary::{ClusterId, Trouble};

use super::{
    input_kubeconfig::Kept,
    secrets::{self, secrets},
};
use crate::{error::AppError, settings::registry::RegistryCredential};

/// Label: the Secret holds the setting, or what a cluster got of it.
const SETTING: (&str, &str) = ("kubeopera.io/setting", "registry");
/// The Secret with the setting.
const OF_PLATFORM: &str = "registry-pull";
const KEY: &str = ".dockerconfigjson";
const STORE: Attempt<'_> = Attempt("store the registry credential in a Secret");

type Data = BTreeMap<String, ByteString>;

fn data_of(credential: &RegistryCredential) -> Data {
    [(KEY.to_owned(), ByteString(credential.docker_config().reveal().as_bytes().to_vec()))].into()
}

fn secret(name: String, labels: &[(&str, String)], data: Data) -> SecretObject {
    let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
    SecretObject {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: Some(NAMESPACE.to_owned()),
            labels: Some(labels.chain([(LABEL_MANAGED_BY.to_owned(), KUBEOPERA.to_owned())]).collect()),
            ..ObjectMeta::default()
        },
        data: Some(data),
        type_: Some("kubernetes.io/dockerconfigjson".to_owned()),
        ..SecretObject::default()
    }
}

/// The setting as it is.
#[derive(Debug)]
pub(crate) struct RegistrySetting {
    /// None if nothing is set, or if what is there cannot be used.
    pub(crate) credential: Option<RegistryCredential>,
    /// Which version of the setting this is; two that differ have different ones.
    pub(crate) version: String,
}

/// The version of a setting that is not there.
const NOTHING: &str = "none";

/// The setting as it is.
pub(crate) async fn setting(client: &Client) -> Result<RegistrySetting, Trouble> {
    let Some(secret) = read(client, OF_PLATFORM).await? else {
        return Ok(RegistrySetting { credential: None, version: NOTHING.to_owned() });
    };
    let credential = secret.data.as_ref().and_then(|data| RegistryCredential::read(&data.get(KEY)?.0));
    Ok(RegistrySetting { credential, version: secret.metadata.resource_version.unwrap_or_default() })
}

async fn data(client: &Client, name: &str) -> Result<Option<Data>, Trouble> {
    Ok(read(client, name).await?.map(|secret| secret.data.unwrap_or_default()))
}

async fn read(client: &Client, name: &str) -> Result<Option<SecretObject>, Trouble> {
    let found = secrets(client).get_opt(name).await;
    found.map_err(|error| trouble(Attempt("read the Secret with the registry credential"), &error))
}

/// Makes the setting be this, if it still is the version that somebody saw.
pub(crate) async fn set(client: &Client, credential: &RegistryCredential, seen: Option<&str>) -> Result<(), AppError> {
    let mut wanted = secret(OF_PLATFORM.to_owned(), &[(SETTING.0, SETTING.1.to_owned())], data_of(credential));
    let is_as_seen = match seen {
        None => secrets::apply(client, &wanted, STORE).await.map(|()| true),
        Some(NOTHING) => secrets::create(client, &wanted, STORE).await,
        Some(version) => {
            wanted.metadata.resource_version = Some(version.to_owned());
            secrets::replace(client, &wanted, STORE).await
        }
    };
    if is_as_seen? { Ok(()) } else { Err(AppError::ChangedMeanwhile) }
}

/// Forgets the setting, if it still is the version that somebody saw; `false` if there was none. Clusters keep what they
/// have.
pub(crate) async fn unset(client: &Client, seen: Option<&str>) -> Result<bool, AppError> {
    let attempt = Attempt("delete the Secret with the registry credential");
    let version = setting(client).await?.version;
    if seen.is_some_and(|seen| seen != version) {
        return Err(AppError::ChangedMeanwhile);
    }
    if version == NOTHING {
        return Ok(false);
    }
    let as_seen = Preconditions { resource_version: Some(version), uid: None };
    match secrets(client).delete(OF_PLATFORM, &DeleteParams::default().preconditions(as_seen)).await {
        Ok(_) => Ok(true),
        Err(error) if is_not_found(&error) => Ok(false),
        Err(error) if secrets::is_conflict(&error) => Err(AppError::ChangedMeanwhile),
        Err(error) => Err(trouble(attempt, &error).into()),
    }
}

/// Makes a cluster have the setting, unless it has a credential.
pub(crate) async fn give(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let name = cluster.registry_pull_secret();
    if data(client, &name).await?.is_some() {
        return Ok(());
    }
    // Without the setting, the HostCluster says that the Secret is missing.
    let Some(data) = data(client, OF_PLATFORM).await? else { return Ok(()) };
    let labels = [(LABEL_CLUSTER_ID, cluster.to_string()), (SETTING.0, SETTING.1.to_owned())];
    secrets::create(client, &secret(name, &labels, data), STORE).await.map(drop)
}

/// Makes a cluster have a credential of its own. One that is there is never written over.
pub(crate) async fn keep_own(
    client: &Client,
    cluster: ClusterId,
    credential: &RegistryCredential,
) -> Result<Kept, Trouble> {
    let (name, wanted) = (cluster.registry_pull_secret(), data_of(credential));
    let own = secret(name.clone(), &[(LABEL_CLUSTER_ID, cluster.to_string())], wanted.clone());
    if secrets::create(client, &own, STORE).await? {
        return Ok(Kept::Now);
    }
    Ok(if data(client, &name).await?.as_ref() == Some(&wanted) { Kept::Before } else { Kept::Another })
}

/// Whether a cluster's credential is exactly this one.
pub(crate) async fn is(client: &Client, cluster: ClusterId, credential: &RegistryCredential) -> Result<bool, Trouble> {
    Ok(data(client, &cluster.registry_pull_secret()).await?.as_ref() == Some(&data_of(credential)))
}

/// Deletes a cluster's credential; one that is gone is fine.
pub(crate) async fn delete(client: &Client, cluster: ClusterId) -> Result<(), Trouble> {
    let attempt = Attempt("delete the Secret with the cluster's registry credential");
    secrets::delete(client, &cluster.registry_pull_secret(), &DeleteParams::default(), attempt).await.map(drop)
}

/// Gives every cluster that got the setting what it is now.
pub(crate) async fn follow_setting(client: &Client) -> Result<(), Trouble> {
    let from_setting = ListParams::default().labels(&format!("{}={}", SETTING.0, SETTING.1));
    let all = secrets(client).list(&from_setting).await;
    let all = all.map_err(|error| trouble(Attempt("read the Secrets with registry credentials"), &error))?.items;
    let is_setting = |secret: &&SecretObject| secret.metadata.name.as_deref() == Some(OF_PLATFORM);
    let Some(data) = all.iter().find(is_setting).and_then(|setting| setting.data.clone()) else { return Ok(()) };
    for other in all.iter().filter(|other| other.data.as_ref() != Some(&data)) {
        let Some(cluster) = marked_for(&other.metadata).and_then(|id| id.parse::<ClusterId>().ok()) else { continue };
        let labels = [(LABEL_CLUSTER_ID, cluster.to_string()), (SETTING.0, SETTING.1.to_owned())];
        secrets::apply(client, &secret(cluster.registry_pull_secret(), &labels, data.clone()), STORE).await?;
        tracing::info!(cluster.id = %cluster, "the cluster gets the registry credential that is set now");
    }
    Ok(())
}
