//! The book of a cluster: what was asked for, Terraform's state and what is in it, what the runs said, how far the last one
//! is and what came of it.
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

use crate::{ledger::Ledger, names};

pub(crate) const REQUEST: &str = "request";
pub(crate) const RUN: &str = "run";
pub(crate) const STATE: &str = "state";
pub(crate) const LEDGER: &str = "ledger";
pub(crate) const LOG: &str = "log";
pub(crate) const PROGRESS: &str = "progress";
pub(crate) const RESULT: &str = "result";
pub(crate) const REMARK: &str = "remark";
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

/// What is in a book, as far as runs write it. What is `None` in what is written stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// Terraform's state, packed and sealed.
    pub state: Option<Vec<u8>>,
    /// What is in the state and what was. It is there from the moment on from which something may be.
    pub ledger: Option<Ledger>,
    /// How far the run is, as a sentence.
    pub progress: Option<String>,
    /// What the runs said, packed.
    pub log: Option<Vec<u8>>,
    /// What came of the run.
    pub result: Option<RunResult>,
    /// What is to be known beside the result, as sentences: what may be left of a cluster that was deleted.
    pub remark: Option<String>,
    /// The kubeconfig, sealed.
    pub kubeconfig: Option<Vec<u8>>,
}

/// The book as its run has it.
#[async_trait]
pub trait Book: Send + Sync {
    /// What this run and those before it have left.
    async fn read(&self) -> Result<Entry, BookError>;
    /// Writes something down.
    async fn write(&self, entry: Entry) -> Result<(), BookError>;
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
    async fn secret(&self) -> Result<SecretObject, BookError> {
        let attempt = "read the Secret of the run";
        let found = self.api.get(&self.name).await.map_err(|error| trouble(Attempt(attempt), &error))?;
        if text_of(&found, RUN).as_deref() != Some(&self.run) {
            return Err(BookError::TakenOver);
        }
        Ok(found)
    }

    async fn patch(&self, data: BTreeMap<&'static str, String>) -> Result<(), BookError> {
        // Held over the write: what is written later is not to arrive earlier.
        let mut version = self.version.lock().await;
        loop {
            if version.is_none() {
                *version = self.secret().await?.metadata.resource_version;
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
    async fn read(&self) -> Result<Entry, BookError> {
        Ok(Entry::for_run(&self.secret().await?)?)
    }

    async fn write(&self, entry: Entry) -> Result<(), BookError> {
        self.patch(entry.data()).await
    }
}

impl Entry {
    /// What a run goes by. A ledger that cannot be read is not one that is not there: something may have been made.
    fn for_run(secret: &SecretObject) -> Result<Self, Trouble> {
        let found = Self::of(secret);
        let has_ledger = secret.data.as_ref().is_some_and(|data| data.contains_key(LEDGER));
        if has_ledger && found.ledger.is_none() { Err(ledger_unreadable(secret)) } else { Ok(found) }
    }

    /// What there is to see. What cannot be read is not shown.
    pub(crate) fn of(secret: &SecretObject) -> Self {
        Self {
            state: bytes_of(secret, STATE),
            ledger: text_of(secret, LEDGER).and_then(|text| Ledger::parse(&text)),
            progress: text_of(secret, PROGRESS),
            log: bytes_of(secret, LOG),
            result: text_of(secret, RESULT).and_then(|text| serde_json::from_str(&text).ok()),
            remark: text_of(secret, REMARK),
            kubeconfig: bytes_of(secret, KUBECONFIG),
        }
    }

    /// As it is in a Secret: in base64, by key.
    fn data(self) -> BTreeMap<&'static str, String> {
        let values = [
            (STATE, self.state),
            (LEDGER, self.ledger.map(|ledger| ledger.to_text().into_bytes())),
            (PROGRESS, self.progress.map(String::into_bytes)),
            (LOG, self.log),
            (RESULT, self.result.map(|result| serde_json::json!(result).to_string().into_bytes())),
            (REMARK, self.remark.map(String::into_bytes)),
            (KUBECONFIG, self.kubeconfig),
        ];
        values.into_iter().filter_map(|(key, value)| Some((key, STANDARD.encode(value?)))).collect()
    }
}

fn ledger_unreadable(secret: &SecretObject) -> Trouble {
    Trouble::rejected(
        "StateUnavailable",
        format!(
            "The key {LEDGER} of Secret {PROVISIONING_NAMESPACE}/{}, which has what is in the cloud, cannot be read: a newer \
             KubeOpera wrote it, or it was altered. Nothing was done. Go on with that KubeOpera, or put the Secret back from a \
             backup; or delete in the cloud's console what has the tag kubeopera.io/cluster-id of this cluster, and then have \
             KubeOpera give its infrastructure up.",
            secret.metadata.name.as_deref().unwrap_or_default()
        ),
    )
}

pub(crate) fn bytes_of(secret: &SecretObject, key: &str) -> Option<Vec<u8>> {
    secret.data.as_ref()?.get(key).map(|value| value.0.clone()).filter(|value| !value.is_empty())
}

pub(crate) fn text_of(secret: &SecretObject, key: &str) -> Option<String> {
    String::from_utf8(bytes_of(secret, key)?).ok()
}
