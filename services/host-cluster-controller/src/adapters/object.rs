//! What every Kubernetes object has, as far as it is looked at here. Whatever is not there is empty.

use std::collections::BTreeMap;

use host_cluster_controller_crd::LABEL_CLUSTER_ID;
use jiff::Timestamp;
use serde::Deserialize;
use vocabulary::ClusterId;

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

impl Metadata {
    /// Whether the object is this cluster's by its label; none if it has no such label.
    pub(super) fn is_marked(&self, cluster: ClusterId) -> Option<bool> {
        self.labels.get(LABEL_CLUSTER_ID).map(|id| *id == cluster.to_string())
    }
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
