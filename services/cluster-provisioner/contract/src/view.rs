//! What people are shown of a cluster's runs: the resources with what became of them, and the log.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use vocabulary::Money;

/// A cluster's infrastructure and the run that works on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provisioning {
    /// Which run it is, such as `create-1` or `destroy-2`.
    pub run: String,
    /// Where it is.
    pub state: RunState,
    /// What it is doing, why it stopped short, or what is not known to be gone, as sentences.
    pub message: String,
    /// What there is in the cloud, and what there was.
    pub resources: Vec<Resource>,
    /// When the last of it was seen to be gone, or was given up.
    pub ended_at: Option<Timestamp>,
}

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Working, or about to.
    Running,
    /// What was to be done is done.
    Succeeded,
    /// It stopped short.
    Failed,
    /// The infrastructure is gone.
    Destroyed,
    /// Nobody looks after the infrastructure any more; what is not gone is still there.
    GivenUp,
}

/// Something in the cloud that a run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Terraform's address, such as `module.network.aws_vpc.this`.
    pub address: String,
    /// What it is, as people call it.
    pub what: String,
    /// How the cloud calls it; empty if it has no name of its own.
    pub id: String,
    /// When it was seen to be gone; none while it is there.
    pub gone_at: Option<Timestamp>,
    /// What it costs while it is there.
    pub price: Price,
}

/// What something costs in a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Price {
    /// Nothing.
    Free,
    /// At list price.
    Monthly(Money),
    /// Something, and nobody here knows how much.
    Unknown,
}

/// Some of the log, whole lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogPart {
    /// The byte of the whole log that it begins with. After what was asked for, if that is no longer kept.
    pub from: u64,
    /// The byte to ask for next.
    pub next: u64,
    /// The lines. Each begins with the time it was said, RFC 3339.
    pub text: String,
    /// Whether more may come.
    pub is_live: bool,
}
