//! Does a step: one arm for each, one effect in each arm, and nothing left to choose.

use std::time::Duration;

use auth_service_contract::AuthError;
use cluster_provisioner_contract::RunStatus;
use gitops_scaffolder_contract::Destination;
use host_cluster_controller_crd::{Administrator, HostCluster};
use host_cluster_controller_decide::{Outcome, Step, no_provisioner};
use tokio::time::timeout;
use vocabulary::{ClusterId, SecretName, Trouble};

use crate::{World, ports::SyncPart};

/// Longest step: a push to a slow Git server. Each call within has its own, shorter limits.
const LONGEST_STEP: Duration = Duration::from_mins(10);

/// Does a step and tells what came of it.
pub(crate) async fn act(step: &Step, resource: &HostCluster, world: &World) -> Outcome {
    let done = timeout(LONGEST_STEP, effect(step, resource, world)).await;
    done.unwrap_or_else(|_| {
        let message = "The step took longer than ten minutes and was given up.";
        Outcome::Trouble(Trouble::transient("Timeout", message))
    })
}

async fn effect(step: &Step, resource: &HostCluster, world: &World) -> Outcome {
    tracing::debug!(cluster.id = resource.metadata.name, step = name(step), "doing a step");
    let World { host_clusters, flux, secrets, .. } = world;
    match step {
        Step::Rest
        | Step::Suspend
        | Step::Refuse
        | Step::Begin(_)
        | Step::Identify
        | Step::Settle(_)
        | Step::Hold { .. }
        | Step::KeepWatch
        | Step::BeginRemoval
        | Step::LeaveBehind { .. } => Outcome::Done,

        Step::AddFinalizer => host_clusters.add_finalizer(resource).await.into(),
        Step::KeepKubeconfig { cluster, from, to } => secrets.keep_kubeconfig(*cluster, from, to).await.into(),
        Step::EnsureRun { request, attempt } => match &world.provisioner {
            Some(provisioner) => provisioner.ensure_run(request, *attempt).await.into(),
            None => Outcome::Trouble(no_provisioner()),
        },
        Step::StoreKubeconfig { cluster, to } => store_kubeconfig(world, *cluster, to).await.into(),
        Step::EnsureTree { inputs, url, branch, credentials } => {
            let written = async {
                let credential = secrets.git_credentials(credentials, url).await?.write;
                let destination = Destination { url: url.clone(), branch: branch.clone(), credential };
                world.scaffolder.ensure_tree(inputs, &destination).await
            };
            written.await.map_or_else(Outcome::Trouble, Outcome::Written)
        }
        Step::EnsureAdministrator { cluster, administrator, password } => {
            ensure_administrator(world, *cluster, administrator, password).await.into()
        }

        Step::InstallFlux { at } => flux.install(at).await.into(),
        Step::WriteGitSecret { at, from, url, version } => match secrets.git_credentials(from, url).await {
            Ok(credentials) => flux.write_git_secret(at, &credentials.read, version).await.into(),
            Err(trouble) => Outcome::Trouble(trouble),
        },
        Step::WritePullSecret { at, from, version } => match secrets.registry_credential(at.cluster, from).await {
            Ok(credential) => flux.write_pull_secret(at, from, &credential, version).await.into(),
            Err(trouble) => Outcome::Trouble(trouble),
        },
        Step::PointFlux { at, wanted } => flux.point(at, wanted).await.into(),

        Step::SuspendKustomizations { at } => flux.suspend_kustomizations(at).await.into(),
        Step::DeleteKustomizations { at } => flux.remove(at, SyncPart::Kustomizations).await.into(),
        Step::FreeKustomizations { at } => flux.remove(at, SyncPart::KustomizationFinalizers).await.into(),
        Step::DeleteSource { at } => flux.remove(at, SyncPart::Source).await.into(),
        Step::DeleteGitSecret { at } => flux.remove(at, SyncPart::GitSecret).await.into(),
        Step::EnsureDestroyed { cluster } => ensure_destroyed(world, *cluster).await.into(),
        Step::DeleteKubeconfigs { cluster } => secrets.delete_kubeconfigs(*cluster).await.into(),
        Step::ReleaseFinalizer => host_clusters.release_finalizer(resource).await.into(),
    }
}

/// The verb alone: arguments hold e-mail addresses.
fn name(step: &Step) -> String {
    format!("{step:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

async fn store_kubeconfig(world: &World, cluster: ClusterId, to: &SecretName) -> Result<(), Trouble> {
    let provisioner = world.provisioner.as_ref().ok_or_else(no_provisioner)?;
    let kubeconfig = provisioner.kubeconfig(cluster).await?;
    world.secrets.store_kubeconfig(cluster, to, &kubeconfig).await
}

/// The password is kept before anybody can log in with it: after a crash between the two it is still the one that counts.
async fn ensure_administrator(
    world: &World,
    cluster: ClusterId,
    administrator: &Administrator,
    password: &SecretName,
) -> Result<(), Trouble> {
    let password = world.secrets.ensure_password(cluster, password).await?;
    let Administrator { email, username } = administrator;
    world.auth.ensure_administrator(cluster, email, username, &password).await.map_err(|error| {
        let (reason, message) =
            ("AdministratorNotCreated", format!("The first administrator could not be created: {error}"));
        match error {
            AuthError::Unavailable | AuthError::TooManyAttempts { .. } => Trouble::transient(reason, message),
            _ => Trouble::rejected(reason, message),
        }
    })
}

async fn ensure_destroyed(world: &World, cluster: ClusterId) -> Result<(), Trouble> {
    let provisioner = world.provisioner.as_ref().ok_or_else(no_provisioner)?;
    match provisioner.ensure_destroyed(cluster).await? {
        RunStatus::Absent | RunStatus::Destroyed => Ok(()),
        RunStatus::Vanished { .. } => Err(Trouble::waiting("DestroyInProgress", "Waiting for the run to start.")),
        RunStatus::Running { progress, .. } => Err(Trouble::waiting("DestroyInProgress", progress)),
        RunStatus::Succeeded { .. } => {
            Err(Trouble::waiting("DestroyInProgress", "Waiting for the infrastructure to be gone."))
        }
        RunStatus::Failed { trouble, .. } => Err(trouble),
    }
}
