//! Fills facts: one look at one thing. Never fails as a whole; what cannot be seen is a fact, too.

use std::{future::Future, time::Duration};

use gitops_scaffolder_contract::{Destination, TreeSeen};
use host_cluster_controller_crd::{ModeSpec, ValidSpec};
use host_cluster_controller_decide::{Fact, Facts, SecretsSeen, Thing};
use tokio::time::timeout;
use vocabulary::{ClusterId, SecretName, Trouble};

use crate::World;

/// Longest look. Each call within has its own, shorter limits; a look is a handful of calls.
const LONGEST_LOOK: Duration = Duration::from_mins(2);

/// Looks at a thing and notes down what was seen, or why it could not be.
pub(crate) async fn observe(facts: &mut Facts, thing: Thing, world: &World) {
    match thing {
        Thing::Secrets => facts.seen.secrets = look(secrets(facts, world)).await,
        Thing::Neighbours => facts.seen.neighbours = look(neighbours(facts, world)).await,
        Thing::Cluster(at) => facts.seen.cluster = look(world.clusters.look(&at)).await,
        Thing::Run => facts.seen.run = look(run(facts, world)).await,
        Thing::Flux(at) => facts.seen.flux = look(world.flux.look(&at)).await,
        Thing::GitSecret(at) => facts.seen.git_secret = look(world.flux.git_secret(&at)).await,
        Thing::PullSecret { at, name } => facts.seen.pull_secret = look(world.flux.pull_secret(&at, &name)).await,
        Thing::Present(at) => facts.seen.present = look(world.clusters.present(&at)).await,
        Thing::Sync(at) => facts.seen.sync = look(world.flux.sync(&at)).await,
        Thing::Tree => facts.seen.tree = look(tree(facts, world)).await,
    }
}

async fn look<T>(at: impl Future<Output = Result<T, Trouble>>) -> Fact<T> {
    let looked = timeout(LONGEST_LOOK, at).await;
    looked.unwrap_or_else(|_| Err(Trouble::transient("Timeout", "Looking at the cluster took too long."))).into()
}

async fn secrets(facts: &Facts, world: &World) -> Result<SecretsSeen, Trouble> {
    let spec = valid_spec(facts)?;
    let git_credentials = world.secrets.look(&spec.git_credentials).await?;
    let kubeconfig = match &spec.mode {
        ModeSpec::Connect { kubeconfig } => Some(world.secrets.look(kubeconfig).await?),
        ModeSpec::Host | ModeSpec::Provision(_) => None,
    };
    let registry_pull = match &spec.registry_pull_secret {
        Some(name) => Some(world.secrets.look(name).await?),
        None => None,
    };
    let credential = match stored_kubeconfig(facts) {
        Some((cluster, name)) => world.secrets.credential(cluster, &name).await?,
        None => None,
    };
    Ok(SecretsSeen { git_credentials, kubeconfig, registry_pull, credential })
}

/// The Secret with the kubeconfig to work with, once there is one.
fn stored_kubeconfig(facts: &Facts) -> Option<(ClusterId, SecretName)> {
    let name = facts.previous.kubeconfig_secret.as_deref()?.parse().ok()?;
    Some((facts.resource.id?, name))
}

async fn neighbours(facts: &Facts, world: &World) -> Result<Vec<host_cluster_controller_decide::Neighbour>, Trouble> {
    world.host_clusters.neighbours(valid_spec(facts)?.id).await
}

async fn run(facts: &Facts, world: &World) -> Result<cluster_provisioner_contract::RunStatus, Trouble> {
    let provisioner = world.provisioner.as_ref().ok_or_else(host_cluster_controller_decide::no_provisioner)?;
    let cluster = facts.resource.id.ok_or_else(not_acceptable)?;
    provisioner.run_status(cluster).await
}

async fn tree(facts: &Facts, world: &World) -> Result<TreeSeen, Trouble> {
    let spec = valid_spec(facts)?;
    let cluster_uid = facts.previous.cluster_uid.as_deref().ok_or_else(not_acceptable)?;
    let credential = world.secrets.git_credentials(&spec.git_credentials, &spec.git_url).await?.write;
    let destination = Destination { url: spec.git_url.clone(), branch: spec.git_branch.clone(), credential };
    world.scaffolder.look(cluster_uid, &spec.git_path, &destination).await
}

fn valid_spec(facts: &Facts) -> Result<&ValidSpec, Trouble> {
    facts.resource.spec.as_ref().map_err(|_| not_acceptable())
}

fn not_acceptable() -> Trouble {
    Trouble::bug("LookedTooEarly", "Something was to be looked at for a HostCluster that is not acceptable.")
}
