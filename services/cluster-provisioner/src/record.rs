//! What is kept of clusters whose infrastructure is gone or given up: a `ConfigMap` for each, of the last hundred.
//!
//! It says that there is nothing more for KubeOpera to delete, so that whoever asks after a crash is told that, what there
//! was, and what may be left because nobody could look or a cluster did not let go of it.

use std::collections::BTreeMap;

use cluster_provisioner_contract::{Provisioning, RunState};
use host_cluster_controller_crd::{PROVISIONING_NAMESPACE, marks};
use jiff::Timestamp;
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret as SecretObject},
};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, ObjectMeta, Patch, PatchParams},
};
use kube_kit::{Attempt, trouble, unless_gone};
use vocabulary::{ClusterId, Trouble};

use crate::{book::Entry, names, provisioner::MANAGER};

/// Older ones go.
const MOST: usize = 100;
/// Label by which they are found.
const LABEL: (&str, &str) = ("kubeopera.io/record", "provisioning");
const PROVISIONING: &str = "provisioning.json";
const LOG: &str = "log";

/// What is kept of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) provisioning: Provisioning,
    /// What its runs said, packed.
    pub(crate) log: Option<Vec<u8>>,
}

impl Record {
    /// Of a cluster that ends now as `state` says, as it was shown last.
    pub(crate) fn closing(shown: Option<Provisioning>, state: RunState, book: Option<&SecretObject>) -> Self {
        let Entry { log, remark, .. } = book.map(Entry::of).unwrap_or_default();
        let message = match state {
            RunState::GivenUp => {
                "KubeOpera was told to give the infrastructure up. What is not gone is still in the cloud.".to_owned()
            }
            _ => remark.unwrap_or_else(|| "The infrastructure is gone.".to_owned()),
        };
        let last = shown.unwrap_or_else(|| Provisioning {
            run: String::new(),
            state,
            message: String::new(),
            resources: Vec::new(),
            ended_at: None,
        });
        let ended_at = Some(Timestamp::now());
        let provisioning = Provisioning { state, message, ended_at, ..last };
        Self { provisioning, log }
    }
}

/// All records.
pub(crate) struct Records {
    api: Api<ConfigMap>,
}

impl Records {
    /// `client` is for the cluster where the Jobs run.
    pub(crate) fn new(client: Client) -> Self {
        Self { api: Api::namespaced(client, PROVISIONING_NAMESPACE) }
    }

    pub(crate) async fn read(&self, cluster: ClusterId) -> Result<Option<Record>, Trouble> {
        let found = self.api.get_opt(&names::record(cluster)).await;
        let found = found.map_err(|error| trouble(Attempt("read the record of the provisioning runs"), &error))?;
        Ok(found.and_then(|found| {
            let provisioning = serde_json::from_str(found.data?.get(PROVISIONING)?).ok()?;
            let log = found.binary_data.and_then(|mut data| data.remove(LOG)).map(|log| log.0);
            Some(Record { provisioning, log })
        }))
    }

    /// Writes one, and lets the oldest go.
    pub(crate) async fn write(&self, cluster: ClusterId, record: &Record) -> Result<(), Trouble> {
        let (key, value) = LABEL;
        let mut labels = marks(cluster);
        labels.insert(key.to_owned(), value.to_owned());
        let log = record.log.clone().map(|log| BTreeMap::from([(LOG.to_owned(), ByteString(log))]));
        let text = serde_json::json!(record.provisioning).to_string();
        let object = ConfigMap {
            metadata: ObjectMeta {
                name: Some(names::record(cluster)),
                namespace: Some(PROVISIONING_NAMESPACE.to_owned()),
                labels: Some(labels),
                ..ObjectMeta::default()
            },
            data: Some(BTreeMap::from([(PROVISIONING.to_owned(), text)])),
            binary_data: log,
            ..ConfigMap::default()
        };
        let params = PatchParams::apply(MANAGER).force();
        let written = self.api.patch(&names::record(cluster), &params, &Patch::Apply(&object)).await;
        written.map_err(|error| trouble(Attempt("write the record of the provisioning runs"), &error))?;
        let all = self.api.list_metadata(&ListParams::default().labels(&format!("{key}={value}"))).await;
        let all = all.map_err(|error| trouble(Attempt("list the records of provisioning runs"), &error))?;
        let mut by_age: Vec<_> = all.items.iter().map(|one| (one.creation_timestamp(), one.name_any())).collect();
        by_age.sort();
        let surplus = by_age.len().saturating_sub(MOST);
        for (_, name) in by_age.iter().take(surplus) {
            unless_gone(self.api.delete(name, &DeleteParams::default()).await, Attempt("delete an old record"))?;
        }
        Ok(())
    }
}
