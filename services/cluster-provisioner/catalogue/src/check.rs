//! Whether a cluster can be made as somebody wants it.
//!
//! Everything that can be known without asking a cloud is checked here, so that nobody waits ten minutes and pays for half
//! a cluster to learn it.

use cluster_provisioner_contract::Topology;
use jiff::civil::Date;
use vocabulary::{ClusterName, KubernetesVersion};

use crate::{
    Catalogue,
    support::Support,
    things::{Cloud, InstanceType, Region, Release, TopologyName},
};

/// A cluster somebody wants. The fields have the names that the wizard and the API give them.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// What people call it, once they gave it a name.
    pub name: Option<&'a ClusterName>,
    /// Id of a cloud.
    pub provider: &'a str,
    /// Id of a topology.
    pub topology: &'a str,
    /// Id of a region.
    pub region: &'a str,
    /// Version of Kubernetes.
    pub kubernetes_version: &'a KubernetesVersion,
    /// Worker nodes.
    pub node_count: u32,
    /// Their size, and that of control-plane nodes that KubeOpera operates.
    pub instance_type: &'a str,
    /// Control-plane nodes, where they are chosen; 1 if left out.
    pub control_plane_count: Option<u32>,
}

/// A field that cannot be as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which, as in [`Order`].
    pub field: &'static str,
    /// Why, as one stable word for programs.
    pub code: &'static str,
    /// Why, and what would do, in whole sentences.
    pub rule: String,
}

/// What an order comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accepted<'c> {
    /// What is built.
    pub topology: Topology,
    /// The same without its size.
    pub topology_name: TopologyName,
    /// Where.
    pub region: &'c Region,
    /// Of what.
    pub instance_type: &'c InstanceType,
    /// How many worker nodes.
    pub node_count: u16,
    /// How well its Kubernetes version is supported.
    pub support: Support,
}

/// The name of a GKE cluster has at most 40 characters, and KubeOpera puts a hyphen and eight digits of the cluster's id
/// behind it, so that clusters of two installations, or a cluster and its successor, do not meet in one project.
const LONGEST_GKE_NAME: usize = 40 - 9;

impl Catalogue {
    /// Whether a cluster can be created on this day, or the first thing that stands in the way, in the order of the wizard's
    /// questions.
    pub fn check(&self, order: &Order<'_>, today: Date) -> Result<Accepted<'_>, Refusal> {
        let topology = topology(order)?;
        let cloud = topology.cloud();
        order.name.map_or(Ok(()), |wanted| name(topology, wanted))?;
        let region = self.region(cloud, order.region).ok_or_else(|| {
            let rule = format!("KubeOpera knows no region of {} with this id. Choose one of the list.", cloud.title());
            refusal("region", "region_unknown", rule)
        })?;
        Ok(Accepted {
            topology_name: topology,
            region,
            support: self.support(topology, order.kubernetes_version, today)?,
            topology: sized(topology, order.control_plane_count)?,
            node_count: node_count(topology, order.node_count)?,
            instance_type: self.instance_type(region, order.instance_type)?,
        })
    }

    fn support(&self, topology: TopologyName, version: &KubernetesVersion, today: Date) -> Result<Support, Refusal> {
        let offered = || {
            let all = self.releases(topology).filter(|release| release.is_offered(today));
            all.map(Release::newest).collect::<Vec<_>>().join(", ")
        };
        let refused = |code, why: String| {
            let rule = format!("{why} Choose one of {}.", offered());
            Err(refusal("kubernetes_version", code, rule))
        };
        let (title, text) = (topology.title(), version.as_str());
        let found = self.releases(topology).find_map(|release| Some((release, release.patch(text)?)));
        let Some((release, patch)) = found else {
            return refused("version_unknown", format!("KubeOpera does not create clusters of {title} with it."));
        };
        match (patch, release.newest_patch) {
            (None, Some(_)) => return refused("version_unknown", "The version needs its patch number.".to_owned()),
            (Some(_), None) => {
                return refused("version_unknown", "The cloud chooses the patch version, so leave it out.".to_owned());
            }
            (Some(patch), Some(newest)) if patch > newest => {
                let why = format!("The newest patch version that KubeOpera knows is {}.", release.newest());
                return refused("version_unknown", why);
            }
            (None, None) | (Some(_), Some(_)) => {}
        }
        match release.support(today) {
            Support::Ended { on } => refused(
                "version_unsupported",
                format!("The support for Kubernetes {} has ended on {on}.", release.minor),
            ),
            support @ (Support::Standard { .. } | Support::Extended { .. }) => Ok(support),
        }
    }

    fn instance_type(&self, region: &Region, wanted: &str) -> Result<&InstanceType, Refusal> {
        if let Some(found) = self.instance_types(region).find(|one| one.name == wanted) {
            return Ok(found);
        }
        let is_elsewhere = self.types.iter().any(|one| one.cloud == region.cloud && one.name == wanted);
        Err(if is_elsewhere {
            let rule = format!(
                "{} does not offer this instance type in {}. Choose another type or another region.",
                region.cloud.title(),
                region.id
            );
            refusal("instance_type", "instance_type_not_in_region", rule)
        } else {
            let rule = format!(
                "KubeOpera knows no instance type of {} with this name that carries a node. Choose one of the list.",
                region.cloud.title()
            );
            refusal("instance_type", "instance_type_unknown", rule)
        })
    }
}

impl Release {
    /// If a version belongs to this release: its patch number, if it has one.
    #[allow(clippy::option_option, reason = "whether it belongs, and whether it has a patch number, are two questions")]
    fn patch(&self, version: &str) -> Option<Option<u16>> {
        match version.strip_prefix(self.minor)? {
            "" => Some(None),
            rest => Some(Some(rest.strip_prefix('.')?.parse().ok()?)),
        }
    }
}

fn topology(order: &Order<'_>) -> Result<TopologyName, Refusal> {
    let cloud: Cloud = order.provider.parse().map_err(|_| {
        refusal("provider", "provider_unknown", "KubeOpera creates clusters on aws and gcp.".to_owned())
    })?;
    let topologies = TopologyName::ALL.into_iter().filter(|topology| topology.cloud() == cloud);
    topologies.clone().find(|topology| topology.as_str() == order.topology).ok_or_else(|| {
        let all: Vec<_> = topologies.map(TopologyName::as_str).collect();
        let rule = format!("On {} KubeOpera creates {}.", cloud.title(), all.join(" and "));
        let is_known = TopologyName::ALL.iter().any(|topology| topology.as_str() == order.topology);
        refusal("topology", if is_known { "topology_of_other_provider" } else { "topology_unknown" }, rule)
    })
}

fn name(topology: TopologyName, name: &ClusterName) -> Result<(), Refusal> {
    if topology != TopologyName::ManagedGke {
        return Ok(());
    }
    if name.as_str().len() > LONGEST_GKE_NAME {
        let rule = format!("GKE's limit leaves {LONGEST_GKE_NAME} characters for the name of a cluster.");
        return Err(refusal("name", "name_too_long", rule));
    }
    if !name.as_str().starts_with(|first: char| first.is_ascii_lowercase()) {
        let rule = "The name of a cluster on GKE starts with a letter.".to_owned();
        return Err(refusal("name", "name_not_for_cloud", rule));
    }
    Ok(())
}

fn sized(topology: TopologyName, control_planes: Option<u32>) -> Result<Topology, Refusal> {
    const FIELD: &str = "control_plane_count";
    let refused = |code, rule: &str| Err(refusal(FIELD, code, rule.to_owned()));
    match (topology, control_planes) {
        (TopologyName::ManagedEks, None) => Ok(Topology::ManagedEks),
        (TopologyName::ManagedGke, None) => Ok(Topology::ManagedGke),
        (TopologyName::ManagedEks | TopologyName::ManagedGke, Some(_)) => {
            refused("control_planes_managed", "The cloud operates the control plane of this topology, so leave it out.")
        }
        (TopologyName::VanillaKubeadm, count) => {
            let wanted = count.unwrap_or(1);
            let found = topology.control_plane_counts().iter().find(|count| u32::from(**count) == wanted);
            match found {
                Some(count) => Ok(Topology::VanillaKubeadm { control_planes: *count }),
                None => refused(
                    "control_planes_not_odd",
                    "Use 1, 3, 5 or 7 control-plane nodes: etcd needs a majority, and one more than an odd number adds none.",
                ),
            }
        }
    }
}

fn node_count(topology: TopologyName, nodes: u32) -> Result<u16, Refusal> {
    let most = topology.most_nodes();
    match u16::try_from(nodes) {
        Ok(nodes) if (1..=most).contains(&nodes) => Ok(nodes),
        _ => Err(refusal("node_count", "node_count_out_of_range", format!("Use 1 to {most} nodes."))),
    }
}

const fn refusal(field: &'static str, code: &'static str, rule: String) -> Refusal {
    Refusal { field, code, rule }
}
