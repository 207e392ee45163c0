//! Clusters on record: what is wanted, not how they do.

use host_cluster_controller_crd::{HostCluster, HostClusterSpec};
use jiff::Timestamp;
use sea_orm::{
    ActiveValue::Set, DatabaseTransaction, DbBackend, ExprTrait, QueryOrder, QuerySelect, UpdateMany,
    entity::prelude::*,
};
use serde::Serialize;
use service_kit::database::Micros;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use vocabulary::{ClusterId, ClusterLabels, ClusterName, GitUrl, SecretName, hex};

use super::revisions;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "clusters")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub name: String,
        pub kube_system_uid: Option<String>,
        pub is_host: bool,
        pub git_url: String,
        pub git_path: String,
        pub spec: Json,
        pub created_at: Micros,
        pub removing_since: Option<Micros>,
        pub labels: Json,
        pub revision: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity, Model};

/// A cluster on record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) id: ClusterId,
    /// Unique.
    pub(crate) name: ClusterName,
    /// UID of its kube-system namespace, unique; unknown for a resource that somebody else made, until it is discovered.
    pub(crate) kube_system_uid: Option<String>,
    /// Whether KubeOpera runs on it. The database allows one.
    pub(crate) is_host: bool,
    /// What the resource should say, from which it is made anew when it got lost. Its Git path is unique.
    pub(crate) spec: HostClusterSpec,
    pub(crate) created_at: Timestamp,
    /// Since when KubeOpera is letting go of it.
    pub(crate) removing_since: Option<Timestamp>,
    /// What people marked it with.
    pub(crate) labels: ClusterLabels,
    /// The number of its last change; 0 before it is stored.
    pub(crate) revision: i64,
}

impl Record {
    /// The resource that belongs to the record.
    pub(crate) fn resource(&self) -> HostCluster {
        HostCluster::named(self.id, &self.name, self.is_host, self.spec.clone())
    }

    pub(crate) fn description_tag(&self) -> String {
        description_tag(self.name.as_str(), &self.labels)
    }
}

/// Names what people can say about a cluster that is on record: another name or other labels have another tag.
pub(crate) fn description_tag(name: &str, labels: &ClusterLabels) -> String {
    let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
    let description = std::iter::once(name.to_owned()).chain(labels).collect::<Vec<_>>().join("\n");
    hex(&Sha256::digest(description)).chars().take(16).collect()
}

impl TryFrom<Model> for Record {
    type Error = DbErr;
    fn try_from(row: Model) -> Result<Self, DbErr> {
        let unreadable = |what: String| DbErr::Custom(format!("the record of cluster {} has {what}", row.id));
        Ok(Self {
            id: row.id.into(),
            name: row.name.parse().map_err(|_| unreadable("a name that is none".to_owned()))?,
            spec: serde_json::from_value(row.spec)
                .map_err(|why| unreadable(format!("a spec that cannot be read: {why}")))?,
            kube_system_uid: row.kube_system_uid,
            is_host: row.is_host,
            created_at: row.created_at.timestamp(),
            removing_since: row.removing_since.map(Micros::timestamp),
            labels: serde_json::from_value(row.labels)
                .map_err(|why| unreadable(format!("labels that cannot be read: {why}")))?,
            revision: row.revision,
        })
    }
}

pub(crate) async fn insert(tx: &DatabaseTransaction, record: &Record) -> Result<(), DbErr> {
    let revision = revisions::next(tx).await?;
    let row = ActiveModel {
        id: Set(record.id.uuid()),
        name: Set(record.name.to_string()),
        kube_system_uid: Set(record.kube_system_uid.clone()),
        is_host: Set(record.is_host),
        git_url: Set(record.spec.git_ops_repo_url.clone()),
        git_path: Set(record.spec.git_ops_path.clone()),
        spec: Set(json(&record.spec)?),
        created_at: Set(record.created_at.into()),
        removing_since: Set(record.removing_since.map(Micros::from)),
        labels: Set(json(&record.labels)?),
        revision: Set(revision),
    };
    Entity::insert(row).exec(tx).await.map(|_| ())
}

fn json(value: &impl Serialize) -> Result<serde_json::Value, DbErr> {
    serde_json::to_value(value).map_err(|why| DbErr::Json(why.to_string()))
}

/// An update of one record under the next revision.
async fn change(tx: &DatabaseTransaction, id: ClusterId) -> Result<UpdateMany<Entity>, DbErr> {
    let revision = revisions::next(tx).await?;
    Ok(Entity::update_many().col_expr(Column::Revision, Expr::value(revision)).filter(Column::Id.eq(id.uuid())))
}

/// Something that is shown with a record changed.
pub(crate) async fn touch(tx: &DatabaseTransaction, id: ClusterId) -> Result<(), DbErr> {
    change(tx, id).await?.exec(tx).await.map(|_| ())
}

pub(crate) async fn by_id(db: &impl ConnectionTrait, id: ClusterId) -> Result<Option<Record>, DbErr> {
    Entity::find_by_id(id.uuid()).one(db).await?.map(Record::try_from).transpose()
}

pub(crate) async fn by_kube_system_uid(db: &impl ConnectionTrait, uid: &str) -> Result<Option<Record>, DbErr> {
    Entity::find().filter(Column::KubeSystemUid.eq(uid)).one(db).await?.map(Record::try_from).transpose()
}

pub(crate) async fn host(db: &impl ConnectionTrait) -> Result<Option<Record>, DbErr> {
    Entity::find().filter(Column::IsHost.eq(true)).one(db).await?.map(Record::try_from).transpose()
}

pub(crate) async fn by_name(db: &impl ConnectionTrait, name: &ClusterName) -> Result<Option<Record>, DbErr> {
    Entity::find().filter(Column::Name.eq(name.as_str())).one(db).await?.map(Record::try_from).transpose()
}

/// A cluster with the same folder in a repository, or with one that lies in it or around it, whatever the case of its
/// letters: on some systems two folders that differ only in case are one. A repository is the same under each of its URLs.
pub(crate) async fn sharing_tree(
    db: &impl ConnectionTrait,
    git_url: &str,
    git_path: &str,
) -> Result<Option<Record>, DbErr> {
    let others = with_folder_in_common(db.get_database_backend(), git_path).order_by_asc(Column::Id).all(db).await?;
    let other = others.into_iter().find(|other| is_same_repository(&other.git_url, git_url));
    other.map(Record::try_from).transpose()
}

/// Clusters with this folder, one around it or one in it, in whatever repository. They are found by the index
/// `clusters_by_tree`, which compares byte by byte: what lies in a folder is all that begins with it and a slash.
pub(crate) fn with_folder_in_common(backend: DbBackend, git_path: &str) -> Select<Entity> {
    let path = git_path.to_lowercase();
    let around = path.match_indices('/').filter_map(|(at, _)| path.get(..at)).chain([path.as_str()]);
    // The same expression as that of the index.
    let folder = || match backend {
        DbBackend::Postgres => Expr::cust(r#"(lower(git_path) COLLATE "C")"#),
        _ => Expr::cust("lower(git_path)"),
    };
    // The byte after the slash is the zero.
    let within = folder().gte(format!("{path}/")).and(folder().lt(format!("{path}0")));
    Entity::find().filter(folder().is_in(around).or(within))
}

/// Whether two URLs are of one repository as far as can be told from them: scheme, user and port follow from how one logs
/// in, and most servers take the path with and without `.git`.
fn is_same_repository(one: &str, other: &str) -> bool {
    let place = |url: &str| {
        let url: GitUrl = url.parse().ok()?;
        let path = url.url().path().trim_matches('/').trim_end_matches(".git").to_owned();
        Some((url.url().host_str()?.to_ascii_lowercase(), path))
    };
    one == other || place(one).is_some_and(|one| Some(one) == place(other))
}

/// Whether a name, or the Git path that would come with it, is taken.
pub(crate) async fn is_taken(
    db: &impl ConnectionTrait,
    name: &ClusterName,
    git_url: &str,
    git_path: &str,
) -> Result<bool, DbErr> {
    Ok(by_name(db, name).await?.is_some() || sharing_tree(db, git_url, git_path).await?.is_some())
}

/// Those of some clusters that are on record, in no order.
pub(crate) async fn by_ids(db: &impl ConnectionTrait, ids: &[ClusterId]) -> Result<Vec<Record>, DbErr> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let rows = Entity::find().filter(Column::Id.is_in(ids.iter().map(|id| id.uuid()))).all(db).await?;
    rows.into_iter().map(Record::try_from).collect()
}

/// At most `limit` clusters after a revision, and after an id among those of the same revision, in that order.
pub(crate) async fn changed_after(
    db: &impl ConnectionTrait,
    (revision, id): (i64, Uuid),
    limit: u64,
) -> Result<Vec<Record>, DbErr> {
    let mut changed = Entity::find().cursor_by((Column::Revision, Column::Id));
    let rows = changed.after((revision, id)).first(limit).all(db).await?;
    rows.into_iter().map(Record::try_from).collect()
}

pub(crate) async fn count(db: &impl ConnectionTrait) -> Result<u64, DbErr> {
    Entity::find().count(db).await
}

pub(crate) async fn ids(db: &impl ConnectionTrait) -> Result<Vec<ClusterId>, DbErr> {
    let ids: Vec<Uuid> = Entity::find().select_only().column(Column::Id).into_tuple().all(db).await?;
    Ok(ids.into_iter().map(ClusterId::from).collect())
}

/// Clusters whose tree is not at a repository's URL.
pub(crate) async fn outside_of(db: &impl ConnectionTrait, git_url: &str) -> Result<Vec<Record>, DbErr> {
    let rows = Entity::find().filter(Column::GitUrl.ne(git_url)).all(db).await?;
    rows.into_iter().map(Record::try_from).collect()
}

/// Clusters whose tree is at a repository's URL.
pub(crate) async fn in_repository(db: &impl ConnectionTrait, git_url: &str) -> Result<Vec<Record>, DbErr> {
    let rows = Entity::find().filter(Column::GitUrl.eq(git_url)).all(db).await?;
    rows.into_iter().map(Record::try_from).collect()
}

/// Writes down that the credentials for a cluster's repository are in another Secret.
pub(crate) async fn use_git_credentials(
    tx: &DatabaseTransaction,
    record: &Record,
    secret: &SecretName,
) -> Result<(), DbErr> {
    let spec = HostClusterSpec { git_credentials_secret_ref: secret.to_string(), ..record.spec.clone() };
    change(tx, record.id).await?.col_expr(Column::Spec, Expr::value(json(&spec)?)).exec(tx).await.map(|_| ())
}

/// Writes down that the repository with a cluster's tree has another URL.
pub(crate) async fn move_to(tx: &DatabaseTransaction, record: &Record, git_url: &str) -> Result<(), DbErr> {
    let spec = HostClusterSpec { git_ops_repo_url: git_url.to_owned(), ..record.spec.clone() };
    let moved = change(tx, record.id).await?.col_expr(Column::GitUrl, Expr::value(git_url));
    moved.col_expr(Column::Spec, Expr::value(json(&spec)?)).exec(tx).await.map(|_| ())
}

/// Writes down which cluster a record is about, once that is known.
pub(crate) async fn identify(tx: &DatabaseTransaction, id: ClusterId, uid: &str) -> Result<(), DbErr> {
    change(tx, id).await?.col_expr(Column::KubeSystemUid, Expr::value(uid)).exec(tx).await.map(|_| ())
}

/// Marks the cluster KubeOpera runs on.
pub(crate) async fn mark_host(tx: &DatabaseTransaction, id: ClusterId) -> Result<(), DbErr> {
    change(tx, id).await?.col_expr(Column::IsHost, Expr::value(true)).exec(tx).await.map(|_| ())
}

/// Writes down a cluster's name and labels; `false` if the record is not any more what it was.
pub(crate) async fn describe(
    tx: &DatabaseTransaction,
    record: &Record,
    name: &ClusterName,
    labels: &ClusterLabels,
) -> Result<bool, DbErr> {
    let described = change(tx, record.id).await?.col_expr(Column::Name, Expr::value(name.as_str()));
    let described = described.col_expr(Column::Labels, Expr::value(json(labels)?));
    let described = described.filter(Column::Revision.eq(record.revision));
    Ok(described.exec(tx).await?.rows_affected > 0)
}

/// Writes down that KubeOpera is letting go of a cluster; `false` if that is known or the cluster is not on record.
pub(crate) async fn begin_removal(tx: &DatabaseTransaction, id: ClusterId, now: Timestamp) -> Result<bool, DbErr> {
    let removing = change(tx, id).await?.col_expr(Column::RemovingSince, Micros::from(now).into());
    Ok(removing.filter(Column::RemovingSince.is_null()).exec(tx).await?.rows_affected > 0)
}

/// Takes a cluster off the record; `false` if it was not on it.
pub(crate) async fn delete(tx: &DatabaseTransaction, id: ClusterId) -> Result<bool, DbErr> {
    revisions::next(tx).await?;
    Ok(Entity::delete_by_id(id.uuid()).exec(tx).await?.rows_affected > 0)
}
