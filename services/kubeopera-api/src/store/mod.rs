//! kubeopera-api's tables. SQL is here and nowhere else.
//!
//! Phases and messages are not: they are read from the resource, each time somebody looks.

pub(crate) mod audit;
pub(crate) mod budget;
pub(crate) mod clusters;
pub(crate) mod git_setting;
pub(crate) mod installation;
mod migration;
pub(crate) mod notices;
pub(crate) mod outbox;
pub(crate) mod receipts;
pub(crate) mod revisions;

use migration::Migrator;
use sea_orm::DatabaseConnection;
use service_kit::database::OpenError;

/// Brings the tables up to date, with those of the audit log, which has to be there first.
pub(crate) async fn migrate(db: &DatabaseConnection) -> Result<(), OpenError> {
    service_kit::database::migrate::<audit_log::Migrator>(db).await?;
    service_kit::database::migrate::<Migrator>(db).await
}
