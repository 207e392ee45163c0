//! `ValidatingAccess`: the controller connects with the kubeconfig that was supplied and confirms that the API server
//! responds, that it is a cluster of its own, and that everything may be done on it.
//!
//! Looks at: the kubeconfig's Secret, the cluster, the other `HostCluster`s.

use host_cluster_controller_crd::ValidSpec;
use jiff::SignedDuration;
use vocabulary::{SecretName, Trouble};

use super::stored_kubeconfig;
use crate::{
    facts::{Facts, Reach, SecretSeen, Target, Thing},
    identity,
    obstacle::Obstacle,
    step::Step,
};

/// "Temporary network errors are retried for up to five minutes."
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(5);
/// How often to look while somebody else is working.
pub const POLL: SignedDuration = SignedDuration::from_secs(5);
/// What the phase says when it begins.
pub const OPENING: &str = "Connecting to the cluster with the kubeconfig that was supplied.";

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec, kubeconfig: &SecretName) -> Result<Step, Obstacle> {
    let secrets = facts.seen.secrets.or_look(|| Thing::Secrets)?;
    if secrets.kubeconfig == Some(SecretSeen::Absent) {
        return Err(Trouble::rejected(
            "KubeconfigMissing",
            format!(
                "The Secret {kubeconfig} with the kubeconfig does not exist. Connect the cluster anew, or create it."
            ),
        )
        .into());
    }
    let at = Target { cluster: spec.id, reach: Reach::Kubeconfig(kubeconfig.clone()) };
    let cluster = facts.seen.cluster.or_look(|| Thing::Cluster(at.clone()))?;
    if !cluster.may_administer {
        return Err(Trouble::rejected(
            "NotClusterAdmin",
            "The kubeconfig does not grant cluster-admin access. Supply one whose user is bound to the ClusterRole \
             cluster-admin.",
        )
        .into());
    }
    identity::establish(facts, &at)?;
    Ok(Step::KeepKubeconfig { cluster: spec.id, from: kubeconfig.clone(), to: stored_kubeconfig(spec.id)? })
}
