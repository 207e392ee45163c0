//! Provisioning: cluster-provisioner creates the cloud infrastructure with Terraform, in one run per cluster.
//!
//! Looks at: the run.

use cluster_provisioner_contract::{RunRequest, RunStatus};
use host_cluster_controller_crd::{ProvisionedCluster, ValidSpec};
use jiff::SignedDuration;
use vocabulary::Trouble;

use super::stored_kubeconfig;
use crate::{
    facts::{Facts, Thing},
    latch,
    obstacle::Obstacle,
    step::Step,
};

/// How long transient troubles may go on before the phase fails: those of asking for the run, not of the run itself.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(15);
/// How often to look while the run works (10 to 40 minutes).
pub const POLL: SignedDuration = SignedDuration::from_secs(15);
/// What the phase says when it begins.
pub const OPENING: &str = "Asking cluster-provisioner to create the cluster.";

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec, wanted: &ProvisionedCluster) -> Result<Step, Obstacle> {
    if !facts.has_provisioner {
        return Err(no_provisioner().into());
    }
    let last = facts.previous.provisioning.as_ref().map_or(0, |run| u32::try_from(run.attempt).unwrap_or(0));
    let made_for_this_spec = facts.previous.fingerprints.get(latch::RUN) == Some(&latch::run_fingerprint(spec));
    let run = |attempt: u32| Step::EnsureRun { request: request(spec, wanted), attempt };
    match facts.seen.run.or_look(|| Thing::Run)? {
        RunStatus::Absent | RunStatus::Vanished { .. } => Ok(run(last.max(1))),
        RunStatus::Destroyed => Err(destroyed().into()),
        RunStatus::Running { progress, .. } => Err(Trouble::waiting("RunInProgress", progress.clone()).into()),
        // Finished for another spec, or before we could note down that we had asked for it. Asked again for the
        // attempt that did finish, the provisioner has nothing to do.
        RunStatus::Succeeded { .. } | RunStatus::Failed { .. } if !made_for_this_spec => Ok(run(last + 1)),
        RunStatus::Succeeded { .. } => Ok(Step::StoreKubeconfig { cluster: spec.id, to: stored_kubeconfig(spec.id)? }),
        RunStatus::Failed { trouble, .. } => {
            // Resting is over if we get here: once the trouble was published, the next attempt is due.
            let was_published = facts.previous.retry.as_ref().is_some_and(|retry| retry.reason == trouble.reason);
            if was_published { Ok(run(last + 1)) } else { Err(trouble.clone().into()) }
        }
    }
}

/// This KubeOpera cannot create or destroy clusters.
pub fn no_provisioner() -> Trouble {
    Trouble::rejected(
        "NoProvisioner",
        "This KubeOpera has no cluster-provisioner, which creates and deletes clusters. Start one and configure \
         host-cluster-controller to use it.",
    )
}

/// Somebody had it deleted or given up without deleting the resource.
fn destroyed() -> Trouble {
    Trouble::rejected(
        "InfrastructureGone",
        "The infrastructure of this cluster was deleted or given up, and is not made again. Delete the cluster and create \
         another one.",
    )
}

fn request(spec: &ValidSpec, wanted: &ProvisionedCluster) -> RunRequest {
    RunRequest {
        cluster: spec.id,
        name: spec.name.clone(),
        provider: spec.provider.clone(),
        region: spec.region.clone(),
        topology: wanted.topology,
        nodes: wanted.nodes,
        instance_type: wanted.instance_type.clone(),
        kubernetes_version: wanted.kubernetes_version.clone(),
        credential: wanted.credential.clone(),
    }
}
