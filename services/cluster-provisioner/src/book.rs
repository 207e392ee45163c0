//! The book of a cluster: what was asked for, Terraform's state, how far the run is and what came of it.
//!
//! One run writes at a time. Each write says which version of the book it follows, so that a run that was given up and is
//! still alive somewhere cannot write over its successor's.

use std::collections::BTreeMap;

use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use host_cluster_controller_crd::PROVISIONING_NAMESPACE;
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::{
    Api, Client,
    api::{Patch, PatchParams},
};
use kube_kit::{Attempt, trouble};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use vocabulary::{ClusterId, Trouble};

use crate::names;

pub(crate) const REQUEST: &str = "request";
pub(crate) const RUN: &str = "run";
pub(crate) const STATE: &str = "state";
pub(crate) const PROGRESS: &str = "progress";
pub(crate) const RESULT: &str = "result";
pub(crate) const KUBECONFIG: &str = "kubeconfig";

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunResult {
    /// What was to be done is done.
    Succeeded,
    /// It stopped short.
    Failed(Trouble),
}

/// A write did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BookError {
    /// Another run has the book now.
    #[error("another run has taken over")]
    TakenOver,
    /// It cannot be reached; what was to be written is still to be written.
    #[error(transparent)]
    Unavailable(#[from] Trouble),
}

/// The book as its run has it.
#[async_trait]
pub trait Book: Send + Sync {
    /// The sealed state that the last run left, if there was one.
    async fn state(&self) -> Result<Option<Vec<u8>>, BookError>;
    /// Keeps a sealed state.
    async fn keep_state(&self, sealed: &[u8]) -> Result<(), BookError>;
    /// Says how far the run is, as a sentence.
    async fn tell(&self, progress: &str) -> Result<(), BookError>;
    /// Says what came of the run, with the sealed kubeconfig if there is one.
    async fn finish(&self, result: &RunResult, kubeconfig: Option<&[u8]>) -> Result<(), BookError>;
}

/// The book in a Secret.
pub struct SecretBook {
    api: Api<SecretObject>,
    name: String,
    run: String,
    /// The version that was read or written last.
    version: Mutex<Option<String>>,
}

impl SecretBook {
    /// For one run for one cluster.
    pub fn new(client: Client, cluster: ClusterId, run: String) -> Self {
        let api = Api::namespaced(client, PROVISIONING_NAMESPACE);
        Self { api, name: names::provision(cluster), run, version: Mutex::default() }
    }

    /// The Secret, if it is still this run's.
    async fn read(&self) -> Result<SecretObject, BookError> {
        let attempt = "read the Secret of the run";
        let found = self.api.get(&self.name).await.map_err(|error| trouble(Attempt(attempt), &error))?;
        if text_of(&found, RUN).as_deref() != Some(&self.run) {
            return Err(BookError::TakenOver);
        }
        Ok(found)
    }

    async fn write(&self, values: BTreeMap<&str, Vec<u8>>) -> Result<(), BookError> {
        let data: BTreeMap<_, _> = values.into_iter().map(|(key, value)| (key, STANDARD.encode(value))).collect();
        // Held over the write: what is written later is not to arrive earlier.
        let mut version = self.version.lock().await;
        loop {
            if version.is_none() {
                *version = self.read().await?.metadata.resource_version;
            }
            let patch = serde_json::json!({ "metadata": { "resourceVersion": *version }, "data": data });
            match self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(&patch)).await {
                Ok(written) => {
                    *version = written.metadata.resource_version;
                    return Ok(());
                }
                Err(kube::Error::Api(status)) if status.is_conflict() => *version = None,
                Err(error) => {
                    // Perhaps it was written and only the answer was lost.
                    *version = None;
                    return Err(trouble(Attempt("write the Secret of the run"), &error).into());
                }
            }
        }
    }
}

#[async_trait]
impl Book for SecretBook {
    async fn state(&self) -> Result<Option<Vec<u8>>, BookError> {
        Ok(bytes_of(&self.read().await?, STATE))
    }

    async fn keep_state(&self, sealed: &[u8]) -> Result<(), BookError> {
        self.write(BTreeMap::from([(STATE, sealed.to_vec())])).await
    }

    async fn tell(&self, progress: &str) -> Result<(), BookError> {
        self.write(BTreeMap::from([(PROGRESS, progress.as_bytes().to_vec())])).await
    }

    async fn finish(&self, result: &RunResult, kubeconfig: Option<&[u8]>) -> Result<(), BookError> {
        let mut values = BTreeMap::from([(RESULT, serde_json::json!(result).to_string().into_bytes())]);
        values.extend(kubeconfig.map(|kubeconfig| (KUBECONFIG, kubeconfig.to_vec())));
        self.write(values).await
    }
}

pub(crate) fn bytes_of(secret: &SecretObject, key: &str) -> Option<Vec<u8>> {
    secret.data.as_ref()?.get(key).map(|value| value.0.clone()).filter(|value| !value.is_empty())
}

pub(crate) fn text_of(secret: &SecretObject, key: &str) -> Option<String> {
    String::from_utf8(bytes_of(secret, key)?).ok()
}
