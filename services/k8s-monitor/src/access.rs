//! The way to a cluster's API server.

use std::time::Duration;

use host_cluster_controller_crd::{LABEL_CLUSTER_ID, NAMESPACE, is_marked};
use k8s_openapi::api::core::v1::Secret;
use kube::{Api, Client};
use kube_kit::{Attempt, KubeconfigOptions, Limits, ValidKubeconfig, Validity, trouble};
use vocabulary::{ClusterId, SecretName, Trouble};

/// A page of 500 pods is 3 to 5 MB, and half as much again where they are large.
const LIMITS: Limits = Limits { connect: Duration::from_secs(5), whole: Duration::from_secs(30), body: 8 << 20 };

/// How a cluster is reached.
#[derive(Clone)]
pub struct Access(Way);

#[derive(Clone)]
enum Way {
    Client(Client),
    Secret { management: Client, name: SecretName, cluster: ClusterId, allowed: KubeconfigOptions },
}

impl Access {
    /// By a client that is there already: the cluster KubeOpera runs on, by its own service account.
    pub const fn client_at_hand(client: Client) -> Self {
        Self(Way::Client(client))
    }

    /// By the kubeconfig in a Secret of the management cluster, which has to be this cluster's own.
    pub(crate) const fn kubeconfig(
        management: Client,
        name: SecretName,
        cluster: ClusterId,
        allowed: KubeconfigOptions,
    ) -> Self {
        Self(Way::Secret { management, name, cluster, allowed })
    }

    /// A client, and how long its credential counts, where that is told. The kubeconfig is read and put through the
    /// allow-list anew: whoever may write Secrets must not be able to make KubeOpera act on something that was never checked.
    pub(crate) async fn client(&self) -> Result<(Client, Option<Validity>), Trouble> {
        let (management, name, cluster, allowed) = match &self.0 {
            Way::Client(client) => return Ok((client.clone(), None)),
            Way::Secret { management, name, cluster, allowed } => (management, name, cluster, *allowed),
        };
        let secrets: Api<Secret> = Api::namespaced(management.clone(), NAMESPACE);
        let attempt = format!("read Secret {NAMESPACE}/{name}");
        let secret = secrets.get_opt(name.as_str()).await.map_err(|error| trouble(Attempt(&attempt), &error))?;
        let whose = format!("Secret {NAMESPACE}/{name}");
        let secret = secret.ok_or_else(|| {
            let message = format!("{whose} with the kubeconfig does not exist. Create it.");
            Trouble::rejected("KubeconfigMissing", message)
        })?;
        // A resource that names another cluster's Secret would show that cluster as its own.
        if !is_marked(&secret.metadata, *cluster) {
            let message =
                format!("{whose} is not this cluster's own: it lacks the label {LABEL_CLUSTER_ID}={cluster}.");
            return Err(Trouble::rejected("SecretNotPermitted", message));
        }
        let data = secret.data.unwrap_or_default();
        let kubeconfig = ValidKubeconfig::in_secret(&whose, &data, allowed)?;
        Ok((kubeconfig.client(LIMITS)?, kubeconfig.validity()))
    }
}
