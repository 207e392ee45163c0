//! What has to be on the management cluster before anything else: namespaces and the resource definition.

use std::{fmt::Debug, time::Duration};

use host_cluster_controller_crd::{HostCluster, NAMESPACE, PROVISIONING_NAMESPACE};
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, CustomResourceExt, Resource,
    api::{Patch, PatchParams},
};
use kube_kit::{Attempt, trouble, wait_until};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use vocabulary::Trouble;

use crate::FIELD_MANAGER;

const ESTABLISHED_WITHIN: Duration = Duration::from_mins(1);
const PAUSE: Duration = Duration::from_millis(200);

/// Makes the namespaces and the HostCluster definition be there and be current; returns when HostClusters are served.
pub async fn install(client: &Client) -> Result<(), Trouble> {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    for name in [NAMESPACE, PROVISIONING_NAMESPACE] {
        let labels = json!({ "app.kubernetes.io/part-of": "kubeopera" });
        let namespace =
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name, "labels": labels } });
        ensure(&namespaces, &format!("Namespace {name}"), name, &namespace).await?;
    }
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = HostCluster::crd();
    let name = HostCluster::crd_name();
    ensure(&definitions, &format!("CustomResourceDefinition {name}"), name, &definition).await?;

    let attempt = format!("read CustomResourceDefinition {name}");
    let established = wait_until(ESTABLISHED_WITHIN, PAUSE, || async {
        let found = definitions.get(name).await.map_err(|error| trouble(Attempt(&attempt), &error))?;
        Ok(is_established(&found).then_some(()))
    });
    established.await?.ok_or_else(|| {
        Trouble::transient(
            "NotEstablished",
            format!(
                "CustomResourceDefinition {name} is not served a minute after it was applied. `kubectl describe crd {name}` \
                 tells why."
            ),
        )
    })
}

async fn ensure<K>(api: &Api<K>, what: &str, name: &str, object: &(impl Serialize + Debug)) -> Result<(), Trouble>
where
    K: Resource + Clone + DeserializeOwned + Debug,
{
    let attempt = format!("apply {what}");
    let params = PatchParams::apply(FIELD_MANAGER).force();
    let applied = api.patch(name, &params, &Patch::Apply(object)).await;
    applied.map(drop).map_err(|error| trouble(Attempt(&attempt), &error))
}

fn is_established(definition: &CustomResourceDefinition) -> bool {
    let conditions = definition.status.iter().flat_map(|status| status.conditions.iter().flatten());
    let holds = |type_: &str| conditions.clone().any(|one| one.type_ == type_ && one.status == "True");
    holds("Established") && holds("NamesAccepted")
}
