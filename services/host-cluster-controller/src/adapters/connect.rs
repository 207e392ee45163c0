//! The way to a cluster: KubeOpera's own client, or a client made from a kubeconfig Secret.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use host_cluster_controller_crd::{LABEL_CLUSTER_ID, NAMESPACE, marked_for};
use host_cluster_controller_decide::{Reach, Target};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::{Api, Client};
use kube_kit::{Applier, Attempt, KubeconfigOptions, Limits, ValidKubeconfig, Validity, trouble};
use tokio::sync::Mutex;
use vocabulary::{ClusterId, Secret, SecretName, Trouble};

use super::FIELD_MANAGER;

/// Connections to clusters, kept as long as the kubeconfig they were made from does not change.
pub struct Connections {
    management: Client,
    own: Arc<Applier>,
    options: KubeconfigOptions,
    by_secret: Mutex<HashMap<SecretName, Kept>>,
}

struct Kept {
    version: String,
    applier: Arc<Applier>,
    validity: Option<Validity>,
}

impl Connections {
    /// `management` is the cluster KubeOpera itself runs on.
    pub fn new(management: Client, options: KubeconfigOptions) -> Self {
        let own = Arc::new(Applier::new(management.clone(), FIELD_MANAGER));
        Self { management, own, options, by_secret: Mutex::default() }
    }

    /// The connection to a cluster.
    ///
    /// The Secret is read and its kubeconfig put through the allow-list each time: whoever may write Secrets must not be
    /// able to make KubeOpera act on something that was never checked.
    pub(crate) async fn to(&self, target: &Target) -> Result<Arc<Applier>, Trouble> {
        let name = match &target.reach {
            Reach::OwnServiceAccount => return Ok(Arc::clone(&self.own)),
            Reach::Kubeconfig(name) => name,
        };
        let Some(secret) = secret(&self.management, name).await? else {
            self.by_secret.lock().await.remove(name);
            return Err(Trouble::rejected(
                "KubeconfigMissing",
                format!("Secret {NAMESPACE}/{name} with the kubeconfig does not exist. Create it."),
            ));
        };
        let kubeconfig = checked_kubeconfig(target.cluster, name, &secret, self.options)?;
        let version = version_of(&secret);
        let mut kept = self.by_secret.lock().await;
        if let Some(known) = kept.get(name).filter(|known| known.version == version) {
            return Ok(Arc::clone(&known.applier));
        }
        let applier = Arc::new(Applier::new(kubeconfig.client(Limits::default())?, FIELD_MANAGER));
        let validity = kubeconfig.validity();
        kept.insert(name.clone(), Kept { version, applier: Arc::clone(&applier), validity });
        Ok(applier)
    }

    /// What a failed call to a cluster means, if it is told by its credential (see [`Validity::explain`]).
    pub(crate) async fn explain(&self, target: &Target, trouble: Trouble) -> Trouble {
        let Reach::Kubeconfig(name) = &target.reach else { return trouble };
        match self.by_secret.lock().await.get(name).and_then(|kept| kept.validity) {
            Some(validity) => validity.explain(trouble, Timestamp::now()),
            None => trouble,
        }
    }
}

/// A Secret of the management cluster, in the namespace of the HostClusters.
pub(super) async fn secret(management: &Client, name: &SecretName) -> Result<Option<SecretObject>, Trouble> {
    let api: Api<SecretObject> = Api::namespaced(management.clone(), NAMESPACE);
    let attempt = format!("read Secret {NAMESPACE}/{name}");
    api.get_opt(name.as_str()).await.map_err(|error| trouble(Attempt(&attempt), &error))
}

/// Changes whenever the Secret does, and holds nothing of its content.
pub(super) fn version_of(secret: &SecretObject) -> String {
    let metadata = &secret.metadata;
    format!(
        "{}-{}",
        metadata.uid.as_deref().unwrap_or_default(),
        metadata.resource_version.as_deref().unwrap_or_default()
    )
}

/// The text under a key of a Secret, if it is there and is text.
pub(super) fn text_of(secret: &SecretObject, key: &str) -> Option<Secret> {
    let bytes = &secret.data.as_ref()?.get(key)?.0;
    std::str::from_utf8(bytes).ok().map(Secret::new)
}

/// The kubeconfig in a cluster's own Secret (key `kubeconfig`, or `value` as Cluster API writes it), by the allow-list:
/// what the context under the key `context` names, or its current context.
pub(super) fn checked_kubeconfig(
    cluster: ClusterId,
    name: &SecretName,
    secret: &SecretObject,
    options: KubeconfigOptions,
) -> Result<ValidKubeconfig, Trouble> {
    if !is_own(cluster, name, secret) {
        return Err(not_own(cluster, name, "SecretNotPermitted"));
    }
    let secret_in_words = format!("Secret {NAMESPACE}/{name}");
    let none = BTreeMap::new();
    ValidKubeconfig::in_secret(&secret_in_words, secret.data.as_ref().unwrap_or(&none), options)
}

/// Whether a Secret is this cluster's: it carries its id, or carries none and has the name of one of its own. A resource
/// that names another cluster's Secret would otherwise act with its credential.
pub(super) fn is_own(cluster: ClusterId, name: &SecretName, secret: &SecretObject) -> bool {
    match marked_for(&secret.metadata) {
        Some(marked) => marked == cluster.to_string(),
        None => [cluster.input_kubeconfig_secret(), cluster.kubeconfig_secret(), cluster.registry_pull_secret()]
            .contains(&name.to_string()),
    }
}

/// Why another's Secret is not read, and how to make it this cluster's.
pub(super) fn not_own(cluster: ClusterId, name: &SecretName, reason: &'static str) -> Trouble {
    Trouble::rejected(
        reason,
        format!(
            "Secret {NAMESPACE}/{name} is not this cluster's own. If it should be, mark it: `kubectl -n {NAMESPACE} \
             label secret {name} {LABEL_CLUSTER_ID}={cluster}`."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_clusters_own_by_its_name_or_by_its_mark_and_a_mark_counts_more() {
        let (cluster, other) = (ClusterId::random(), ClusterId::random());
        let is_own = |name: &str, marked: Option<ClusterId>| {
            let mut secret = SecretObject::default();
            secret.metadata.labels = marked.map(|id| [(LABEL_CLUSTER_ID.to_owned(), id.to_string())].into());
            name.parse().is_ok_and(|name| is_own(cluster, &name, &secret))
        };

        for name in [cluster.input_kubeconfig_secret(), cluster.kubeconfig_secret(), cluster.registry_pull_secret()] {
            assert!(is_own(&name, None), "{name}");
            assert!(is_own(&name, Some(cluster)), "{name}");
            assert!(!is_own(&name, Some(other)), "{name}");
        }
        assert!(!is_own("of-somebody-else", None));
        assert!(is_own("of-somebody-else", Some(cluster)));
        for name in [other.kubeconfig_secret(), other.registry_pull_secret()] {
            assert!(!is_own(&name, None), "{name}");
        }
    }
}
