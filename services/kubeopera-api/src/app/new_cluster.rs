//! How a cluster that somebody connects or creates comes on record.

use host_cluster_controller_crd::{HostClusterSpec, Mode, ProvisioningSpec};
use jiff::Timestamp;
use sea_orm::ConnectionTrait;
use service_kit::database::{begin_write, is_conflict, is_unique_violation, take_turn};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use vocabulary::{AdminUsername, ClusterId, ClusterLabels, ClusterName, Domain, Email, GitPath, Trouble};

use super::{Caller, Platform, doctor};
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

/// Of two that take one cluster on record at once, the second look of the loser finds the winner.
const TRIES: u32 = 5;

/// What is said of a cluster, however it joins.
pub(crate) struct Described {
    pub(crate) name: ClusterName,
    pub(crate) domain: Option<Domain>,
    pub(crate) administrator: Option<(Email, AdminUsername)>,
    /// Folder of the cluster's tree; without it the usual one for its name.
    pub(crate) git_path: Option<GitPath>,
}

/// How a cluster joins.
pub(super) struct Joining {
    pub(super) mode: Mode,
    pub(super) provider: String,
    pub(super) region: String,
    pub(super) kubeconfig_secret: Option<String>,
    pub(super) provisioning: Option<ProvisioningSpec>,
}

/// What a request for a new cluster came to.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) cluster: Cluster,
    /// Whether it is on record since now; otherwise the very same request had taken it on record before.
    pub(crate) is_new: bool,
}

impl Platform {
    /// The record that a new cluster gets, but for what it says of a registry: see [`Platform::registry_secret`].
    pub(super) async fn record(&self, id: ClusterId, of: &Described, joining: Joining) -> Result<Record, AppError> {
        let repository = self.git_repository(&self.db).await?;
        let git_path = of.git_path.clone().unwrap_or_else(|| GitPath::of_cluster(&of.name));
        let administrator = of.administrator.as_ref();
        let spec = HostClusterSpec {
            cluster_id: id.to_string(),
            mode: joining.mode,
            provider: joining.provider,
            region: joining.region,
            connect_kubeconfig_secret_ref: joining.kubeconfig_secret,
            provisioning: joining.provisioning,
            git_ops_repo_url: repository.url.to_string(),
            git_ops_branch: repository.branch.map(String::from),
            git_ops_path: git_path.to_string(),
            git_credentials_secret_ref: repository.credentials_secret.to_string(),
            domain: of.domain.as_ref().map(ToString::to_string),
            registry_pull_secret_ref: None,
            admin_email: administrator.map(|(email, _)| email.to_string()),
            admin_username: administrator.map(|(_, username)| username.to_string()),
        };
        Ok(Record {
            id,
            name: of.name.clone(),
            kube_system_uid: None,
            is_host: false,
            spec,
            created_at: Timestamp::now(),
            removing_since: None,
            labels: ClusterLabels::new(),
            revision: 0,
        })
    }

    /// The Secret with the registry credential that a new cluster gets, if one is set for the platform.
    pub(super) async fn registry_secret(&self, id: ClusterId) -> Result<Option<String>, Trouble> {
        let setting = registry_pull::setting(&self.client).await?;
        Ok(setting.credential.is_some().then(|| id.registry_pull_secret()))
    }

    /// Takes a cluster on record and has its resource made. `false` if it was on record before.
    pub(super) async fn take_on_record(
        &self,
        caller: &Caller,
        action: Action,
        record: &Record,
    ) -> Result<bool, AppError> {
        let mut tries = 0;
        let is_new = loop {
            tries += 1;
            match self.write_record(caller, action, record).await {
                Err(AppError::Database(error))
                    if tries < TRIES && (is_unique_violation(&error) || is_conflict(&error)) => {}
                other => break other,
            }
        }?;
        self.outbox_filled.notify_one();
        self.events.mark(record.id);
        Ok(is_new)
    }

    /// One transaction: either record, outbox entry and audit row are all there or none is.
    async fn write_record(&self, caller: &Caller, action: Action, record: &Record) -> Result<bool, AppError> {
        let tx = begin_write(&self.db).await?;
        take_turn(&tx, "connect").await?;
        let object = Some(record.id.to_string());
        if clusters::by_id(&tx, record.id).await?.is_some() {
            audit::write(&tx, caller.actor(), action, object, Outcome::Unchanged).await?;
            tx.commit().await?;
            return Ok(false);
        }
        if let Some(uid) = &record.kube_system_uid
            && let Some(other) = clusters::by_kube_system_uid(&tx, uid).await?
        {
            return Err(doctor::Known::connected(&other).finding().into());
        }
        refuse_what_is_taken(&tx, record).await?;
        clusters::insert(&tx, record).await?;
        outbox::ask(&tx, record.id, record.created_at).await?;
        audit::write(&tx, caller.actor(), action, object, Outcome::Done).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Whether a request asks for what is on record. What is set for new clusters may be another by now.
pub(super) fn is_same(on_record: &Record, asked: Record) -> bool {
    let spec = HostClusterSpec {
        git_ops_repo_url: on_record.spec.git_ops_repo_url.clone(),
        git_ops_branch: on_record.spec.git_ops_branch.clone(),
        git_credentials_secret_ref: on_record.spec.git_credentials_secret_ref.clone(),
        registry_pull_secret_ref: on_record.spec.registry_pull_secret_ref.clone(),
        ..asked.spec
    };
    on_record.name == asked.name && on_record.spec == spec
}

/// Two clusters share neither a name nor a folder, and no folder lies in another's.
pub(super) async fn refuse_what_is_taken(db: &impl ConnectionTrait, record: &Record) -> Result<(), AppError> {
    if let Some(other) = clusters::by_name(db, &record.name).await?
        && other.id != record.id
    {
        return Err(AppError::NameTaken);
    }
    let other = clusters::sharing_tree(db, &record.spec.git_ops_repo_url, &record.spec.git_ops_path).await?;
    match other {
        Some(other) if other.id != record.id => Err(AppError::GitPathInUse { by: other.name }),
        _ => Ok(()),
    }
}

/// The id of the cluster that a request with this key brings: the same for the same person and key.
pub(super) fn id_of(user: Uuid, key: &str) -> ClusterId {
    let hash = Sha256::new().chain_update(user.as_bytes()).chain_update(key).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    uuid::Builder::from_random_bytes(bytes).into_uuid().into()
}
