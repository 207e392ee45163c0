//! The milestones on the way to Ready, and the steps of letting go, as data. `docs/phases.md` is printed from it.

use host_cluster_controller_crd::{ConditionType, ModeSpec, Phase};
use jiff::SignedDuration;

use crate::phase;

/// Something that has to be true of every managed cluster, and is a condition of its HostCluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Milestone {
    /// The API server answers to the kubeconfig and grants cluster-admin.
    AccessValidated,
    /// The infrastructure exists and its kubeconfig is stored.
    InfrastructureReady,
    /// Flux runs and has credentials for the repository.
    FluxBootstrapped,
    /// The cluster's tree is in Git.
    TreeGenerated,
    /// Flux has applied the tree, and the first administrator exists if one was asked for.
    PlatformInstalled,
}

impl Milestone {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::AccessValidated,
        Self::InfrastructureReady,
        Self::FluxBootstrapped,
        Self::TreeGenerated,
        Self::PlatformInstalled,
    ];

    /// Its condition.
    pub const fn condition(self) -> ConditionType {
        match self {
            Self::AccessValidated => ConditionType::AccessValidated,
            Self::InfrastructureReady => ConditionType::InfrastructureReady,
            Self::FluxBootstrapped => ConditionType::FluxBootstrapped,
            Self::TreeGenerated => ConditionType::TreeGenerated,
            Self::PlatformInstalled => ConditionType::PlatformInstalled,
        }
    }

    /// The name of the work towards it.
    pub const fn phase(self) -> Phase {
        match self {
            Self::AccessValidated => Phase::ValidatingAccess,
            Self::InfrastructureReady => Phase::Provisioning,
            Self::FluxBootstrapped => Phase::BootstrappingFlux,
            Self::TreeGenerated => Phase::GeneratingGitOpsTree,
            Self::PlatformInstalled => Phase::InstallingKubeOpera,
        }
    }

    /// How long transient troubles may go on before the phase fails.
    pub const fn patience(self) -> SignedDuration {
        match self {
            Self::AccessValidated => phase::validating_access::PATIENCE,
            Self::InfrastructureReady => phase::provisioning::PATIENCE,
            Self::FluxBootstrapped => phase::bootstrapping_flux::PATIENCE,
            Self::TreeGenerated => phase::generating_tree::PATIENCE,
            Self::PlatformInstalled => phase::installing::PATIENCE,
        }
    }

    /// How often to look while somebody else is working.
    pub const fn poll(self) -> SignedDuration {
        match self {
            Self::AccessValidated => phase::validating_access::POLL,
            Self::InfrastructureReady => phase::provisioning::POLL,
            Self::FluxBootstrapped => phase::bootstrapping_flux::POLL,
            Self::TreeGenerated => phase::generating_tree::POLL,
            Self::PlatformInstalled => phase::installing::POLL,
        }
    }
}

impl Milestone {
    /// What is said when the work towards it begins.
    pub const fn opening(self) -> &'static str {
        match self {
            Self::AccessValidated => phase::validating_access::OPENING,
            Self::InfrastructureReady => phase::provisioning::OPENING,
            Self::FluxBootstrapped => phase::bootstrapping_flux::OPENING,
            Self::TreeGenerated => phase::generating_tree::OPENING,
            Self::PlatformInstalled => phase::installing::OPENING,
        }
    }

    /// What is true once it is met.
    pub const fn closing(self) -> &'static str {
        match self {
            Self::AccessValidated => "The API server answers to the kubeconfig and grants cluster-admin.",
            Self::InfrastructureReady => "The infrastructure exists and its kubeconfig is stored.",
            Self::FluxBootstrapped => "Flux runs and has credentials for the repository.",
            Self::TreeGenerated => "The cluster's tree is in Git.",
            Self::PlatformInstalled => "Flux has applied the cluster's tree.",
        }
    }
}

/// The three ways in which a cluster joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// Register This Cluster: `connect_existing` without a kubeconfig.
    Host,
    /// Connect Existing: `connect_existing` with a kubeconfig.
    Connect,
    /// Create New: `provision_vanilla`, `provision_eks`, `provision_gke`.
    Provision,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Host, Self::Connect, Self::Provision];

    /// The way a spec asks for.
    pub const fn of(mode: &ModeSpec) -> Self {
        match mode {
            ModeSpec::Host => Self::Host,
            ModeSpec::Connect { .. } => Self::Connect,
            ModeSpec::Provision(_) => Self::Provision,
        }
    }

    /// Its milestones, in order. The host cluster needs no access validated: the service account is KubeOpera's own.
    pub const fn milestones(self) -> &'static [Milestone] {
        use Milestone::{AccessValidated, FluxBootstrapped, InfrastructureReady, PlatformInstalled, TreeGenerated};
        match self {
            Self::Host => &[FluxBootstrapped, TreeGenerated, PlatformInstalled],
            Self::Connect => &[AccessValidated, FluxBootstrapped, TreeGenerated, PlatformInstalled],
            Self::Provision => &[InfrastructureReady, FluxBootstrapped, TreeGenerated, PlatformInstalled],
        }
    }
}

/// One thing that has to be true before a resource may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Parting {
    /// The cluster's Kustomizations are seen to be suspended: from then on deleting them prunes nothing.
    KustomizationsSuspended,
    /// They are gone.
    KustomizationsDeleted,
    /// The `GitRepository` is gone.
    SourceDeleted,
    /// The Git credentials on the cluster are gone.
    GitSecretDeleted,
    /// The infrastructure is gone.
    InfrastructureDestroyed,
    /// The stored kubeconfigs are gone.
    KubeconfigsDeleted,
}

/// Disconnect: stop managing, leave everything running.
pub const DISCONNECT: &[Parting] = &[
    Parting::KustomizationsSuspended,
    Parting::KustomizationsDeleted,
    Parting::SourceDeleted,
    Parting::GitSecretDeleted,
    Parting::KubeconfigsDeleted,
];

/// Delete: Flux must not bring back what goes, so it is suspended first.
pub const DESTROY: &[Parting] =
    &[Parting::KustomizationsSuspended, Parting::InfrastructureDestroyed, Parting::KubeconfigsDeleted];
