//! Does what the outbox says: makes the HostCluster of a record exist, at the address its repository has, or go.
//!
//! Everything here may happen twice, in this process after a crash or in another beside it: the name of the resource is
//! the cluster's id, so that the second time finds the first one's work. Processes that are well take turns, cluster by
//! cluster.

use std::{sync::Arc, time::Duration};

use host_cluster_controller_crd::{BUILT_IN_GIT_CREDENTIALS, HostCluster, HostClusterSpec};
use jiff::Timestamp;
use kube::{
    Api,
    api::{Patch, PatchParams, PostParams},
};
use kube_kit::{Attempt, trouble};
use sea_orm::DbErr;
use service_kit::database::{begin_write, try_take_turn};
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, Trouble, TroubleKind};

use super::{
    MANAGER, git_credentials, labels, registry_pull,
    removal::{Gone, remove},
    resources,
};
use crate::{
    app::Platform,
    store::{
        clusters::{self, Record},
        outbox::{self, Due, Entry},
    },
};

/// Entries looked at in one go.
const BATCH: u64 = 50;
/// The first pause after a trouble; each next is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause, also after a refusal: somebody may have changed what it was refused for.
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How long to leave to another process what it is doing.
const LEFT_TO_OTHERS: Duration = Duration::from_millis(500);

const ATTEMPT: Attempt<'static> = Attempt("create the HostCluster resource");

/// Works through the outbox whenever something is due.
pub(crate) async fn keep_relaying(platform: Arc<Platform>, shutdown: CancellationToken) {
    loop {
        let pause = match relay_what_is_due(&platform).await {
            Ok(pause) => pause,
            Err(error) => {
                tracing::warn!("the outbox cannot be read or written: {}", service_kit::chain(&error));
                FIRST_PAUSE
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = platform.outbox_filled.notified() => {}
            () = shutdown.cancelled() => return,
        }
    }
}

/// Does everything that is due and returns how long there will be nothing to do.
pub(crate) async fn relay_what_is_due(platform: &Platform) -> Result<Duration, DbErr> {
    let entries = outbox::next(&platform.db, BATCH).await?;
    let mut is_left_to_others = false;
    for entry in &entries {
        if entry.next_attempt_at > Timestamp::now() {
            return Ok(if is_left_to_others { LEFT_TO_OTHERS } else { until(entry.next_attempt_at) });
        }
        is_left_to_others |= !relay_in_turn(platform, entry).await?;
    }
    // Look again at once after work: what was postponed has its time now, and there may be more than one batch.
    Ok(match (entries.is_empty(), is_left_to_others) {
        (true, _) => LONGEST_PAUSE,
        (false, true) => LEFT_TO_OTHERS,
        (false, false) => Duration::ZERO,
    })
}

/// Does what an entry asks for, unless another process is doing something for its cluster; says which.
async fn relay_in_turn(platform: &Platform, entry: &Entry) -> Result<bool, DbErr> {
    let turn = try_take_turn(&platform.db, &format!("outbox/{}", entry.cluster)).await?;
    let Some(turn) = turn else { return Ok(false) };
    let done = relay_if_due(platform, entry).await;
    turn.end().await?;
    done.map(|()| true)
}

/// Another process may have done it before this one had its turn.
async fn relay_if_due(platform: &Platform, entry: &Entry) -> Result<(), DbErr> {
    match outbox::again(&platform.db, entry).await? {
        Some(entry) if entry.next_attempt_at <= Timestamp::now() => relay(platform, &entry).await,
        _ => Ok(()),
    }
}

async fn relay(platform: &Platform, entry: &Entry) -> Result<(), DbErr> {
    let record = clusters::by_id(&platform.db, entry.cluster).await?;
    let Some(record) = record else {
        return outbox::done(&platform.db, entry).await;
    };
    let relayed = match entry.due {
        Due::Resource => ensure(platform, &record).await,
        due => match remove(&platform.client, record.id, due == Due::Destruction).await {
            // There is nothing left that anybody could be seen deleting.
            Ok(Gone::Already) => return platform.finish_removal(record.id).await,
            Ok(Gone::WillBe) => Ok(()),
            Err(trouble) => Err(trouble),
        },
    };
    let tx = begin_write(&platform.db).await?;
    let trouble = relayed.as_ref().err().map(|trouble| &trouble.message);
    if trouble != entry.trouble.as_ref() {
        // It is shown with the cluster, on the pages of every process.
        clusters::touch(&tx, record.id).await?;
    }
    match relayed {
        Ok(()) => outbox::done(&tx, entry).await?,
        Err(trouble) => {
            let attempts = entry.attempts.saturating_add(1);
            let pause = pause_after(&trouble, attempts);
            tracing::warn!(cluster.id = %record.id, attempts, ?pause, "{trouble}");
            let next = Timestamp::now() + pause;
            outbox::postpone(&tx, entry, attempts, next, &trouble.message).await?;
        }
    }
    tx.commit().await?;
    platform.events.mark(entry.cluster);
    Ok(())
}

/// Creates the resource, unless its cluster is being let go of. One that is there already is success if it is the record's.
async fn ensure(platform: &Platform, record: &Record) -> Result<(), Trouble> {
    let is_leaving = record.removing_since.is_some();
    let api = resources(&platform.client);
    if !is_leaving {
        if record.is_host {
            confirm_host(platform, record).await?;
        }
        if record.spec.registry_pull_secret_ref == Some(record.id.registry_pull_secret()) {
            registry_pull::give(&platform.client, record.id).await?;
        }
        let params = PostParams { field_manager: Some(MANAGER.to_owned()), ..PostParams::default() };
        let mut resource = record.resource();
        labels::put_on(&mut resource, record);
        let Err(refused) = api.create(&params, &resource).await else { return Ok(()) };
        if !matches!(&refused, kube::Error::Api(status) if status.is_already_exists()) {
            return Err(trouble(ATTEMPT, &refused));
        }
    }
    let existing = api.get_opt(&record.id.to_string()).await.map_err(|error| trouble(ATTEMPT, &error))?;
    let Some(existing) = existing else {
        return if is_leaving { Ok(()) } else { Err(being_deleted()) };
    };
    if existing.metadata.deletion_timestamp.is_some() && !is_leaving {
        return Err(being_deleted());
    }
    if existing.spec.cluster_id == record.spec.cluster_id && existing.spec.git_ops_path == record.spec.git_ops_path {
        follow_repository(&api, &existing.spec, record).await?;
        return follow_description(platform, &api, record.id).await;
    }
    Err(Trouble::rejected(
        "AnotherResource",
        format!(
            "A HostCluster named {} exists that is not KubeOpera's: it speaks of another cluster or Git path. Delete it.",
            record.id
        ),
    ))
}

fn being_deleted() -> Trouble {
    Trouble::waiting("BeingDeleted", "An earlier HostCluster resource is still being deleted.")
}

/// Writes what is KubeOpera's to say about the repository: the address of the built-in one, and where the credential is
/// that people have set. The rest is left as somebody may have written it.
async fn follow_repository(api: &Api<HostCluster>, existing: &HostClusterSpec, record: &Record) -> Result<(), Trouble> {
    let (url, secret) = (&record.spec.git_ops_repo_url, &record.spec.git_credentials_secret_ref);
    let is_built_in = |spec: &HostClusterSpec| spec.git_credentials_secret_ref == BUILT_IN_GIT_CREDENTIALS;
    let change = if existing.git_ops_repo_url == *url {
        if existing.git_credentials_secret_ref == *secret || !git_credentials::is_of_setting(secret) {
            return Ok(());
        }
        serde_json::json!({ "gitCredentialsSecretRef": secret })
    } else {
        if !is_built_in(existing) || !is_built_in(&record.spec) {
            return Ok(());
        }
        serde_json::json!({ "gitOpsRepoURL": url })
    };
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(serde_json::json!({ "spec": change }));
    let attempt = Attempt("write the repository's address and credential into the HostCluster resource");
    api.patch(&record.id.to_string(), &params, &patch).await.map(drop).map_err(|error| trouble(attempt, &error))
}

/// Name and labels are people's to give, here; nobody else writes them. The resource is read before the record and written
/// only if it is still what was read, so that of two processes at once none writes something older.
async fn follow_description(platform: &Platform, api: &Api<HostCluster>, id: ClusterId) -> Result<(), Trouble> {
    let attempt = Attempt("write the cluster's name and labels into the HostCluster resource");
    let name = id.to_string();
    let Some(existing) = api.get_opt(&name).await.map_err(|error| trouble(attempt, &error))? else { return Ok(()) };
    let record = clusters::by_id(&platform.db, id).await.map_err(|_| {
        Trouble::transient("DatabaseUnavailable", "KubeOpera's database is not available at the moment.")
    })?;
    let Some(change) = record.and_then(|record| labels::change(&existing, &record)) else { return Ok(()) };
    let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
    let patch = Patch::Merge(serde_json::json!({ "metadata": change }));
    match api.patch_metadata(&name, &params, &patch).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if status.is_conflict() => {
            Err(Trouble::waiting("Changed", "The HostCluster resource was changed by somebody else at the same time."))
        }
        Err(error) => Err(trouble(attempt, &error)),
    }
}

/// A host resource means the very cluster it is on. Made on another one, that one would become KubeOpera's unasked.
async fn confirm_host(platform: &Platform, record: &Record) -> Result<(), Trouble> {
    let here = kube_kit::cluster_uid(&platform.client).await?;
    if record.kube_system_uid.as_ref() == Some(&here) {
        return Ok(());
    }
    Err(Trouble::rejected(
        "AnotherCluster",
        "Did not create the HostCluster resource: it is not known to be about the cluster that KubeOpera reaches now. \
         Start KubeOpera with the kubeconfig of the cluster it belongs to; if this is the one, register it again.",
    ))
}

fn pause_after(trouble: &Trouble, attempts: u32) -> Duration {
    match trouble.kind {
        TroubleKind::Waiting => FIRST_PAUSE * 2,
        TroubleKind::Transient => {
            FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(attempts.saturating_sub(1))).min(LONGEST_PAUSE)
        }
        TroubleKind::Rejected | TroubleKind::Bug => LONGEST_PAUSE,
    }
}

fn until(at: Timestamp) -> Duration {
    Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default().min(LONGEST_PAUSE)
}
