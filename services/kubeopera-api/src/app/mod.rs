//! The use cases. Each takes the caller first and checks first what they may do. No SQL and no HTTP in here.

mod audit;
mod caller;
pub(crate) mod clusters;
pub(crate) mod connect;
pub(crate) mod create;
mod credentials;
pub(crate) mod describe;
mod doctor;
mod elsewhere;
pub(crate) mod estimate;
pub(crate) mod git_setting;
mod monitor;
pub(crate) mod new_cluster;
mod parting;
mod people;
pub(crate) mod provisioning;
mod receipt;
mod refused;
mod register;
mod registry_setting;
pub(crate) mod removal;
mod replace_kubeconfig;
mod retry;
pub(crate) mod sessions;
mod single_sign_on;
mod tokens;

use std::sync::Arc;

use auth_service_contract::Authority;
use cluster_provisioner_contract::ClusterProvisioner;
use gitops_scaffolder_contract::GitOpsScaffolder;
use jiff::Timestamp;
use k8s_monitor_contract::Monitor;
use kube::Client;
use kube_kit::{KubeconfigOptions, Leadership};
use sea_orm::{DatabaseConnection, DbErr};
use tokio::sync::{Notify, OnceCell};
use tokio_util::sync::CancellationToken;
use vocabulary::ClusterId;

pub(crate) use caller::{Caller, Proof};
pub(crate) use elsewhere::{Elsewhere, OverTheNetwork};
pub(crate) use parting::Thing;
pub(crate) use receipt::Receipt;
use refused::Refusals;
pub(crate) use refused::Refused;

use crate::{
    config::{Allowances, PlatformDefaults},
    events::Events,
    fleet::Fleet,
    listing::Listing,
    resources::observed::Observed,
    store::outbox,
    view::{Circumstances, Cluster, MakingTrouble, OnRecord, Wanted},
};

/// What the use cases work with.
pub(crate) struct Platform {
    pub(crate) db: DatabaseConnection,
    /// Client for the cluster that holds the HostCluster resources.
    pub(crate) client: Client,
    /// UID of that cluster, once somebody had to know it.
    own_uid: OnceCell<String>,
    pub(crate) auth: Arc<dyn Authority>,
    /// The way to clusters that people bring a kubeconfig for.
    pub(crate) elsewhere: Arc<dyn Elsewhere>,
    /// Where their kubeconfigs may lead.
    pub(crate) kubeconfigs: KubeconfigOptions,
    /// Tries Git repositories.
    pub(crate) scaffolder: Arc<dyn GitOpsScaffolder>,
    pub(crate) defaults: PlatformDefaults,
    pub(crate) allowances: Allowances,
    pub(crate) leadership: Leadership,
    pub(crate) observed: Observed,
    pub(crate) listing: Listing,
    pub(crate) events: Events,
    /// How the clusters are.
    pub(crate) monitor: Arc<dyn Monitor>,
    pub(crate) fleet: Fleet,
    /// What creates and deletes clusters, if there is such a thing here.
    pub(crate) provisioner: Option<Arc<dyn ClusterProvisioner>>,
    pub(crate) refusals: Refusals,
    /// Wakes the relay: something is in the outbox.
    pub(crate) outbox_filled: Notify,
    /// Wakes the task that asks whether the API server answers.
    pub(crate) access_doubted: Notify,
    /// Wakes the repair loop.
    pub(crate) repair_wanted: Notify,
    pub(crate) shutdown: CancellationToken,
}

impl Platform {
    pub(crate) fn new(
        db: DatabaseConnection,
        client: Client,
        auth: Arc<dyn Authority>,
        scaffolder: Arc<dyn GitOpsScaffolder>,
        monitor: Arc<dyn Monitor>,
        defaults: PlatformDefaults,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            db,
            client,
            own_uid: OnceCell::new(),
            auth,
            elsewhere: Arc::new(OverTheNetwork),
            kubeconfigs: KubeconfigOptions::default(),
            scaffolder,
            defaults,
            allowances: Allowances::default(),
            leadership: Leadership::unshared(),
            observed: Observed::new(Timestamp::now()),
            listing: Listing::new(),
            events: Events::new(),
            monitor,
            fleet: Fleet::new(),
            provisioner: None,
            refusals: Refusals::default(),
            outbox_filled: Notify::new(),
            access_doubted: Notify::new(),
            repair_wanted: Notify::new(),
            shutdown,
        }
    }

    /// A cluster as it is at this moment; `None` if it is not on record.
    pub(crate) async fn look_at(&self, cluster: ClusterId) -> Result<Option<Cluster>, DbErr> {
        let revision = self.events.revision_of(cluster);
        let Some(record) = crate::store::clusters::by_id(&self.db, cluster).await? else { return Ok(None) };
        let entry = outbox::of(&self.db, &[cluster]).await?.pop();
        let resource = self.observed.resource(cluster);
        let wanted = resource.as_ref().map_or(Wanted::Record(&record.spec), Wanted::Resource);
        Ok(Some(self.view(OnRecord::from(&record), wanted, entry, revision)))
    }

    fn view(&self, record: OnRecord<'_>, wanted: Wanted<'_>, entry: Option<outbox::Entry>, revision: u64) -> Cluster {
        let trouble = entry.and_then(|entry| {
            Some(MakingTrouble {
                message: entry.trouble?,
                attempt: entry.attempts,
                next_attempt_at: entry.next_attempt_at,
            })
        });
        let unreadable_since = self.observed.unreadable_since();
        let glance = self.monitor.glance(record.id);
        Cluster::of(record, wanted, Circumstances { trouble, unreadable_since, glance, revision })
    }
}
