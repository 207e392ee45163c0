//! What there is to choose from.

use std::str::FromStr;

use jiff::civil::Date;
use vocabulary::Provider;

use crate::table::{NotReadable, rows};

/// A cloud that KubeOpera creates clusters in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cloud {
    /// Amazon Web Services.
    Aws,
    /// Google Cloud.
    Gcp,
}

impl Cloud {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Aws, Self::Gcp];

    /// Its id: `aws` or `gcp`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Aws => Provider::AWS,
            Self::Gcp => Provider::GCP,
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Aws => "AWS",
            Self::Gcp => "GCP",
        }
    }
}

/// The text names nothing in the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the catalogue does not have it")]
pub struct Unknown;

impl FromStr for Cloud {
    type Err = Unknown;
    fn from_str(text: &str) -> Result<Self, Unknown> {
        Self::ALL.into_iter().find(|cloud| cloud.as_str() == text).ok_or(Unknown)
    }
}

/// What KubeOpera builds, without its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TopologyName {
    /// EC2 instances and kubeadm.
    VanillaKubeadm,
    /// Amazon EKS.
    ManagedEks,
    /// Google GKE.
    ManagedGke,
}

impl TopologyName {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::VanillaKubeadm, Self::ManagedEks, Self::ManagedGke];

    /// Its id: `vanilla_kubeadm`, `managed_eks` or `managed_gke`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::VanillaKubeadm => "vanilla_kubeadm",
            Self::ManagedEks => "managed_eks",
            Self::ManagedGke => "managed_gke",
        }
    }

    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::VanillaKubeadm => "Vanilla Kubernetes (kubeadm)",
            Self::ManagedEks => "Managed (EKS)",
            Self::ManagedGke => "Managed (GKE)",
        }
    }

    /// What KubeOpera builds, as a sentence.
    pub const fn builds(self) -> &'static str {
        match self {
            Self::VanillaKubeadm => {
                "A VPC, one or more control-plane instances with stacked etcd, and a worker Auto Scaling Group. With more \
                 than one control-plane node, a Network Load Balancer fronts the API servers."
            }
            Self::ManagedEks => "A VPC, an EKS control plane operated by AWS, and a managed node group.",
            Self::ManagedGke => "A VPC network, a GKE control plane operated by Google, and a node pool.",
        }
    }

    /// The cloud it is built in.
    pub const fn cloud(self) -> Cloud {
        match self {
            Self::VanillaKubeadm | Self::ManagedEks => Cloud::Aws,
            Self::ManagedGke => Cloud::Gcp,
        }
    }

    /// Numbers of control-plane nodes to choose from; none where the cloud operates the control plane.
    pub const fn control_plane_counts(self) -> &'static [u8] {
        match self {
            Self::VanillaKubeadm => &[1, 3, 5, 7],
            Self::ManagedEks | Self::ManagedGke => &[],
        }
    }

    /// Worker nodes at most. EKS: nodes of a managed node group unless AWS raises the quota. The others: what a HostCluster
    /// may ask for.
    pub const fn most_nodes(self) -> u16 {
        match self {
            Self::ManagedEks => 450,
            Self::VanillaKubeadm | Self::ManagedGke => 500,
        }
    }
}

impl FromStr for TopologyName {
    type Err = Unknown;
    fn from_str(text: &str) -> Result<Self, Unknown> {
        Self::ALL.into_iter().find(|topology| topology.as_str() == text).ok_or(Unknown)
    }
}

/// A region of a cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Whose.
    pub cloud: Cloud,
    /// Its id, such as `eu-north-1`.
    pub id: &'static str,
    /// Where it is, such as Stockholm.
    pub name: &'static str,
    /// Whether the account has to enable it before it can be used.
    pub is_opt_in: bool,
}

/// Instruction set of an instance's processors, as Kubernetes calls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// x86, 64 bits.
    Amd64,
    /// Arm, 64 bits.
    Arm64,
}

impl Architecture {
    /// `amd64` or `arm64`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }
}

impl FromStr for Architecture {
    type Err = Unknown;
    fn from_str(text: &str) -> Result<Self, Unknown> {
        [Self::Amd64, Self::Arm64].into_iter().find(|one| one.as_str() == text).ok_or(Unknown)
    }
}

/// Graphics processors of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gpus {
    /// How many.
    pub count: u16,
    /// Which, such as NVIDIA L4.
    pub model: &'static str,
}

/// A size of node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstanceType {
    /// Whose.
    pub cloud: Cloud,
    /// Its family, such as `m7g` or `n2-standard`.
    pub family: &'static str,
    /// Its name, such as `m7g.large`.
    pub name: &'static str,
    /// Virtual processors.
    pub cpus: u16,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Instruction set.
    pub architecture: Architecture,
    /// Graphics processors, if it has any.
    pub gpus: Option<Gpus>,
    /// The kind of disk it boots from.
    pub boot_disk: &'static str,
}

/// A minor version of Kubernetes in one topology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    /// Where.
    pub topology: TopologyName,
    /// Such as `1.36`.
    pub minor: &'static str,
    /// The newest patch, where one is chosen; EKS and GKE choose it themselves.
    pub newest_patch: Option<u16>,
    /// Last day of (standard) support; `None` where it is not announced yet.
    pub supported_until: Option<Date>,
    /// Last day of the support that costs extra; `None` where there is none.
    pub extended_until: Option<Date>,
}

impl Release {
    /// The version to ask for: the minor version, or its newest patch where one is chosen.
    pub fn newest(&self) -> String {
        self.newest_patch.map_or_else(|| self.minor.to_owned(), |patch| format!("{}.{patch}", self.minor))
    }
}

/// A family of instance types.
pub(crate) struct Family {
    pub(crate) cloud: Cloud,
    pub(crate) name: &'static str,
    architecture: Architecture,
    boot_disk: &'static str,
    pub(crate) regions: Vec<&'static str>,
}

pub(crate) fn regions() -> Result<Vec<Region>, NotReadable> {
    let table = rows("regions.csv", include_str!("../data/regions.csv"), &["provider", "region", "name", "opt_in"])?;
    let region = |row: &crate::table::Row| {
        Ok(Region {
            cloud: row.required(0)?,
            id: row.cell(1)?,
            name: row.cell(2)?,
            is_opt_in: match row.cell(3)? {
                "yes" => true,
                "no" => false,
                _ => return Err(row.fault("it is neither yes nor no")),
            },
        })
    };
    table.iter().map(region).collect()
}

pub(crate) fn families() -> Result<Vec<Family>, NotReadable> {
    let headings = ["provider", "family", "architecture", "boot_disk", "regions"];
    let table = rows("families.csv", include_str!("../data/families.csv"), &headings)?;
    let family = |row: &crate::table::Row| {
        Ok(Family {
            cloud: row.required(0)?,
            name: row.cell(1)?,
            architecture: row.required(2)?,
            boot_disk: row.cell(3)?,
            regions: row.cell(4)?.split(' ').collect(),
        })
    };
    table.iter().map(family).collect()
}

pub(crate) fn types(families: &[Family]) -> Result<Vec<InstanceType>, NotReadable> {
    let headings = ["provider", "family", "type", "cpus", "memory_mib", "gpus", "gpu"];
    let table = rows("instance-types.csv", include_str!("../data/instance-types.csv"), &headings)?;
    let one = |row: &crate::table::Row| {
        let (cloud, name) = (row.required(0)?, row.cell(1)?);
        let family = families.iter().find(|family| family.cloud == cloud && family.name == name);
        let family = family.ok_or_else(|| row.fault("there is no such family"))?;
        let count: u16 = row.required(5)?;
        Ok(InstanceType {
            cloud,
            family: family.name,
            name: row.cell(2)?,
            cpus: row.required(3)?,
            memory_mib: row.required(4)?,
            architecture: family.architecture,
            gpus: if count == 0 { None } else { Some(Gpus { count, model: row.cell(6)? }) },
            boot_disk: family.boot_disk,
        })
    };
    table.iter().map(one).collect()
}

pub(crate) fn releases() -> Result<Vec<Release>, NotReadable> {
    let headings = ["topology", "version", "newest_patch", "supported_until", "extended_until"];
    let table = rows("kubernetes.csv", include_str!("../data/kubernetes.csv"), &headings)?;
    let release = |row: &crate::table::Row| {
        Ok(Release {
            topology: row.required(0)?,
            minor: row.cell(1)?,
            newest_patch: row.parsed(2)?,
            supported_until: row.parsed(3)?,
            extended_until: row.parsed(4)?,
        })
    };
    table.iter().map(release).collect()
}
