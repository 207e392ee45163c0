//! The way to a cluster: KubeOpera's own client, or a client made from a kubeconfig Secret.

use std::{collections::HashMap, sync::Arc};

use host_cluster_controller_crd::NAMESPACE;
use host_cluster_controller_decide::{Reach, Target};
use k8s_openapi::api::core::v1::Secret as SecretObject;
use kube::{Api, Client};
use kube_kit::{Applier, Attempt, Kubeconfig, KubeconfigOptions, Limits, ValidKubeconfig, trouble};
use tokio::sync::Mutex;
use vocabulary::{Secret, SecretName, Trouble};

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
        let kubeconfig = checked_kubeconfig(name, &secret, self.options)?;
        let version = version_of(&secret);
        let mut kept = self.by_secret.lock().await;
        if let Some(known) = kept.get(name).filter(|known| known.version == version) {
            return Ok(Arc::clone(&known.applier));
        }
        // Resolving a name must not keep others from their connections.
        drop(kept);
        let client = kubeconfig.client(Limits::default()).await?;
        let applier = Arc::new(Applier::new(client, FIELD_MANAGER));
        kept = self.by_secret.lock().await;
        kept.insert(name.clone(), Kept { version, applier: Arc::clone(&applier) });
        Ok(applier)
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

/// The kubeconfig in a Secret (key `kubeconfig`, or `value` as Cluster API writes it), by the allow-list: what the context
/// under the key `context` names, or its current context.
pub(super) fn checked_kubeconfig(
    name: &SecretName,
    secret: &SecretObject,
    options: KubeconfigOptions,
) -> Result<ValidKubeconfig, Trouble> {
    let data = secret.data.as_ref();
    let bytes = data.and_then(|data| ["kubeconfig", "value"].into_iter().find_map(|key| data.get(key)));
    let bytes = bytes.ok_or_else(|| {
        Trouble::rejected(
            "KubeconfigMissing",
            format!("Secret {NAMESPACE}/{name} has no key kubeconfig. Put the kubeconfig there."),
        )
    })?;
    let context = text_of(secret, "context");
    let usable = Kubeconfig::read(&bytes.0).and_then(|file| match &context {
        Some(context) => file.usable(context.reveal(), options),
        None => file.current(options),
    });
    usable.map_err(|problem| {
        Trouble::rejected(
            "KubeconfigRefused",
            format!(
                "The kubeconfig in Secret {NAMESPACE}/{name} is not used because of {}: {}",
                problem.field, problem.message
            ),
        )
    })
}
