//! What the hash of a row is.

use sha2::{Digest, Sha256};

use crate::table::Model;

/// What the first row has for a hash before it.
pub(crate) const BEFORE_THE_FIRST: [u8; 32] = [0; 32];

/// The hash of a row that comes after one with that hash. Each part has its length before it, so that nothing can be
/// moved from one to the next.
pub(crate) fn hash(before: &[u8], row: &Model) -> [u8; 32] {
    let mut hasher = Sha256::new();
    let mut add = |part: Option<&[u8]>| match part {
        Some(part) => {
            hasher.update([1]);
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        None => hasher.update([0]),
    };
    add(Some(b"kubeopera audit log, version 1"));
    add(Some(before));
    add(Some(&row.position.to_be_bytes()));
    add(Some(&row.happened_at.timestamp().as_microsecond().to_be_bytes()));
    add(Some(row.actor_kind.as_bytes()));
    add(row.actor_id.as_ref().map(|id| id.as_bytes().as_slice()));
    add(row.actor_name.as_ref().map(String::as_bytes));
    add(row.actor_role.as_ref().map(String::as_bytes));
    add(Some(row.address.as_bytes()));
    add(Some(row.action.as_bytes()));
    add(row.object.as_ref().map(String::as_bytes));
    add(row.object_name.as_ref().map(String::as_bytes));
    add(Some(row.outcome.as_bytes()));
    add(Some(row.changed.as_bytes()));
    add(Some(row.request_id.as_bytes()));
    hasher.finalize().into()
}
