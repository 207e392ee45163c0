//! `GeneratingGitOpsTree`: gitops-scaffolder generates a complete environment for this cluster and commits it to Git.
//!
//! Looks at: the cluster, the Git credentials, what already runs on the cluster.

use cluster_provisioner_contract::Topology;
use gitops_scaffolder_contract::{Origin, Present, TreeInputs};
use host_cluster_controller_crd::{ModeSpec, ValidSpec};
use jiff::SignedDuration;

use super::{bootstrapping_flux::git_credentials_exist, target};
use crate::{
    facts::{ClusterSeen, Facts, Thing},
    identity,
    obstacle::Obstacle,
    step::Step,
};

/// How long transient troubles may go on before the phase fails.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);
/// How often to look while somebody else is working: people, who merge what was proposed for a branch that takes no commits.
pub const POLL: SignedDuration = SignedDuration::from_secs(30);
/// What the phase says when it begins.
pub const OPENING: &str = "Generating the cluster's environment and committing it to Git.";

pub(crate) fn next_step(facts: &Facts, spec: &ValidSpec) -> Result<Step, Obstacle> {
    let at = target(spec)?;
    let cluster = identity::confirm(facts, &at)?;
    git_credentials_exist(facts, &spec.git_credentials)?;
    let present = facts.seen.present.or_look(|| Thing::Present(at))?;
    Ok(Step::EnsureTree {
        inputs: Box::new(inputs(spec, cluster, *present)),
        url: spec.git_url.clone(),
        branch: spec.git_branch.clone(),
        credentials: spec.git_credentials.clone(),
    })
}

fn inputs(spec: &ValidSpec, cluster: &ClusterSeen, present: Present) -> TreeInputs {
    TreeInputs {
        cluster: spec.id,
        cluster_uid: cluster.uid.clone(),
        name: spec.name.clone(),
        provider: spec.provider.clone(),
        region: spec.region.clone(),
        origin: match &spec.mode {
            ModeSpec::Host | ModeSpec::Connect { .. } => Origin::Existing,
            ModeSpec::Provision(made) => match made.topology {
                Topology::VanillaKubeadm { .. } => Origin::Kubeadm,
                Topology::ManagedEks => Origin::Eks,
                Topology::ManagedGke => Origin::Gke,
            },
        },
        kubernetes_version: Some(cluster.kubernetes_version.clone()),
        nodes: u16::try_from(cluster.nodes.total.max(0)).unwrap_or(u16::MAX),
        domain: spec.domain.clone(),
        admin_email: spec.administrator.as_ref().map(|administrator| administrator.email.clone()),
        path: spec.git_path.clone(),
        registry_pull_secret: spec.registry_pull_secret.as_ref().map(ToString::to_string),
        present,
    }
}
