//! What a cluster would cost.
//!
//! Only list prices that are known count. What has none is named instead, and no other price takes its place.

use cluster_provisioner_catalogue::{Accepted, Cloud, Support, TopologyName};
use cluster_provisioner_contract::Topology;
use prices::{LoadBalancer, Price, Purchase, Table, monthly};
use vocabulary::Money;

use super::{Caller, Platform, create::SizeWanted};
use crate::{error::AppError, store::audit::Action};

/// Gibibytes of the disk that a node boots from, as the modules of cluster-provisioner have it.
const BOOT_DISK_GIB: u64 = 50;

/// What a cluster would cost.
pub(crate) struct Estimate {
    pub(crate) items: Vec<Item>,
    /// What costs something as well and has no price here, in words.
    pub(crate) not_priced: Vec<String>,
}

/// A part of it.
pub(crate) struct Item {
    /// What it is, in words.
    pub(crate) what: &'static str,
    /// How many of it.
    pub(crate) count: u64,
    /// What all of it costs in a month.
    pub(crate) monthly: Money,
    /// How that comes about, in words.
    pub(crate) basis: String,
}

impl Platform {
    /// What a cluster would cost in a month, if it can be created today.
    pub(crate) async fn estimate(&self, caller: &Caller, size: &SizeWanted) -> Result<Estimate, AppError> {
        self.permit(caller, Action::SeeCatalogue).await?;
        Ok(Estimate::of(&size.accepted(None)?, Table::built_in()))
    }
}

impl Estimate {
    fn of(wanted: &Accepted<'_>, table: &Table) -> Self {
        let (cloud, region) = (wanted.region.cloud.as_str(), wanted.region.id);
        let instance_type = wanted.instance_type;
        let machine = table.machine(cloud, region, instance_type.name, Purchase::OnDemand);
        let control_planes = match wanted.topology {
            Topology::VanillaKubeadm { control_planes } => u64::from(control_planes),
            Topology::ManagedEks | Topology::ManagedGke => 0,
        };
        let nodes = u64::from(wanted.node_count);
        let mut made = Self { items: Vec::new(), not_priced: Vec::new() };
        let by_hour = |unit: &str, price: Price<'_>| (monthly(price.amount), hourly(unit, price));
        let machine = machine.map(|price| by_hour(instance_type.name, price));
        if control_planes > 0 {
            made.add("Control-plane nodes", control_planes, machine.clone(), instance_type.name);
        }
        if control_planes > 1 {
            let price = table.load_balancer(cloud, region, LoadBalancer::Network);
            let price = price.map(|price| by_hour("Network Load Balancer", price));
            made.add("Load balancer of the API servers", 1, price, "the Network Load Balancer");
        }
        let service = match wanted.topology_name {
            TopologyName::VanillaKubeadm => None,
            TopologyName::ManagedEks => Some("eks"),
            TopologyName::ManagedGke => Some("gke"),
        };
        if let Some(service) = service {
            let price = match wanted.support {
                Support::Extended { .. } => table.control_plane_past_support(cloud, region, service),
                Support::Standard { .. } | Support::Ended { .. } => table.control_plane(cloud, region, service),
            };
            made.add("Control plane", 1, price.map(|price| by_hour("control plane", price)), "the control plane");
        }
        made.add("Nodes", nodes, machine, instance_type.name);
        let disk = table.volume(cloud, region, instance_type.boot_disk).map(|price| {
            let words = price.source.words.trim_end_matches('.');
            let basis =
                format!("{BOOT_DISK_GIB} GiB {} at {} a GiB ({words})", instance_type.boot_disk, exact(price.amount));
            (price.amount.times(BOOT_DISK_GIB), basis)
        });
        made.add("Disks", nodes + control_planes, disk, instance_type.boot_disk);
        made.not_priced.push(
            match wanted.region.cloud {
                Cloud::Aws => "The NAT gateway, public IP addresses, logs, and what goes over the network.",
                Cloud::Gcp => "Cloud NAT, logs, and what goes over the network.",
            }
            .to_owned(),
        );
        made.not_priced.push("What runs on the cluster makes: load balancers, disks and snapshots.".to_owned());
        made
    }

    /// With the price of one in a month and how it comes about, or the name of what has none.
    fn add(&mut self, what: &'static str, count: u64, price: Option<(Money, String)>, name: &str) {
        match price {
            Some((one, basis)) => self.items.push(Item { what, count, monthly: one.times(count), basis }),
            None => self.not_priced.push(format!("{what}: KubeOpera has no price for {name} in this region.")),
        }
    }
}

fn hourly(unit: &str, price: Price<'_>) -> String {
    let words = price.source.words.trim_end_matches('.');
    format!("{unit} at {} an hour, 730 hours a month ({words})", exact(price.amount))
}

/// All decimals there are: prices by the hour have more than cents.
fn exact(amount: Money) -> String {
    let (whole, fraction) = (amount.in_nanos() / 1_000_000_000, amount.in_nanos() % 1_000_000_000);
    let fraction = format!("{fraction:09}");
    let fraction = fraction.trim_end_matches('0');
    format!("${whole}.{fraction:0<2}")
}
