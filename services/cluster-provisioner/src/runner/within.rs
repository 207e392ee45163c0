//! What was made from within a cluster and would outlive it: load balancers and disks. Only its own API takes them away; in
//! the cloud they would hold the network, or cost and be forgotten.

use std::time::{Duration, Instant};

use kube::{Client, api::DeleteParams, core::Request};
use kube_kit::{Attempt, View, null_as_empty, read_all, unless_gone};
use serde::{Deserialize, de::IgnoredAny};
use tokio::time::sleep;
use vocabulary::Trouble;

/// What takes disks and load balancers away is here.
const SYSTEM: &str = "kube-system";
/// For clouds to let go of both.
const PATIENCE: Duration = Duration::from_mins(5);
const BETWEEN_LOOKS: Duration = Duration::from_secs(3);

const DEPLOYMENTS: Collection = Collection("/apis/apps/v1", "deployments");
const STATEFUL_SETS: Collection = Collection("/apis/apps/v1", "statefulsets");
const GATEWAYS: Collection = Collection("/apis/gateway.networking.k8s.io/v1", "gateways");
const INGRESSES: Collection = Collection("/apis/networking.k8s.io/v1", "ingresses");
const SERVICES: Collection = Collection("/api/v1", "services");
const CLAIMS: Collection = Collection("/api/v1", "persistentvolumeclaims");
const DISKS: Collection = Collection("/api/v1", "persistentvolumes");
const PODS: Collection = Collection("/api/v1", "pods");

/// Where the objects of a kind are: API and plural. A cluster need not know the kind.
struct Collection(&'static str, &'static str);

/// What is looked at of any object.
#[derive(Deserialize)]
struct Object {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    /// Of a Service.
    r#type: Option<String>,
    /// Of a disk.
    persistent_volume_reclaim_policy: Option<String>,
    /// Of a Pod.
    #[serde(deserialize_with = "null_as_empty")]
    volumes: Vec<Volume>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Volume {
    persistent_volume_claim: Option<IgnoredAny>,
}

/// Deletes them and waits until they are gone.
pub(super) async fn clear(client: &Client) -> Result<(), Trouble> {
    // Whatever would make them anew goes first. The cluster is deleted, so that nothing on it is needed any more.
    for makers in [DEPLOYMENTS, STATEFUL_SETS] {
        makers.delete(client, |object| object.metadata.namespace != SYSTEM).await?;
    }
    // Clouds make load balancers for each of these.
    for entries in [GATEWAYS, INGRESSES] {
        entries.delete(client, |_| true).await?;
    }
    SERVICES.delete(client, is_load_balancer).await?;
    CLAIMS.delete(client, |_| true).await?;
    // A claim stays as long as a Pod has it.
    PODS.delete(client, has_claim).await?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        let balancers = SERVICES.count(client, is_load_balancer).await?
            + GATEWAYS.count(client, |_| true).await?
            + INGRESSES.count(client, |_| true).await?;
        let disks = DISKS.count(client, goes_with_its_claim).await?;
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

fn is_load_balancer(service: &Object) -> bool {
    service.spec.r#type.as_deref() == Some("LoadBalancer")
}

fn has_claim(pod: &Object) -> bool {
    pod.spec.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some())
}

/// What is to be kept beyond its claim stays in the cloud, as somebody wanted.
fn goes_with_its_claim(disk: &Object) -> bool {
    disk.spec.persistent_volume_reclaim_policy.as_deref() == Some("Delete")
}

impl Collection {
    async fn all(&self, client: &Client) -> Result<Vec<Object>, Trouble> {
        let Self(api, plural) = self;
        let attempt = format!("list the {plural} of the cluster");
        let all = read_all(client, Attempt(&attempt), &format!("{api}/{plural}"), &[], View::Whole).await?;
        Ok(all.unwrap_or_default())
    }

    async fn count(&self, client: &Client, wanted: impl Fn(&Object) -> bool) -> Result<usize, Trouble> {
        Ok(self.all(client).await?.iter().filter(|object| wanted(object)).count())
    }

    async fn delete(&self, client: &Client, wanted: impl Fn(&Object) -> bool) -> Result<(), Trouble> {
        let Self(api, plural) = self;
        for Object { metadata: Metadata { name, namespace }, .. } in
            self.all(client).await?.into_iter().filter(|object| wanted(object))
        {
            let attempt = format!("delete {namespace}/{name} of the {plural} of the cluster");
            let request = Request::new(format!("{api}/namespaces/{namespace}/{plural}"))
                .delete(&name, &DeleteParams::background())
                .map_err(|_| Trouble::bug("UnusableName", format!("Could not {attempt}: its name is none.")))?;
            unless_gone(client.request_text(request).await, Attempt(&attempt))?;
        }
        Ok(())
    }
}
