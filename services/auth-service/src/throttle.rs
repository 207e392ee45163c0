//! How often somebody may guess.
//!
//! Counted are attempts for an account from an address, and attempts from an address; likewise departures to the identity
//! provider. There is no count for an account alone: with one, anybody could lock everybody out from afar. The counts are in the database, so that replicas agree.

use std::{net::IpAddr, time::Duration};

use auth_service_contract::AuthError;
use jiff::{SignedDuration, Timestamp};
use sea_orm::DatabaseConnection;
use sha2::{Digest, Sha256};

use crate::{
    store::attempts::{self, Counted},
    unavailable,
};

/// Failed attempts for one account from one address within [`WINDOW`].
pub(crate) const FOR_ACCOUNT: i64 = 5;
/// Failed attempts from one address within [`WINDOW`].
pub(crate) const FROM_ADDRESS: i64 = 30;
/// A count begins with its first attempt and is forgotten after this.
pub(crate) const WINDOW: SignedDuration = SignedDuration::from_mins(1);

/// What an attempt is counted under. Only hashes are kept: people type passwords into the box for the name.
pub(crate) struct Attempt {
    account: Vec<u8>,
    for_account: i64,
    address: Vec<u8>,
}

impl Attempt {
    pub(crate) fn of(username: &str, address: &str) -> Self {
        let address = network_of(address);
        let account = Sha256::digest(format!("account\0{}\0{address}", username.to_lowercase())).to_vec();
        Self { account, for_account: FOR_ACCOUNT, address: Sha256::digest(format!("address\0{address}")).to_vec() }
    }

    /// By way of the identity provider. Nobody has said yet for which account, and guesses are made elsewhere, so that one
    /// address may try as often for all as for one.
    pub(crate) fn at_provider(address: &str) -> Self {
        let address = network_of(address);
        Self {
            account: Sha256::digest(format!("provider\0{address}")).to_vec(),
            for_account: FROM_ADDRESS,
            address: Sha256::digest(format!("address\0{address}")).to_vec(),
        }
    }
}

/// One household or machine gets a whole IPv6 /64, so that is what counts as one address.
fn network_of(address: &str) -> String {
    match address.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V6(ip)) => format!("{:x?}", ip.segments().get(..4).unwrap_or_default()),
        Ok(IpAddr::V4(ip)) => ip.to_string(),
        Err(_) => address.to_owned(),
    }
}

/// Counts an attempt before anything is checked, so that many at once are not more than one after the other.
pub(crate) async fn admit(db: &DatabaseConnection, attempt: &Attempt, now: Timestamp) -> Result<(), AuthError> {
    let counted = attempts::count(db, &[&attempt.account, &attempt.address], now, now - WINDOW).await;
    let [account, address] = counted.map_err(unavailable)?;
    let wait = |counted: Counted, limit: i64| {
        (counted.attempts > limit).then(|| (counted.since + WINDOW).duration_since(now).max(SignedDuration::ZERO))
    };
    match wait(account, attempt.for_account).max(wait(address, FROM_ADDRESS)) {
        None => Ok(()),
        Some(wait) => {
            Err(AuthError::TooManyAttempts { retry_after: wait.try_into().unwrap_or(Duration::from_mins(1)) })
        }
    }
}

/// A success is no guess: the account's count is cleared and the address gets its attempt back.
pub(crate) async fn forgive(db: &DatabaseConnection, attempt: &Attempt) -> Result<(), AuthError> {
    attempts::forget(db, &attempt.account, &attempt.address).await.map_err(unavailable)
}
