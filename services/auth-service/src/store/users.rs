//! People who may log in.

use auth_service_contract::{Person, Role, User, Way};
use jiff::Timestamp;
use sea_orm::{
    ActiveValue::Set, QueryOrder, QuerySelect, entity::prelude::*, sea_query::OnConflict, sea_query::ValueTypeErr,
};
use service_kit::database::Micros;
use uuid::Uuid;

use super::PasswordHash;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, PasswordHash, StoredRole, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "users")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        #[sea_orm(unique)]
        pub username: String,
        pub role: StoredRole,
        pub password_hash: PasswordHash,
        pub created_at: Micros,
        pub disabled_at: Option<Micros>,
        pub issuer: Option<String>,
        pub subject: Option<String>,
        pub shown_name: Option<String>,
        pub password_is_one_time: bool,
        /// When the identity provider last vouched for who comes by way of it.
        pub vouched_at: Option<Micros>,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

pub(crate) use entity::{Column, Entity, Model};

/// A role as the column spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, sea_orm::DeriveValueType)]
#[sea_orm(value_type = "String")]
pub struct StoredRole(pub(crate) Role);

impl std::fmt::Display for StoredRole {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Role::PlatformAdministrator => "platform_administrator",
            Role::Operator => "operator",
            Role::Viewer => "viewer",
        })
    }
}

impl std::str::FromStr for StoredRole {
    type Err = ValueTypeErr;
    fn from_str(text: &str) -> Result<Self, ValueTypeErr> {
        match text {
            "platform_administrator" => Ok(Self(Role::PlatformAdministrator)),
            "operator" => Ok(Self(Role::Operator)),
            "viewer" => Ok(Self(Role::Viewer)),
            _ => Err(ValueTypeErr),
        }
    }
}

impl Model {
    /// The person, without what only auth-service may know.
    pub(crate) fn person(&self) -> User {
        let username = self.shown_name.as_ref().unwrap_or(&self.username).clone();
        User { id: self.id, username, role: self.role.0 }
    }

    pub(crate) fn way(&self) -> Way {
        if self.issuer.is_some() { Way::Provider } else { Way::Password }
    }

    /// What their password is compared with. Who comes by way of an identity provider has none; the column, older than
    /// they are, is empty then.
    pub(crate) fn password(&self) -> Option<PasswordHash> {
        (self.way() == Way::Password).then(|| self.password_hash.clone())
    }

    /// The person as an administrator sees them.
    pub(crate) fn known(&self) -> Person {
        Person {
            user: self.person(),
            way: self.way(),
            created_at: self.created_at.timestamp(),
            disabled_at: self.disabled_at.map(Micros::timestamp),
        }
    }
}

pub(crate) async fn all(db: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find().order_by_asc(Column::Username).all(db).await
}

pub(crate) async fn by_id(db: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).one(db).await
}

/// A user whose row stays as it is until the transaction ends.
pub(crate) async fn held(tx: &impl ConnectionTrait, id: Uuid) -> Result<Option<Model>, DbErr> {
    Entity::find_by_id(id).lock_exclusive().one(tx).await
}

/// Platform administrators who can log in with a password. Their rows stay locked until the transaction ends, so that of two who take
/// each other's role away at the same time one finds out. (SQLite has but one writer and needs no lock.)
pub(crate) async fn administrators(tx: &impl ConnectionTrait) -> Result<Vec<Model>, DbErr> {
    Entity::find()
        .filter(Column::Role.eq(StoredRole(Role::PlatformAdministrator)))
        .filter(Column::DisabledAt.is_null())
        .filter(Column::Issuer.is_null())
        .order_by_asc(Column::Id)
        .lock_exclusive()
        .all(tx)
        .await
}

pub(crate) async fn set_standing(
    db: &impl ConnectionTrait,
    id: Uuid,
    role: Role,
    disabled_at: Option<Micros>,
) -> Result<(), DbErr> {
    let changed = Entity::update_many()
        .col_expr(Column::Role, StoredRole(role).into())
        .col_expr(Column::DisabledAt, Expr::value(disabled_at));
    changed.filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}

/// Says whether there is such a user with a password. One that is good for nothing but choosing another is one-time.
pub(crate) async fn set_password(
    db: &impl ConnectionTrait,
    id: Uuid,
    hash: PasswordHash,
    is_one_time: bool,
) -> Result<bool, DbErr> {
    let changed = Entity::update_many()
        .col_expr(Column::PasswordHash, hash.into())
        .col_expr(Column::PasswordIsOneTime, Expr::value(is_one_time));
    let theirs = changed.filter(Column::Id.eq(id)).filter(Column::Issuer.is_null());
    Ok(theirs.exec(db).await?.rows_affected > 0)
}

/// The password somebody has is good for nothing but choosing another.
pub(crate) async fn make_password_one_time(db: &impl ConnectionTrait, id: Uuid) -> Result<(), DbErr> {
    let changed = Entity::update_many().col_expr(Column::PasswordIsOneTime, Expr::value(true));
    changed.filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}

/// Who an identity provider calls by a subject. Their row stays as it is until the transaction ends.
pub(crate) async fn held_by_identity(
    tx: &impl ConnectionTrait,
    issuer: &str,
    subject: &str,
) -> Result<Option<Model>, DbErr> {
    let theirs = Entity::find().filter(Column::Issuer.eq(issuer)).filter(Column::Subject.eq(subject));
    theirs.lock_exclusive().one(tx).await
}

/// Makes somebody known whom an identity provider has let in, unless they are.
pub(crate) async fn insert_identity_if_absent(
    tx: &impl ConnectionTrait,
    issuer: &str,
    subject: &str,
    shown_name: &str,
    role: Role,
    now: Timestamp,
) -> Result<(), DbErr> {
    let user = entity::ActiveModel {
        id: Set(Uuid::now_v7()),
        // Unique like the identity, and with a blank in it, which no name with a password has.
        username: Set(format!("{issuer} {subject}")),
        role: Set(StoredRole(role)),
        password_hash: Set(PasswordHash::new(String::new())),
        created_at: Set(now.into()),
        disabled_at: Set(None),
        issuer: Set(Some(issuer.to_owned())),
        subject: Set(Some(subject.to_owned())),
        shown_name: Set(Some(shown_name.to_owned())),
        password_is_one_time: Set(false),
        vouched_at: Set(Some(now.into())),
    };
    let known = OnConflict::columns([Column::Issuer, Column::Subject]).do_nothing().to_owned();
    Entity::insert(user).on_conflict(known).exec_without_returning(tx).await.map(|_| ())
}

/// The identity provider vouches for somebody whom it calls this.
pub(crate) async fn set_vouched(
    db: &impl ConnectionTrait,
    id: Uuid,
    shown_name: &str,
    now: Timestamp,
) -> Result<(), DbErr> {
    let changed = Entity::update_many()
        .col_expr(Column::ShownName, shown_name.into())
        .col_expr(Column::VouchedAt, Micros::from(now).into());
    changed.filter(Column::Id.eq(id)).exec(db).await.map(|_| ())
}

pub(crate) async fn any(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::find().one(db).await?.is_some())
}

/// Who logs in with a name and a password.
pub(crate) async fn by_name(db: &impl ConnectionTrait, username: &str) -> Result<Option<Model>, DbErr> {
    // PostgreSQL has no text with a NUL in it and would take the question for a fault.
    if username.contains('\0') {
        return Ok(None);
    }
    let theirs = Entity::find().filter(Column::Username.eq(username)).filter(Column::Issuer.is_null());
    theirs.one(db).await
}

pub(crate) async fn insert(
    db: &impl ConnectionTrait,
    username: &str,
    role: Role,
    password_hash: PasswordHash,
    now: Timestamp,
) -> Result<Model, DbErr> {
    let user = entity::ActiveModel {
        id: Set(Uuid::now_v7()),
        username: Set(username.to_owned()),
        role: Set(StoredRole(role)),
        password_hash: Set(password_hash),
        created_at: Set(now.into()),
        disabled_at: Set(None),
        issuer: Set(None),
        subject: Set(None),
        shown_name: Set(None),
        password_is_one_time: Set(false),
        vouched_at: Set(None),
    };
    Entity::insert(user).exec_with_returning(db).await
}
