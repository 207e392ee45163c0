//! `kubeopera backup` and `kubeopera restore`: what KubeOpera must not forget, in one file.
//!
//! In it are all rows of the database but sessions, access tokens and counts of attempts, and, sealed with the
//! encryption key, the Secrets that KubeOpera keeps on its cluster. The HostCluster resources are not: they are made
//! again from the records. The encryption key is not either, or whoever has the backup would have everything.

mod file;
mod secrets;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use audit_log::{Action, Entry, Outcome};
use auth_service::{AuthService, RootKeys};
use auth_service_contract::People;
use base64::{Engine, engine::general_purpose::STANDARD};
use clap::Args;
use jiff::Timestamp;
use kube::Client;
use sea_orm::{ConnectionTrait, DatabaseConnection, DatabaseTransaction, Statement};
use service_kit::database::{
    begin_write,
    copy::{self, Table},
};
use vocabulary::Actor;

use crate::{data_folder::DataFolder, own_cluster, storage::Storage, welcome};
use file::{Head, LAYOUT, Line, Writing};
use secrets::Kept;

/// Rows that are not kept: how often somebody tried is of no use later, and a session that was ended or a token that
/// was revoked since would be good again.
const NOT_KEPT: [&str; 4] = ["sessions", "access_tokens", "login_attempts", "departures"];
/// Rows that migrations write: they take the place of these.
const MADE_BY_MIGRATIONS: [&str; 1] = ["cluster_revisions"];
/// Lists of migrations end so.
const MIGRATIONS: &str = "_migrations";
/// Name under which the key is proved.
const KEY_CHECK: &str = "key check";

#[derive(Args)]
pub(crate) struct BackupOptions {
    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    cluster: ClusterOptions,
    /// File to write. It is only for its owner to read
    #[arg(long, value_name = "FILE")]
    to: PathBuf,
}

#[derive(Args)]
pub(crate) struct RestoreOptions {
    #[command(flatten)]
    storage: Storage,
    #[command(flatten)]
    cluster: ClusterOptions,
    /// File that `kubeopera backup` wrote
    #[arg(long, value_name = "FILE")]
    from: PathBuf,
    /// Restore although the cluster is another one than that which the backup is about, as when that one is lost
    #[arg(long)]
    another_cluster: bool,
}

#[derive(Args)]
struct ClusterOptions {
    /// Kubeconfig of the cluster KubeOpera runs on [default: the usual place]
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// Context in the kubeconfig [default: its current context]
    #[arg(long, value_name = "NAME")]
    context: Option<String>,
    /// Leave the Secrets on the cluster out, and do not ask for the cluster
    #[arg(long, conflicts_with_all = ["kubeconfig", "context"])]
    database_only: bool,
}

impl ClusterOptions {
    async fn client(&self) -> anyhow::Result<Option<Client>> {
        if self.database_only {
            return Ok(None);
        }
        let found = own_cluster::find(self.kubeconfig.as_deref(), self.context.as_deref())?;
        let configuration = found.configuration().await;
        let configuration = configuration.context(
            "The Secrets that KubeOpera keeps on its cluster belong to a backup. \
             Name the cluster with --kubeconfig, or leave them out with --database-only",
        )?;
        Ok(Some(kube_kit::guarded(configuration, kube_kit::Limits::default())?))
    }
}

/// `kubeopera backup`, while KubeOpera may be running.
pub(crate) async fn run(options: BackupOptions) -> anyhow::Result<()> {
    let data = DataFolder::beside_running(&options.storage.data_path())?;
    let database = options.storage.database(&data).await?;
    let keys = options.storage.given_keys(&data)?;
    let client = options.cluster.client().await?;
    let secrets = async {
        match &client {
            Some(client) => Ok(secrets::all(client).await?),
            None => Ok(Vec::new()),
        }
    };
    let Made { lines, secrets } = make(&database, &keys, secrets, &options.to).await?;
    let path = options.to.display();
    welcome::step(&format!("Wrote {lines} lines to {path}, {secrets} Secrets of the cluster among them"));
    welcome::step(&format!(
        "It is of use only together with the encryption key {}, which is not in it: keep a copy of the key elsewhere",
        keys.in_use()
    ));
    Ok(())
}

/// `kubeopera restore`, while KubeOpera is stopped.
pub(crate) async fn restore(options: RestoreOptions) -> anyhow::Result<()> {
    let data = DataFolder::open(&options.storage.data_path())?;
    let keys = options.storage.given_keys(&data)?;
    let (head, _) = file::read(&options.from)?;
    let client = options.cluster.client().await?;
    let mut here = None;
    if let Some(client) = &client {
        let uid = kube_kit::cluster_uid(client).await?;
        match &head.cluster {
            Some(cluster) if *cluster != uid && !options.another_cluster => bail!(
                "the backup is about another cluster: the UID of its kube-system namespace is {cluster}, and here it is \
                 {uid}. Nothing was changed. Name the cluster with --context or --kubeconfig; if it is lost and this one \
                 takes its place, add --another-cluster"
            ),
            _ => here = Some(uid),
        }
    }
    let database = options.storage.database(&data).await?;
    let secrets = check(&keys, &options.from)?;
    refuse_other_tables(&database, &head).await?;
    if let Some(client) = &client {
        host_cluster_controller::install(client).await?;
        for (name, kept) in secrets {
            if !secrets::put_back(client, &name, kept).await? {
                welcome::step(&format!("The Secret {name} is there and was left as it is"));
            }
        }
    }
    let rows = put_back(&database, &options.from, here.filter(|_| options.another_cluster)).await?;
    welcome::step(&format!("Put {rows} rows back, as they were at {:.0}", head.made_at));
    match who_may_log_in(&database, keys).await {
        Ok(who) => welcome::step(&who),
        // All is back; only who is among it cannot be said.
        Err(error) => welcome::step(&format!("Who may log in now cannot be told: {error:#}. Look at the users")),
    }
    welcome::step(
        "Start KubeOpera now: it makes the resources of the clusters on record again. Everybody logs in anew, and scripts \
         need new access tokens",
    );
    Ok(())
}

/// Who the backup lets in. Of people who were disabled since it was made, it knows nothing.
async fn who_may_log_in(database: &DatabaseConnection, keys: RootKeys) -> anyhow::Result<String> {
    let people = AuthService::open(database.clone(), keys).await?.people().await?;
    let may = people.iter().filter(|person| person.disabled_at.is_none()).map(|person| person.user.username.as_str());
    let may = may.collect::<Vec<_>>().join(", ");
    Ok(format!("These people may log in as they could then: {may}. Disable anew whoever was disabled since"))
}

/// How much a backup holds.
#[derive(Debug)]
struct Made {
    lines: u64,
    secrets: usize,
}

/// Writes a backup of the database as it is at one moment. The Secrets are read after that moment, so that none is
/// missing that a row names.
async fn make(
    database: &DatabaseConnection,
    keys: &RootKeys,
    secrets: impl Future<Output = anyhow::Result<Vec<(String, Kept)>>>,
    path: &Path,
) -> anyhow::Result<Made> {
    // Before, so that it is in the backup, and so that none is made without a trace.
    let entry = Entry::new(&Actor::KubeOpera, Action::MakeBackup, Outcome::Done);
    audit_log::note(database, entry).await.context("writing into the audit log that a backup is made")?;
    let snapshot = copy::begin_snapshot(database).await?;
    let tables = copy::tables(&snapshot).await?;
    let head = Head {
        kubeopera_backup: LAYOUT,
        made_at: Timestamp::now(),
        cluster: cluster_of(&snapshot, &tables).await?,
        migrations: migrations(&snapshot, &tables).await?,
        key: keys.in_use().to_string(),
        key_check: STANDARD.encode(keys.seal_for_backup(KEY_CHECK, KEY_CHECK.as_bytes())?),
    };
    let secrets = secrets.await?;
    let kept = secrets.len();
    let mut writing = Writing::begin(path, &head)?;
    for table in tables.iter().filter(|table| is_kept(table)) {
        let name = &table.name;
        copy::read_rows(&snapshot, table, |row| writing.add(&Line::Row { table: name.clone(), row })).await?;
    }
    for (name, kept) in secrets {
        let sealed = STANDARD.encode(keys.seal_for_backup(&name, &serde_json::to_vec(&kept)?)?);
        writing.add(&Line::Secret { secret: name, sealed })?;
    }
    Ok(Made { lines: writing.finish()?, secrets: kept })
}

/// Reads a whole backup and opens what is sealed. Nothing is changed.
fn check(keys: &RootKeys, path: &Path) -> anyhow::Result<Vec<(String, Kept)>> {
    let (head, lines) = file::read(path)?;
    let given = keys.ids().map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
    let check = STANDARD.decode(&head.key_check).unwrap_or_default();
    if keys.open_from_backup(KEY_CHECK, &check).is_err() {
        bail!(
            "the encryption key is not the one that the backup was made with. Given was {given}, needed is {}. Nothing was \
             changed",
            head.key
        );
    }
    let mut secrets = Vec::new();
    for line in lines {
        if let Line::Secret { secret, sealed } = line? {
            let sealed = STANDARD.decode(sealed).unwrap_or_default();
            let opened = keys.open_from_backup(&secret, &sealed);
            let opened = opened.with_context(|| format!("the Secret {secret} in the backup cannot be read"))?;
            secrets.push((secret, serde_json::from_slice(&opened)?));
        }
    }
    Ok(secrets)
}

/// Nothing is ever written over.
async fn refuse_rows(database: &DatabaseConnection) -> anyhow::Result<()> {
    for table in copy::tables(database).await? {
        let is_of_migrations = table.name.ends_with(MIGRATIONS) || MADE_BY_MIGRATIONS.contains(&table.name.as_str());
        if !is_of_migrations && copy::has_rows(database, &table).await? {
            bail!(
                "the database is not empty: there are rows in {}. Nothing was changed. Restore into a new one: another \
                 folder with --data, or another --database-url",
                table.name
            );
        }
    }
    Ok(())
}

/// Makes the tables and refuses what fits into others.
async fn refuse_other_tables(database: &DatabaseConnection, head: &Head) -> anyhow::Result<()> {
    refuse_rows(database).await?;
    auth_service::migrate(database).await?;
    kubeopera_api::migrate(database).await?;
    let tables = copy::tables(database).await?;
    if migrations(&copy::begin_snapshot(database).await?, &tables).await? != head.migrations {
        bail!(
            "the backup was made by another version of KubeOpera. Restore it with that version, then start this one, which \
             brings it up to date"
        );
    }
    Ok(())
}

/// Writes the rows of a backup into an empty database: all or none.
async fn put_back(database: &DatabaseConnection, path: &Path, cluster: Option<String>) -> anyhow::Result<u64> {
    let (head, lines) = file::read(path)?;
    refuse_other_tables(database, &head).await?;
    let tables = copy::tables(database).await?;
    let tx = begin_write(database).await?;
    let by_name: HashMap<_, _> = tables.iter().map(|table| (table.name.as_str(), table)).collect();
    for name in MADE_BY_MIGRATIONS {
        copy::clear(&tx, by_name.get(name).with_context(|| format!("there is no table {name}"))?).await?;
    }
    let mut count = 0;
    for line in lines {
        let Line::Row { table, mut row } = line? else { continue };
        // Backups once had some of them.
        if NOT_KEPT.contains(&table.as_str()) {
            continue;
        }
        let into = by_name.get(table.as_str()).filter(|table| is_kept(table));
        let into = into.with_context(|| format!("the backup has rows of {table}, which is no table here"))?;
        if let Some(cluster) = cluster.as_ref().filter(|_| table == "installation") {
            row.insert("kube_system_uid".to_owned(), cluster.as_str().into());
        }
        copy::write_row(&tx, into, row).await?;
        count += 1;
    }
    let entry = Entry::new(&Actor::KubeOpera, Action::RestoreBackup, Outcome::Done);
    audit_log::append(&tx, entry).await?;
    tx.commit().await?;
    audit_log::verify(database.clone(), None).await.context("the rows were put back, but")?;
    Ok(count)
}

fn is_kept(table: &Table) -> bool {
    !table.name.ends_with(MIGRATIONS) && !NOT_KEPT.contains(&table.name.as_str())
}

async fn migrations(db: &DatabaseTransaction, tables: &[Table]) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for table in tables.iter().filter(|table| table.name.ends_with(MIGRATIONS)) {
        let mut versions = Vec::new();
        copy::read_rows(db, table, |row| {
            versions.extend(row.get("version").and_then(|version| version.as_str()).map(str::to_owned));
            anyhow::Ok(())
        })
        .await?;
        found.insert(table.name.clone(), versions);
    }
    Ok(found)
}

async fn cluster_of(db: &DatabaseTransaction, tables: &[Table]) -> anyhow::Result<Option<String>> {
    if !tables.iter().any(|table| table.name == "installation") {
        return Ok(None);
    }
    let statement =
        Statement::from_string(ConnectionTrait::get_database_backend(db), "SELECT kube_system_uid FROM installation");
    let row = db.query_one_raw(statement).await?;
    Ok(row.map(|row| row.try_get("", "kube_system_uid")).transpose()?)
}
