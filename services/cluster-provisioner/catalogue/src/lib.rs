//! What KubeOpera can create where: clouds, topologies, regions, instance types and Kubernetes versions, and the rules for
//! a cluster made of them.
//!
//! The facts are dated tables in `data/`, which are part of the executable: a wizard that needs the clouds' own lists
//! would need a credential before it can show anything. Whether a cloud agrees on the day is for the run to find out,
//! before it creates anything.

mod check;
mod support;
mod table;
mod things;

use std::{collections::BTreeMap, sync::LazyLock};

pub use check::{Accepted, Order, Refusal};
pub use support::Support;
pub use table::NotReadable;
pub use things::{Architecture, Cloud, Gpus, InstanceType, Region, Release, TopologyName};

/// When the tables were last compared with what the clouds say.
pub const AS_OF: &str = "2026-11";

/// All that can be chosen.
#[derive(Debug, Clone)]
pub struct Catalogue {
    regions: Vec<Region>,
    types: Vec<InstanceType>,
    /// By cloud and region: the families that are offered there.
    offered: BTreeMap<(Cloud, &'static str), Vec<&'static str>>,
    releases: Vec<Release>,
}

impl Catalogue {
    /// The catalogue that is part of the executable.
    pub fn built_in() -> Result<&'static Self, NotReadable> {
        static CATALOGUE: LazyLock<Result<Catalogue, NotReadable>> = LazyLock::new(Catalogue::read);
        CATALOGUE.as_ref().map_err(Clone::clone)
    }

    fn read() -> Result<Self, NotReadable> {
        let families = things::families()?;
        let mut offered = BTreeMap::<_, Vec<_>>::new();
        for family in &families {
            for region in &family.regions {
                offered.entry((family.cloud, *region)).or_default().push(family.name);
            }
        }
        Ok(Self {
            regions: things::regions()?,
            types: things::types(&families)?,
            offered,
            releases: things::releases()?,
        })
    }

    /// The regions of a cloud, by id.
    pub fn regions(&self, cloud: Cloud) -> impl Iterator<Item = &Region> {
        self.regions.iter().filter(move |region| region.cloud == cloud)
    }

    /// A region of a cloud.
    pub fn region(&self, cloud: Cloud, id: &str) -> Option<&Region> {
        self.regions(cloud).find(|region| region.id == id)
    }

    /// The instance types that a region offers, family by family and the small ones first.
    pub fn instance_types(&self, region: &Region) -> impl Iterator<Item = &InstanceType> {
        let (cloud, families) = (region.cloud, self.offered.get(&(region.cloud, region.id)));
        self.types.iter().filter(move |one| one.cloud == cloud && families.is_some_and(|all| all.contains(&one.family)))
    }

    /// The Kubernetes versions of a topology, the newest first, also those whose support has ended.
    pub fn releases(&self, topology: TopologyName) -> impl Iterator<Item = &Release> {
        self.releases.iter().filter(move |release| release.topology == topology)
    }
}
