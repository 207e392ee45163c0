//! How many refusals of one person are written down: nothing else limits how much is asked for that is refused.

use std::time::Duration;

use jiff::Timestamp;
use sea_orm::{ColumnTrait, ConnectionTrait, DbErr, EntityTrait, ExprTrait, QueryFilter, QueryOrder, QuerySelect};
use service_kit::database::Micros;
use vocabulary::Actor;

use crate::{
    Entry, Outcome,
    table::{Column, Entity},
};

/// One each second, for as long as somebody likes.
pub(crate) const MOST: u64 = 60;
const WITHIN: Duration = Duration::from_mins(1);

/// Whether a person has been refused so often of late, by whatever process, that this refusal is not written down. Of many
/// at the same moment a few more are.
pub(crate) async fn is_spent(db: &impl ConnectionTrait, entry: &Entry<'_>) -> Result<bool, DbErr> {
    let (Actor::Person { id, .. }, Outcome::Denied) = (entry.actor, entry.outcome) else { return Ok(false) };
    // The time leads to a position, and that to what is theirs: both are in an index, however long the log is.
    let since = Timestamp::now() - WITHIN;
    let first = Entity::find()
        .select_only()
        .column(Column::Position)
        .filter(Column::HappenedAt.gte(Micros::from(since)))
        .order_by_asc(Column::HappenedAt)
        .order_by_asc(Column::Position)
        .limit(1);
    let Some(first): Option<i64> = first.into_tuple().one(db).await? else { return Ok(false) };
    let of_late = Column::ActorId.eq(*id).and(Column::Position.gte(first));
    let last_allowed = Entity::find()
        .select_only()
        .column(Column::Position)
        .filter(of_late.and(Column::Outcome.eq(Outcome::Denied.as_str())))
        .order_by_desc(Column::Position)
        .offset(MOST - 1)
        .limit(1);
    let last_allowed: Option<i64> = last_allowed.into_tuple().one(db).await?;
    Ok(last_allowed.is_some())
}
