//! Clusters that people bring a kubeconfig for.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use kube::Client;
use kube_kit::ValidKubeconfig;
use serde_json::{Value, json};
use vocabulary::Trouble;

use super::kubernetes::ApiServer;
use crate::app::Elsewhere;

/// API servers by host name. At every other name nothing answers.
#[derive(Clone, Default)]
pub(super) struct Others(Arc<Mutex<BTreeMap<String, ApiServer>>>);

impl Others {
    /// A cluster that answers at a host name.
    pub(super) fn add(&self, host: &str, server: &ApiServer) {
        self.0.lock().unwrap().insert(host.to_owned(), server.clone());
    }
}

#[async_trait]
impl Elsewhere for Others {
    async fn client(&self, kubeconfig: &ValidKubeconfig) -> Result<Client, Trouble> {
        let host = kubeconfig.server().host_str().unwrap_or_default();
        let server = self.0.lock().unwrap().get(host).cloned();
        Ok(server.map_or_else(
            || {
                let nothing = ApiServer::new();
                nothing.be_down(true);
                nothing.client()
            },
            |server| server.client(),
        ))
    }
}

/// A kubeconfig with a context for each name and server, the first of them the current one. JSON, which is YAML as well.
pub(super) fn kubeconfig(contexts: &[(&str, &str)]) -> Value {
    let named =
        |of: &dyn Fn(&str, &str) -> Value| contexts.iter().map(|(name, host)| of(name, host)).collect::<Vec<_>>();
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": contexts[0].0,
        "contexts": named(&|name, _| json!({"name": name, "context": {"cluster": name, "user": name}})),
        "clusters": named(&|name, host| json!({"name": name, "cluster": {"server": format!("https://{host}:6443")}})),
        "users": named(&|name, _| json!({"name": name, "user": {"token": "CANARY-token"}})),
    })
}
