//! Register This Cluster.

use std::time::Duration;

use host_cluster_controller_crd::{HostClusterSpec, Mode};
use jiff::Timestamp;
use kube_kit::Discovery;
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use service_kit::database::{begin_write, is_conflict, is_unique_violation};
use vocabulary::{ClusterId, ClusterLabels, ClusterName, GitPath, Trouble};

use super::{Caller, Platform};
use crate::{
    error::AppError,
    resources::registry_pull,
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
        outbox,
    },
    view::Cluster,
};

/// The cluster has to be looked at within this, or the click fails.
const LOOK_WITHIN: Duration = Duration::from_secs(10);
/// Of clicks in parallel one wins and the others find its row: the second look of a loser always does, unless the row is
/// taken off the record at the same time.
const TRIES: u32 = 5;
/// `host`, `host-2`, … up to this.
const MOST_NAMES: u32 = 1_000;

/// What a click came to.
#[derive(Debug)]
pub(crate) struct Registered {
    pub(crate) cluster: Cluster,
    /// Whether it was made now; otherwise it was there.
    pub(crate) is_new: bool,
}

impl Platform {
    /// Puts the cluster KubeOpera runs on on record, once: it is known by the UID of its kube-system namespace, whatever
    /// the number of clicks. The answer waits for no write to Kubernetes.
    pub(crate) async fn register(&self, caller: &Caller) -> Result<Registered, AppError> {
        self.permit(caller, Action::RegisterCluster).await?;
        self.judged(caller, Action::RegisterCluster, None, self.register_this(caller)).await
    }

    async fn register_this(&self, caller: &Caller) -> Result<Registered, AppError> {
        let discovery = tokio::time::timeout(LOOK_WITHIN, kube_kit::discover(&self.client)).await.map_err(|_| {
            Trouble::transient(
                "DiscoveryTimedOut",
                "The Kubernetes API server that KubeOpera runs on did not answer in time. Try again in a moment.",
            )
        })??;
        let has_registry = registry_pull::setting(&self.client).await?.credential.is_some();
        let mut tries = 0;
        let (record, is_new) = loop {
            tries += 1;
            match self.put_on_record(caller, &discovery, has_registry).await {
                Err(AppError::Database(error))
                    if tries < TRIES && (is_unique_violation(&error) || is_conflict(&error)) => {}
                other => break other?,
            }
        };
        if is_new {
            self.outbox_filled.notify_one();
            self.events.mark(record.id);
        }
        let cluster = self.look_at(record.id).await?.ok_or(AppError::NoSuchCluster)?;
        Ok(Registered { cluster, is_new })
    }

    /// One transaction: either record, outbox entry and audit row are all there or none is.
    async fn put_on_record(
        &self,
        caller: &Caller,
        discovery: &Discovery,
        has_registry: bool,
    ) -> Result<(Record, bool), AppError> {
        let tx = begin_write(&self.db).await?;
        if let Some(known) = known(&tx, discovery).await? {
            if known.removing_since.is_some() {
                return Err(AppError::BeingRemoved);
            }
            let object = Some(known.id.to_string());
            audit::write(&tx, caller.actor(), Action::RegisterCluster, object, Outcome::Unchanged).await?;
            tx.commit().await?;
            return Ok((known, false));
        }
        let record = self.record_of_host(&tx, discovery, has_registry).await?;
        clusters::insert(&tx, &record).await?;
        outbox::ask(&tx, record.id, record.created_at).await?;
        let object = Some(record.id.to_string());
        audit::write(&tx, caller.actor(), Action::RegisterCluster, object, Outcome::Done).await?;
        tx.commit().await?;
        Ok((record, true))
    }

    async fn record_of_host(
        &self,
        db: &impl ConnectionTrait,
        discovery: &Discovery,
        has_registry: bool,
    ) -> Result<Record, AppError> {
        let repository = self.git_repository(db).await?;
        let (name, git_path) = self.free_name(db, repository.url.as_str()).await?;
        let id = ClusterId::random();
        let spec = HostClusterSpec {
            cluster_id: id.to_string(),
            mode: Mode::ConnectExisting,
            provider: discovery.provider.to_string(),
            region: discovery.region.to_string(),
            connect_kubeconfig_secret_ref: None,
            provisioning: None,
            git_ops_repo_url: repository.url.to_string(),
            git_ops_branch: repository.branch.map(String::from),
            git_ops_path: git_path.to_string(),
            git_credentials_secret_ref: repository.credentials_secret.to_string(),
            domain: self.defaults.domain.as_ref().map(ToString::to_string),
            registry_pull_secret_ref: has_registry.then(|| id.registry_pull_secret()),
            admin_email: None,
            admin_username: None,
        };
        Ok(Record {
            id,
            name,
            kube_system_uid: Some(discovery.uid.clone()),
            is_host: true,
            spec,
            created_at: Timestamp::now(),
            removing_since: None,
            labels: ClusterLabels::new(),
            revision: 0,
        })
    }

    /// The name the host cluster is to have, or the first with a number behind it that nobody has.
    async fn free_name(&self, db: &impl ConnectionTrait, git_url: &str) -> Result<(ClusterName, GitPath), AppError> {
        let wanted = &self.defaults.host_name;
        for number in 1..=MOST_NAMES {
            let Some(name) = numbered(wanted, number) else { break };
            let git_path = GitPath::of_cluster(&name);
            if !clusters::is_taken(db, &name, git_url, git_path.as_str()).await? {
                return Ok((name, git_path));
            }
        }
        Err(Trouble::rejected(
            "NoFreeName",
            format!(
                "Every name like {wanted} is taken. Choose another name for the host cluster in the configuration."
            ),
        )
        .into())
    }
}

/// The record of this very cluster, if there is one; it is marked as the host cluster if it was not.
async fn known(db: &DatabaseTransaction, discovery: &Discovery) -> Result<Option<Record>, AppError> {
    let host = clusters::host(db).await?;
    if let Some(mut record) = clusters::by_kube_system_uid(db, &discovery.uid).await? {
        match host {
            Some(host) if host.id != record.id => return Err(AppError::AnotherHost),
            Some(_) => {}
            // Connected by a kubeconfig before somebody clicked here: it is the same cluster, so it stays one entry.
            None => clusters::mark_host(db, record.id).await?,
        }
        record.is_host = true;
        return Ok(Some(record));
    }
    match host {
        None => Ok(None),
        // Adopted from its resource, before anybody looked at which cluster it is.
        Some(mut record) if record.kube_system_uid.is_none() => {
            clusters::identify(db, record.id, &discovery.uid).await?;
            record.kube_system_uid = Some(discovery.uid.clone());
            Ok(Some(record))
        }
        Some(_) => Err(AppError::AnotherHost),
    }
}

/// `host` for 1, `host-2` for 2, shortened so that it stays a name.
pub(super) fn numbered(name: &ClusterName, number: u32) -> Option<ClusterName> {
    if number == 1 {
        return Some(name.clone());
    }
    let suffix = format!("-{number}");
    let room = 40_usize.checked_sub(suffix.len())?;
    let stem: String = name.as_str().chars().take(room).collect();
    format!("{}{suffix}", stem.trim_end_matches('-')).parse().ok()
}
