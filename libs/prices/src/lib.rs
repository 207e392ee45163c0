//! What clouds charge: dated list prices as data, looked up exactly and never guessed.
//!
//! What is not in the table has no price. Where the built-in table ends, `kubeopera prices update` goes on with a file of
//! the cloud's own: [`offer_file`] for AWS, [`sku_list`] for Google.

mod machine;
mod offer_file;
mod sku_list;
mod table;

use vocabulary::{ClusterId, Money, Provider};

pub use offer_file::read as offer_file;
pub use sku_list::read as sku_list;
pub use table::{NotATable, Source, Table};

/// Hours in a month, as both clouds count them in their own estimates.
pub const HOURS_A_MONTH: u64 = 730;

/// The price of an hour over a month.
pub const fn monthly(hourly: Money) -> Money {
    hourly.times(HOURS_A_MONTH)
}

/// How a machine is bought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purchase {
    /// By the hour, at the list price.
    OnDemand,
    /// Spare capacity. Its price changes, so there is one only if a table names it.
    Spot,
}

/// A price and where it is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price<'a> {
    /// US dollars for a unit.
    pub amount: Money,
    /// Who says so, and when.
    pub source: &'a Source,
}

/// A load balancer of a cloud.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadBalancer {
    /// AWS Network Load Balancer.
    Network,
    /// AWS Application Load Balancer.
    Application,
    /// AWS Classic Load Balancer, which a Service of type `LoadBalancer` gets without further words.
    Classic,
    /// Forwarding rules of Google's: up to five cost as much as one.
    ForwardingRule,
    /// Each of them beyond five.
    FurtherForwardingRule,
}

/// What somebody said of the cost of a cluster, such as one on hardware of their own: US dollars a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnRates {
    /// For a node, whatever its size.
    pub node: Option<Money>,
    /// For a CPU.
    pub cpu: Option<Money>,
    /// For a gibibyte of memory.
    pub memory_gib: Option<Money>,
    /// Whether the billing account's credit for control planes goes to this one, as it goes to one cluster only.
    pub has_credit: bool,
}

impl OwnRates {
    /// Whether they say what nodes cost.
    pub const fn are_for_nodes(&self) -> bool {
        self.node.is_some() || self.cpu.is_some() || self.memory_gib.is_some()
    }
}

impl Table {
    /// An hour of a Linux machine. A Google machine costs what its CPUs and its memory do.
    pub fn machine(&self, provider: &str, region: &str, machine_type: &str, bought: Purchase) -> Option<Price<'_>> {
        let prefix = match bought {
            Purchase::OnDemand => "linux",
            Purchase::Spot => "linux-spot",
        };
        if let Some(price) = self.price(provider, region, &format!("{prefix}/{machine_type}")) {
            return Some(price);
        }
        let machine = (provider == Provider::GCP).then(|| machine::of_google(machine_type)).flatten()?;
        let cpu = self.price(provider, region, &format!("{prefix}-cpu/{}", machine.family))?;
        let memory = self.price(provider, region, &format!("{prefix}-memory/{}", machine.family))?;
        let amount = [per(cpu.amount, machine.thousandths_of_cpus, 1000), per(memory.amount, machine.memory_mib, 1024)];
        Some(Price { amount: amount.into_iter().sum(), source: cpu.source })
    }

    /// An hour of a managed control plane: `eks` or `gke`.
    pub fn control_plane(&self, provider: &str, region: &str, service: &str) -> Option<Price<'_>> {
        self.price(provider, region, &format!("control-plane/{service}"))
    }

    /// An hour of a managed control plane whose Kubernetes version is past standard support: all of it, not what is added.
    pub fn control_plane_past_support(&self, provider: &str, region: &str, service: &str) -> Option<Price<'_>> {
        self.price(provider, region, &format!("control-plane-past-support/{service}"))
    }

    /// What a billing account gets back in a month for its control planes.
    pub fn control_plane_credit(&self, provider: &str, service: &str) -> Option<Price<'_>> {
        self.price(provider, "*", &format!("control-plane-credit/{service}"))
    }

    /// An hour of a load balancer, without what goes through it.
    pub fn load_balancer(&self, provider: &str, region: &str, kind: LoadBalancer) -> Option<Price<'_>> {
        let kind = match kind {
            LoadBalancer::Network => "network",
            LoadBalancer::Application => "application",
            LoadBalancer::Classic => "classic",
            LoadBalancer::ForwardingRule => "forwarding-rule",
            LoadBalancer::FurtherForwardingRule => "further-forwarding-rule",
        };
        self.price(provider, region, &format!("load-balancer/{kind}"))
    }

    /// A month of a gibibyte on a volume of a type such as `gp3`, `pd-balanced` or, in two zones at once,
    /// `regional-pd-balanced`.
    pub fn volume(&self, provider: &str, region: &str, volume_type: &str) -> Option<Price<'_>> {
        self.price(provider, region, &format!("volume/{volume_type}"))
    }

    /// What somebody said that a cluster costs.
    pub fn own_rates(&self, cluster: ClusterId) -> Option<OwnRates> {
        self.own_rates.get(&cluster).copied()
    }
}

/// So many parts of a whole.
fn per(amount: Money, parts: u64, whole: u64) -> Money {
    let nanos = u128::from(amount.in_nanos()) * u128::from(parts) / u128::from(whole);
    Money::nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests;
