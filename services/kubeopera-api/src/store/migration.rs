//! The tables, forward only: a released migration is never edited, the next one is added.

use async_trait::async_trait;
use audit_log::FromBefore;
use sea_orm::ConnectionTrait;
use sea_orm_migration::{
    prelude::*,
    schema::{big_integer, big_integer_null, boolean, integer, json_binary, string, string_null, uuid, uuid_null},
};
use service_kit::database::Micros;
use uuid::Uuid;

pub(crate) struct Migrator;

impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(Clusters),
            Box::new(Installation),
            Box::new(Labels),
            Box::new(GitSetting),
            Box::new(OneAuditLog),
            Box::new(Receipts),
            Box::new(Notices),
            Box::new(InstallationId),
            Box::new(ClustersByTree),
        ]
    }

    /// Services may share a database; each keeps its own list.
    fn migration_table_name() -> DynIden {
        "kubeopera_api_migrations".into_iden()
    }
}

struct Clusters;

impl MigrationName for Clusters {
    fn name(&self) -> &'static str {
        "0001_clusters"
    }
}

#[async_trait]
impl MigrationTrait for Clusters {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let clusters = Table::create()
            .table("clusters")
            .col(uuid("id").primary_key())
            .col(string("name").unique_key())
            .col(string_null("kube_system_uid").unique_key())
            .col(boolean("is_host"))
            .col(string("git_url"))
            .col(string("git_path"))
            .col(json_binary("spec"))
            .col(big_integer("created_at"))
            .col(big_integer_null("removing_since"))
            .to_owned();
        manager.create_table(clusters).await?;
        let one_tree_each =
            Index::create().name("clusters_git").table("clusters").col("git_url").col("git_path").unique().to_owned();
        manager.create_index(one_tree_each).await?;
        // Both databases know partial indexes and spell this one alike.
        let one_host = "CREATE UNIQUE INDEX clusters_one_host ON clusters (is_host) WHERE is_host";
        manager.get_connection().execute_unprepared(one_host).await?;

        let outbox = Table::create()
            .table("outbox")
            .col(uuid("cluster_id"))
            .col(string("kind"))
            .col(integer("attempts"))
            .col(big_integer("next_attempt_at"))
            .col(string_null("trouble"))
            .primary_key(Index::create().col("cluster_id").col("kind"))
            .foreign_key(
                ForeignKey::create()
                    .name("outbox_cluster")
                    .from("outbox", "cluster_id")
                    .to("clusters", "id")
                    .on_delete(ForeignKeyAction::Cascade),
            )
            .to_owned();
        manager.create_table(outbox).await?;
        let by_time = Index::create().name("outbox_by_time").table("outbox").col("next_attempt_at").to_owned();
        manager.create_index(by_time).await?;

        let audit_log = Table::create()
            .table("audit_log")
            .col(uuid("id").primary_key())
            .col(big_integer("happened_at"))
            .col(uuid_null("user_id"))
            .col(string_null("username"))
            .col(string("address"))
            .col(string("action"))
            .col(string_null("object"))
            .col(string("outcome"))
            .col(string("request_id"))
            .to_owned();
        manager.create_table(audit_log).await?;
        append_only(manager).await
    }
}

struct Installation;

impl MigrationName for Installation {
    fn name(&self) -> &'static str {
        "0002_installation"
    }
}

#[async_trait]
impl MigrationTrait for Installation {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let installation = Table::create()
            .table("installation")
            .col(integer("id").primary_key())
            .col(string("kube_system_uid"))
            .to_owned();
        manager.create_table(installation).await
    }
}

struct Labels;

impl MigrationName for Labels {
    fn name(&self) -> &'static str {
        "0003_labels_and_revisions"
    }
}

#[async_trait]
impl MigrationTrait for Labels {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds one column at a time.
        for column in [json_binary("labels").default("{}"), big_integer("revision").default(0)] {
            let add = Table::alter().table("clusters").add_column(column).to_owned();
            manager.alter_table(add).await?;
        }
        let by_revision = Index::create().name("clusters_by_revision").table("clusters").col("revision").to_owned();
        manager.create_index(by_revision).await?;
        let revisions = Table::create()
            .table("cluster_revisions")
            .col(integer("id").primary_key())
            .col(big_integer("last"))
            .to_owned();
        manager.create_table(revisions).await?;
        let first = "INSERT INTO cluster_revisions (id, last) VALUES (1, 0)";
        manager.get_connection().execute_unprepared(first).await?;
        let asked = Table::alter().table("outbox").add_column(big_integer("asked").default(1)).to_owned();
        manager.alter_table(asked).await
    }
}

struct GitSetting;

impl MigrationName for GitSetting {
    fn name(&self) -> &'static str {
        "0004_git_setting"
    }
}

#[async_trait]
impl MigrationTrait for GitSetting {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let setting = Table::create()
            .table("git_setting")
            .col(integer("id").primary_key())
            .col(string("url"))
            .col(string_null("branch"))
            .col(string("credentials_secret"))
            .col(big_integer("changed_at"))
            .to_owned();
        manager.create_table(setting).await
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
        let rows = Query::select().expr(Expr::cust("*")).from("audit_log").order_by("id", Order::Asc).to_owned();
        for row in db.query_all(&rows).await? {
            let actor_id: Option<Uuid> = row.try_get("", "user_id")?;
            let address: String = row.try_get("", "address")?;
            let (actor_kind, address) = match (actor_id, address) {
                (Some(_), address) => ("person", address),
                (None, own) if own == "kubeopera-api" => ("kubeopera", String::new()),
                (None, address) => ("stranger", address),
            };
            let before = FromBefore {
                happened_at: row.try_get::<Micros>("", "happened_at")?.timestamp(),
                actor_kind,
                actor_id,
                actor_name: row.try_get("", "username")?,
                address,
                action: row.try_get("", "action")?,
                object: row.try_get("", "object")?,
                outcome: row.try_get("", "outcome")?,
                request_id: row.try_get("", "request_id")?,
            };
            audit_log::append_from_before(db, before).await?;
        }
        manager.drop_table(Table::drop().table("audit_log").to_owned()).await?;
        if manager.get_database_backend() == sea_orm::DbBackend::Postgres {
            db.execute_unprepared("DROP FUNCTION audit_log_is_append_only()").await?;
        }
        Ok(())
    }
}

struct Receipts;

impl MigrationName for Receipts {
    fn name(&self) -> &'static str {
        "0006_receipts"
    }
}

#[async_trait]
impl MigrationTrait for Receipts {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let receipts = Table::create()
            .table("receipts")
            .col(uuid("cluster_id").primary_key())
            .col(big_integer("ended_at"))
            .col(json_binary("receipt"))
            .to_owned();
        manager.create_table(receipts).await
    }
}

struct Notices;

impl MigrationName for Notices {
    fn name(&self) -> &'static str {
        "0007_notices"
    }
}

#[async_trait]
impl MigrationTrait for Notices {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let notices = Table::create()
            .table("notices")
            .col(uuid("cluster_id").primary_key())
            .col(string("told"))
            .col(big_integer("told_at"))
            .foreign_key(
                ForeignKey::create()
                    .name("notices_cluster")
                    .from("notices", "cluster_id")
                    .to("clusters", "id")
                    .on_delete(ForeignKeyAction::Cascade),
            )
            .to_owned();
        manager.create_table(notices).await
    }
}

struct InstallationId;

impl MigrationName for InstallationId {
    fn name(&self) -> &'static str {
        "0008_installation_id"
    }
}

#[async_trait]
impl MigrationTrait for InstallationId {
    /// Until now the cluster's UID was what KubeOpera's objects on managed clusters were marked with.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // SQLite adds no column that must have a value unless there is one for all rows.
        let add = Table::alter().table("installation").add_column(string_null("installation_id")).to_owned();
        manager.alter_table(add).await?;
        let as_marked = "UPDATE installation SET installation_id = kube_system_uid";
        manager.get_connection().execute_unprepared(as_marked).await.map(drop)
    }
}

struct ClustersByTree;

impl MigrationName for ClustersByTree {
    fn name(&self) -> &'static str {
        "0009_clusters_by_tree"
    }
}

#[async_trait]
impl MigrationTrait for ClustersByTree {
    /// Whether a folder is another cluster's is asked whenever one joins.
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let index = match manager.get_database_backend() {
            // Whatever the database's language, which may put letters and slashes in an order of its own.
            sea_orm::DbBackend::Postgres => {
                r#"CREATE INDEX clusters_by_tree ON clusters ((lower(git_path) COLLATE "C"))"#
            }
            _ => "CREATE INDEX clusters_by_tree ON clusters (lower(git_path))",
        };
        manager.get_connection().execute_unprepared(index).await.map(drop)
    }
}

/// Not even a fault of our own may change or remove what is written. Only the database's owner could, by dropping this.
async fn append_only(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let statements: &[&str] = match manager.get_database_backend() {
        sea_orm::DbBackend::Postgres => &[
            "CREATE FUNCTION audit_log_is_append_only() RETURNS trigger LANGUAGE plpgsql AS \
             $$ BEGIN RAISE EXCEPTION 'audit_log is append-only'; END $$",
            "CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log \
             FOR EACH ROW EXECUTE FUNCTION audit_log_is_append_only()",
        ],
        _ => &[
            "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log \
             BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END",
            "CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
             BEGIN SELECT RAISE(ABORT, 'audit_log is append-only'); END",
        ],
    };
    for statement in statements {
        manager.get_connection().execute_unprepared(statement).await?;
    }
    Ok(())
}
