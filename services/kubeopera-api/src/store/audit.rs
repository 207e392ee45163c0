//! The door to the audit log, which all services share: see the crate `audit-log`. A new action goes there.

use async_trait::async_trait;
use audit_log::Entry;
pub(crate) use audit_log::{Action, Outcome};
use sea_orm::{DatabaseConnection, DatabaseTransaction, DbErr};
pub(crate) use vocabulary::Actor;

/// Where a row can be written.
#[async_trait]
pub(crate) trait Place: Sync {
    async fn take(&self, entry: Entry<'_>) -> Result<(), DbErr>;
}

/// It stands or falls with the transaction, and has to be the last thing in it.
#[async_trait]
impl Place for DatabaseTransaction {
    async fn take(&self, entry: Entry<'_>) -> Result<(), DbErr> {
        audit_log::append(self, entry).await
    }
}

/// In a transaction of its own, for what changes nothing in this database.
#[async_trait]
impl Place for DatabaseConnection {
    async fn take(&self, entry: Entry<'_>) -> Result<(), DbErr> {
        audit_log::note(self, entry).await
    }
}

/// Writes down that somebody did something.
pub(crate) async fn write(
    place: &impl Place,
    actor: Actor,
    action: Action,
    object: Option<String>,
    outcome: Outcome,
) -> Result<(), DbErr> {
    let entry = Entry::new(&actor, action, outcome);
    place.take(object.into_iter().fold(entry, Entry::on)).await
}
