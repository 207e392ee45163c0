//! Writing.

use std::cell::Cell;

use jiff::Timestamp;
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel,
    QueryOrder, QuerySelect,
};
use service_kit::database::{begin_write, is_conflict, is_unique_violation, take_turn};
use uuid::Uuid;
use vocabulary::Actor;

use crate::{
    Action, Outcome, allowance, chain,
    table::{Column, Entity, Model},
};

/// A row that waits for the end of a chain is let in by the one before it; more often than this something is wrong.
const TRIES: u32 = 5;

/// What became of the rows that were to be written on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// There was none.
    Nothing,
    /// All were written.
    Written,
    /// A refusal of a person who has been refused too often of late was left out.
    LeftOut,
}

tokio::task_local! {
    static NOTED: Cell<Noted>;
}

/// Does something, and tells what became of the rows it wrote on the way. What it spawns does not count.
pub async fn observed<T>(doing: impl Future<Output = T> + Send) -> (T, Noted) {
    let done = async { (doing.await, NOTED.with(Cell::get)) };
    NOTED.scope(Cell::new(Noted::Nothing), done).await
}

fn tell(noted: Noted) {
    // Nobody may be observing.
    let _ = NOTED.try_with(|told| told.set(if told.get() == Noted::LeftOut { Noted::LeftOut } else { noted }));
}

/// What is written down.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub(crate) actor: &'a Actor,
    action: Action,
    pub(crate) outcome: Outcome,
    object: Option<String>,
    object_name: Option<String>,
    changed: &'a [&'static str],
}

impl<'a> Entry<'a> {
    /// Who did what, and what came of it.
    pub const fn new(actor: &'a Actor, action: Action, outcome: Outcome) -> Self {
        Self { actor, action, outcome, object: None, object_name: None, changed: &[] }
    }

    /// To which object: its identity.
    #[allow(clippy::needless_pass_by_value, reason = "ids are copied, and a & at each call says nothing")]
    pub fn on(mut self, object: impl ToString) -> Self {
        self.object = Some(object.to_string());
        self
    }

    /// What people call the object, also when nobody knows its identity any more.
    #[allow(clippy::needless_pass_by_value, reason = "ids are copied, and a & at each call says nothing")]
    pub fn named(mut self, name: impl ToString) -> Self {
        self.object_name = Some(name.to_string());
        self
    }

    /// Which of its fields were changed: their names, never what is in them.
    pub const fn changing(mut self, fields: &'a [&'static str]) -> Self {
        self.changed = fields;
        self
    }
}

/// Adds a row that stands or falls with the transaction, which [`begin_write`] has to have begun. It has to be the last
/// thing written in it: nobody else adds a row until the transaction ends, so whoever waited for something else meanwhile
/// could wait for ever.
pub async fn append(tx: &DatabaseTransaction, entry: Entry<'_>) -> Result<(), DbErr> {
    if allowance::is_spent(tx, &entry).await? {
        tell(Noted::LeftOut);
        return Ok(());
    }
    let row = row(&entry, Timestamp::now(), service_kit::request::id());
    add(tx, row).await?;
    tell(Noted::Written);
    Ok(())
}

/// Adds a row in a transaction of its own.
pub async fn note(db: &DatabaseConnection, entry: Entry<'_>) -> Result<(), DbErr> {
    // Before it waits for its turn to write: whoever is refused a lot keeps nobody else waiting.
    if allowance::is_spent(db, &entry).await? {
        tell(Noted::LeftOut);
        return Ok(());
    }
    let mut tries = 0;
    loop {
        tries += 1;
        let noted = async {
            let tx = begin_write(db).await?;
            append(&tx, entry.clone()).await?;
            tx.commit().await
        };
        match noted.await {
            Err(error) if tries < TRIES && (is_conflict(&error) || is_unique_violation(&error)) => {}
            other => return other,
        }
    }
}

/// A row from before there was this log.
#[derive(Debug)]
#[allow(missing_docs, reason = "they are those of a row")]
pub struct FromBefore {
    pub happened_at: Timestamp,
    pub actor_kind: &'static str,
    pub actor_id: Option<Uuid>,
    pub actor_name: Option<String>,
    pub address: String,
    pub action: String,
    pub object: Option<String>,
    pub outcome: String,
    pub request_id: String,
}

/// Adds a row from before there was this log: for migrations.
pub async fn append_from_before(db: &impl ConnectionTrait, before: FromBefore) -> Result<(), DbErr> {
    let row = Model {
        position: 0,
        happened_at: before.happened_at.into(),
        actor_kind: before.actor_kind.to_owned(),
        actor_id: before.actor_id,
        actor_name: before.actor_name,
        actor_role: None,
        address: before.address,
        action: before.action,
        object: before.object,
        object_name: None,
        outcome: before.outcome,
        changed: String::new(),
        request_id: before.request_id,
        hash: Vec::new(),
    };
    add(db, row).await
}

fn row(entry: &Entry<'_>, happened_at: Timestamp, request_id: String) -> Model {
    let (actor_kind, actor_id, actor_name, actor_role) = match entry.actor {
        Actor::Person { id, username, role, .. } => {
            ("person", Some(*id), Some(username.clone()), Some(role.as_str().to_owned()))
        }
        Actor::Stranger { .. } => ("stranger", None, None, None),
        Actor::Cluster(id) => ("cluster", Some(id.uuid()), None, None),
        Actor::KubeOpera => ("kubeopera", None, None, None),
    };
    Model {
        position: 0,
        happened_at: happened_at.into(),
        actor_kind: actor_kind.to_owned(),
        actor_id,
        actor_name,
        actor_role,
        address: entry.actor.address().to_owned(),
        action: entry.action.as_str().to_owned(),
        object: entry.object.clone(),
        object_name: entry.object_name.clone(),
        outcome: entry.outcome.as_str().to_owned(),
        changed: entry.changed.join(","),
        request_id,
        hash: Vec::new(),
    }
}

async fn add(db: &impl ConnectionTrait, mut row: Model) -> Result<(), DbErr> {
    take_turn(db, "audit log").await?;
    let last: Option<(i64, Vec<u8>)> = Entity::find()
        .select_only()
        .columns([Column::Position, Column::Hash])
        .order_by_desc(Column::Position)
        .limit(1)
        .into_tuple()
        .one(db)
        .await?;
    let (position, before) = last.unwrap_or((0, chain::BEFORE_THE_FIRST.to_vec()));
    row.position = position + 1;
    row.hash = chain::hash(&before, &row).to_vec();
    insert(db, row).await
}

/// Writes a row as it is.
async fn insert(db: &impl ConnectionTrait, row: Model) -> Result<(), DbErr> {
    Entity::insert(row.into_active_model().reset_all()).exec_without_returning(db).await.map(|_| ())
}
