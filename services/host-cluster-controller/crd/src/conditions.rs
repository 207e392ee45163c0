//! Milestones as conditions, and the one place that knows how a condition changes.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::{Deserialize, Serialize};

/// Every condition type a HostCluster can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ConditionType {
    /// Milestone: the API server answers to the kubeconfig and grants cluster-admin.
    AccessValidated,
    /// Milestone: the cloud infrastructure exists and its kubeconfig is stored.
    InfrastructureReady,
    /// Milestone: Flux runs and has credentials for the repository.
    FluxBootstrapped,
    /// Milestone: the cluster's tree is in Git.
    TreeGenerated,
    /// Milestone: Flux has applied the tree, and the first administrator exists if one was asked for.
    PlatformInstalled,
    /// Summary: all milestones are met.
    Ready,
    /// Whether the API server answered the last time it was asked. Never a reason to leave Ready.
    Reachable,
    /// Whether Flux is healthy and reconciling. Never a reason to leave Ready.
    FluxHealthy,
    /// Whether the credential of the stored kubeconfig is still good, where it tells its end. Never a reason to leave Ready.
    CredentialValid,
    /// The resource is left alone on request.
    Suspended,
    /// The cluster is being let go of.
    Removing,
}

impl ConditionType {
    /// The type as the resource spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AccessValidated => "AccessValidated",
            Self::InfrastructureReady => "InfrastructureReady",
            Self::FluxBootstrapped => "FluxBootstrapped",
            Self::TreeGenerated => "TreeGenerated",
            Self::PlatformInstalled => "PlatformInstalled",
            Self::Ready => "Ready",
            Self::Reachable => "Reachable",
            Self::FluxHealthy => "FluxHealthy",
            Self::CredentialValid => "CredentialValid",
            Self::Suspended => "Suspended",
            Self::Removing => "Removing",
        }
    }
}

/// What CredentialValid says, by its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialState {
    /// True: its end is far.
    Valid,
    /// True, and its end is near.
    ExpiresSoon,
    /// False: it has ended.
    Expired,
}

impl CredentialState {
    /// The reason as the resource spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "Valid",
            Self::ExpiresSoon => "ExpiresSoon",
            Self::Expired => "Expired",
        }
    }

    /// What these conditions say of the credential; none where its end is not known.
    pub fn of(conditions: &[Condition]) -> Option<Self> {
        let said = conditions.iter().find(|one| one.type_ == ConditionType::CredentialValid.as_str())?;
        [Self::Valid, Self::ExpiresSoon, Self::Expired].into_iter().find(|state| state.as_str() == said.reason)
    }
}

/// A condition whose transition time is kept from `previous` unless its status changes now.
pub fn condition(
    previous: &[Condition],
    type_: ConditionType,
    status: Option<bool>,
    reason: &str,
    message: &str,
    generation: i64,
    now: jiff::Timestamp,
) -> Condition {
    let status = match status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    let unchanged = previous.iter().find(|old| old.type_ == type_.as_str() && old.status == status);
    Condition {
        type_: type_.as_str().to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: Some(generation),
        last_transition_time: unchanged.map_or(Time(now), |old| old.last_transition_time.clone()),
    }
}
