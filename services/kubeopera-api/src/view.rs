//! A cluster as the dashboard sees it: the record, and the phase and message of its resource at this moment.

mod phases;

use std::sync::Arc;

use host_cluster_controller_crd as crd;
use host_cluster_controller_crd::{HostCluster, HostClusterStatus};
use jiff::Timestamp;
use k8s_monitor_contract::{CostTotal, Glance, HealthScore, RowResource, Unreachable};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use vocabulary::{ClusterId, ClusterLabels};

pub(crate) use phases::PhaseStep;

use crate::store::clusters::{self, Record};

/// What is being done, or Ready or Failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Phase {
    Pending,
    ValidatingAccess,
    Provisioning,
    BootstrappingFlux,
    GeneratingGitOpsTree,
    InstallingKubeOpera,
    Ready,
    Failed,
}

/// How a cluster joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Mode {
    ConnectExisting,
    ProvisionVanilla,
    ProvisionEks,
    ProvisionGke,
}

/// A cluster KubeOpera manages.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Cluster {
    /// Identity; the name of its HostCluster resource.
    pub(crate) id: Uuid,
    /// The name people gave it.
    pub(crate) name: String,
    /// How it joined.
    pub(crate) mode: Mode,
    /// Cloud or kind of installation, or unknown.
    pub(crate) provider: String,
    /// Region of the provider, or unknown.
    pub(crate) region: String,
    /// What people marked it with; each is a label of its resource, too.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    pub(crate) labels: ClusterLabels,
    /// Whether KubeOpera runs on it. There is only ever one.
    pub(crate) is_host: bool,
    /// Since when KubeOpera knows it.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created_at: Timestamp,
    /// What is being done, or Ready or Failed.
    pub(crate) phase: Phase,
    /// What is happening, as a sentence.
    pub(crate) message: String,
    /// Whether Flux is healthy and reconciling the cluster's tree. Null until it is known.
    #[schema(required)]
    pub(crate) flux_healthy: Option<bool>,
    /// The Flux on the cluster. Null until it was looked at.
    #[schema(required)]
    pub(crate) flux: Option<Flux>,
    /// Kubernetes version of the API server. Null until it is known.
    #[schema(required)]
    pub(crate) kubernetes_version: Option<String>,
    /// Nodes. Null until they are counted.
    #[schema(required)]
    pub(crate) nodes: Option<NodeCount>,
    /// Health score and colour. Null until k8s-monitor has read the cluster.
    #[schema(required)]
    pub(crate) health: Option<HealthScore>,
    /// CPU, in millicores. Null until it is known.
    #[schema(required)]
    pub(crate) cpu: Option<RowResource>,
    /// Memory, in bytes. Null until it is known.
    #[schema(required)]
    pub(crate) memory: Option<RowResource>,
    /// Monthly cost. Null until nodes are known.
    #[schema(required)]
    pub(crate) cost: Option<CostTotal>,
    /// Since when and why the cluster does not answer k8s-monitor: health, nodes, usage and cost are what they were then.
    /// Null while it answers.
    #[schema(required)]
    pub(crate) unreachable: Option<Unreachable>,
    /// When the present phase began.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) phase_started_at: Option<Timestamp>,
    /// The phases of this cluster's way to Ready, in order.
    pub(crate) phases: Vec<PhaseStep>,
    /// The conditions of the resource.
    pub(crate) conditions: Vec<Condition>,
    /// The cluster's tree in Git. Null until there is one.
    #[schema(required)]
    pub(crate) git_ops: Option<GitOps>,
    /// What KubeOpera reaches the cluster with. Null for the host cluster, and until there is one.
    #[schema(required)]
    pub(crate) credential: Option<StoredCredential>,
    /// The next attempt after a trouble. Null while all goes well.
    #[schema(required)]
    pub(crate) retry: Option<Retry>,
    /// Since when the resource could not be read: what is shown is older than this. Null while it can be.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) stale_since: Option<Timestamp>,
    /// Grows with every change: of two answers about a cluster, the one with the higher revision is newer.
    pub(crate) revision: u64,
}

/// Nodes of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct NodeCount {
    /// All nodes.
    pub(crate) total: u32,
    /// Nodes whose Ready condition is True.
    pub(crate) ready: u32,
}

/// A condition of the resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Condition {
    /// What it is about, such as `FluxBootstrapped`.
    #[serde(rename = "type")]
    pub(crate) type_: String,
    /// True, False or Unknown.
    pub(crate) status: String,
    /// One word for why.
    pub(crate) reason: String,
    /// A sentence for why.
    pub(crate) message: String,
    /// When the status last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) last_transition_time: Timestamp,
}

/// The Flux on a cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Flux {
    /// Its version, such as v2.9.4. Null where it cannot be told.
    #[schema(required)]
    pub(crate) version: Option<String>,
    /// Who installed it: kubeopera, or what else manages it. Null where it cannot be told.
    #[schema(required)]
    pub(crate) managed_by: Option<String>,
}

/// A cluster's tree in Git.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct GitOps {
    /// The repository.
    pub(crate) url: String,
    /// The branch Flux follows.
    pub(crate) branch: String,
    /// The folder in it.
    pub(crate) path: String,
    /// The commit with the generated tree. Null until it is made.
    #[schema(required)]
    pub(crate) commit: Option<String>,
    /// The revision that Flux applied last, such as `main@sha1:` and a commit. Null until it applied one.
    #[schema(required)]
    pub(crate) applied_revision: Option<String>,
}

/// What a kubeconfig shows to the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum CredentialKind {
    ClientCertificate,
    Token,
}

/// How far from its end a credential is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum CredentialState {
    Valid,
    ExpiresSoon,
    Expired,
}

/// The credential in the stored kubeconfig. What it is, never the credential itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct StoredCredential {
    /// A client certificate with its key, or a token.
    pub(crate) kind: CredentialKind,
    /// When it ends. Null if it does not tell.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) expires_at: Option<Timestamp>,
    /// Whether its end is far, near or past. Null if it does not tell its end.
    #[schema(required)]
    pub(crate) state: Option<CredentialState>,
}

/// The next attempt after a trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Retry {
    /// Attempts in this phase that did not succeed.
    pub(crate) attempt: u32,
    /// When this run of troubles began. Null where it cannot be told.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    pub(crate) since: Option<Timestamp>,
    /// When the next one is due.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) next_attempt_at: Timestamp,
}

/// A page of clusters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct ClusterList {
    /// In the order that was asked for.
    pub(crate) items: Vec<Cluster>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
    /// Whether phases and messages are those of this moment.
    pub(crate) kubernetes: KubernetesAccess,
}

/// Whether KubeOpera can read the HostCluster resources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct KubernetesAccess {
    /// Whether it can.
    pub(crate) available: bool,
    /// If not, why, as sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) reason: Option<String>,
}

/// What is on record of a cluster besides what is wanted of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnRecord<'a> {
    pub(crate) id: ClusterId,
    pub(crate) name: &'a str,
    pub(crate) is_host: bool,
    pub(crate) created_at: Timestamp,
    /// Whether KubeOpera is letting go of it.
    pub(crate) is_leaving: bool,
    pub(crate) labels: &'a ClusterLabels,
}

impl<'a> From<&'a Record> for OnRecord<'a> {
    fn from(record: &'a Record) -> Self {
        Self {
            id: record.id,
            name: record.name.as_str(),
            is_host: record.is_host,
            created_at: record.created_at,
            is_leaving: record.removing_since.is_some(),
            labels: &record.labels,
        }
    }
}

/// Where it is told what is wanted of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Wanted<'a> {
    /// Its resource, with how far it is.
    Resource(&'a HostCluster),
    /// The record, as there is no resource.
    Record(&'a crd::HostClusterSpec),
}

/// What is known of a record's resource besides its content.
#[derive(Debug, Clone, Default)]
pub(crate) struct Circumstances {
    /// The trouble of making the resource, if it is not there because of one.
    pub(crate) trouble: Option<MakingTrouble>,
    /// Since when the resources cannot be read.
    pub(crate) unreadable_since: Option<Timestamp>,
    /// How k8s-monitor saw the cluster last.
    pub(crate) glance: Option<Arc<Glance>>,
    pub(crate) revision: u64,
}

/// Why a resource could not be made so far.
#[derive(Debug, Clone)]
pub(crate) struct MakingTrouble {
    pub(crate) message: String,
    pub(crate) attempt: u32,
    pub(crate) next_attempt_at: Timestamp,
}

impl Cluster {
    /// Brings record and resource together.
    pub(crate) fn of(record: OnRecord<'_>, wanted: Wanted<'_>, circumstances: Circumstances) -> Self {
        let none = HostClusterStatus::default();
        let (spec, status) = match wanted {
            Wanted::Resource(resource) => (&resource.spec, resource.status.as_ref().unwrap_or(&none)),
            Wanted::Record(spec) => (spec, &none),
        };
        let phase = status.phase.map_or(Phase::Pending, Phase::from);
        let git_status = status.git_ops.as_ref();
        let Circumstances { trouble, unreadable_since, glance, revision } = circumstances;
        let glance = glance.as_deref();
        let usage = glance.and_then(|glance| glance.usage.as_ref());
        let retry = status.retry.as_ref().map(|retry| Retry {
            attempt: u32::try_from(retry.attempt).unwrap_or(0),
            since: Some(retry.since.0),
            next_attempt_at: retry.next_attempt_at.0,
        });
        Self {
            id: record.id.uuid(),
            name: record.name.to_owned(),
            mode: spec.mode.into(),
            provider: spec.provider.clone(),
            region: spec.region.clone(),
            labels: record.labels.clone(),
            is_host: record.is_host,
            created_at: record.created_at,
            phase,
            message: message(record, wanted, status, trouble.as_ref(), unreadable_since),
            flux_healthy: status.flux_healthy,
            flux: status
                .flux
                .as_ref()
                .map(|flux| Flux { version: flux.version.clone(), managed_by: flux.managed_by.clone() }),
            kubernetes_version: status.kubernetes_version.clone(),
            nodes: glance.and_then(|glance| glance.nodes).map(NodeCount::from).or(status.nodes.map(NodeCount::from)),
            health: glance.and_then(|glance| glance.health),
            cpu: usage.map(|usage| usage.cpu.into()),
            memory: usage.map(|usage| usage.memory.into()),
            cost: glance.and_then(|glance| glance.cost),
            unreachable: glance.and_then(|glance| glance.freshness.unreachable.clone()),
            phase_started_at: status.phase_started_at.as_ref().map(|at| at.0),
            phases: phases::of(spec, status, phase),
            conditions: status.conditions.iter().map(Condition::from).collect(),
            git_ops: git_status.map(|git| GitOps {
                url: spec.git_ops_repo_url.clone(),
                branch: git.branch.clone(),
                path: spec.git_ops_path.clone(),
                commit: git.commit.clone(),
                applied_revision: git.applied_revision.clone(),
            }),
            credential: status.credential.as_ref().map(|credential| StoredCredential {
                kind: credential.kind.into(),
                expires_at: credential.expires_at.as_ref().map(|at| at.0),
                state: crd::CredentialState::of(&status.conditions).map(CredentialState::from),
            }),
            retry: retry.or_else(|| {
                trouble.map(|trouble| Retry {
                    attempt: trouble.attempt,
                    since: None,
                    next_attempt_at: trouble.next_attempt_at,
                })
            }),
            stale_since: unreadable_since,
            revision,
        }
    }

    /// Names what people can say about it: see [`clusters::description_tag`].
    pub(crate) fn description_tag(&self) -> String {
        clusters::description_tag(&self.name, &self.labels)
    }
}

/// The resource's own message; where there is none, why.
fn message(
    record: OnRecord<'_>,
    wanted: Wanted<'_>,
    status: &HostClusterStatus,
    trouble: Option<&MakingTrouble>,
    unreadable_since: Option<Timestamp>,
) -> String {
    if let Some(message) = status.message.as_ref().filter(|message| !message.is_empty()) {
        return message.clone();
    }
    if record.is_leaving {
        let trouble = trouble.map_or_else(String::new, |trouble| {
            format!(" The HostCluster resource could not be deleted so far, retrying. {}", trouble.message)
        });
        return format!("KubeOpera is letting go of this cluster.{trouble}");
    }
    match (wanted, trouble, unreadable_since) {
        (Wanted::Resource(_), ..) => "Waiting for host-cluster-controller to pick the cluster up.".to_owned(),
        (_, Some(trouble), _) => {
            format!("The HostCluster resource could not be created so far, retrying. {}", trouble.message)
        }
        (_, None, Some(_)) => {
            "KubeOpera cannot reach its Kubernetes API at the moment, so the state of this cluster is not known."
                .to_owned()
        }
        (_, None, None) => "Waiting for the HostCluster resource to be created.".to_owned(),
    }
}

impl From<crd::Phase> for Phase {
    fn from(phase: crd::Phase) -> Self {
        match phase {
            crd::Phase::Pending => Self::Pending,
            crd::Phase::ValidatingAccess => Self::ValidatingAccess,
            crd::Phase::Provisioning => Self::Provisioning,
            crd::Phase::BootstrappingFlux => Self::BootstrappingFlux,
            crd::Phase::GeneratingGitOpsTree => Self::GeneratingGitOpsTree,
            crd::Phase::InstallingKubeOpera => Self::InstallingKubeOpera,
            crd::Phase::Ready => Self::Ready,
            crd::Phase::Failed => Self::Failed,
        }
    }
}

impl From<crd::Mode> for Mode {
    fn from(mode: crd::Mode) -> Self {
        match mode {
            crd::Mode::ConnectExisting => Self::ConnectExisting,
            crd::Mode::ProvisionVanilla => Self::ProvisionVanilla,
            crd::Mode::ProvisionEks => Self::ProvisionEks,
            crd::Mode::ProvisionGke => Self::ProvisionGke,
        }
    }
}

impl From<crd::CredentialKind> for CredentialKind {
    fn from(kind: crd::CredentialKind) -> Self {
        match kind {
            crd::CredentialKind::ClientCertificate => Self::ClientCertificate,
            crd::CredentialKind::Token => Self::Token,
        }
    }
}

impl From<crd::CredentialState> for CredentialState {
    fn from(state: crd::CredentialState) -> Self {
        match state {
            crd::CredentialState::Valid => Self::Valid,
            crd::CredentialState::ExpiresSoon => Self::ExpiresSoon,
            crd::CredentialState::Expired => Self::Expired,
        }
    }
}

impl From<k8s_monitor_contract::NodeCount> for NodeCount {
    fn from(nodes: k8s_monitor_contract::NodeCount) -> Self {
        let narrow = |count: u64| u32::try_from(count).unwrap_or(u32::MAX);
        Self { total: narrow(nodes.total), ready: narrow(nodes.ready) }
    }
}

impl From<crd::NodeCount> for NodeCount {
    fn from(nodes: crd::NodeCount) -> Self {
        Self { total: u32::try_from(nodes.total).unwrap_or(0), ready: u32::try_from(nodes.ready).unwrap_or(0) }
    }
}

impl From<&k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition> for Condition {
    fn from(condition: &k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition) -> Self {
        Self {
            type_: condition.type_.clone(),
            status: condition.status.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            last_transition_time: condition.last_transition_time.0,
        }
    }
}
