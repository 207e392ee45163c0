//! The Secrets of the management cluster, in the namespace of the HostClusters.

use std::collections::BTreeMap;

use async_trait::async_trait;
use host_cluster_controller_crd::{
    CredentialKind, HostCluster, KUBEOPERA, LABEL_MANAGED_BY, NAMESPACE, is_marked, marks,
};
use host_cluster_controller_decide::{CredentialSeen, SecretSeen};
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{DeleteParams, ObjectMeta, Patch, PatchParams, PostParams, Preconditions},
};
use kube_kit::{Attempt, KubeconfigOptions, trouble, unless_gone};
use rand::distr::{Alphanumeric, SampleString};
use vocabulary::{ClusterId, GitUrl, Secret, SecretName, Trouble};

use super::{
    DOCKER_CONFIG,
    connect::{checked_kubeconfig, is_own, not_own, secret, text_of, version_of},
    git_secret,
};
use crate::{
    FIELD_MANAGER,
    ports::{GitCredentials, Secrets},
};

/// Letters and digits of a first administrator's password: 24 of 62 are 142 bits.
const PASSWORD_LENGTH: usize = 24;

/// Secrets in the namespace of the HostClusters.
pub struct ManagementSecrets {
    client: Client,
    kubeconfigs: KubeconfigOptions,
}

impl ManagementSecrets {
    /// `client` is the management cluster's.
    pub const fn new(client: Client, kubeconfigs: KubeconfigOptions) -> Self {
        Self { client, kubeconfigs }
    }

    fn api(&self) -> Api<SecretObject> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn existing(&self, name: &SecretName) -> Result<SecretObject, Trouble> {
        secret(&self.client, name).await?.ok_or_else(|| {
            Trouble::rejected("SecretMissing", format!("Secret {NAMESPACE}/{name} does not exist. Create it."))
        })
    }

    /// A Secret with one key that goes when its HostCluster goes.
    async fn owned(
        &self,
        cluster: ClusterId,
        name: &SecretName,
        key: &str,
        text: &Secret,
    ) -> Result<SecretObject, Trouble> {
        let owners: Api<HostCluster> = Api::namespaced(self.client.clone(), NAMESPACE);
        let attempt = format!("read HostCluster {NAMESPACE}/{cluster}");
        let owner = owners.get(&cluster.to_string()).await.map_err(|error| trouble(Attempt(&attempt), &error))?;
        Ok(SecretObject {
            metadata: ObjectMeta {
                name: Some(name.to_string()),
                namespace: Some(NAMESPACE.to_owned()),
                labels: Some(marks(cluster)),
                owner_references: owner.owner_ref(&()).map(|reference| vec![reference]),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([(key.to_owned(), ByteString(text.reveal().as_bytes().to_vec()))])),
            type_: Some("Opaque".to_owned()),
            ..SecretObject::default()
        })
    }

    /// Deletes the registry credential that kubeopera-api made for a cluster. One of that name that somebody else made is
    /// theirs.
    async fn delete_registry_credential(&self, cluster: ClusterId) -> Result<(), Trouble> {
        let name = cluster.registry_pull_secret();
        let attempt = format!("delete Secret {NAMESPACE}/{name}");
        let failed = |error: kube::Error| trouble(Attempt(&attempt), &error);
        let Some(found) = self.api().get_metadata_opt(&name).await.map_err(failed)? else { return Ok(()) };
        let is_ours = found.labels().get(LABEL_MANAGED_BY).is_some_and(|by| by == KUBEOPERA);
        if !is_ours || !is_marked(&found.metadata, cluster) {
            return Ok(());
        }
        let as_seen = Preconditions { uid: found.uid(), resource_version: None };
        let deleted = self.api().delete(&name, &DeleteParams::default().preconditions(as_seen)).await;
        unless_gone(deleted, Attempt(&attempt))
    }

    async fn apply(&self, object: &SecretObject, name: &SecretName) -> Result<(), Trouble> {
        let attempt = format!("write Secret {NAMESPACE}/{name}");
        let params = PatchParams::apply(FIELD_MANAGER).force();
        let answer = self.api().patch(name.as_str(), &params, &Patch::Apply(object)).await;
        answer.map(drop).map_err(|error| trouble(Attempt(&attempt), &error))
    }
}

/// What an API server takes for the content of a `kubernetes.io/dockerconfigjson`.
fn is_docker_config(text: &Secret) -> bool {
    serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text.reveal()).is_ok()
}

#[async_trait]
impl Secrets for ManagementSecrets {
    async fn look(&self, name: &SecretName) -> Result<SecretSeen, Trouble> {
        let found = secret(&self.client, name).await?;
        Ok(found.map_or(SecretSeen::Absent, |secret| SecretSeen::Present { version: version_of(&secret) }))
    }

    async fn credential(&self, cluster: ClusterId, name: &SecretName) -> Result<Option<CredentialSeen>, Trouble> {
        let Some(secret) = secret(&self.client, name).await? else { return Ok(None) };
        // What is wrong with one that may not be used is said by whoever has to use it.
        let Ok(kubeconfig) = checked_kubeconfig(cluster, name, &secret, self.kubeconfigs) else { return Ok(None) };
        let validity = kubeconfig.validity();
        Ok(Some(CredentialSeen {
            kind: if kubeconfig.token().is_some() { CredentialKind::Token } else { CredentialKind::ClientCertificate },
            issued_at: validity.and_then(|validity| validity.from),
            expires_at: validity.map(|validity| validity.until),
        }))
    }

    async fn git_credentials(&self, name: &SecretName, repository: &GitUrl) -> Result<GitCredentials, Trouble> {
        git_secret::credentials(name, &self.existing(name).await?, repository)
    }

    async fn registry_credential(&self, cluster: ClusterId, name: &SecretName) -> Result<Secret, Trouble> {
        let secret = self.existing(name).await?;
        if !is_own(cluster, name, &secret) {
            return Err(not_own(cluster, name, "RegistryCredentialNotPermitted"));
        }
        let credential = text_of(&secret, DOCKER_CONFIG);
        credential.filter(is_docker_config).ok_or_else(|| {
            Trouble::rejected(
                "RegistryCredentialUnusable",
                format!(
                    "Secret {NAMESPACE}/{name} holds no registry credential. Create it with \
                     `kubectl -n {NAMESPACE} create secret docker-registry {name}`."
                ),
            )
        })
    }

    async fn keep_kubeconfig(&self, cluster: ClusterId, from: &SecretName, to: &SecretName) -> Result<(), Trouble> {
        let kubeconfig = checked_kubeconfig(cluster, from, &self.existing(from).await?, self.kubeconfigs)?;
        self.apply(&self.owned(cluster, to, "kubeconfig", &kubeconfig.minified()).await?, to).await
    }

    async fn store_kubeconfig(&self, cluster: ClusterId, to: &SecretName, kubeconfig: &Secret) -> Result<(), Trouble> {
        self.apply(&self.owned(cluster, to, "kubeconfig", kubeconfig).await?, to).await
    }

    async fn ensure_password(&self, cluster: ClusterId, name: &SecretName) -> Result<Secret, Trouble> {
        const KEY: &str = "password";
        let attempt = format!("write Secret {NAMESPACE}/{name}");
        if secret(&self.client, name).await?.is_none() {
            let password = Secret::new(Alphanumeric.sample_string(&mut rand::rng(), PASSWORD_LENGTH));
            let wanted = self.owned(cluster, name, KEY, &password).await?;
            // Created and not applied: of two that try at once, the password of the first is the one that counts.
            match self.api().create(&PostParams::default(), &wanted).await {
                Err(kube::Error::Api(status)) if status.is_already_exists() => {}
                answer => drop(answer.map_err(|error| trouble(Attempt(&attempt), &error))?),
            }
        }
        text_of(&self.existing(name).await?, KEY).ok_or_else(|| {
            Trouble::rejected(
                "PasswordMissing",
                format!("Secret {NAMESPACE}/{name} has no key password. Delete the Secret to have a new one made."),
            )
        })
    }

    async fn delete_kubeconfigs(&self, cluster: ClusterId) -> Result<(), Trouble> {
        for name in [cluster.input_kubeconfig_secret(), cluster.kubeconfig_secret()] {
            let attempt = format!("delete Secret {NAMESPACE}/{name}");
            let Ok(secret_name) = name.parse() else { continue };
            let found = secret(&self.client, &secret_name).await?;
            // Names hold only the beginning of an id, which two clusters may share.
            let Some(found) = found.filter(|secret| is_own(cluster, &secret_name, secret)) else { continue };
            let uid = Preconditions { uid: found.metadata.uid, ..Preconditions::default() };
            let deleted = self.api().delete(&name, &DeleteParams::default().preconditions(uid)).await;
            unless_gone(deleted, Attempt(&attempt))?;
        }
        self.delete_registry_credential(cluster).await
    }
}
