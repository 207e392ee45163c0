//! `status`: where a cluster is. One writer: host-cluster-controller.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the work towards the first milestone that is not met.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(
    missing_docs,
    reason = "a documented variant would turn the schema's plain enum into a oneOf, which is not structural"
)]
pub enum Phase {
    Pending,
    ValidatingAccess,
    Provisioning,
    BootstrappingFlux,
    GeneratingGitOpsTree,
    InstallingKubeOpera,
    Ready,
    Failed,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::ValidatingAccess,
        Self::Provisioning,
        Self::BootstrappingFlux,
        Self::GeneratingGitOpsTree,
        Self::InstallingKubeOpera,
        Self::Ready,
        Self::Failed,
    ];

    /// The phase as the resource spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::ValidatingAccess => "ValidatingAccess",
            Self::Provisioning => "Provisioning",
            Self::BootstrappingFlux => "BootstrappingFlux",
            Self::GeneratingGitOpsTree => "GeneratingGitOpsTree",
            Self::InstallingKubeOpera => "InstallingKubeOpera",
            Self::Ready => "Ready",
            Self::Failed => "Failed",
        }
    }
}

/// Where the cluster is on its way, and how it does once it is there.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HostClusterStatus {
    /// What is being done: Pending, ValidatingAccess, Provisioning, BootstrappingFlux, GeneratingGitOpsTree,
    /// InstallingKubeOpera; or Ready; or Failed, where the message says what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// What is happening, as a sentence for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// When the present phase began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase_started_at: Option<Time>,
    /// Name of the Secret with the kubeconfig KubeOpera works with. None for the host cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubeconfig_secret: Option<String>,
    /// The credential in that kubeconfig. None for the host cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub credential: Option<CredentialStatus>,
    /// Whether Flux is healthy and reconciling the cluster's tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux_healthy: Option<bool>,
    /// Name of the Secret with the first administrator's password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_password_secret_ref: Option<String>,
    /// The generation of the spec this status speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// UID of the cluster's kube-system namespace: which cluster this is, whatever its names and addresses.
    #[serde(rename = "clusterUID", skip_serializing_if = "Option::is_none")]
    pub cluster_uid: Option<String>,
    /// Kubernetes version of the API server, without a leading v.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
    /// How many nodes there are and how many are ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<NodeCount>,
    /// The Flux on the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flux: Option<FluxStatus>,
    /// The cluster's tree in Git.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_ops: Option<GitOpsStatus>,
    /// The run that creates the cluster (provision_* modes only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<ProvisioningStatus>,
    /// The next attempt after a trouble; absent while all goes well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry: Option<RetryStatus>,
    /// Phases that did not succeed at the first attempt, with what went wrong last; kept once the phase is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["phase".into()]))]
    pub failed_attempts: Vec<FailedAttempts>,
    /// Why what KubeOpera put on the cluster stays there after letting go of it, as sentences; unset if nothing does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_behind: Option<String>,
    /// Inputs with which each milestone was reached, as hashes: a milestone reopens when its inputs change.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprints: BTreeMap<String, String>,
    /// Milestones (AccessValidated, InfrastructureReady, FluxBootstrapped, TreeGenerated, PlatformInstalled), their
    /// summary (Ready), and how the cluster does (Reachable, FluxHealthy, CredentialValid).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,
}

/// The credential with which a cluster is reached.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CredentialStatus {
    /// What it is.
    pub kind: CredentialKind,
    /// When it ends; unset where it does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// What a kubeconfig shows to the API server: a client certificate with its key, or a token.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[allow(
    missing_docs,
    reason = "a documented variant would turn the schema's plain enum into a oneOf, which is not structural"
)]
pub enum CredentialKind {
    ClientCertificate,
    Token,
}

/// Nodes of a cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeCount {
    /// All nodes.
    pub total: i32,
    /// Nodes whose Ready condition is True.
    pub ready: i32,
}

/// The Flux on a cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FluxStatus {
    /// Version of Flux, such as v2.9.4, where it can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Who installed it: kubeopera, or what else manages it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub managed_by: Option<String>,
}

/// The cluster's tree in Git.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GitOpsStatus {
    /// Branch that Flux follows.
    pub branch: String,
    /// Commit that holds the generated tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// SHA-256 of the generated tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_hash: Option<String>,
    /// Revision that Flux applied last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied_revision: Option<String>,
}

/// The run that creates a cluster.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ProvisioningStatus {
    /// Name of the Job in kubeopera-provisioning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job_name: Option<String>,
    /// How many times a run was started.
    #[serde(default)]
    pub attempt: i32,
    /// What the run is doing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
}

/// The next attempt after a trouble.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RetryStatus {
    /// Attempts made so far in this phase that did not succeed.
    pub attempt: i32,
    /// Who has to act: nobody (Transient), somebody who can change the resource or what it names (Rejected), or
    /// KubeOpera's makers (Bug).
    pub kind: RetryKind,
    /// When this run of troubles began.
    pub since: Time,
    /// When the next attempt is due.
    pub next_attempt_at: Time,
    /// One word for what went wrong.
    pub reason: String,
}

/// Attempts at a phase that did not succeed, since the phase began.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct FailedAttempts {
    /// The phase; never Pending, Ready or Failed.
    pub phase: Phase,
    /// How many.
    pub count: i32,
    /// When the first of them failed.
    pub first_at: Time,
    /// When the last of them failed.
    pub last_at: Time,
    /// One word for what went wrong at the last of them.
    pub reason: String,
    /// What went wrong at the last of them, as sentences.
    pub message: String,
}

/// Who has to act before another attempt can succeed.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[allow(
    missing_docs,
    reason = "a documented variant would turn the schema's plain enum into a oneOf, which is not structural"
)]
pub enum RetryKind {
    Transient,
    Rejected,
    Bug,
}
