//! kubeopera-api: the HTTP API, the clusters on record, their HostCluster resources, and the dashboard.
//!
//! A record says that a cluster is there and what is wanted of it; the resource says where it is. This service makes the
//! resource follow the record and never writes a resource's status.

mod app;
mod config;
mod error;
mod events;
mod fleet;
mod http;
mod installation;
mod listing;
mod metrics;
mod notices;
mod resources;
mod settings;
mod store;
mod verdict;
mod view;

use std::sync::Arc;

use auth_service_contract::Authority;
use gitops_scaffolder_contract::GitOpsScaffolder;
use k8s_monitor_contract::Monitor;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::OpenError;
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;
use vocabulary::GitUrl;

use crate::app::Platform;
pub use crate::{
    config::{Allowance, Allowances, Config, PlatformDefaults},
    installation::{BindError, bind},
    notices::{NoticeFormat, Notices},
};

/// kubeopera-api cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The tables could not be brought up to date.
    #[error(transparent)]
    Database(#[from] OpenError),
    /// The records could not be read or written.
    #[error("the clusters on record cannot be read or written")]
    Records(#[from] DbErr),
    /// An origin in the configuration is none.
    #[error("the trusted origin is not an origin such as https://kubeopera.acme.com")]
    Origin,
    /// The listener failed.
    #[error("the listener failed")]
    Listen(#[from] std::io::Error),
    /// One of the tasks behind the requests ended, which only a fault of KubeOpera can do.
    #[error("a part of kubeopera-api that keeps it up to date ended by itself")]
    TaskEnded,
}

/// Serves until `shutdown` is cancelled, then ends in order: requests first, then the tasks behind them.
///
/// `client` is for the cluster KubeOpera itself belongs to, where the HostCluster resources are.
#[allow(clippy::too_many_arguments, reason = "each is a part that whoever composes KubeOpera has made")]
pub async fn run(
    config: Config,
    listener: TcpListener,
    db: DatabaseConnection,
    client: kube::Client,
    auth: Arc<dyn Authority>,
    scaffolder: Arc<dyn GitOpsScaffolder>,
    monitor: Arc<dyn Monitor>,
    defaults: PlatformDefaults,
    shutdown: CancellationToken,
) -> Result<(), RunError> {
    store::migrate(&db).await?;
    let mut platform = Platform::new(db, client, auth, scaffolder, monitor, defaults, shutdown.clone());
    platform.allowances = config.allowances;
    platform.kubeconfigs = config.kubeconfigs;
    platform.provisioner.clone_from(&config.provisioner);
    platform.leadership = config.leadership.clone();
    let platform = Arc::new(platform);
    let router = http::router(Arc::clone(&platform), &config).map_err(|_| RunError::Origin)?;

    resources::repository::follow(&platform).await?;
    // The first page is not to wait for all that is on record.
    platform.catch_up().await?;

    let background = CancellationToken::new();
    let mut tasks = JoinSet::new();
    tasks.spawn(resources::watch::keep(Arc::clone(&platform), background.clone()));
    tasks.spawn(resources::access::keep_asking(Arc::clone(&platform), background.clone()));
    tasks.spawn(resources::relay::keep_relaying(Arc::clone(&platform), background.clone()));
    tasks.spawn(resources::repair::keep_repairing(Arc::clone(&platform), background.clone()));
    if let Some(notices) = config.notices {
        tasks.spawn(notices::keep_telling(Arc::clone(&platform), notices, background.clone()));
    }
    tasks.spawn(fleet::keep_drawing(Arc::clone(&platform), background.clone()));
    tasks.spawn(events::keep_following(Arc::clone(&platform), background.clone()));
    tasks.spawn(events::keep_announcing(platform, background.clone()));

    let limits = service_kit::serve::Limits::default();
    let served = tokio::select! {
        served = service_kit::serve::serve(listener, router, limits, shutdown) => served.map_err(RunError::from),
        // None of them ends by itself. Better to start anew than to serve what nobody keeps up.
        _ = tasks.join_next() => Err(RunError::TaskEnded),
    };
    background.cancel();
    while tasks.join_next().await.is_some() {}
    served
}

/// The Git repository that somebody chose for the trees of new clusters; none while it is the one of the start. The tables
/// have to be up to date, as [`bind`] leaves them.
pub async fn chosen_repository(db: &DatabaseConnection) -> Result<Option<GitUrl>, DbErr> {
    Ok(store::git_setting::chosen(db).await?.map(|repository| repository.url))
}

/// Brings kubeopera-api's tables up to date.
pub async fn migrate(db: &DatabaseConnection) -> Result<(), OpenError> {
    store::migrate(db).await
}

/// The OpenAPI document of the API, made from the handlers, as it is committed under `openapi/`.
pub fn openapi_json() -> Result<String, serde_json::Error> {
    Ok(http::openapi().to_pretty_json()? + "\n")
}

#[cfg(test)]
mod tests;
