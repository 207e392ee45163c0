//! The Secrets with Git credentials that people have set: one for each repository, so that clusters whose trees are in
//! another one keep theirs.

use std::collections::{BTreeMap, BTreeSet};

use gitops_scaffolder_contract::{CredentialIncomplete, GitCredential};
use host_cluster_controller_crd::{ANNOTATION_GIT_REPOSITORY, KUBEOPERA, LABEL_MANAGED_BY, NAMESPACE};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use kube::{
    Client,
    api::{DeleteParams, ListParams, ObjectMeta, Preconditions},
};
use kube_kit::{Attempt, trouble};
use sha2::{Digest, Sha256};
use vocabulary::{GitUrl, NotAcceptable, Secret, SecretName, Trouble, hex};

use super::secrets::{self, secrets};
use crate::{app::Platform, error::AppError, store::clusters};

/// Label: what the Secret is for.
const SETTING: (&str, &str) = ("kubeopera.io/setting", "git");
/// Annotation: when somebody set the credential.
const SET_AT: &str = "kubeopera.io/set-at";
const PREFIX: &str = "git-credentials-";

/// A credential that has been named by nothing for longer is left over: no request takes that long.
const LEFT_OVER_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// The name of the Secret for a repository.
pub(crate) fn secret_of(url: &GitUrl) -> Result<SecretName, NotAcceptable> {
    let digest: String = hex(&Sha256::digest(url.as_str())).chars().take(16).collect();
    format!("{PREFIX}{digest}").parse()
}

/// Whether a Secret is one that people's settings are kept in, by its name.
pub(crate) fn is_of_setting(secret: &str) -> bool {
    secret.starts_with(PREFIX)
}

/// Makes the Secret hold exactly this credential, for this repository.
pub(crate) async fn keep(
    client: &Client,
    name: &SecretName,
    repository: &GitUrl,
    credential: &GitCredential,
) -> Result<(), Trouble> {
    let data = credential.keys().into_iter().map(|(key, text)| (key.to_owned(), ByteString(text.as_bytes().to_vec())));
    let labels = [(LABEL_MANAGED_BY, KUBEOPERA), SETTING].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let secret = SecretObject {
        metadata: ObjectMeta {
            name: Some(name.to_string()),
            namespace: Some(NAMESPACE.to_owned()),
            labels: Some(labels.into()),
            annotations: Some(
                [
                    (ANNOTATION_GIT_REPOSITORY.to_owned(), repository.to_string()),
                    // The same bytes again would be no new version, and whoever sweeps could not tell that they are wanted.
                    (SET_AT.to_owned(), Timestamp::now().to_string()),
                ]
                .into(),
            ),
            ..ObjectMeta::default()
        },
        data: Some(data.collect()),
        type_: Some("Opaque".to_owned()),
        ..SecretObject::default()
    };
    secrets::apply(client, &secret, Attempt("store the Git credential in a Secret")).await
}

/// The credential to push with; none if there is no such Secret. One that cannot be used is told in a sentence.
pub(crate) async fn read(
    client: &Client,
    name: &SecretName,
) -> Result<Option<Result<GitCredential, CredentialIncomplete>>, Trouble> {
    let found = secrets(client).get_opt(name.as_str()).await;
    let found = found.map_err(|error| trouble(Attempt("read the Secret with the Git credential"), &error))?;
    let Some(secret) = found else { return Ok(None) };
    let data: BTreeMap<String, ByteString> = secret.data.unwrap_or_default();
    let key = |key: &str| std::str::from_utf8(&data.get(key)?.0).ok().map(Secret::new);
    let nothing = CredentialIncomplete("It needs the keys username and password, or identity and known_hosts.");
    Ok(Some(GitCredential::read(key, "").and_then(|credential| credential.ok_or(nothing))))
}

/// Since when Secrets have been named by nothing.
#[derive(Default)]
pub(crate) struct Unused(BTreeMap<String, Timestamp>);

/// Deletes the credentials for repositories that are neither chosen nor any cluster's.
pub(crate) async fn sweep(platform: &Platform, unused: &mut Unused, now: Timestamp) -> Result<(), AppError> {
    let attempt = Attempt("delete left-over Secrets with Git credentials");
    let Some(seen) = platform.observed.all() else { return Ok(()) };
    let of_setting = ListParams::default().labels(&format!("{}={}", SETTING.0, SETTING.1));
    let all = secrets(&platform.client).list_metadata(&of_setting).await.map_err(|error| trouble(attempt, &error))?;
    let chosen = platform.git_repository(&platform.db).await?.credentials_secret;
    let is_not_chosen = |name: &String| is_of_setting(name) && *name != *chosen.as_str();
    let candidates = all.items.into_iter().map(|secret| secret.metadata);
    let mut candidates: Vec<_> =
        candidates.filter(|metadata| metadata.name.as_ref().is_some_and(is_not_chosen)).collect();
    for cluster in seen {
        if candidates.is_empty() {
            break;
        }
        if let Some(resource) = platform.observed.resource(cluster) {
            candidates.retain(|metadata| metadata.name.as_ref() != Some(&resource.spec.git_credentials_secret_ref));
        }
        tokio::task::consume_budget().await;
    }
    let mut left = BTreeSet::new();
    for metadata in candidates {
        let Some(name) = metadata.name.clone() else { continue };
        let url = metadata.annotations.as_ref().and_then(|all| all.get(ANNOTATION_GIT_REPOSITORY));
        if let Some(url) = url
            && !clusters::in_repository(&platform.db, url).await?.is_empty()
        {
            continue;
        }
        left.insert(name.clone());
        if now.duration_since(*unused.0.entry(name.clone()).or_insert(now)) <= LEFT_OVER_AFTER {
            continue;
        }
        // As it was seen: it may just have been set anew.
        let as_seen = Preconditions { uid: metadata.uid, resource_version: metadata.resource_version };
        let params = DeleteParams::default().preconditions(as_seen);
        secrets::delete(&platform.client, &name, &params, attempt).await?;
        tracing::info!(secret = name, "a Git credential that nothing names any more was deleted");
    }
    unused.0.retain(|name, _| left.contains(name));
    Ok(())
}
