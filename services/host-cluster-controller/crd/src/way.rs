//! The way to Ready that a spec asks for, for whoever shows how far a cluster is. How it is gone is decided in `decide`,
//! whose plan a test holds against this one.

use crate::{ConditionType, HostClusterSpec, Mode, Phase};

const HOST: &[(ConditionType, Phase)] = &[
    (ConditionType::FluxBootstrapped, Phase::BootstrappingFlux),
    (ConditionType::TreeGenerated, Phase::GeneratingGitOpsTree),
    (ConditionType::PlatformInstalled, Phase::InstallingKubeOpera),
];
const CONNECT: &[(ConditionType, Phase)] = &[
    (ConditionType::AccessValidated, Phase::ValidatingAccess),
    (ConditionType::FluxBootstrapped, Phase::BootstrappingFlux),
    (ConditionType::TreeGenerated, Phase::GeneratingGitOpsTree),
    (ConditionType::PlatformInstalled, Phase::InstallingKubeOpera),
];
const PROVISION: &[(ConditionType, Phase)] = &[
    (ConditionType::InfrastructureReady, Phase::Provisioning),
    (ConditionType::FluxBootstrapped, Phase::BootstrappingFlux),
    (ConditionType::TreeGenerated, Phase::GeneratingGitOpsTree),
    (ConditionType::PlatformInstalled, Phase::InstallingKubeOpera),
];

impl HostClusterSpec {
    /// The milestones on the way to Ready in their order, each with the name of the work towards it.
    pub const fn way(&self) -> &'static [(ConditionType, Phase)] {
        match (self.mode, &self.connect_kubeconfig_secret_ref) {
            (Mode::ConnectExisting, None) => HOST,
            (Mode::ConnectExisting, Some(_)) => CONNECT,
            (Mode::ProvisionVanilla | Mode::ProvisionEks | Mode::ProvisionGke, _) => PROVISION,
        }
    }
}
