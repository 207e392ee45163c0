//! Which HostCluster is looked at, and when: kube's controller runtime, set up.

use std::{future::Future, sync::Arc, time::Duration};

use futures::StreamExt;
use host_cluster_controller_crd::{HostCluster, NAMESPACE};
use host_cluster_controller_decide::Requeue;
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, ResourceExt,
    core::{DeserializeGuard, PartialObjectMeta},
    runtime::{
        Controller,
        controller::{Action, Config},
        reflector::{ObjectRef, Store},
        watcher,
    },
};
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

use crate::{World, reconcile::reconcile};

/// Clusters that are worked on at a time. A cluster that does not answer takes one place for as long as its calls may
/// last, and then only when its next attempt is due.
const AT_A_TIME: u16 = 32;

/// Looked at again even if no change was seen: watches can miss one.
const AT_LEAST_EVERY: Duration = Duration::from_mins(10);

/// Until a resource that could not be read, or whose status could not be written, is tried again.
const AFTER_FAILURE: Duration = Duration::from_secs(5);

/// How long passes that are under way may take to end after a shutdown. What is cut off then is as after a kill: the next
/// start continues from what it sees.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// A resource, or what is known of one that our types cannot read.
type Guarded = DeserializeGuard<HostCluster>;

/// Runs until `shutdown`; passes that are under way get a moment to finish.
pub(crate) async fn run(client: Client, world: Arc<World>, shutdown: CancellationToken) -> Result<(), Trouble> {
    let resources: Api<Guarded> = Api::namespaced(client.clone(), NAMESPACE);
    let secrets: Api<PartialObjectMeta<Secret>> = Api::namespaced(client, NAMESPACE);
    let controller = Controller::new(resources, watcher::Config::default());
    let known = controller.store();
    let stopping = shutdown.clone();
    let passes = controller
        .with_config(Config::default().concurrency(AT_A_TIME))
        .watches(secrets, watcher::Config::default(), move |secret| naming(&known, &secret.name_any()))
        .graceful_shutdown_on(async move { stopping.cancelled().await })
        .run(pass, after_failure, world)
        .for_each(|passed| async {
            if let Err(error) = passed {
                tracing::debug!(error = &error as &dyn std::error::Error, "a pass did not finish");
            }
        });
    until_shutdown(passes, &shutdown).await
}

/// Passes end when they are asked to, and at no other time: without them every cluster would stay as it is and nobody
/// would say so.
pub(crate) async fn until_shutdown(
    passes: impl Future<Output = ()>,
    shutdown: &CancellationToken,
) -> Result<(), Trouble> {
    let cut_off = async {
        shutdown.cancelled().await;
        tokio::time::sleep(LAST_WORDS).await;
    };
    tokio::select! {
        () = passes => {}
        () = cut_off => tracing::info!("passes were cut off; the next start continues them"),
    }
    if shutdown.is_cancelled() {
        return Ok(());
    }
    Err(Trouble::bug("ControllerEnded", "host-cluster-controller has stopped looking at HostClusters. Start it again."))
}

/// The HostClusters that name a Secret, or work with the kubeconfig in it.
fn naming(known: &Store<Guarded>, secret: &str) -> Vec<ObjectRef<Guarded>> {
    let names = |resource: &HostCluster| {
        resource.spec.git_credentials_secret_ref == secret
            || resource.spec.connect_kubeconfig_secret_ref.as_deref() == Some(secret)
            || resource.spec.registry_pull_secret_ref.as_deref() == Some(secret)
            || resource.status.as_ref().and_then(|status| status.kubeconfig_secret.as_deref()) == Some(secret)
    };
    let all = known.state();
    all.iter().filter(|guard| guard.0.as_ref().is_ok_and(names)).map(|guard| ObjectRef::from_obj(&**guard)).collect()
}

async fn pass(guard: Arc<Guarded>, world: Arc<World>) -> Result<Action, Trouble> {
    let name = guard.name_any();
    // An older definition, or none, may have let it in. It stops nobody but itself, until somebody changes it.
    if guard.0.is_err() {
        tracing::warn!(
            cluster.id = name,
            "a HostCluster cannot be read; its fields do not fit the resource definition"
        );
        return Ok(Action::await_change());
    }
    let requeue = reconcile(&name, &world).await?;
    Ok(Action::requeue(match requeue {
        Requeue::AtOnce => Duration::ZERO,
        Requeue::After(after) => after.try_into().unwrap_or(Duration::ZERO).min(AT_LEAST_EVERY),
        Requeue::AwaitChange => AT_LEAST_EVERY,
    }))
}

#[allow(clippy::needless_pass_by_value, reason = "the signature is kube's")]
fn after_failure(guard: Arc<Guarded>, trouble: &Trouble, _: Arc<World>) -> Action {
    tracing::warn!(cluster.id = guard.name_any(), reason = trouble.reason, "{trouble}");
    Action::requeue(AFTER_FAILURE + AFTER_FAILURE.mul_f64(rand::random::<f64>()))
}
