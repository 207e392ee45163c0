//! Tables of what strangers make us write down, kept from growing: whoever comes with endless names and addresses only
//! pushes out the oldest rows.

use jiff::Timestamp;
use sea_orm::{QueryOrder, QuerySelect, entity::prelude::*};
use service_kit::database::Micros;

/// More rows than this are not kept.
const MOST: u64 = 20_000;

/// Forgets what is from before `forgotten`, and of a full table the oldest tenth. `at` is when a row was written.
pub(super) async fn make_room<E: EntityTrait>(
    tx: &impl ConnectionTrait,
    at: E::Column,
    forgotten: Timestamp,
) -> Result<(), DbErr>
where
    E::Model: Sync,
{
    E::delete_many().filter(at.lte(Micros::from(forgotten))).exec(tx).await?;
    if E::find().count(tx).await? < MOST {
        return Ok(());
    }
    let oldest = E::find().select_only().column(at).order_by_asc(at).offset(MOST / 10).limit(1);
    if let Some(nth) = oldest.into_tuple::<Micros>().one(tx).await? {
        E::delete_many().filter(at.lte(nth)).exec(tx).await?;
    }
    Ok(())
}
