//! A provisioner with a credential, and the words to play the Job.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use auth_service_contract::{
    AwsAccessKey, CheckOutcome, CloudAccess, Credential, CredentialError, CredentialId, Credentials, NewSecret,
    SavedCredential,
};
use cluster_provisioner::{
    Config, Content, Key, Provisioner,
    book::{Book, Entry, RunResult, SecretBook},
};
use cluster_provisioner_contract::{ClusterProvisioner, RunRequest, Topology};
use serde_json::json;
use vocabulary::{Actor, ClusterId, Label, Secret};

use super::api_server::ApiServer;

pub(crate) const CREDENTIAL: &str = "0b9a4f6e-1c8d-4f67-9f0a-3f6d1c2b7a11";

/// Opens one credential for one cluster.
struct OneCredential {
    cluster: ClusterId,
    /// By whom the cluster is given up the next time, at the very moment.
    gives_up: Arc<Mutex<Option<Provisioner>>>,
}

#[async_trait]
impl Credentials for OneCredential {
    async fn credentials(&self) -> Result<Vec<Credential>, CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn add_credential(&self, _: &Actor, _: &Label, _: NewSecret) -> Result<SavedCredential, CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn change_credential(
        &self,
        _: &Actor,
        _: CredentialId,
        _: Option<&Label>,
        _: Option<NewSecret>,
    ) -> Result<Credential, CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn delete_credential(&self, _: &Actor, _: CredentialId) -> Result<(), CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn check_credential(&self, _: &Actor, _: CredentialId) -> Result<CheckOutcome, CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn bind(&self, _: &Actor, _: CredentialId, _: ClusterId) -> Result<(), CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn release(&self, _: &Actor, _: ClusterId) -> Result<(), CredentialError> {
        Err(CredentialError::Unavailable)
    }
    async fn open(&self, credential: CredentialId, cluster: ClusterId) -> Result<CloudAccess, CredentialError> {
        if credential.to_string() != CREDENTIAL {
            return Err(CredentialError::NoSuchCredential);
        }
        if cluster != self.cluster {
            return Err(CredentialError::NotBound);
        }
        let gives_up = self.gives_up.lock().unwrap().take();
        if let Some(another) = gives_up {
            another.give_up(cluster).await.unwrap();
        }
        let (access_key_id, secret_access_key) = (Secret::new("CANARY-id"), Secret::new("CANARY-secret"));
        Ok(CloudAccess::AwsAccessKey(AwsAccessKey { access_key_id, secret_access_key }))
    }
}

pub(crate) struct World {
    pub(crate) api_server: ApiServer,
    pub(crate) provisioner: Provisioner,
    gives_up: Arc<Mutex<Option<Provisioner>>>,
    pub(crate) request: RunRequest,
}

fn provisioner(api_server: &ApiServer, cluster: ClusterId, gives_up: &Arc<Mutex<Option<Provisioner>>>) -> Provisioner {
    let config = Config {
        image: "kubeopera:1".to_owned(),
        pull_policy: "Never".to_owned(),
        prices: Arc::new(prices::Table::built_in().clone()),
        kubeconfigs: kube_kit::KubeconfigOptions::default(),
    };
    let credential = OneCredential { cluster, gives_up: Arc::clone(gives_up) };
    Provisioner::new(api_server.client(), Arc::new(credential), config)
}

impl World {
    pub(crate) fn new() -> Self {
        let (api_server, cluster, gives_up) = (ApiServer::default(), ClusterId::random(), Arc::default());
        let provisioner = provisioner(&api_server, cluster, &gives_up);
        let request = RunRequest {
            cluster,
            name: "north".parse().unwrap(),
            provider: "aws".parse().unwrap(),
            region: "eu-north-1".parse().unwrap(),
            topology: Topology::ManagedEks,
            nodes: 2,
            instance_type: "m7g.large".to_owned(),
            kubernetes_version: "1.35".parse().unwrap(),
            credential: CREDENTIAL.to_owned(),
        };
        Self { api_server, provisioner, gives_up, request }
    }

    /// The next run that is about to be started finds that another process gives the cluster up meanwhile.
    pub(crate) fn is_given_up_meanwhile(&self) {
        let another = provisioner(&self.api_server, self.request.cluster, &Arc::default());
        *self.gives_up.lock().unwrap() = Some(another);
    }

    /// The book as a run has it.
    pub(crate) fn book(&self, run: &str) -> SecretBook {
        SecretBook::new(self.api_server.client(), self.request.cluster, run.to_owned())
    }

    /// Changes the book as somebody with kubectl would.
    pub(crate) fn change_book(&self, change: &serde_json::Value) {
        self.api_server.change(&format!("secrets/provision-{}", self.request.cluster), change);
    }

    /// The Job ends, having said what came of it.
    pub(crate) async fn ends(&self, run: &str, result: RunResult) {
        let key = &self.api_server.all("secrets").into_iter().find(|one| one["data"]["key"].is_string()).unwrap()["data"]
            ["key"];
        let key = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, key.as_str().unwrap()).unwrap();
        let key = Key::parse(self.request.cluster, &Secret::new(String::from_utf8(key).unwrap())).unwrap();
        let sealed = key.seal(Content::Kubeconfig, b"CANARY-kubeconfig").unwrap();
        let kubeconfig = Some(sealed).filter(|_| result == RunResult::Succeeded);
        let last = Entry { result: Some(result.clone()), kubeconfig, ..Entry::default() };
        self.book(run).write(last).await.unwrap();
        self.job_ends(if result == RunResult::Succeeded { "Complete" } else { "Failed" });
    }

    pub(crate) fn job_ends(&self, condition: &str) {
        self.api_server
            .change("jobs", &json!({ "status": { "conditions": [{ "type": condition, "status": "True" }] } }));
    }
}
