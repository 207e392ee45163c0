//! What every Kubernetes object has, as far as it is looked at here. Whatever is not there is empty.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;

/// `metadata`.
#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Metadata {
    pub(super) name: String,
    pub(super) namespace: String,
    pub(super) generation: i64,
    pub(super) resource_version: Option<String>,
    pub(super) deletion_timestamp: Option<Timestamp>,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) finalizers: Vec<String>,
}

/// One of `status.conditions`.
#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Condition {
    pub(super) r#type: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
    pub(super) observed_generation: Option<i64>,
}

impl Condition {
    pub(super) fn is_true(&self) -> bool {
        self.status == "True"
    }
}
