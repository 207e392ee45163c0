//! How far a cluster is on its way to Ready.

use host_cluster_controller_crd as crd;
use host_cluster_controller_crd::{ConditionType, HostClusterStatus};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::Phase;

/// How far a phase is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum PhaseState {
    Done,
    Current,
    Failed,
    Waiting,
}

/// A phase on the way to Ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct PhaseStep {
    /// Which.
    pub(crate) phase: Phase,
    /// How far.
    pub(crate) state: PhaseState,
    /// Attempts that did not succeed since the phase began. Absent if there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub(crate) failed_attempts: Option<FailedAttempts>,
}

/// Attempts at a phase that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct FailedAttempts {
    /// How many.
    pub(crate) count: u32,
    /// When the first of them failed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) first_at: Timestamp,
    /// When the last of them failed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) last_at: Timestamp,
    /// What went wrong at the last of them, as sentences.
    pub(crate) message: String,
}

/// A milestone that is met is done; the first that is not is the one being worked on, or the one that failed.
pub(super) fn of(spec: &crd::HostClusterSpec, status: &HostClusterStatus, phase: Phase) -> Vec<PhaseStep> {
    let way = spec.way();
    let is_met = |milestone: ConditionType| {
        status.conditions.iter().any(|condition| condition.type_ == milestone.as_str() && condition.status == "True")
    };
    let first_unmet = way.iter().position(|(milestone, _)| !is_met(*milestone)).unwrap_or(way.len());
    let state_of = |position: usize| match (position.cmp(&first_unmet), phase) {
        (_, Phase::Ready) | (std::cmp::Ordering::Less, _) => PhaseState::Done,
        (std::cmp::Ordering::Equal, Phase::Failed) => PhaseState::Failed,
        (std::cmp::Ordering::Equal, Phase::Pending) | (std::cmp::Ordering::Greater, _) => PhaseState::Waiting,
        (std::cmp::Ordering::Equal, _) => PhaseState::Current,
    };
    let failed = |phase: crd::Phase| status.failed_attempts.iter().find(|failed| failed.phase == phase);
    way.iter()
        .enumerate()
        .map(|(position, (_, phase))| PhaseStep {
            phase: (*phase).into(),
            state: state_of(position),
            failed_attempts: failed(*phase).map(FailedAttempts::from),
        })
        .collect()
}

impl From<&crd::FailedAttempts> for FailedAttempts {
    fn from(failed: &crd::FailedAttempts) -> Self {
        Self {
            count: u32::try_from(failed.count).unwrap_or(0),
            first_at: failed.first_at.0,
            last_at: failed.last_at.0,
            message: failed.message.clone(),
        }
    }
}
