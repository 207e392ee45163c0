//! Connect an existing cluster.
//!
//! The kubeconfig never is in the database. Its Secret is written first, under a name that follows from the cluster's id,
//! then record, outbox entry and audit row in one transaction. Whoever is killed in between leaves a Secret without a
//! record, which `resources::repair` deletes.

use host_cluster_controller_crd::{HostClusterSpec, Mode};
use jiff::Timestamp;
use kube_kit::{Discovery, HOW_TO_MAKE_A_TOKEN, Kubeconfig, ValidKubeconfig};
use sea_orm::ConnectionTrait;
use service_kit::database::{begin_write, is_conflict, is_unique_violation};
use sha2::{Digest, Sha256};
use uuid::Uuid;
use vocabulary::{AdminUsername, ClusterId, ClusterLabels, ClusterName, Domain, Email, GitPath, Provider, Region};

use super::{Caller, Platform, doctor};
use crate::{
    error::AppError,
    resources::input_kubeconfig::{self, Given, Kept},
    store::{
        audit::{self, Action, Outcome},
        budget,
        clusters::{self, Record},
        outbox, turns,
    },
    verdict::Finding,
    view::Cluster,
};

/// Of two that connect one cluster at once, the second look of the loser finds the winner.
const TRIES: u32 = 5;

/// What somebody wants to connect.
pub(crate) struct Wanted {
    pub(crate) name: ClusterName,
    pub(crate) provider: Provider,
    pub(crate) region: Region,
    /// As it was supplied, byte by byte.
    pub(crate) kubeconfig: Vec<u8>,
    /// The context to use; without it the preferred one.
    pub(crate) context: Option<String>,
    pub(crate) domain: Option<Domain>,
    pub(crate) administrator: Option<(Email, AdminUsername)>,
    /// Folder of the cluster's tree; without it the usual one for its name.
    pub(crate) git_path: Option<GitPath>,
}

/// What a request to connect came to.
#[derive(Debug)]
pub(crate) struct Connected {
    pub(crate) cluster: Cluster,
    /// Whether it was connected now; otherwise the very same request had connected it before.
    pub(crate) is_new: bool,
}

impl Platform {
    /// Connects a cluster, if its kubeconfig can be used from here. A request with a key that was done before is not done
    /// again: its cluster is answered once more.
    pub(crate) async fn connect(
        &self,
        caller: &Caller,
        key: Option<&str>,
        wanted: Wanted,
    ) -> Result<Connected, AppError> {
        self.permit(caller, Action::ConnectCluster).await?;
        let id = key.map_or_else(ClusterId::random, |key| id_of(caller.user.id, key));
        if let Some(cluster) = self.connected_before(caller, id, &wanted).await? {
            return Ok(Connected { cluster, is_new: false });
        }
        let spent = budget::spend(&self.db, caller.actor(), Action::TryToConnect).await?;
        spent.map_err(|retry_after| AppError::TooManyCalls { retry_after })?;
        match self.connect_new(caller, id, &wanted).await {
            Ok(is_new) => {
                let cluster = self.look_at(id).await?.ok_or(AppError::NoSuchCluster)?;
                Ok(Connected { cluster, is_new })
            }
            Err(error) => {
                audit::write(&self.db, caller.actor(), Action::ConnectCluster, None, Outcome::Denied).await?;
                Err(error)
            }
        }
    }

    /// Whether the cluster is new, or was connected by the same request at the same time.
    async fn connect_new(&self, caller: &Caller, id: ClusterId, wanted: &Wanted) -> Result<bool, AppError> {
        let (kubeconfig, given) = wanted.usable()?;
        let mut record = self.record(id, wanted);
        refuse_what_is_taken(&self.db, &record).await?;
        let discovery = self.look_through(&kubeconfig).await?;
        self.refuse_known(id, &discovery).await?;
        record.kube_system_uid = Some(discovery.uid);
        let kept = input_kubeconfig::keep(&self.client, id, &given).await?;
        if kept == Kept::Another {
            return Err(AppError::KeyReused);
        }
        let mut tries = 0;
        let written = loop {
            tries += 1;
            match self.write_record(caller, &record).await {
                Err(AppError::Database(error))
                    if tries < TRIES && (is_unique_violation(&error) || is_conflict(&error)) => {}
                other => break other,
            }
        };
        // Of a database that broke off nobody knows what it did, so that the Secret stays for the repair loop to judge.
        if written.as_ref().is_err_and(|error| !matches!(error, AppError::Database(_))) && kept == Kept::Now {
            input_kubeconfig::delete(&self.client, id).await?;
        }
        let is_new = written?;
        self.outbox_filled.notify_one();
        self.events.mark(id);
        Ok(is_new)
    }

    /// One transaction: either record, outbox entry and audit row are all there or none is.
    async fn write_record(&self, caller: &Caller, record: &Record) -> Result<bool, AppError> {
        let tx = begin_write(&self.db).await?;
        turns::take(&tx, "connect").await?;
        let object = Some(record.id.to_string());
        if clusters::by_id(&tx, record.id).await?.is_some() {
            audit::write(&tx, caller.actor(), Action::ConnectCluster, object, Outcome::Unchanged).await?;
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
        audit::write(&tx, caller.actor(), Action::ConnectCluster, object, Outcome::Done).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// The cluster that the same request connected before. Another request with its key is refused.
    async fn connected_before(
        &self,
        caller: &Caller,
        id: ClusterId,
        wanted: &Wanted,
    ) -> Result<Option<Cluster>, AppError> {
        let Some(record) = clusters::by_id(&self.db, id).await? else { return Ok(None) };
        if record.removing_since.is_some() {
            return Err(AppError::BeingRemoved);
        }
        let asked = self.record(id, wanted);
        let (_, given) = wanted.usable()?;
        let is_same = record.name == asked.name && record.spec == asked.spec;
        if !is_same || !input_kubeconfig::is(&self.client, id, &given).await? {
            return Err(AppError::KeyReused);
        }
        let object = Some(id.to_string());
        audit::write(&self.db, caller.actor(), Action::ConnectCluster, object, Outcome::Unchanged).await?;
        Ok(self.look_at(id).await?)
    }

    /// One cluster is one entry, whatever its names, addresses and users are.
    async fn refuse_known(&self, id: ClusterId, discovery: &Discovery) -> Result<(), AppError> {
        match self.known_as(&discovery.uid).await? {
            // The same request, at the same time.
            Some(doctor::Known::Connected(known)) if known.id == id.uuid() => Ok(()),
            Some(known) => Err(known.finding().into()),
            None => Ok(()),
        }
    }

    fn record(&self, id: ClusterId, wanted: &Wanted) -> Record {
        let git_path = wanted.git_path.clone().unwrap_or_else(|| GitPath::of_cluster(&wanted.name));
        let administrator = wanted.administrator.as_ref();
        let spec = HostClusterSpec {
            cluster_id: id.to_string(),
            mode: Mode::ConnectExisting,
            provider: wanted.provider.to_string(),
            region: wanted.region.to_string(),
            connect_kubeconfig_secret_ref: Some(id.input_kubeconfig_secret()),
            provisioning: None,
            git_ops_repo_url: self.defaults.git_url.to_string(),
            git_ops_path: git_path.to_string(),
            git_credentials_secret_ref: self.defaults.git_credentials_secret.to_string(),
            domain: wanted.domain.as_ref().map(ToString::to_string),
            registry_pull_secret_ref: None,
            admin_email: administrator.map(|(email, _)| email.to_string()),
            admin_username: administrator.map(|(_, username)| username.to_string()),
        };
        Record {
            id,
            name: wanted.name.clone(),
            kube_system_uid: None,
            is_host: false,
            spec,
            created_at: Timestamp::now(),
            removing_since: None,
            labels: ClusterLabels::new(),
            revision: 0,
        }
    }
}

impl Wanted {
    fn usable(&self) -> Result<(ValidKubeconfig, Given<'_>), Finding> {
        chosen(&self.kubeconfig, self.context.as_deref())
    }
}

/// What the chosen context of a file names, or without a choice its preferred one; and what to keep of the file: all of
/// it.
pub(super) fn chosen<'a>(kubeconfig: &'a [u8], context: Option<&str>) -> Result<(ValidKubeconfig, Given<'a>), Finding> {
    let file = Kubeconfig::read(kubeconfig)?;
    let chosen = context.or_else(|| file.preferred_context());
    let context = chosen.ok_or_else(|| {
        let message = format!(
            "The kubeconfig has several contexts and none of them is the current one. Choose one. {HOW_TO_MAKE_A_TOKEN}"
        );
        Finding::new("kubeconfig_no_current_context", Some("context".to_owned()), message)
    })?;
    let usable = doctor::usable(&file, context)?;
    let is_current = file.contexts().any(|known| known.is_current && known.name == context);
    let context = if is_current { None } else { Some(context.to_owned()) };
    Ok((usable, Given { kubeconfig, context }))
}

/// Two clusters share neither a name nor a folder, and no folder lies in another's.
async fn refuse_what_is_taken(db: &impl ConnectionTrait, record: &Record) -> Result<(), AppError> {
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

/// The id of the cluster that a request with this key connects: the same for the same person and key.
fn id_of(user: Uuid, key: &str) -> ClusterId {
    let hash = Sha256::new().chain_update(user.as_bytes()).chain_update(key).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    uuid::Builder::from_random_bytes(bytes).into_uuid().into()
}
