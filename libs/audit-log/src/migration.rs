//! The table, forward only: a released migration is never edited, the next one is added.

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DbBackend};
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, binary, string, string_null, uuid_null},
};

/// Makes the table. Services that share a database share it.
#[derive(Debug, Clone, Copy)]
pub struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(AuditEntries)]
    }

    fn migration_table_name() -> DynIden {
        "audit_log_migrations".into_iden()
    }
}

struct AuditEntries;

impl MigrationName for AuditEntries {
    fn name(&self) -> &'static str {
        "0001_audit_entries"
    }
}

#[async_trait]
impl MigrationTrait for AuditEntries {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let entries = Table::create()
            .table("audit_entries")
            .col(big_integer("position").primary_key())
            .col(big_integer("happened_at"))
            .col(string("actor_kind"))
            .col(uuid_null("actor_id"))
            .col(string_null("actor_name"))
            .col(string_null("actor_role"))
            .col(string("address"))
            .col(string("action"))
            .col(string_null("object"))
            .col(string_null("object_name"))
            .col(string("outcome"))
            .col(string("changed"))
            .col(string("request_id"))
            .col(binary("hash"))
            .to_owned();
        manager.create_table(entries).await?;
        // What people filter by, each with the position behind it: a page is read without sorting.
        for column in ["happened_at", "actor_id", "actor_name", "action", "object"] {
            let index = Index::create()
                .name(format!("audit_entries_by_{column}"))
                .table("audit_entries")
                .col(column)
                .col("position")
                .to_owned();
            manager.create_index(index).await?;
        }
        append_only(manager).await
    }
}

/// Not even a fault of our own may change or remove a row, or put one in between. Only the database's owner could, by
/// dropping this.
async fn append_only(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let statements: &[&str] = match manager.get_database_backend() {
        DbBackend::Postgres => &[
            "CREATE FUNCTION audit_entries_refuse() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'audit_entries is append-only'; END $$",
            "CREATE FUNCTION audit_entries_follow() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN IF NEW.\"position\" <> (SELECT coalesce(max(\"position\"), 0) + 1 FROM audit_entries) THEN \
             RAISE EXCEPTION 'audit_entries is append-only' USING ERRCODE = 'unique_violation'; END IF; \
             RETURN NEW; END $$",
            "CREATE TRIGGER audit_entries_append_only BEFORE UPDATE OR DELETE ON audit_entries \
             FOR EACH ROW EXECUTE FUNCTION audit_entries_refuse()",
            "CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries \
             FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_refuse()",
            "CREATE TRIGGER audit_entries_at_the_end BEFORE INSERT ON audit_entries \
             FOR EACH ROW EXECUTE FUNCTION audit_entries_follow()",
        ],
        _ => &[
            "CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries \
             BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only'); END",
            "CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries \
             BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only'); END",
            // Also because INSERT OR REPLACE removes a row without its being deleted.
            "CREATE TRIGGER audit_entries_at_the_end BEFORE INSERT ON audit_entries \
             WHEN NEW.\"position\" <> (SELECT coalesce(max(\"position\"), 0) + 1 FROM audit_entries) \
             BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only'); END",
        ],
    };
    for statement in statements {
        manager.get_connection().execute_unprepared(statement).await?;
    }
    Ok(())
}
