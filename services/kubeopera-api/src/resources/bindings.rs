//! Credentials that clusters may use.
//!
//! One is bound to a cluster before the cluster is on record, and is released after it is off it. Whoever is killed in
//! between leaves a binding without a cluster, which keeps the credential from being deleted and is ended here.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use vocabulary::{Actor, ClusterId};

use crate::{app::Platform, error::AppError, store::clusters};

/// A binding that has been without a cluster for longer is left over: no request takes that long.
const LEFT_OVER_AFTER: SignedDuration = SignedDuration::from_mins(10);

/// Since when bindings have been without a cluster.
#[derive(Default)]
pub(crate) struct Orphans(BTreeMap<ClusterId, Timestamp>);

/// Ends the bindings of clusters that are neither on record nor have a resource.
pub(crate) async fn sweep(platform: &Platform, orphans: &mut Orphans, now: Timestamp) -> Result<(), AppError> {
    let Some(seen) = platform.observed.all() else { return Ok(()) };
    let bound: BTreeSet<_> = platform.auth.credentials().await?.into_iter().flat_map(|saved| saved.clusters).collect();
    // To be read after the bindings: a cluster that came on record in between is not to look like none.
    let on_record: BTreeSet<_> = clusters::ids(&platform.db).await?.into_iter().collect();
    let is_orphan = |cluster: &ClusterId| !on_record.contains(cluster) && !seen.contains(cluster);
    let without: BTreeSet<_> = bound.into_iter().filter(is_orphan).collect();
    orphans.0.retain(|cluster, _| without.contains(cluster));
    for cluster in without {
        let since = *orphans.0.entry(cluster).or_insert(now);
        if now.duration_since(since) > LEFT_OVER_AFTER {
            platform.auth.release(&Actor::KubeOpera, cluster).await?;
            tracing::info!(cluster.id = %cluster, "a credential that was bound to a cluster that is none was released");
        }
    }
    Ok(())
}
