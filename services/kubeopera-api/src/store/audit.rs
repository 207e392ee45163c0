//! Who did what, when, to which object, and what came of it. Rows are added and never touched again; the database itself
//! refuses to change or remove one.

use jiff::Timestamp;
use sea_orm::{ActiveValue::Set, ExprTrait, QueryOrder, QuerySelect, entity::prelude::*};
use service_kit::database::Micros;
use uuid::Uuid;

mod entity {
    #![allow(missing_docs, unreachable_pub, reason = "SeaORM's derive makes the items")]

    use super::{Micros, Uuid};
    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "audit_log")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: Uuid,
        pub happened_at: Micros,
        pub user_id: Option<Uuid>,
        pub username: Option<String>,
        pub address: String,
        pub action: String,
        pub object: Option<String>,
        pub outcome: String,
        pub request_id: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

use entity::{ActiveModel, Column, Entity};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    LogIn,
    LogOut,
    SeeClusters,
    RegisterCluster,
    CheckKubeconfig,
    /// A kubeconfig was tried, whatever came of it.
    TryToConnect,
    ConnectCluster,
    /// A cluster got another name or other labels.
    ChangeCluster,
    ReplaceKubeconfig,
    DisconnectCluster,
    DeleteCluster,
    RetryCluster,
    /// A HostCluster that KubeOpera had no record of was taken on record.
    AdoptCluster,
    /// A HostCluster was deleted in Kubernetes, which lets go of the cluster.
    RemoveCluster,
    SeeUsers,
    AddUser,
    ChangeUser,
    ResetPassword,
    ChangeOwnPassword,
    SeeSessions,
    SeeOthersSessions,
    EndSession,
    SeeTokens,
    SeeOthersTokens,
    MakeToken,
    RevokeToken,
    SeeCredentials,
    AddCredential,
    ChangeCredential,
    CheckCredential,
    DeleteCredential,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// It had been done before.
    Unchanged,
    Denied,
}

impl Action {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::LogIn => "log_in",
            Self::LogOut => "log_out",
            Self::SeeClusters => "see_clusters",
            Self::RegisterCluster => "register_cluster",
            Self::CheckKubeconfig => "check_kubeconfig",
            Self::TryToConnect => "try_to_connect",
            Self::ConnectCluster => "connect_cluster",
            Self::ChangeCluster => "change_cluster",
            Self::ReplaceKubeconfig => "replace_kubeconfig",
            Self::DisconnectCluster => "disconnect_cluster",
            Self::DeleteCluster => "delete_cluster",
            Self::RetryCluster => "retry_cluster",
            Self::AdoptCluster => "adopt_cluster",
            Self::RemoveCluster => "remove_cluster",
            Self::SeeUsers => "see_users",
            Self::AddUser => "add_user",
            Self::ChangeUser => "change_user",
            Self::ResetPassword => "reset_password",
            Self::ChangeOwnPassword => "change_own_password",
            Self::SeeSessions => "see_sessions",
            Self::SeeOthersSessions => "see_others_sessions",
            Self::EndSession => "end_session",
            Self::SeeTokens => "see_tokens",
            Self::SeeOthersTokens => "see_others_tokens",
            Self::MakeToken => "make_token",
            Self::RevokeToken => "revoke_token",
            Self::SeeCredentials => "see_credentials",
            Self::AddCredential => "add_credential",
            Self::ChangeCredential => "change_credential",
            Self::CheckCredential => "check_credential",
            Self::DeleteCredential => "delete_credential",
        }
    }
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Unchanged => "unchanged",
            Self::Denied => "denied",
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Actor<'a> {
    /// Somebody logged in.
    User { id: Uuid, username: &'a str, address: &'a str },
    /// Somebody who is not. No name: people type passwords into the box for it.
    Stranger { address: &'a str },
    /// KubeOpera itself, following what somebody did in Kubernetes.
    KubeOpera,
}

/// Adds a row. Within a transaction it stands or falls with what it tells of.
pub(crate) async fn write(
    db: &impl ConnectionTrait,
    actor: Actor<'_>,
    action: Action,
    object: Option<String>,
    outcome: Outcome,
) -> Result<(), DbErr> {
    let (user_id, username, address) = match actor {
        Actor::User { id, username, address } => (Some(id), Some(username.to_owned()), address),
        Actor::Stranger { address } => (None, None, address),
        Actor::KubeOpera => (None, None, "kubeopera-api"),
    };
    let row = ActiveModel {
        id: Set(Uuid::now_v7()),
        happened_at: Set(Timestamp::now().into()),
        user_id: Set(user_id),
        username: Set(username),
        address: Set(address.to_owned()),
        action: Set(action.as_str().to_owned()),
        object: Set(object),
        outcome: Set(outcome.as_str().to_owned()),
        request_id: Set(service_kit::request::id()),
    };
    Entity::insert(row).exec(db).await.map(|_| ())
}

/// When somebody did something the last time but `n` - 1, if they did it that often since a time. Ids grow with time, so
/// that no older row is looked at.
pub(super) async fn nth_latest(
    db: &impl ConnectionTrait,
    user: Uuid,
    action: Action,
    n: u64,
    since: Timestamp,
) -> Result<Option<Timestamp>, DbErr> {
    let theirs = Column::UserId.eq(user).and(Column::Action.eq(action.as_str()));
    let millis = u64::try_from(since.as_millisecond()).unwrap_or(0);
    let first = uuid::Builder::from_unix_timestamp_millis(millis, &[0; 10]).into_uuid();
    let row = Entity::find()
        .filter(Column::Id.gte(first))
        .filter(theirs.and(Column::Outcome.ne(Outcome::Denied.as_str())))
        .order_by_desc(Column::Id)
        .offset(n.saturating_sub(1))
        .one(db)
        .await?;
    Ok(row.map(|row| row.happened_at.timestamp()))
}
