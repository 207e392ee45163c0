//! The Git repository that somebody chose for new clusters. One row, or none while it is the one of KubeOpera's start. The
//! credential is in a Secret and nowhere else.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, entity::prelude::*, sea_query::OnConflict};
use service_kit::database::Micros;
use vocabulary::{GitBranch, GitUrl, SecretName};

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::Micros;
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "git_setting")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        pub url: String,
        pub branch: Option<String>,
        pub credentials_secret: String,
        pub changed_at: Micros,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity, Model};

/// Key of the only row.
const ONE: i32 = 1;

/// A repository for the trees of clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitRepository {
    pub(crate) url: GitUrl,
    /// Without it the repository's default branch.
    pub(crate) branch: Option<GitBranch>,
    /// Secret in kubeopera-system with its credentials.
    pub(crate) credentials_secret: SecretName,
    /// When somebody chose it; none for the one of KubeOpera's start.
    pub(crate) changed_at: Option<Timestamp>,
}

impl GitRepository {
    /// Which version of the setting this is; two that differ have different ones.
    pub(crate) fn version(&self) -> String {
        self.changed_at.map_or_else(|| "start".to_owned(), |at| at.as_microsecond().to_string())
    }
}

impl TryFrom<Model> for GitRepository {
    type Error = DbErr;
    fn try_from(row: Model) -> Result<Self, DbErr> {
        let unreadable = |what: &str| DbErr::Custom(format!("the Git setting has {what}"));
        Ok(Self {
            url: row.url.parse().map_err(|_| unreadable("a URL that is none"))?,
            branch: row.branch.map(|name| name.parse().map_err(|_| unreadable("a branch that is none"))).transpose()?,
            credentials_secret: row.credentials_secret.parse().map_err(|_| unreadable("no name of a Secret"))?,
            changed_at: Some(row.changed_at.timestamp()),
        })
    }
}

pub(crate) async fn chosen(db: &impl ConnectionTrait) -> Result<Option<GitRepository>, DbErr> {
    Entity::find_by_id(ONE).one(db).await?.map(GitRepository::try_from).transpose()
}

pub(crate) async fn choose(db: &impl ConnectionTrait, repository: &GitRepository, now: Timestamp) -> Result<(), DbErr> {
    let row = ActiveModel {
        id: Set(ONE),
        url: Set(repository.url.to_string()),
        branch: Set(repository.branch.as_ref().map(ToString::to_string)),
        credentials_secret: Set(repository.credentials_secret.to_string()),
        changed_at: Set(now.into()),
    };
    let all = [Column::Url, Column::Branch, Column::CredentialsSecret, Column::ChangedAt];
    let over = OnConflict::column(Column::Id).update_columns(all).to_owned();
    Entity::insert(row).on_conflict(over).exec(db).await.map(|_| ())
}

/// Goes back to the repository of KubeOpera's start; `false` if it was that.
pub(crate) async fn forget(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::delete_by_id(ONE).exec(db).await?.rows_affected > 0)
}
