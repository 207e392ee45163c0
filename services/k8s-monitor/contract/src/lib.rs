//! What k8s-monitor promises: how every watched cluster is, from memory, and a signal when that changes.
//!
//! The types are what the API shows, unchanged: a score is computed in one place and is the same wherever it appears.

mod cost;
mod event;
mod fleet;
mod health;
mod node;
mod snapshot;
mod usage;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use tokio::sync::watch;
use vocabulary::ClusterId;

pub use cost::{Cost, CostItem, CostKind, CostTotal, NotPriced};
pub use event::{Event, EventKind, Events};
pub use fleet::{Listed, MultiCluster, Row, RowResource, Setup, Stale, Standing, Summary};
pub use health::{Assessed, Colour, Deduction, Health, HealthScore, NotAssessed, ObjectName, Penalty, Points};
pub use node::{CapacityType, Node, NodePrice};
pub use snapshot::{Freshness, Glance, Late, NodeCount, Snapshot, Unreachable};
pub use usage::{Resource, Resources, Usage};

/// k8s-monitor as the others see it. Everything but [`Monitor::refresh`] is answered from memory and never waits.
#[async_trait]
pub trait Monitor: Send + Sync {
    /// Every watched cluster in short, in no order. A cluster that was never reached is among them.
    fn fleet(&self) -> Vec<Arc<Glance>>;

    /// One cluster in short; `None` if it is not watched.
    fn glance(&self, cluster: ClusterId) -> Option<Arc<Glance>>;

    /// One cluster with everything; `None` if it is not watched.
    fn cluster(&self, cluster: ClusterId) -> Option<Arc<Snapshot>>;

    /// Asks every cluster anew, all at once, and returns when each has answered or `within` has passed for it. Names those
    /// that did not answer; they keep their last good value.
    async fn refresh(&self, within: Duration) -> Vec<Late>;

    /// The revision of the fleet. It grows whenever a [`Glance`] or [`Snapshot`] changes, a cluster joins or leaves; what
    /// changed since an earlier one are the clusters whose own revision is greater. Many changes may be one step.
    fn revision(&self) -> watch::Receiver<u64>;
}
