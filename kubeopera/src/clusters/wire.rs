//! What the API answers about clusters, as far as it is printed. Words of the API stay words here: a newer server may have
//! more of them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A page of clusters, each as it came.
#[derive(Deserialize)]
pub(super) struct Page {
    pub(super) items: Vec<Value>,
    pub(super) next_cursor: Option<String>,
    pub(super) kubernetes: KubernetesAccess,
}

#[derive(Deserialize)]
pub(super) struct KubernetesAccess {
    pub(super) available: bool,
    pub(super) reason: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Cluster {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) mode: String,
    pub(super) provider: String,
    pub(super) region: String,
    pub(super) labels: BTreeMap<String, String>,
    pub(super) is_host: bool,
    pub(super) created_at: Timestamp,
    pub(super) phase: String,
    pub(super) message: String,
    pub(super) flux_healthy: Option<bool>,
    pub(super) flux: Option<Flux>,
    pub(super) kubernetes_version: Option<String>,
    pub(super) nodes: Option<Nodes>,
    pub(super) health: Option<Health>,
    pub(super) unreachable: Option<Unreachable>,
    pub(super) phases: Vec<PhaseStep>,
    pub(super) conditions: Vec<Condition>,
    pub(super) git_ops: Option<GitOps>,
    pub(super) credential: Option<Credential>,
    pub(super) retry: Option<Retry>,
    pub(super) stale_since: Option<Timestamp>,
}

#[derive(Deserialize)]
pub(super) struct Flux {
    pub(super) version: Option<String>,
    pub(super) managed_by: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Nodes {
    pub(super) total: u64,
    pub(super) ready: u64,
}

#[derive(Deserialize)]
pub(super) struct Health {
    pub(super) score: f64,
    pub(super) colour: String,
}

#[derive(Deserialize)]
pub(super) struct Unreachable {
    pub(super) since: Timestamp,
    pub(super) reason: String,
}

#[derive(Deserialize)]
pub(super) struct PhaseStep {
    pub(super) phase: String,
    pub(super) state: String,
    pub(super) failed_attempts: Option<FailedAttempts>,
}

#[derive(Deserialize)]
pub(super) struct FailedAttempts {
    pub(super) count: u64,
    pub(super) last_at: Timestamp,
    pub(super) message: String,
}

#[derive(Deserialize)]
pub(super) struct Condition {
    #[serde(rename = "type")]
    pub(super) type_: String,
    pub(super) status: String,
    pub(super) reason: String,
    pub(super) message: String,
}

#[derive(Deserialize)]
pub(super) struct GitOps {
    pub(super) url: String,
    pub(super) branch: String,
    pub(super) path: String,
    pub(super) applied_revision: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Credential {
    pub(super) kind: String,
    pub(super) expires_at: Option<Timestamp>,
}

#[derive(Deserialize)]
pub(super) struct Retry {
    pub(super) attempt: u64,
    pub(super) next_attempt_at: Timestamp,
}

/// What disconnecting takes away and what it leaves.
#[derive(Deserialize)]
pub(super) struct Disconnection {
    pub(super) goes: Vec<GoingObject>,
    pub(super) stays: Vec<String>,
}

#[derive(Deserialize)]
pub(super) struct GoingObject {
    pub(super) place: String,
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
}

/// What became of a cluster that KubeOpera let go of.
#[derive(Deserialize)]
pub(super) struct PartingReceipt {
    pub(super) name: String,
    pub(super) is_destroyed: bool,
    pub(super) left: Vec<GoingObject>,
    pub(super) left_because: Option<String>,
    pub(super) commands: Vec<String>,
}

/// A kubeconfig, context by context.
#[derive(Deserialize)]
pub(super) struct KubeconfigCheck {
    pub(super) preferred: Option<String>,
    pub(super) contexts: Vec<ContextVerdict>,
}

#[derive(Deserialize)]
pub(super) struct ContextVerdict {
    pub(super) name: String,
    pub(super) verdict: String,
    pub(super) refusal: Option<Finding>,
    pub(super) warnings: Vec<Finding>,
    pub(super) server: Option<String>,
    pub(super) cluster: Option<FoundCluster>,
}

#[derive(Deserialize)]
pub(super) struct Finding {
    pub(super) field: Option<String>,
    pub(super) message: String,
}

#[derive(Deserialize)]
pub(super) struct FoundCluster {
    pub(super) kubernetes_version: String,
    pub(super) nodes: Nodes,
    pub(super) provider: String,
    pub(super) region: String,
    pub(super) known_as: Option<KnownCluster>,
}

#[derive(Deserialize)]
pub(super) struct KnownCluster {
    pub(super) name: String,
}

/// A kubeconfig to look at. It is sent in base64, which keeps every byte as it is in the file.
#[derive(Serialize)]
pub(super) struct KubeconfigToCheck<'a> {
    pub(super) kubeconfig: &'a str,
    pub(super) encoding: &'static str,
    pub(super) context: Option<&'a str>,
}

/// An existing cluster to connect.
#[derive(Serialize)]
pub(super) struct ClusterToConnect<'a> {
    pub(super) name: &'a str,
    pub(super) provider: &'a str,
    pub(super) region: &'a str,
    pub(super) domain: Option<&'a str>,
    pub(super) admin_email: Option<&'a str>,
    pub(super) admin_username: Option<&'a str>,
    pub(super) git_path: Option<&'a str>,
    #[serde(flatten)]
    pub(super) kubeconfig: KubeconfigToCheck<'a>,
}

/// The cluster's name, typed to confirm that it is meant.
#[derive(Serialize)]
pub(super) struct Confirmation<'a> {
    pub(super) name: &'a str,
}
