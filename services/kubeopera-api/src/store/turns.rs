//! One after the other, also with several processes on one database.

use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, Statement};

/// Waits until no other transaction is in this turn, and keeps it until the transaction ends. On SQLite a transaction
/// that writes has its turn anyway.
pub(crate) async fn take(tx: &DatabaseTransaction, turn: &str) -> Result<(), DbErr> {
    if tx.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    tx.execute_raw(Statement::from_sql_and_values(DbBackend::Postgres, lock, [turn.into()])).await.map(|_| ())
}
