//! The order in which an environment comes up. Each layer is one Flux Kustomization that waits for those it stands on.
//!
//! Their names never change between versions: Flux takes a renamed Kustomization for a new one and removes everything
//! the old one applied.

/// A step of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// What everything else needs to exist: namespaces, and CRDs that no chart brings.
    Crds,
    /// Controllers and operators, with the CRDs their charts bring.
    Controllers,
    /// What configures them.
    Configs,
    /// The platform's database.
    Database,
    /// Monitoring, for which nothing waits.
    Monitoring,
    /// KubeOpera's services.
    Apps,
    /// What people add. It is theirs: written once, as a start, and never again.
    Overrides,
}

impl Layer {
    /// All of them, in order.
    pub const ALL: [Self; 7] =
        [Self::Crds, Self::Controllers, Self::Configs, Self::Database, Self::Monitoring, Self::Apps, Self::Overrides];

    /// `crds`, `controllers`, …
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crds => "crds",
            Self::Controllers => "controllers",
            Self::Configs => "configs",
            Self::Database => "database",
            Self::Monitoring => "monitoring",
            Self::Apps => "apps",
            Self::Overrides => "overrides",
        }
    }

    /// The name of its Flux Kustomization.
    pub fn kustomization(self) -> String {
        format!("kubeopera-{}", self.name())
    }

    /// Its folder in the tree.
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Crds => "infrastructure/crds",
            Self::Controllers => "infrastructure/controllers",
            Self::Configs => "infrastructure/configs",
            Self::Database => "infrastructure/database",
            Self::Monitoring => "infrastructure/monitoring",
            Self::Apps => "apps/kubeopera",
            Self::Overrides => "overrides",
        }
    }

    /// What it waits for.
    pub const fn stands_on(self) -> &'static [Self] {
        match self {
            Self::Crds => &[],
            Self::Controllers => &[Self::Crds],
            Self::Configs => &[Self::Controllers],
            Self::Database | Self::Monitoring => &[Self::Configs],
            Self::Apps => &[Self::Database],
            Self::Overrides => &[Self::Apps],
        }
    }

    /// Whether it is ready only when everything in it is. Certificates wait for the internet and for DNS that people
    /// set later, and overrides may hold anything, so those layers are ready once they are applied.
    pub const fn waits_for_health(self) -> bool {
        !matches!(self, Self::Configs | Self::Overrides)
    }

    /// Whether what leaves the layer in Git leaves the cluster. Namespaces, CRDs and data stay.
    pub const fn prunes(self) -> bool {
        !matches!(self, Self::Crds | Self::Database)
    }

    /// How long one attempt may take. A chart that installs for the first time pulls its images in this time.
    pub const fn timeout(self) -> &'static str {
        match self {
            Self::Crds | Self::Configs | Self::Overrides => "3m",
            Self::Controllers | Self::Database | Self::Monitoring | Self::Apps => "10m",
        }
    }
}
