//! Every verb the controller can do, as data. A step leaves nothing to choose for whoever does it.
//!
//! Each effect is *ensured*: done twice, it is as if done once.

use cluster_provisioner_contract::RunRequest;
use gitops_scaffolder_contract::TreeInputs;
use host_cluster_controller_crd::Administrator;
use vocabulary::{ClusterId, GitBranch, GitPath, GitUrl, SecretName, Trouble};

use crate::{facts::Target, plan::Milestone};

/// One small thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    // Nothing but a word to the reader of the status.
    /// Leave everything as it is until `next_attempt_at` or a change.
    Rest,
    /// Left alone on request.
    Suspend,
    /// The spec breaks a rule: say which.
    Refuse,
    /// Publish that the work towards a milestone begins, before it does.
    Begin(Milestone),
    /// Publish which cluster this is, before anything is written to it.
    Identify,
    /// Publish that what was seen fulfils a milestone.
    Settle(Milestone),
    /// Something stands in the way; say what. The kind of trouble decides when to try again.
    Hold {
        /// What cannot be reached for now.
        at: Place,
        /// What stands in the way.
        trouble: Trouble,
    },
    /// All milestones are met: publish how the cluster does.
    KeepWatch,
    /// Publish that the cluster is being let go of.
    BeginRemoval,
    /// Publish that what KubeOpera put on the cluster stays there, because it cannot be removed.
    LeaveBehind {
        /// Why not, as whole sentences.
        why: String,
    },

    // On the management cluster.
    /// Put our finalizer on the resource, so that it cannot go before we have let go.
    AddFinalizer,
    /// Keep the kubeconfig that was supplied as the one to work with.
    KeepKubeconfig {
        /// Whose.
        cluster: ClusterId,
        /// As supplied.
        from: SecretName,
        /// To work with.
        to: SecretName,
    },
    /// Make the cluster's one provisioning run exist.
    EnsureRun {
        /// What to create.
        request: RunRequest,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// Fetch the kubeconfig of a created cluster and store it.
    StoreKubeconfig {
        /// Whose.
        cluster: ClusterId,
        /// Where to.
        to: SecretName,
    },
    /// Make the tree be in Git.
    EnsureTree {
        /// What it is made from.
        inputs: Box<TreeInputs>,
        /// Repository.
        url: GitUrl,
        /// Branch; without one the default branch.
        branch: Option<GitBranch>,
        /// Secret with the credentials to push with.
        credentials: SecretName,
    },
    /// Make the first administrator exist, with a password that is made once and kept in `password`.
    EnsureAdministrator {
        /// Of which environment.
        cluster: ClusterId,
        /// Who.
        administrator: Administrator,
        /// Secret that keeps the password.
        password: SecretName,
    },

    // On the cluster itself.
    /// Apply Flux's manifest.
    InstallFlux {
        /// Where.
        at: Target,
    },
    /// Write the Git credentials that the cluster reads with.
    WriteGitSecret {
        /// Where.
        at: Target,
        /// Secret they come from.
        from: SecretName,
        /// Repository they have to be for.
        url: GitUrl,
        /// Its version, to be kept beside the copy.
        version: String,
    },
    /// Write the registry credential to every namespace that pulls with it.
    WritePullSecret {
        /// Where.
        at: Target,
        /// Secret it comes from, and by whose name the tree knows it.
        from: SecretName,
        /// Its version, to be kept beside the copies.
        version: String,
    },
    /// Make source and root Kustomization be as wanted, and ask Flux to look at once.
    PointFlux {
        /// Where.
        at: Target,
        /// What they should be.
        wanted: SyncWanted,
    },

    // Letting go.
    /// Suspend the cluster's Kustomizations, so that deleting them prunes nothing.
    SuspendKustomizations {
        /// Where.
        at: Target,
    },
    /// Delete the cluster's Kustomizations, which are suspended.
    DeleteKustomizations {
        /// Where.
        at: Target,
    },
    /// Take Flux's finalizer off Kustomizations that are being deleted and whose controller does not answer.
    FreeKustomizations {
        /// Where.
        at: Target,
    },
    /// Delete the `GitRepository`.
    DeleteSource {
        /// Where.
        at: Target,
    },
    /// Delete the Git credentials on the cluster.
    DeleteGitSecret {
        /// Where.
        at: Target,
    },
    /// Make the infrastructure of a created cluster go away.
    EnsureDestroyed {
        /// Whose.
        cluster: ClusterId,
    },
    /// Delete the stored kubeconfigs.
    DeleteKubeconfigs {
        /// Whose.
        cluster: ClusterId,
    },
    /// Take our finalizer off: the resource goes.
    ReleaseFinalizer,
}

impl Step {
    /// The milestone that is met once this step is done. Others are met by being seen ([`Step::Settle`]).
    pub const fn concludes(&self) -> Option<Milestone> {
        match self {
            Self::Settle(milestone) => Some(*milestone),
            Self::KeepKubeconfig { .. } => Some(Milestone::AccessValidated),
            Self::StoreKubeconfig { .. } => Some(Milestone::InfrastructureReady),
            Self::EnsureTree { .. } => Some(Milestone::TreeGenerated),
            Self::EnsureAdministrator { .. } => Some(Milestone::PlatformInstalled),
            _ => None,
        }
    }
}

/// Where a trouble stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Place {
    /// On the way to a milestone.
    Milestone(Milestone),
    /// All milestones are met.
    Ready,
    /// While letting go.
    Removal,
}

/// What Flux on a cluster should be pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyncWanted {
    /// Label `kubeopera.io/cluster-id` of both objects.
    pub cluster: ClusterId,
    /// Repository.
    pub url: GitUrl,
    /// Branch.
    pub branch: String,
    /// Folder with the tree.
    pub path: GitPath,
    /// Value for `reconcile.fluxcd.io/requestedAt` on both objects: Flux looks at once, and says when it has.
    pub request: String,
}
