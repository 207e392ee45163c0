//! From the cloud's token for a new cluster to one of KubeOpera's own.
//!
//! The cloud's ends within the hour and is as good as the credential itself. With it a service account is made on the
//! cluster, and a token for that account is what the kubeconfig has.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use host_cluster_controller_crd::{KUBEOPERA, LABEL_MANAGED_BY};
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, ServiceAccount},
    rbac::v1::ClusterRoleBinding,
};
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use kube_kit::{Attempt, KubeconfigOptions, Limits, ValidKubeconfig, trouble};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::sleep;
use vocabulary::{Secret, Trouble, TroubleKind};

use super::outputs::Outputs;

/// Namespace of KubeOpera's own on a cluster it made.
const NAMESPACE: &str = "kubeopera-system";
/// The account there, and the binding that makes it an administrator.
const ACCOUNT: &str = "kubeopera-manager";
const MANAGER: &str = "cluster-provisioner";
/// A token is asked for that long; the cluster may give a shorter one.
const TOKEN_SECONDS: i64 = 30 * 24 * 60 * 60;
/// API servers answer a while after the cloud calls the cluster active, and know its rights a while later.
const PATIENCE: Duration = Duration::from_mins(8);
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(5);

/// How a run comes from a new cluster to a kubeconfig for it.
#[async_trait]
pub trait Access: Send + Sync {
    /// A kubeconfig with a token of KubeOpera's own.
    async fn kubeconfig(&self, outputs: &Outputs) -> Result<Secret, Trouble>;
    /// Deletes what was made from within a cluster and would outlive it, if it is the one with this UID. Gives up after a
    /// while; the error says what is left.
    async fn clear(&self, kubeconfig: &Secret, uid: &str) -> Result<(), Trouble>;
}

/// By a service account on the cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServiceAccountAccess {
    /// What is allowed of where the cluster is.
    pub allowed: KubeconfigOptions,
}

#[async_trait]
impl Access for ServiceAccountAccess {
    async fn kubeconfig(&self, outputs: &Outputs) -> Result<Secret, Trouble> {
        let provisional = provisional(outputs, self.allowed)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match own_token(&provisional).await {
                Ok(token) => return Ok(provisional.with_token(token).minified()),
                // Rights are not there at once either, so that a refusal is not the last word.
                Err(trouble) if trouble.kind != TroubleKind::Bug && Instant::now() < deadline => {
                    sleep(BETWEEN_ATTEMPTS).await;
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }

    async fn clear(&self, kubeconfig: &Secret, uid: &str) -> Result<(), Trouble> {
        let client = valid(kubeconfig, self.allowed)?.client(Limits::default())?;
        if kube_kit::cluster_uid(&client).await? != uid {
            let message = "Another cluster answers at the address of this one, so that nothing was deleted on it.";
            return Err(Trouble::rejected("AnotherCluster", message));
        }
        super::within::clear(&client).await
    }
}

/// What lets us in for now. A machine of the cluster may have written it, so that it goes by the allow-list like any other.
fn provisional(outputs: &Outputs, allowed: KubeconfigOptions) -> Result<ValidKubeconfig, Trouble> {
    match outputs {
        Outputs::Managed { endpoint, certificate_authority, token } => {
            valid(&kubeconfig(endpoint, certificate_authority, token), allowed)
        }
        Outputs::Published(kubeconfig) => valid(kubeconfig, allowed),
        Outputs::Booting { .. } => Err(unusable()),
    }
}

fn valid(kubeconfig: &Secret, allowed: KubeconfigOptions) -> Result<ValidKubeconfig, Trouble> {
    let valid = ValidKubeconfig::parse(kubeconfig, allowed).map_err(|problem| {
        let message = format!(
            "The kubeconfig of the new cluster is not used because of {}: {} If nobody changed it, delete the cluster and \
             create it again.",
            problem.field, problem.message
        );
        Trouble::rejected("KubeconfigRefused", message)
    })?;
    // Any of the authorities that this machine trusts would vouch for it.
    if valid.has_authority() { Ok(valid) } else { Err(unusable()) }
}

fn unusable() -> Trouble {
    Trouble::bug("OutputsMissing", "What Terraform says of the new cluster's address cannot be used.")
}

async fn own_token(provisional: &ValidKubeconfig) -> Result<Secret, Trouble> {
    let client = provisional.client(Limits::default())?;
    let labels = json!({ LABEL_MANAGED_BY: KUBEOPERA });
    let named = |name: &str| json!({ "name": name, "labels": labels });
    apply::<Namespace>(
        &Api::all(client.clone()),
        NAMESPACE,
        &json!({
            "apiVersion": "v1", "kind": "Namespace", "metadata": named(NAMESPACE),
        }),
    )
    .await?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), NAMESPACE);
    apply::<ServiceAccount>(
        &accounts,
        ACCOUNT,
        &json!({
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": named(ACCOUNT),
            "automountServiceAccountToken": false,
        }),
    )
    .await?;
    apply::<ClusterRoleBinding>(
        &Api::all(client),
        ACCOUNT,
        &json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": named(ACCOUNT),
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE }],
        }),
    )
    .await?;
    new_token(&accounts).await
}

async fn new_token(accounts: &Api<ServiceAccount>) -> Result<Secret, Trouble> {
    let request = TokenRequest {
        spec: TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() },
        ..TokenRequest::default()
    };
    let given = accounts.create_token_request(ACCOUNT, &PostParams::default(), &request).await;
    let given = given.map_err(|error| trouble(Attempt("ask the cluster for a token"), &error))?;
    let status = given.status.ok_or_else(|| Trouble::transient("NoToken", "The cluster gave no token."))?;
    Ok(Secret::new(status.token))
}

/// A kubeconfig with another token for KubeOpera's own account, which is asked for with the one it has.
pub(crate) async fn renewed(old: ValidKubeconfig) -> Result<Secret, Trouble> {
    let accounts: Api<ServiceAccount> = Api::namespaced(old.client(Limits::default())?, NAMESPACE);
    let token = new_token(&accounts).await?;
    Ok(old.with_token(token).minified())
}

/// Whether a token with this subject is for KubeOpera's own account.
pub(crate) fn is_own_account(subject: &str) -> bool {
    subject == format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
}

async fn apply<T: Clone + DeserializeOwned + std::fmt::Debug + Serialize>(
    api: &Api<T>,
    name: &str,
    object: &Value,
) -> Result<(), Trouble> {
    let params = PatchParams::apply(MANAGER).force();
    let attempt = Attempt("set KubeOpera's rights on the new cluster");
    api.patch(name, &params, &Patch::Apply(object)).await.map(drop).map_err(|error| trouble(attempt, &error))
}

/// JSON, which is YAML as well.
fn kubeconfig(server: &str, certificate_authority: &str, token: &Secret) -> Secret {
    let name = "cluster";
    let written = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": name, "cluster": {
            "server": server,
            "certificate-authority-data": certificate_authority,
        }}],
        "users": [{ "name": ACCOUNT, "user": { "token": token.reveal() } }],
        "contexts": [{ "name": name, "context": { "cluster": name, "user": ACCOUNT } }],
        "current-context": name,
    });
    Secret::new(format!("{written:#}"))
}
