//! What a cluster costs in a month.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use vocabulary::Money;

/// What is paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the API document's plain enum into a oneOf")]
pub enum CostKind {
    Nodes,
    ControlPlane,
    ExtendedSupport,
    FreeTier,
    LoadBalancer,
    Volumes,
}

/// What a cluster costs in a month of 730 hours.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[schema(as = ClusterCost)]
pub struct Cost {
    /// Sum of what is priced, and how much is not.
    pub total: CostTotal,
    /// What is priced, equal things together; the dearest kind first.
    pub items: Vec<CostItem>,
    /// What is not priced, equal things together. It is not in the total.
    pub not_priced: Vec<NotPriced>,
    /// Where the prices are from and of which day, as a sentence. Empty if nothing is priced.
    pub source: String,
}

/// A sum, and how much it leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct CostTotal {
    /// US dollars a month for all that is priced. Null if nothing is priced.
    #[schema(required, value_type = Option<f64>, minimum = 0)]
    pub monthly: Option<Money>,
    /// Things that are in the sum.
    pub priced: u64,
    /// Things that are not, because their price is not known.
    pub not_priced: u64,
}

/// Equal things that are paid for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CostItem {
    /// What kind of thing.
    pub kind: CostKind,
    /// What exactly: `m6i.large in eu-north-1`, `Amazon EKS control plane`.
    pub what: String,
    /// How many; gibibytes for volumes.
    pub count: u64,
    /// US dollars a month for one.
    #[schema(value_type = f64, minimum = 0)]
    pub each: Money,
    /// US dollars a month for all of them.
    #[schema(value_type = f64, minimum = 0)]
    pub monthly: Money,
    /// What kind of price it is: `list price, on demand`.
    pub basis: String,
}

/// Equal things whose price is not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NotPriced {
    /// What kind of thing.
    pub kind: CostKind,
    /// What exactly.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Why, and what to do about it, as sentences.
    pub reason: String,
}
