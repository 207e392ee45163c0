//! Records and resources brought together again, whatever tore them apart. Each disagreement has one action:
//!
//! - a record whose resource is missing, and nobody was seen deleting it: the resource is made again;
//! - a record being let go of whose resource is missing: the record goes;
//! - a resource of ours without a record: it is taken on record, unless it is being deleted;
//! - a supplied kubeconfig of a cluster with neither: it is deleted;
//! - a credential bound to a cluster with neither: it is released;
//! - a Git credential for a repository that is neither chosen nor any cluster's: it is deleted.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use host_cluster_controller_crd::{HostCluster, LABEL_CLUSTER_NAME, ValidSpec};
use jiff::Timestamp;
use kube_kit::{Attempt, trouble};
use sea_orm::DbErr;
use service_kit::database::{begin_write, is_unique_violation};
use tokio_util::sync::CancellationToken;
use vocabulary::ClusterId;

use super::{bindings, git_credentials, input_kubeconfig, labels, registry_pull, resources};
use crate::{
    app::Platform,
    error::AppError,
    store::{
        audit::{self, Action, Actor, Outcome},
        clusters::{self, Record},
        outbox,
    },
};

/// How often to compare, besides each time the resources were listed anew.
const EVERY: Duration = Duration::from_mins(1);

/// Compares from time to time and repairs.
pub(crate) async fn keep_repairing(platform: Arc<Platform>, shutdown: CancellationToken) {
    // What cannot be taken on record is said once, not each minute.
    let mut told = BTreeSet::new();
    let mut orphans = bindings::Orphans::default();
    let mut unused = git_credentials::Unused::default();
    loop {
        tokio::select! {
            () = platform.repair_wanted.notified() => {}
            () = tokio::time::sleep(EVERY) => {}
            () = shutdown.cancelled() => return,
        }
        if let Err(error) = repair(&platform, &mut told).await {
            tracing::warn!("records and resources are compared later: {}", service_kit::chain(&error));
        }
        if let Err(error) = registry_pull::follow_setting(&platform.client).await {
            tracing::warn!("clusters get the registry credential that is set now later: {error}");
        }
        if let Err(error) = sweep(&platform).await {
            tracing::warn!("left-over kubeconfigs are deleted later: {}", service_kit::chain(&error));
        }
        if let Err(error) = git_credentials::sweep(&platform, &mut unused, Timestamp::now()).await {
            tracing::warn!("left-over Git credentials are deleted later: {}", service_kit::chain(&error));
        }
        if let Err(error) = bindings::sweep(&platform, &mut orphans, Timestamp::now()).await {
            tracing::warn!("left-over bindings of credentials are ended later: {}", service_kit::chain(&error));
        }
    }
}

pub(crate) async fn repair(platform: &Platform, told: &mut BTreeSet<ClusterId>) -> Result<(), DbErr> {
    // The order matters: the resources first. A record that is made in between has an outbox entry and is only asked for
    // once more; the other way round, its resource would look like one without a record.
    let Some(seen) = platform.observed.all() else { return Ok(()) };
    let on_record: BTreeSet<_> = clusters::ids(&platform.db).await?.into_iter().collect();

    for &cluster in on_record.iter().filter(|id| !seen.contains(id)) {
        let Some(record) = clusters::by_id(&platform.db, cluster).await? else { continue };
        if record.removing_since.is_some() {
            platform.finish_removal(cluster).await?;
        } else {
            outbox::ask(&platform.db, cluster, Timestamp::now()).await?;
            platform.outbox_filled.notify_one();
        }
    }
    for &cluster in seen.iter().filter(|id| !on_record.contains(id)) {
        if !platform.observed.resource(cluster).is_some_and(|resource| is_ours(&resource)) {
            continue;
        }
        if let Err(why) = adopt(platform, cluster).await?
            && told.insert(cluster)
        {
            tracing::warn!(cluster.id = %cluster, "a HostCluster is not taken on record: {why}");
        }
    }
    Ok(())
}

/// Deletes kubeconfigs of clusters that are neither on record nor have a resource.
pub(crate) async fn sweep(platform: &Platform) -> Result<(), AppError> {
    let Some(seen) = platform.observed.all() else { return Ok(()) };
    let on_record: BTreeSet<_> = clusters::ids(&platform.db).await?.into_iter().collect();
    let is_known = |cluster| on_record.contains(&cluster) || seen.contains(&cluster);
    Ok(input_kubeconfig::sweep(&platform.client, is_known).await?)
}

/// Made by KubeOpera, or by somebody who wants it to look so: it has the label every HostCluster of ours has.
fn is_ours(resource: &HostCluster) -> bool {
    let labels = resource.metadata.labels.as_ref();
    resource.metadata.deletion_timestamp.is_none()
        && labels.is_some_and(|labels| labels.contains_key(LABEL_CLUSTER_NAME))
}

/// Takes a resource on record, or says why not.
async fn adopt(platform: &Platform, cluster: ClusterId) -> Result<Result<(), String>, DbErr> {
    // Looked at anew: what was seen may have been deleted meanwhile, and its record with it.
    let resource = match resources(&platform.client).get_opt(&cluster.to_string()).await {
        Ok(Some(resource)) if resource.metadata.deletion_timestamp.is_none() => resource,
        Ok(_) => return Ok(Ok(())),
        Err(error) => {
            tracing::debug!("{}", trouble(Attempt("read a HostCluster without a record"), &error));
            return Ok(Ok(()));
        }
    };
    let valid = match ValidSpec::of(&resource) {
        Ok(valid) => valid,
        Err(problems) => {
            let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
            return Ok(Err(problems.join("; ")));
        }
    };
    let uid = resource.status.as_ref().and_then(|status| status.cluster_uid.clone());
    let created_at = resource.metadata.creation_timestamp.as_ref().map_or_else(Timestamp::now, |at| at.0);
    let labels = labels::of(&resource);
    let record = Record {
        id: cluster,
        name: valid.name,
        kube_system_uid: uid,
        is_host: resource.is_host(),
        spec: resource.spec,
        created_at,
        removing_since: None,
        labels,
        revision: 0,
    };
    let tx = begin_write(&platform.db).await?;
    match clusters::insert(&tx, &record).await {
        Ok(()) => {}
        Err(error) if is_unique_violation(&error) => {
            return Ok(Err("another cluster has its name, its Git path, its identity or its mark as host".to_owned()));
        }
        Err(error) => return Err(error),
    }
    let object = Some(cluster.to_string());
    audit::write(&tx, Actor::KubeOpera, Action::AdoptCluster, object, Outcome::Done).await?;
    tx.commit().await?;
    tracing::info!(cluster.id = %cluster, "a HostCluster without a record was taken on record");
    platform.events.mark(cluster);
    Ok(Ok(()))
}
