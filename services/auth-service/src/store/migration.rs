//! The tables, forward only: a released migration is never edited, the next one is added.

use async_trait::async_trait;
use sea_orm_migration::{prelude::*, schema::*};

pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(People)]
    }

    /// Services may share a database; each keeps its own list.
    fn migration_table_name() -> DynIden {
        "auth_migrations".into_iden()
    }
}

struct People;

impl MigrationName for People {
    fn name(&self) -> &str {
        "0001_people"
    }
}

#[async_trait]
impl MigrationTrait for People {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let users = Table::create()
            .table("users")
            .col(uuid("id").primary_key())
            .col(string("username").unique_key())
            .col(string("role"))
            .col(string("password_hash"))
            .col(big_integer("created_at"))
            .col(big_integer_null("disabled_at"))
            .to_owned();
        manager.create_table(users).await?;

        let sessions = Table::create()
            .table("sessions")
            .col(binary("token_hash").primary_key())
            .col(uuid("user_id"))
            .col(big_integer("created_at"))
            .col(big_integer("last_seen_at"))
            .col(big_integer("expires_at"))
            .foreign_key(
                ForeignKey::create()
                    .name("sessions_user")
                    .from("sessions", "user_id")
                    .to("users", "id")
                    .on_delete(ForeignKeyAction::Cascade),
            )
            .to_owned();
        manager.create_table(sessions).await?;
        let by_user = Index::create().name("sessions_by_user").table("sessions").col("user_id").to_owned();
        manager.create_index(by_user).await?;

        let attempts = Table::create()
            .table("login_attempts")
            .col(binary("counted").primary_key())
            .col(big_integer("attempts"))
            .col(big_integer("since"))
            .to_owned();
        manager.create_table(attempts).await?;
        let by_time = Index::create().name("login_attempts_by_time").table("login_attempts").col("since").to_owned();
        manager.create_index(by_time).await?;

        // Administrators of environments are no users of this KubeOpera: their names give no access here.
        let administrators = Table::create()
            .table("environment_administrators")
            .col(uuid("cluster_id").primary_key())
            .col(string("email"))
            .col(string("username"))
            .col(string("password_hash"))
            .col(big_integer("created_at"))
            .to_owned();
        manager.create_table(administrators).await
    }
}
