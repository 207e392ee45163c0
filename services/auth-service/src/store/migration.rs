//! The tables, forward only: a released migration is never edited, the next one is added.

use async_trait::async_trait;
use audit_log::{Action, FromBefore, Outcome};
use sea_orm::ConnectionTrait;
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, binary, boolean, string, string_null, uuid, uuid_null},
};
use service_kit::database::Micros;
use uuid::Uuid;

pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(People),
            Box::new(Tokens),
            Box::new(Credentials),
            Box::new(Provider),
            Box::new(OneAuditLog),
            Box::new(ForgottenKeys),
            Box::new(Vouched),
        ]
    }

    /// Services may share a database; each keeps its own list.
    fn migration_table_name() -> DynIden {
        "auth_migrations".into_iden()
    }
}

struct People;

impl MigrationName for People {
    fn name(&self) -> &'static str {
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

struct Tokens;

impl MigrationName for Tokens {
    fn name(&self) -> &'static str {
        "0002_tokens"
    }
}

#[async_trait]
impl MigrationTrait for Tokens {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Sessions get names and tell where they were opened. Those from before have neither, so they end: a session is
        // a matter of hours, and people log in again.
        manager.drop_table(Table::drop().table("sessions").to_owned()).await?;
        let sessions = Table::create()
            .table("sessions")
            .col(binary("token_hash").primary_key())
            .col(uuid("id").unique_key())
            .col(uuid("user_id"))
            .col(string("address"))
            .col(big_integer("created_at"))
            .col(big_integer("last_seen_at"))
            .col(big_integer("expires_at"))
            .foreign_key(&mut of_user("sessions"))
            .to_owned();
        manager.create_table(sessions).await?;
        let by_user = Index::create().name("sessions_by_user").table("sessions").col("user_id").to_owned();
        manager.create_index(by_user).await?;

        let tokens = Table::create()
            .table("access_tokens")
            .col(uuid("id").primary_key())
            .col(binary("token_hash").unique_key())
            .col(uuid("user_id"))
            .col(string("label"))
            .col(big_integer("created_at"))
            .col(big_integer("expires_at"))
            .col(big_integer_null("last_used_at"))
            .foreign_key(&mut of_user("access_tokens"))
            .to_owned();
        manager.create_table(tokens).await?;
        let by_user = Index::create().name("access_tokens_by_user").table("access_tokens").col("user_id").to_owned();
        manager.create_index(by_user).await
    }
}

/// Goes with its user.
fn of_user(table: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_user"))
        .from(table, "user_id")
        .to("users", "id")
        .on_delete(ForeignKeyAction::Cascade)
        .to_owned()
}

struct Credentials;

impl MigrationName for Credentials {
    fn name(&self) -> &'static str {
        "0003_credentials"
    }
}

#[async_trait]
impl MigrationTrait for Credentials {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let root_keys = Table::create()
            .table("root_keys")
            .col(string("id").primary_key())
            .col(binary("check_value"))
            .col(big_integer("first_used_at"))
            .to_owned();
        manager.create_table(root_keys).await?;

        let credentials = Table::create()
            .table("credentials")
            .col(uuid("id").primary_key())
            .col(string("label").unique_key())
            .col(string("kind"))
            .col(string("last_four"))
            .col(uuid_null("source_id"))
            .col(big_integer("version"))
            .col(string("root_key_id"))
            .col(binary("secret"))
            .col(big_integer("created_at"))
            .col(big_integer("changed_at"))
            .foreign_key(
                ForeignKey::create()
                    .name("credentials_root_key")
                    .from("credentials", "root_key_id")
                    .to("root_keys", "id")
                    .on_delete(ForeignKeyAction::Restrict),
            )
            .foreign_key(&mut needs_credential("credentials", "source_id"))
            .to_owned();
        manager.create_table(credentials).await?;
        let by_source = Index::create().name("credentials_by_source").table("credentials").col("source_id").to_owned();
        manager.create_index(by_source).await?;

        let uses = Table::create()
            .table("credential_uses")
            .col(uuid("cluster_id").primary_key())
            .col(uuid("credential_id"))
            .foreign_key(&mut needs_credential("credential_uses", "credential_id"))
            .to_owned();
        manager.create_table(uses).await?;
        let by_credential = Index::create()
            .name("credential_uses_by_credential")
            .table("credential_uses")
            .col("credential_id")
            .to_owned();
        manager.create_index(by_credential).await?;

        // No foreign keys: what was opened stays written down when credential and cluster are long gone.
        let openings = Table::create()
            .table("credential_openings")
            .col(uuid("id").primary_key())
            .col(big_integer("happened_at"))
            .col(uuid("credential_id"))
            .col(uuid("cluster_id"))
            .col(string("outcome"))
            .to_owned();
        manager.create_table(openings).await?;
        append_only(manager, "credential_openings").await
    }
}

fn needs_credential(table: &'static str, column: &'static str) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("{table}_{column}"))
        .from(table, column)
        .to("credentials", "id")
        .on_delete(ForeignKeyAction::Restrict)
        .to_owned()
}

struct Provider;

impl MigrationName for Provider {
    fn name(&self) -> &'static str {
        "0004_provider"
    }
}

#[async_trait]
impl MigrationTrait for Provider {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds one column a statement.
        for column in [
            string_null("issuer"),
            string_null("subject"),
            string_null("shown_name"),
            boolean("password_is_one_time").default(false).to_owned(),
        ] {
            manager.alter_table(Table::alter().table("users").add_column(column).to_owned()).await?;
        }
        let by_identity =
            Index::create().name("users_by_identity").table("users").col("issuer").col("subject").unique().to_owned();
        manager.create_index(by_identity).await?;

        let departures = Table::create()
            .table("departures")
            .col(binary("browser_hash").primary_key())
            .col(string("return_to"))
            .col(big_integer("at"))
            .to_owned();
        manager.create_table(departures).await?;
        let by_time = Index::create().name("departures_by_time").table("departures").col("at").to_owned();
        manager.create_index(by_time).await
    }
}

struct OneAuditLog;

impl MigrationName for OneAuditLog {
    fn name(&self) -> &'static str {
        "0005_one_audit_log"
    }
}

#[async_trait]
impl MigrationTrait for OneAuditLog {
    /// What was written down here is in the audit log of all services from now on.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let db = manager.get_connection();
        let openings = Query::select()
            .columns(["happened_at", "credential_id", "cluster_id", "outcome"])
            .from("credential_openings")
            .order_by("id", Order::Asc)
            .to_owned();
        for row in db.query_all(&openings).await? {
            let outcome = match row.try_get::<String>("", "outcome")?.as_str() {
                "opened" => Outcome::Done,
                "denied" => Outcome::Denied,
                _ => Outcome::Failed,
            };
            let before = FromBefore {
                happened_at: row.try_get::<Micros>("", "happened_at")?.timestamp(),
                actor_kind: "cluster",
                actor_id: Some(row.try_get("", "cluster_id")?),
                actor_name: None,
                address: String::new(),
                action: Action::OpenCredential.as_str().to_owned(),
                object: Some(row.try_get::<Uuid>("", "credential_id")?.to_string()),
                outcome: outcome.as_str().to_owned(),
                request_id: Uuid::nil().to_string(),
            };
            audit_log::append_from_before(db, before).await?;
        }
        manager.drop_table(Table::drop().table("credential_openings").to_owned()).await?;
        if manager.get_database_backend() == sea_orm::DbBackend::Postgres {
            db.execute_unprepared("DROP FUNCTION credential_openings_is_append_only()").await?;
        }
        Ok(())
    }
}

struct ForgottenKeys;

impl MigrationName for ForgottenKeys {
    fn name(&self) -> &'static str {
        "0006_forgotten_keys"
    }
}

#[async_trait]
impl MigrationTrait for ForgottenKeys {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let forgotten_at = big_integer_null("forgotten_at");
        manager.alter_table(Table::alter().table("root_keys").add_column(forgotten_at).to_owned()).await
    }
}

struct Vouched;

impl MigrationName for Vouched {
    fn name(&self) -> &'static str {
        "0007_vouched"
    }
}

#[async_trait]
impl MigrationTrait for Vouched {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let vouched_at = big_integer_null("vouched_at");
        manager.alter_table(Table::alter().table("users").add_column(vouched_at).to_owned()).await
    }
}

/// Not even a fault of our own may change or remove what is written. Only the database's owner could, by dropping this.
async fn append_only(manager: &SchemaManager<'_>, table: &str) -> Result<(), DbErr> {
    let statements = match manager.get_database_backend() {
        sea_orm::DbBackend::Postgres => [
            format!(
                "CREATE FUNCTION {table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS \
                 $$ BEGIN RAISE EXCEPTION '{table} is append-only'; END $$"
            ),
            format!(
                "CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON {table} \
                 FOR EACH ROW EXECUTE FUNCTION {table}_is_append_only()"
            ),
        ],
        _ => ["UPDATE", "DELETE"].map(|change| {
            format!(
                "CREATE TRIGGER {table}_no_{change} BEFORE {change} ON {table} \
                 BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
        }),
    };
    for statement in &statements {
        manager.get_connection().execute_unprepared(statement).await?;
    }
    Ok(())
}
