//! The standing watch: each change of a resource is on the open pages a moment later.

use std::{sync::Arc, time::Duration};

use futures::TryStreamExt;
use host_cluster_controller_crd::HostCluster;
use kube::runtime::{WatchStreamExt, watcher, watcher::Event};
use sea_orm::DbErr;
use tokio_util::sync::CancellationToken;
use vocabulary::ClusterId;

use super::resources;
use crate::app::Platform;

/// If more clusters than this are another after a list, pages are told to read everything again instead of being told of
/// each.
const FEW: usize = 20;

/// Watches until the end. kube's watcher begins anew by itself, with growing pauses.
pub(crate) async fn keep(platform: Arc<Platform>, shutdown: CancellationToken) {
    let stream = watcher(resources(&platform.client), watcher::Config::default()).default_backoff();
    let mut stream = std::pin::pin!(stream);
    let mut deleting = Vec::new();
    loop {
        let next = tokio::select! { next = stream.try_next() => next, () = shutdown.cancelled() => return };
        match next {
            Ok(Some(event)) => follow(&platform, event, &mut deleting, &shutdown).await,
            Ok(None) => return,
            // Whether this is an outage is found out by `access`, which asks at once.
            Err(error) => {
                tracing::debug!("the watch of HostClusters broke off: {}", service_kit::chain(&error));
                platform.access_doubted.notify_one();
            }
        }
    }
}

async fn follow(
    platform: &Platform,
    event: Event<HostCluster>,
    deleting: &mut Vec<ClusterId>,
    shutdown: &CancellationToken,
) {
    match event {
        Event::Init => {
            deleting.clear();
            platform.observed.list_begins();
        }
        Event::InitApply(resource) => {
            if let Some((id, resource)) = known(resource) {
                platform.observed.list(id, &resource);
                deleting.extend(is_deleting(&resource).then_some(id));
            }
        }
        Event::InitDone => {
            let (changed, is_readable_again) = platform.observed.list_ends();
            platform.listing.see_all(&platform.observed);
            if is_readable_again || changed.len() > FEW {
                platform.events.reset();
            } else {
                for id in changed {
                    platform.events.mark(id);
                }
            }
            for id in std::mem::take(deleting) {
                until_written(shutdown, || platform.begin_removal(id)).await;
            }
            platform.repair_wanted.notify_one();
        }
        Event::Apply(resource) => {
            let Some((id, resource)) = known(resource) else { return };
            if platform.observed.put(id, &resource) {
                platform.listing.see(id, Some(&resource));
                platform.events.mark(id);
            }
            if is_deleting(&resource) {
                until_written(shutdown, || platform.begin_removal(id)).await;
            }
        }
        Event::Delete(resource) => {
            let Some((id, _)) = known(resource) else { return };
            // The record first: a record whose resource is missing would be repaired.
            until_written(shutdown, || platform.finish_removal(id)).await;
            platform.observed.remove(id);
            platform.listing.see(id, None);
            // Another process may have taken the record away before this one knew that there was one.
            platform.events.mark(id);
        }
    }
}

/// A resource whose name is an id, without what nobody here reads.
fn known(mut resource: HostCluster) -> Option<(ClusterId, HostCluster)> {
    resource.metadata.managed_fields = None;
    if let Some(annotations) = &mut resource.metadata.annotations {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    }
    if let Some(status) = &mut resource.status {
        status.fingerprints.clear();
    }
    let id = resource.metadata.name.as_deref()?.parse().ok()?;
    Some((id, resource))
}

fn is_deleting(resource: &HostCluster) -> bool {
    resource.metadata.deletion_timestamp.is_some()
}

/// A deletion is seen only once, so that it is not passed over while the database is away.
async fn until_written<F: Future<Output = Result<(), DbErr>>>(shutdown: &CancellationToken, write: impl Fn() -> F) {
    while let Err(error) = write().await {
        tracing::warn!("a deletion is written down later: {}", service_kit::chain(&error));
        tokio::select! { () = tokio::time::sleep(Duration::from_secs(1)) => {}, () = shutdown.cancelled() => return }
    }
}
