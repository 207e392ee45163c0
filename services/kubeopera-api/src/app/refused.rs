//! Changes that were refused before a use case was asked.

use std::sync::atomic::{AtomicU64, Ordering};

use audit_log::Noted;
use auth_service_contract::AuthError;
use uuid::Uuid;

use super::{Platform, Proof};
use crate::{
    error::AppError,
    store::audit::{self, Action, Outcome},
};

/// A change that was asked for and refused.
pub(crate) struct Refused {
    pub(crate) action: Action,
    pub(crate) object: Option<Uuid>,
    /// What the request showed of who sent it.
    pub(crate) proof: Option<Proof>,
    pub(crate) address: String,
}

/// How many refusals were not written down, since the start.
#[derive(Default)]
pub(crate) struct Refusals {
    strangers: AtomicU64,
    left_out: AtomicU64,
}

impl Refusals {
    /// Changes, to people nobody knows.
    pub(crate) fn of_strangers(&self) -> u64 {
        self.strangers.load(Ordering::Relaxed)
    }

    /// Of people who had been refused too often of late.
    pub(crate) fn beyond_allowance(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }

    /// A refusal of a person was left out.
    pub(crate) fn left_out(&self) {
        self.left_out.fetch_add(1, Ordering::Relaxed);
    }
}

impl Platform {
    /// Writes down whom a change was refused to; of strangers it is only counted.
    pub(crate) async fn note_refused(&self, refused: Refused) -> Result<Noted, AppError> {
        let Refused { action, object, proof, address } = refused;
        let caller = match proof {
            Some(proof) => self.caller(proof, address).await,
            None => Err(AppError::NoSession),
        };
        let caller = match caller {
            Err(AppError::NoSession | AppError::Auth(AuthError::NoSession)) => {
                self.refusals.strangers.fetch_add(1, Ordering::Relaxed);
                return Ok(Noted::Nothing);
            }
            known => known?,
        };
        let action = match action {
            Action::ResetPassword if object == Some(caller.user.id) => Action::ChangeOwnPassword,
            other => other,
        };
        let object = object.map(|id| id.to_string());
        let writing = audit::write(&self.db, caller.actor(), action, object, Outcome::Denied);
        let (written, noted) = audit_log::observed(writing).await;
        Ok(written.map(|()| noted)?)
    }
}
