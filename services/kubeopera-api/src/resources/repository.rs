//! The repository that KubeOpera serves itself has another address when this machine has, or when its port was chosen anew.

use host_cluster_controller_crd::BUILT_IN_GIT_CREDENTIALS;
use jiff::Timestamp;
use sea_orm::DbErr;
use service_kit::database::{begin_write, is_unique_violation};

use crate::{
    app::Platform,
    store::{clusters, outbox},
};

/// Writes the address of this start into every record whose tree is in the built-in repository, and asks for the resources
/// to follow. host-cluster-controller then points Flux there.
pub(crate) async fn follow(platform: &Platform) -> Result<(), DbErr> {
    if platform.defaults.git_credentials_secret.as_str() != BUILT_IN_GIT_CREDENTIALS {
        return Ok(());
    }
    let url = platform.defaults.git_url.as_str();
    for record in clusters::outside_of(&platform.db, url).await? {
        if record.spec.git_credentials_secret_ref != BUILT_IN_GIT_CREDENTIALS {
            continue;
        }
        let tx = begin_write(&platform.db).await?;
        match clusters::move_to(&tx, &record, url).await {
            Ok(()) => {
                outbox::ask(&tx, record.id, Timestamp::now()).await?;
                tx.commit().await?;
                tracing::info!(cluster.id = %record.id, git.url = url, "the tree's repository has another address");
            }
            Err(error) if is_unique_violation(&error) => {
                tracing::warn!(cluster.id = %record.id, "another cluster has this one's folder in the repository");
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
