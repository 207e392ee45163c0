//! From the cloud's token for a new cluster to one of KubeOpera's own.
//!
//! The cloud's ends within the hour and is as good as the credential itself. With it a service account is made on the
//! cluster, and a token for that account is what the kubeconfig has.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use k8s_openapi::api::{
    authentication::v1::{TokenRequest, TokenRequestSpec},
    core::v1::{Namespace, ServiceAccount},
    rbac::v1::ClusterRoleBinding,
};
use kube::{
    Api, Client, Config,
    api::{Patch, PatchParams, PostParams},
    config::{KubeConfigOptions, Kubeconfig},
};
use kube_kit::{Attempt, Limits, guarded, trouble};
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
}

/// By a service account on the cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct ServiceAccountAccess;

/// Where the API server of a new cluster is, and what lets us in for now.
struct Door {
    server: String,
    certificate_authority: String,
    /// A whole kubeconfig.
    kubeconfig: Secret,
}

#[async_trait]
impl Access for ServiceAccountAccess {
    async fn kubeconfig(&self, outputs: &Outputs) -> Result<Secret, Trouble> {
        let door = Door::of(outputs)?;
        let deadline = Instant::now() + PATIENCE;
        loop {
            match own_token(&door).await {
                Ok(token) => return Ok(kubeconfig(&door.server, &door.certificate_authority, &token)),
                // Rights are not there at once either, so that a refusal is not the last word.
                Err(trouble) if trouble.kind != TroubleKind::Bug && Instant::now() < deadline => {
                    sleep(BETWEEN_ATTEMPTS).await;
                }
                Err(trouble) => return Err(trouble),
            }
        }
    }
}

impl Door {
    fn of(outputs: &Outputs) -> Result<Self, Trouble> {
        match outputs {
            Outputs::Managed { endpoint, certificate_authority, token } => Ok(Self {
                server: endpoint.clone(),
                certificate_authority: certificate_authority.clone(),
                kubeconfig: kubeconfig(endpoint, certificate_authority, token),
            }),
            Outputs::Published(kubeconfig) => {
                let read = Kubeconfig::from_yaml(kubeconfig.reveal()).ok();
                let cluster = read.and_then(|read| read.clusters.into_iter().next()?.cluster).ok_or_else(unusable)?;
                Ok(Self {
                    server: cluster.server.ok_or_else(unusable)?,
                    certificate_authority: cluster.certificate_authority_data.ok_or_else(unusable)?,
                    kubeconfig: kubeconfig.clone(),
                })
            }
            Outputs::Booting { .. } => Err(unusable()),
        }
    }
}

fn unusable() -> Trouble {
    Trouble::bug("OutputsMissing", "What Terraform says of the new cluster's address cannot be used.")
}

async fn own_token(door: &Door) -> Result<Secret, Trouble> {
    let client = client(door).await?;
    let labels = json!({ "app.kubernetes.io/managed-by": "kubeopera" });
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

/// A kubeconfig of ours with another token, which is asked for with the one it has.
pub(crate) async fn renewed(old: &Secret) -> Result<Secret, Trouble> {
    let door = Door::of(&Outputs::Published(old.clone()))?;
    let accounts: Api<ServiceAccount> = Api::namespaced(client(&door).await?, NAMESPACE);
    Ok(kubeconfig(&door.server, &door.certificate_authority, &new_token(&accounts).await?))
}

/// The token of a kubeconfig, if it is one of ours.
pub(crate) fn token_of(text: &Secret) -> Option<Secret> {
    let kubeconfig: Value = serde_json::from_str(text.reveal()).ok()?;
    let ours =
        kubeconfig.get("users")?.as_array()?.iter().find(|user| user.get("name").is_some_and(|name| name == ACCOUNT));
    Some(Secret::new(ours?.get("user")?.get("token")?.as_str()?))
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

async fn client(door: &Door) -> Result<Client, Trouble> {
    let read = Kubeconfig::from_yaml(door.kubeconfig.reveal()).map_err(|_| unusable())?;
    let config = Config::from_custom_kubeconfig(read, &KubeConfigOptions::default()).await.map_err(|_| unusable())?;
    guarded(config, Limits::default())
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
