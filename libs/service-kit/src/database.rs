//! Opening a database and writing to it safely: SQLite by default, PostgreSQL by URL, one code path for both.

pub mod copy;

use std::time::Duration;

use jiff::Timestamp;
use sea_orm::{
    AccessMode, ConnectOptions, ConnectionTrait, Database, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr,
    DeriveValueType, RuntimeErr, SqlErr, SqliteTransactionMode, Statement, TransactionOptions, TransactionTrait,
};
use sea_orm_migration::MigratorTrait;

/// An instant in microseconds since 1970. Both databases keep and compare it as a plain BIGINT; SQLite has no type for
/// time, and as text two spellings of one instant would not be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, DeriveValueType)]
pub struct Micros(i64);

impl Micros {
    /// The instant itself.
    pub fn timestamp(self) -> Timestamp {
        Timestamp::from_microsecond(self.0).unwrap_or(Timestamp::MAX)
    }
}

impl From<Timestamp> for Micros {
    fn from(at: Timestamp) -> Self {
        Self(at.as_microsecond())
    }
}

/// The database could not be opened or brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Neither `sqlite:` nor `postgres:`.
    #[error("a database URL begins with sqlite:// or postgres://")]
    Scheme,
    /// No connection. The URL is not repeated, because it may hold a password.
    #[error("the database cannot be opened")]
    Connect(#[source] DbErr),
    /// The tables could not be brought up to date.
    #[error("the database cannot be brought up to date")]
    Migrate(#[source] DbErr),
}

/// Opens a database. `sqlite://<path>?mode=rwc` creates the file; `postgres://user:password@host/name` takes a private
/// certificate authority as `sslrootcert`.
pub async fn open(url: &str) -> Result<DatabaseConnection, OpenError> {
    let mut options = ConnectOptions::new(url);
    options.connect_timeout(Duration::from_secs(10)).acquire_timeout(Duration::from_secs(10)).sqlx_logging(false);
    if url.starts_with("sqlite:") {
        // One writer at a time is all that SQLite has; more connections only serve readers.
        options.max_connections(8).min_connections(1).map_sqlx_sqlite_opts(|sqlite| {
            sqlite
                .foreign_keys(true)
                .pragma("journal_mode", "WAL")
                .pragma("synchronous", "NORMAL")
                // In KiB, for each connection. The operating system keeps the file's pages once for all of them.
                .pragma("cache_size", "-512")
                .busy_timeout(Duration::from_secs(10))
        });
    } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        options.max_connections(16).min_connections(1).statement_timeout(Duration::from_secs(30));
    } else {
        return Err(OpenError::Scheme);
    }
    Database::connect(options).await.map_err(OpenError::Connect)
}

/// Brings a service's tables up to date. Several processes may start at once: they take turns, by an advisory lock on
/// PostgreSQL and by SQLite's one writer.
pub async fn migrate<M: MigratorTrait>(db: &DatabaseConnection) -> Result<(), OpenError> {
    let run = async {
        let tx = begin_write(db).await?;
        if tx.get_database_backend() == DbBackend::Postgres {
            // Any number will do, as long as every process takes the same one.
            tx.execute_raw(Statement::from_string(DbBackend::Postgres, "SELECT pg_advisory_xact_lock(5824191133)"))
                .await?;
        }
        M::up(&tx, None).await?;
        tx.commit().await
    };
    run.await.map_err(OpenError::Migrate)
}

/// Begins a transaction that will write. Never use plain `begin()` for one: on SQLite a transaction that reads first and
/// writes later fails when another wrote in between.
pub async fn begin_write(db: &DatabaseConnection) -> Result<DatabaseTransaction, DbErr> {
    db.begin_with_options(TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    })
    .await
}

/// Waits until no other transaction is in this turn, also one of another process, and keeps it until the transaction ends.
/// On SQLite a transaction that [`begin_write`] began has its turn anyway.
pub async fn take_turn(tx: &impl ConnectionTrait, turn: &str) -> Result<(), DbErr> {
    if tx.get_database_backend() != DbBackend::Postgres {
        return Ok(());
    }
    let lock = "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))";
    tx.execute_raw(Statement::from_sql_and_values(DbBackend::Postgres, lock, [turn.into()])).await.map(|_| ())
}

/// A turn that somebody has until it is ended, or their process ends. Dropped, it ends a moment later.
#[derive(Debug)]
pub struct Turn {
    until_it_ends: Option<DatabaseTransaction>,
}

impl Turn {
    /// Leaves the turn to others at once.
    pub async fn end(self) -> Result<(), DbErr> {
        match self.until_it_ends {
            Some(tx) => tx.commit().await,
            None => Ok(()),
        }
    }
}

/// Takes a turn for something that is done elsewhere than in the database, unless another process is in it. Nothing in the
/// database waits for it meanwhile. On SQLite, which one process has for itself, it is free.
pub async fn try_take_turn(db: &DatabaseConnection, turn: &str) -> Result<Option<Turn>, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(Some(Turn { until_it_ends: None }));
    }
    let tx = db.begin_with_config(None, Some(AccessMode::ReadOnly)).await?;
    let lock = "SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken";
    let row = tx.query_one_raw(Statement::from_sql_and_values(DbBackend::Postgres, lock, [turn.into()])).await?;
    let is_taken = row.map(|row| row.try_get("", "taken")).transpose()?.unwrap_or(false);
    Ok(is_taken.then_some(Turn { until_it_ends: Some(tx) }))
}

/// Whether a write failed because a unique value exists already.
pub fn is_unique_violation(error: &DbErr) -> bool {
    matches!(error.sql_err(), Some(SqlErr::UniqueConstraintViolation(_)))
}

/// Whether trying the same transaction again may well succeed: another writer was faster, or held on for too long.
pub fn is_conflict(error: &DbErr) -> bool {
    let (DbErr::Exec(RuntimeErr::SqlxError(inner))
    | DbErr::Query(RuntimeErr::SqlxError(inner))
    | DbErr::Conn(RuntimeErr::SqlxError(inner))) = error
    else {
        return false;
    };
    let code = inner.as_database_error().and_then(sqlx::error::DatabaseError::code);
    // PostgreSQL: serialization failure, deadlock. SQLite: busy, and busy because of a stale snapshot.
    code.is_some_and(|code| matches!(code.as_ref(), "40001" | "40P01" | "5" | "517"))
}

#[cfg(test)]
mod tests;
