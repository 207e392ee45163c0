//! Connect an existing cluster.
//!
//! The kubeconfig never is in the database. Its Secret is written first, under a name that follows from the cluster's id,
//! then record, outbox entry and audit row in one transaction. Whoever is killed in between leaves a Secret without a
//! record, which `resources::repair` deletes.

use host_cluster_controller_crd::Mode;
use kube_kit::{Discovery, HOW_TO_MAKE_A_TOKEN, Kubeconfig, KubeconfigOptions, ValidKubeconfig};
use vocabulary::{ClusterId, Provider, Region, Trouble};

use super::{
    Caller, Platform, doctor,
    new_cluster::{Described, Joined, Joining, id_of, is_same, refuse_what_is_taken},
};
use crate::{
    error::AppError,
    resources::{
        input_kubeconfig::{self, Given, Kept},
        registry_pull,
    },
    settings::registry::RegistryCredential,
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
    },
    verdict::Finding,
    view::Cluster,
};

/// What somebody wants to connect.
pub(crate) struct Wanted {
    pub(crate) described: Described,
    pub(crate) provider: Provider,
    pub(crate) region: Region,
    /// As it was supplied, byte by byte.
    pub(crate) kubeconfig: Vec<u8>,
    /// The context to use; without it the preferred one.
    pub(crate) context: Option<String>,
    /// A registry credential of its own; without it the one that is set, if one is.
    pub(crate) registry: Option<RegistryCredential>,
}

impl Platform {
    /// Connects a cluster, if its kubeconfig can be used from here. A request with a key that was done before is not done
    /// again: its cluster is answered once more.
    pub(crate) async fn connect(&self, caller: &Caller, key: Option<&str>, wanted: Wanted) -> Result<Joined, AppError> {
        self.permit(caller, Action::ConnectCluster).await?;
        let id = key.map_or_else(ClusterId::random, |key| id_of(caller.user.id, key));
        let connect = async {
            if let Some(cluster) = self.connected_before(caller, id, &wanted).await? {
                return Ok(Joined { cluster, is_new: false });
            }
            self.spend(caller, Action::TryToConnect, self.allowances.connects).await?;
            let is_new = self.connect_new(caller, id, &wanted).await?;
            let cluster = self.look_at(id).await?.ok_or(AppError::NoSuchCluster)?;
            Ok(Joined { cluster, is_new })
        };
        self.judged(caller, Action::ConnectCluster, None, connect).await
    }

    /// Whether the cluster is new, or was connected by the same request at the same time.
    async fn connect_new(&self, caller: &Caller, id: ClusterId, wanted: &Wanted) -> Result<bool, AppError> {
        let (kubeconfig, given) = wanted.usable(self.kubeconfigs)?;
        let mut record = self.record_of(id, wanted).await?;
        refuse_what_is_taken(&self.db, &record).await?;
        // What is read here is there by the time the cluster has answered.
        let (discovery, registry) = tokio::join!(self.look_through(&kubeconfig), self.registry_secret_of(id, wanted));
        let discovery = discovery?;
        self.refuse_known(id, &discovery).await?;
        record.kube_system_uid = Some(discovery.uid);
        record.spec.registry_pull_secret_ref = registry?;
        let kept = input_kubeconfig::keep(&self.client, id, &given).await?;
        if kept == Kept::Another {
            return Err(AppError::KeyReused);
        }
        if let Some(registry) = &wanted.registry
            && registry_pull::keep_own(&self.client, id, registry).await? == Kept::Another
        {
            return Err(AppError::KeyReused);
        }
        let written = self.take_on_record(caller, Action::ConnectCluster, &record).await;
        // Of a database that broke off nobody knows what it did, so that the Secret stays for the repair loop to judge.
        if written.as_ref().is_err_and(|error| !matches!(error, AppError::Database(_))) && kept == Kept::Now {
            input_kubeconfig::delete(&self.client, id).await?;
            if wanted.registry.is_some() {
                registry_pull::delete(&self.client, id).await?;
            }
        }
        written
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
        let asked = self.record_of(id, wanted).await?;
        let (_, given) = wanted.usable(self.kubeconfigs)?;
        if !is_same(&record, asked) || !input_kubeconfig::is(&self.client, id, &given).await? {
            return Err(AppError::KeyReused);
        }
        if let Some(registry) = &wanted.registry
            && !registry_pull::is(&self.client, id, registry).await?
        {
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

    async fn record_of(&self, id: ClusterId, wanted: &Wanted) -> Result<Record, AppError> {
        let joining = Joining {
            mode: Mode::ConnectExisting,
            provider: wanted.provider.to_string(),
            region: wanted.region.to_string(),
            kubeconfig_secret: Some(id.input_kubeconfig_secret()),
            provisioning: None,
        };
        self.record(id, &wanted.described, joining).await
    }

    /// The Secret with the cluster's registry credential: its own, or what is set for the platform.
    async fn registry_secret_of(&self, id: ClusterId, wanted: &Wanted) -> Result<Option<String>, Trouble> {
        match wanted.registry {
            Some(_) => Ok(Some(id.registry_pull_secret())),
            None => self.registry_secret(id).await,
        }
    }
}

impl Wanted {
    fn usable(&self, options: KubeconfigOptions) -> Result<(ValidKubeconfig, Given<'_>), Finding> {
        chosen(&self.kubeconfig, self.context.as_deref(), options)
    }
}

/// What the chosen context of a file names, or without a choice its preferred one; and what to keep of the file: all of
/// it.
pub(super) fn chosen<'a>(
    kubeconfig: &'a [u8],
    context: Option<&str>,
    options: KubeconfigOptions,
) -> Result<(ValidKubeconfig, Given<'a>), Finding> {
    let file = Kubeconfig::read(kubeconfig)?;
    let chosen = context.or_else(|| file.preferred_context());
    let context = chosen.ok_or_else(|| {
        let message = format!(
            "The kubeconfig has several contexts and none of them is the current one. Choose one. {HOW_TO_MAKE_A_TOKEN}"
        );
        Finding::new("kubeconfig_no_current_context", Some("context".to_owned()), message)
    })?;
    let usable = doctor::usable(&file, context, options)?;
    let is_current = file.contexts().any(|known| known.is_current && known.name == context);
    let context = if is_current { None } else { Some(context.to_owned()) };
    Ok((usable, Given { kubeconfig, context }))
}
