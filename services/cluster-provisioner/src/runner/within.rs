//! What was made from within a cluster and would outlive it: load balancers and disks. Only its own API takes them away; in
//! the cloud they would hold the network, or cost and be forgotten.

use std::time::{Duration, Instant};

use k8s_openapi::{
    NamespaceResourceScope,
    api::{
        apps::v1::{Deployment, StatefulSet},
        core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Service},
    },
};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ListParams},
};
use kube_kit::{Attempt, trouble, unless_gone};
use serde::de::DeserializeOwned;
use tokio::time::sleep;
use vocabulary::Trouble;

/// What takes disks and load balancers away is here.
const SYSTEM: &str = "kube-system";
/// For clouds to let go of both.
const PATIENCE: Duration = Duration::from_mins(5);
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

/// Deletes them and waits until they are gone.
pub(super) async fn clear(client: &Client) -> Result<(), Trouble> {
    // Whatever would make them anew goes first. The cluster is deleted, so that nothing on it is needed any more.
    delete::<Deployment>(client, outside_of_system).await?;
    delete::<StatefulSet>(client, outside_of_system).await?;
    delete::<Service>(client, is_load_balancer).await?;
    delete::<PersistentVolumeClaim>(client, |_| true).await?;
    // A claim stays as long as a Pod has it.
    delete::<Pod>(client, has_claim).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let balancers = all::<Service>(client).await?.iter().filter(|one| is_load_balancer(one)).count();
        let disks = all::<PersistentVolume>(client).await?.iter().filter(|one| goes_with_its_claim(one)).count();
        if balancers + disks == 0 {
            return Ok(());
        }
        if Instant::now() > deadline {
            let message = format!(
                "The cluster has not let go of {balancers} load balancers and {disks} disks within {} minutes.",
                PATIENCE.as_secs() / 60
            );
            return Err(Trouble::transient("LeftInCluster", message));
        }
        sleep(BETWEEN_LOOKS).await;
    }
}

fn outside_of_system(object: &impl ResourceExt) -> bool {
    object.namespace().as_deref() != Some(SYSTEM)
}

fn is_load_balancer(service: &Service) -> bool {
    service.spec.as_ref().and_then(|spec| spec.type_.as_deref()) == Some("LoadBalancer")
}

fn has_claim(pod: &Pod) -> bool {
    let volumes = pod.spec.as_ref().and_then(|spec| spec.volumes.as_ref());
    volumes.into_iter().flatten().any(|volume| volume.persistent_volume_claim.is_some())
}

/// What is to be kept beyond its claim stays in the cloud, as somebody wanted.
fn goes_with_its_claim(disk: &PersistentVolume) -> bool {
    disk.spec.as_ref().and_then(|spec| spec.persistent_volume_reclaim_policy.as_deref()) == Some("Delete")
}

async fn all<K>(client: &Client) -> Result<Vec<K>, Trouble>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let attempt = format!("list the {} of the cluster", K::plural(&()));
    let list = Api::<K>::all(client.clone()).list(&ListParams::default()).await;
    Ok(list.map_err(|error| trouble(Attempt(&attempt), &error))?.items)
}

async fn delete<K>(client: &Client, wanted: impl Fn(&K) -> bool) -> Result<(), Trouble>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope> + Clone + DeserializeOwned + std::fmt::Debug,
{
    for object in all::<K>(client).await?.iter().filter(|object| wanted(object)) {
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        let attempt = format!("delete {} {namespace}/{name}", K::kind(&()));
        let api = Api::<K>::namespaced(client.clone(), &namespace);
        unless_gone(api.delete(&name, &DeleteParams::background()).await, Attempt(&attempt))?;
    }
    Ok(())
}
