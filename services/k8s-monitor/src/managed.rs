//! Which clusters are watched: those whose HostCluster names a kubeconfig that works, and the one KubeOpera runs on.

use std::collections::HashMap;

use futures::StreamExt;
use host_cluster_controller_crd::{HostCluster, Mode, NAMESPACE};
use k8s_openapi::api::core::v1::Secret;
use kube::{
    Api, Client, ResourceExt,
    core::{DeserializeGuard, PartialObjectMeta},
    runtime::{
        WatchStreamExt,
        watcher::{self, Event, watcher},
    },
};
use kube_kit::KubeconfigOptions;
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, SecretName};

use crate::{Engine, access::Access};

/// A resource, or what is known of one that our types cannot read.
type Guarded = DeserializeGuard<HostCluster>;

/// What a HostCluster says of the way to its cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    Own,
    Kubeconfig(SecretName),
}

/// Keeps `engine` watching the clusters that the management cluster's HostClusters are about, until `shutdown`.
pub(crate) async fn follow(
    management: Client,
    allowed: KubeconfigOptions,
    engine: &Engine,
    shutdown: CancellationToken,
) {
    let resources: Api<Guarded> = Api::namespaced(management.clone(), NAMESPACE);
    let secrets: Api<PartialObjectMeta<Secret>> = Api::namespaced(management.clone(), NAMESPACE);
    let mut resources = watcher(resources, watcher::Config::default()).default_backoff().boxed();
    let mut secrets = watcher(secrets, watcher::Config::default()).default_backoff().boxed();
    let (mut ways, mut versions) = (Followed::default(), Followed::default());
    loop {
        let is_complete = tokio::select! {
            Some(seen) = resources.next() => match seen {
                Ok(event) => ways.apply(event, |resource| Some((id_of(resource)?, way_of(resource)?)), id_of),
                Err(error) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "the watch of HostClusters broke off");
                    false
                }
            },
            Some(seen) = secrets.next() => match seen {
                Ok(event) => versions.apply(event, |secret| Some((secret.name_any(), version_of(secret))), |secret| Some(secret.name_any())),
                Err(error) => {
                    tracing::debug!(error = &error as &dyn std::error::Error, "the watch of Secrets broke off");
                    false
                }
            },
            () = shutdown.cancelled() => return,
            else => return,
        };
        if is_complete && ways.is_listed && versions.is_listed {
            watch_exactly(&management, allowed, engine, &ways.now, &versions.now);
        }
    }
}

fn watch_exactly(
    management: &Client,
    allowed: KubeconfigOptions,
    engine: &Engine,
    ways: &HashMap<ClusterId, Way>,
    versions: &HashMap<String, String>,
) {
    let wanted = ways.iter().filter_map(|(id, way)| match way {
        Way::Own => Some((*id, String::new(), Access::client_at_hand(management.clone()))),
        // Whatever changes the Secret begins anew, with what it holds then.
        Way::Kubeconfig(name) => {
            let version = format!("{name} {}", versions.get(name.as_str())?);
            Some((*id, version, Access::kubeconfig(management.clone(), name.clone(), *id, allowed)))
        }
    });
    engine.watch_exactly(wanted);
}

/// What a watch has told so far.
struct Followed<K, V> {
    now: HashMap<K, V>,
    /// The list that is being read; the one before stands until it is complete.
    listing: HashMap<K, V>,
    is_listed: bool,
}

impl<K, V> Default for Followed<K, V> {
    fn default() -> Self {
        Self { now: HashMap::new(), listing: HashMap::new(), is_listed: false }
    }
}

impl<K: Eq + std::hash::Hash, V> Followed<K, V> {
    /// Returns whether what is now known is complete.
    fn apply<T>(
        &mut self,
        event: Event<T>,
        entry: impl Fn(&T) -> Option<(K, V)>,
        key: impl Fn(&T) -> Option<K>,
    ) -> bool {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(object) => self.listing.extend(entry(&object)),
            Event::InitDone => {
                self.now = std::mem::take(&mut self.listing);
                self.is_listed = true;
                return true;
            }
            Event::Apply(object) => {
                match entry(&object) {
                    Some((key, value)) => drop(self.now.insert(key, value)),
                    None => drop(key(&object).and_then(|key| self.now.remove(&key))),
                }
                return true;
            }
            Event::Delete(object) => {
                key(&object).and_then(|key| self.now.remove(&key));
                return true;
            }
        }
        false
    }
}

fn id_of(resource: &Guarded) -> Option<ClusterId> {
    resource.name_any().parse().ok()
}

/// None while there is no way to the cluster yet, and for one that is being let go of.
fn way_of(resource: &Guarded) -> Option<Way> {
    let resource = resource.0.as_ref().ok()?;
    if resource.metadata.deletion_timestamp.is_some() {
        return None;
    }
    if resource.spec.mode == Mode::ConnectExisting && resource.spec.connect_kubeconfig_secret_ref.is_none() {
        return Some(Way::Own);
    }
    let name = resource.status.as_ref()?.kubeconfig_secret.as_ref()?;
    name.parse().ok().map(Way::Kubeconfig)
}

fn version_of(secret: &PartialObjectMeta<Secret>) -> String {
    format!("{} {}", secret.uid().unwrap_or_default(), secret.resource_version().unwrap_or_default())
}
