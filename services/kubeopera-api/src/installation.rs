//! A database, the cluster it belongs to, and the KubeOpera whose records it holds.

use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::OpenError;

use crate::store;

/// A database cannot be used with a cluster.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The tables could not be brought up to date.
    #[error(transparent)]
    Migration(#[from] OpenError),
    /// The database could not be read or written.
    #[error("the database cannot tell which cluster it belongs to")]
    Database(#[from] DbErr),
    /// Its records are about another cluster.
    #[error("the database belongs to another cluster, whose kube-system namespace has the UID {bound}")]
    AnotherCluster {
        /// UID of the kube-system namespace of the cluster it belongs to.
        bound: String,
    },
}

/// Binds a database to the cluster that holds the HostCluster resources, known by the UID of its kube-system namespace:
/// at the first start for good, at any later one it has to be that cluster.
///
/// To be called before anything is written to the cluster. Records that met another cluster would be made true there: its
/// owner would find Flux and a whole platform on it that nobody asked for.
///
/// Returns which KubeOpera this is, as its objects on managed clusters tell: the UID of the cluster of the first start. It
/// belongs to the records, so it stays when a backup of them is restored onto another cluster.
pub async fn bind(db: &DatabaseConnection, kube_system_uid: &str) -> Result<String, BindError> {
    store::migrate(db).await?;
    let bound = store::installation::bound(db, kube_system_uid).await?;
    if bound.kube_system_uid == kube_system_uid {
        Ok(bound.installation_id)
    } else {
        Err(BindError::AnotherCluster { bound: bound.kube_system_uid })
    }
}
