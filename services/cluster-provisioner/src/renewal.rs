//! Tokens of the clusters that KubeOpera made, renewed long before they end.
//!
//! A kubeconfig of ours has a token for a service account on its cluster. From half of its time on, another is asked for
//! with it and takes its place.

use std::{collections::BTreeMap, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use host_cluster_controller_crd::{HostCluster, Mode, NAMESPACE, is_marked};
use jiff::Timestamp;
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use kube::{
    Api, Client,
    api::{ListParams, Patch, PatchParams},
};
use kube_kit::{Attempt, KubeconfigOptions, ValidKubeconfig, trouble};
use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, Secret, Trouble};

use crate::{
    Provisioner,
    runner::{is_own_account, renewed},
};

/// The shortest tokens last an hour.
const EVERY: Duration = Duration::from_mins(10);
const KUBECONFIG: &str = "kubeconfig";

/// When a token was given and when it ends, as it says itself.
#[derive(Debug, Deserialize, PartialEq, Eq)]
struct Lifetime {
    iat: i64,
    exp: i64,
    sub: String,
}

impl Provisioner {
    /// Renews tokens until `shutdown` is cancelled.
    pub async fn keep_tokens_fresh(&self, shutdown: CancellationToken) {
        let renew = async {
            loop {
                if let Err(trouble) = self.renew_what_is_due(Timestamp::now()).await {
                    tracing::warn!("tokens of clusters are renewed later: {trouble}");
                }
                tokio::time::sleep(EVERY).await;
            }
        };
        // At any point: what is written is one object at a time.
        tokio::select! { () = renew => {}, () = shutdown.cancelled() => {} }
    }

    /// One cluster that cannot be reached keeps no other from it.
    async fn renew_what_is_due(&self, now: Timestamp) -> Result<(), Trouble> {
        let clusters: Api<HostCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let all = clusters.list(&ListParams::default()).await;
        let all = all.map_err(|error| trouble(Attempt("list the HostClusters"), &error))?;
        for cluster in all.items.iter().filter(|cluster| cluster.spec.mode != Mode::ConnectExisting) {
            // What the Secret is called follows from the id alone: whoever may write a status is not to choose another.
            if let Ok(id) = cluster.spec.cluster_id.parse()
                && let Err(trouble) = renew_if_due(&self.client, self.kubeconfigs, id, now).await
            {
                tracing::warn!(cluster.id = cluster.spec.cluster_id, "its token is renewed later: {trouble}");
            }
        }
        Ok(())
    }
}

async fn renew_if_due(
    client: &Client,
    allowed: KubeconfigOptions,
    cluster: ClusterId,
    now: Timestamp,
) -> Result<(), Trouble> {
    let api: Api<SecretObject> = Api::namespaced(client.clone(), NAMESPACE);
    let name = cluster.kubeconfig_secret();
    let attempt = format!("read Secret {NAMESPACE}/{name}");
    let found = api.get_opt(&name).await.map_err(|error| trouble(Attempt(&attempt), &error))?;
    // Names hold only the beginning of an id, which two clusters may share.
    let Some(found) = found.filter(|secret| is_marked(&secret.metadata, cluster)) else { return Ok(()) };
    let none = BTreeMap::new();
    let kubeconfig = ValidKubeconfig::in_secret(
        &format!("Secret {NAMESPACE}/{name}"),
        found.data.as_ref().unwrap_or(&none),
        allowed,
    )?;
    // What is no token of ours, or one without an end, is left alone.
    let lifetime = kubeconfig.token().and_then(Lifetime::of).filter(|lifetime| is_own_account(&lifetime.sub));
    if !lifetime.is_some_and(|lifetime| lifetime.is_half_over(now)) {
        return Ok(());
    }
    let renewed = renewed(kubeconfig).await?;
    let data = BTreeMap::from([(KUBECONFIG, ByteString(renewed.reveal().as_bytes().to_vec()))]);
    // Only into the very Secret that was read: somebody may just have replaced it.
    let version = found.metadata.resource_version;
    let patch = json!({ "metadata": { "resourceVersion": version }, "data": data });
    let attempt = format!("write Secret {NAMESPACE}/{name}");
    let written = api.patch(&name, &PatchParams::default(), &Patch::Merge(&patch)).await;
    written.map(drop).map_err(|error| trouble(Attempt(&attempt), &error))
}

impl Lifetime {
    /// Of a token that is a JWT, as those of service accounts are. Nothing is trusted to it but when to ask for another.
    fn of(token: &Secret) -> Option<Self> {
        let claims = token.reveal().split('.').nth(1)?;
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()
    }

    fn is_half_over(&self, now: Timestamp) -> bool {
        now.as_second().saturating_sub(self.iat) * 2 >= self.exp.saturating_sub(self.iat)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn token(claims: &str) -> Secret {
        Secret::new(format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims)))
    }

    #[test]
    fn a_token_is_renewed_from_half_of_its_time_on() {
        let lifetime = Lifetime::of(&token(r#"{"iat":1000,"exp":4600,"sub":"x"}"#)).unwrap();
        let at = |second| Timestamp::from_second(second).unwrap();
        for (second, is_due) in [(1000, false), (2799, false), (2800, true), (4600, true), (9999, true)] {
            assert_eq!(lifetime.is_half_over(at(second)), is_due, "{second}");
        }
    }

    #[test]
    fn what_is_no_such_token_is_left_alone() {
        for text in ["", "abc", "a.b.c", "k8s-aws-v1.aHR0cHM", "e30.e30.e30"] {
            assert_eq!(Lifetime::of(&Secret::new(text)), None, "{text}");
        }
    }
}
