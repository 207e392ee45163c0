//! How often somebody may do something. Counted in the audit log, so that a restart or a second process changes nothing.

use std::time::Duration;

use jiff::Timestamp;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::{begin_write, take_turn};

use super::audit::{self, Action, Actor, Outcome};
use crate::config::Allowance;

/// Writes the action down, unless the user has done it too often: then how long to wait.
pub(crate) async fn spend(
    db: &DatabaseConnection,
    actor: Actor,
    action: Action,
    Allowance { times, within }: Allowance,
) -> Result<Result<(), Duration>, DbErr> {
    let Actor::Person { id, .. } = actor else { return Ok(Ok(())) };
    let tx = begin_write(db).await?;
    take_turn(&tx, &format!("{}/{id}", action.as_str())).await?;
    let since = Timestamp::now() - within;
    let free_again = audit_log::nth_latest(&tx, id, action, times, since).await?.map(|at| at + within);
    let outcome = if free_again.is_some() { Outcome::Denied } else { Outcome::Done };
    audit::write(&tx, actor, action, None, outcome).await?;
    tx.commit().await?;
    Ok(free_again.map_or(Ok(()), |at| Err(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default())))
}
