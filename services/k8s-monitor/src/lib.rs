//! k8s-monitor: one standing set of watches on every managed cluster, from which everything about them is answered.
//!
//! Which clusters there are is followed in [`managed`]; each of them is watched by one [`cluster`] with a task of its own,
//! which costs only itself whatever the cluster does. What is watched is listed in [`kinds`], how in [`watch`], and
//! whoever tries again waits for one of its [`turns`]; what is known is counted in [`state`] and shown by the types of the
//! contract.

mod access;
mod assets;
mod call;
mod cluster;
mod events;
mod kinds;
mod leases;
mod managed;
mod metrics;
mod node_names;
mod nodes;
mod pods;
mod pricing;
mod probe;
mod standing;
mod state;
#[cfg(test)]
mod tests;
mod turns;
mod watch;

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_trait::async_trait;
use futures::future::join_all;
use k8s_monitor_contract::{Glance, Late, Monitor, Snapshot};
use kube::Client;
use kube_kit::KubeconfigOptions;
use prices::Table;
use tokio::{sync::watch as signal, time::Instant};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};
use vocabulary::ClusterId;

pub use access::Access;

use crate::{cluster::Cluster, turns::Again};

/// What k8s-monitor works with.
pub struct Context {
    /// The management cluster, which holds the HostClusters.
    pub client: Client,
    /// Where the kubeconfigs of clusters may lead.
    pub kubeconfigs: KubeconfigOptions,
    /// What is shown of the clusters.
    pub engine: Engine,
}

/// Watches every managed cluster until `shutdown`.
pub async fn run(context: Context, shutdown: CancellationToken) {
    managed::follow(context.client, context.kubeconfigs, &context.engine, shutdown).await;
    context.engine.watch_exactly([]);
}

/// All watched clusters. Clones are the same.
#[derive(Clone, Default)]
pub struct Engine(Arc<Fleet>);

#[derive(Default)]
struct Fleet {
    clusters: RwLock<HashMap<ClusterId, Watched>>,
    revision: signal::Sender<u64>,
    prices: Arc<Table>,
    again: Arc<Again>,
}

struct Watched {
    cluster: Arc<Cluster>,
    /// Changes whenever the way to the cluster does.
    version: String,
    _task: AbortOnDropHandle<()>,
}

impl Engine {
    /// One that knows what things cost. Without a table nothing is priced, and says so.
    pub fn priced(prices: Arc<Table>) -> Self {
        Self(Arc::new(Fleet { prices, ..Fleet::default() }))
    }

    /// Watches these clusters and no others: each by its id, a text that changes when the way to it does, and that way.
    /// What is known of a cluster stays when only the way changes.
    pub fn watch_exactly(&self, wanted: impl IntoIterator<Item = (ClusterId, String, Access)>) {
        let mut clusters = self.0.clusters.write().unwrap_or_else(PoisonError::into_inner);
        let mut before = std::mem::take(&mut *clusters);
        for (id, version, access) in wanted {
            let known = before.remove(&id);
            let watched = match known {
                Some(known) if known.version == version => known,
                Some(known) => Watched::begin(known.cluster, version, access),
                None => {
                    let Fleet { revision, prices, again, .. } = &*self.0;
                    let cluster = Cluster::new(id, revision.clone(), Arc::clone(prices), Arc::clone(again));
                    Watched::begin(Arc::new(cluster), version, access)
                }
            };
            clusters.insert(id, watched);
        }
        let has_left = !before.is_empty();
        drop(clusters);
        drop(before);
        if has_left {
            cluster::next(&self.0.revision);
        }
    }

    fn watched(&self, cluster: ClusterId) -> Option<Arc<Cluster>> {
        let clusters = self.0.clusters.read().unwrap_or_else(PoisonError::into_inner);
        clusters.get(&cluster).map(|watched| Arc::clone(&watched.cluster))
    }

    fn clusters(&self) -> Vec<Arc<Cluster>> {
        let clusters = self.0.clusters.read().unwrap_or_else(PoisonError::into_inner);
        clusters.values().map(|watched| Arc::clone(&watched.cluster)).collect()
    }
}

impl Watched {
    fn begin(cluster: Arc<Cluster>, version: String, access: Access) -> Self {
        let keeping = Arc::clone(&cluster);
        let task = tokio::spawn(async move { keeping.keep(access).await });
        Self { cluster, version, _task: AbortOnDropHandle::new(task) }
    }
}

#[async_trait]
impl Monitor for Engine {
    fn fleet(&self) -> Vec<Arc<Glance>> {
        let clusters = self.0.clusters.read().unwrap_or_else(PoisonError::into_inner);
        clusters.values().map(|watched| watched.cluster.glance()).collect()
    }

    fn glance(&self, cluster: ClusterId) -> Option<Arc<Glance>> {
        self.watched(cluster).map(|cluster| cluster.glance())
    }

    fn cluster(&self, cluster: ClusterId) -> Option<Arc<Snapshot>> {
        self.watched(cluster).map(|cluster| cluster.snapshot())
    }

    async fn refresh(&self, within: Duration) -> Vec<Late> {
        let deadline = Instant::now() + within;
        let asked = self.clusters().into_iter().map(|cluster| async move {
            let answer = cluster.refresh(deadline).await;
            answer.err().map(|why| Late { cluster: cluster.id, reason: why.message })
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    fn revision(&self) -> signal::Receiver<u64> {
        self.0.revision.subscribe()
    }
}
