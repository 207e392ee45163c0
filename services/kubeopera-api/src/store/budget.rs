//! How often somebody may have KubeOpera call an address of their choice: otherwise it could be used to look for open
//! ports behind its firewall. Counted in the audit log, so that a restart or a second process changes nothing.

use std::time::Duration;

use jiff::Timestamp;
use sea_orm::{DatabaseConnection, DbErr};
use service_kit::database::begin_write;

use super::{
    audit::{self, Action, Actor, Outcome},
    turns,
};

/// Calls within [`WINDOW`].
const CALLS: u64 = 10;
const WINDOW: Duration = Duration::from_mins(10);

/// Writes the action down, unless the user has done it too often: then how long to wait.
pub(crate) async fn spend(
    db: &DatabaseConnection,
    actor: Actor<'_>,
    action: Action,
) -> Result<Result<(), Duration>, DbErr> {
    let Actor::User { id, .. } = actor else { return Ok(Ok(())) };
    let tx = begin_write(db).await?;
    turns::take(&tx, &format!("{}/{id}", action.as_str())).await?;
    let since = Timestamp::now() - WINDOW;
    let free_again = audit::nth_latest(&tx, id, action, CALLS, since).await?.map(|at| at + WINDOW);
    let outcome = if free_again.is_some() { Outcome::Denied } else { Outcome::Done };
    audit::write(&tx, actor, action, None, outcome).await?;
    tx.commit().await?;
    Ok(free_again.map_or(Ok(()), |at| Err(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default())))
}
