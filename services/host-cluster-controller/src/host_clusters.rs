//! The HostClusters on the management cluster.

use async_trait::async_trait;
use host_cluster_controller_crd::{FINALIZER, HostCluster, HostClusterStatus, NAMESPACE};
use host_cluster_controller_decide::{Event, Neighbour};
use kube::{
    Api, Client, Resource, ResourceExt,
    api::{ListParams, Patch, PatchParams},
    core::DeserializeGuard,
    runtime::events::{Event as KubeEvent, EventType, Recorder, Reporter},
};
use kube_kit::{Attempt, is_not_found, trouble};
use serde_json::json;
use vocabulary::{ClusterId, Trouble};

use crate::{FIELD_MANAGER, ports::HostClusters, write_status};

/// Of an event's note, in bytes: `NoteLengthLimit` of Kubernetes.
const LONGEST_NOTE: usize = 1024;

/// The HostClusters on the management cluster.
pub(crate) struct OnManagementCluster {
    client: Client,
    recorder: Recorder,
}

impl OnManagementCluster {
    pub(crate) fn new(client: Client) -> Self {
        let reporter = Reporter { controller: FIELD_MANAGER.to_owned(), instance: None };
        Self { recorder: Recorder::new(client.clone(), reporter), client }
    }

    fn api(&self) -> Api<HostCluster> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Replaces the finalizers of a resource if nobody has changed it since it was read.
    async fn set_finalizers(&self, resource: &HostCluster, finalizers: Vec<String>) -> Result<(), Trouble> {
        let name = resource.name_any();
        let metadata = &resource.metadata;
        let patch = json!({ "metadata": {
            "uid": metadata.uid, "resourceVersion": metadata.resource_version, "finalizers": finalizers,
        }});
        let params = PatchParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PatchParams::default() };
        match self.api().patch_metadata(&name, &params, &Patch::Merge(&patch)).await {
            Err(error) if is_not_found(&error) => Ok(()),
            answer => answer.map(drop).map_err(|error| {
                let attempt = format!("change the finalizers of HostCluster {name}");
                trouble(Attempt(&attempt), &error)
            }),
        }
    }
}

#[async_trait]
impl HostClusters for OnManagementCluster {
    async fn get(&self, name: &str) -> Result<Option<HostCluster>, Trouble> {
        let attempt = format!("read HostCluster {name}");
        self.api().get_opt(name).await.map_err(|error| trouble(Attempt(&attempt), &error))
    }

    async fn neighbours(&self, cluster: ClusterId) -> Result<Vec<Neighbour>, Trouble> {
        let api: Api<DeserializeGuard<HostCluster>> = Api::namespaced(self.client.clone(), NAMESPACE);
        let list = api.list(&ListParams::default()).await;
        let list = list.map_err(|error| trouble(Attempt("list the HostClusters"), &error))?;
        // One that cannot be read has no identity to compare with.
        let readable = list.items.into_iter().filter_map(|guard| guard.0.ok());
        Ok(readable.filter_map(|other| neighbour(&other)).filter(|other| other.id != cluster).collect())
    }

    async fn add_finalizer(&self, resource: &HostCluster) -> Result<(), Trouble> {
        let mut finalizers = resource.finalizers().to_vec();
        if !finalizers.iter().any(|finalizer| finalizer == FINALIZER) {
            finalizers.push(FINALIZER.to_owned());
        }
        self.set_finalizers(resource, finalizers).await
    }

    async fn release_finalizer(&self, resource: &HostCluster) -> Result<(), Trouble> {
        let others = resource.finalizers().iter().filter(|finalizer| *finalizer != FINALIZER).cloned().collect();
        self.set_finalizers(resource, others).await
    }

    async fn write_status(&self, resource: &HostCluster, status: &HostClusterStatus) -> Result<(), Trouble> {
        write_status::apply(&self.client, resource, status).await
    }

    async fn tell(&self, resource: &HostCluster, event: &Event) {
        let told = KubeEvent {
            type_: if event.is_warning { EventType::Warning } else { EventType::Normal },
            reason: event.reason.clone(),
            note: Some(fitting(&event.note)),
            action: "Reconcile".to_owned(),
            secondary: None,
        };
        if let Err(error) = self.recorder.publish(&told, &resource.object_ref(&())).await {
            tracing::debug!(error = &error as &dyn std::error::Error, "an event was not heard");
        }
    }
}

/// A note that an event may have: what is longer is refused by the API server, and stands in the status as a whole.
fn fitting(note: &str) -> String {
    if note.len() <= LONGEST_NOTE {
        return note.to_owned();
    }
    let cut = note.floor_char_boundary(LONGEST_NOTE - '…'.len_utf8());
    format!("{}…", note.get(..cut).unwrap_or_default())
}

fn neighbour(resource: &HostCluster) -> Option<Neighbour> {
    Some(Neighbour {
        id: resource.metadata.name.as_deref()?.parse().ok()?,
        name: resource.cluster_name(),
        cluster_uid: resource.status.as_ref().and_then(|status| status.cluster_uid.clone()),
        created_at: resource.metadata.creation_timestamp.as_ref().map(|time| time.0),
        is_being_deleted: resource.metadata.deletion_timestamp.is_some(),
    })
}
