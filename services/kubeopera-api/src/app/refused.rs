//! Changes that were refused before a use case was asked.

use std::sync::atomic::{AtomicU64, Ordering};

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

/// How many changes were refused to people nobody knows, since the start.
#[derive(Default)]
pub(crate) struct Strangers(AtomicU64);

impl Strangers {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Platform {
    /// Writes down whom a change was refused to; of strangers it is only counted.
    pub(crate) async fn note_refused(&self, refused: Refused) -> Result<(), AppError> {
        let Refused { action, object, proof, address } = refused;
        let caller = match proof {
            Some(proof) => self.caller(proof, address).await,
            None => Err(AppError::NoSession),
        };
        let caller = match caller {
            Err(AppError::NoSession | AppError::Auth(AuthError::NoSession)) => {
                self.strangers.0.fetch_add(1, Ordering::Relaxed);
                return Ok(());
            }
            known => known?,
        };
        let action = match action {
            Action::ResetPassword if object == Some(caller.user.id) => Action::ChangeOwnPassword,
            other => other,
        };
        let object = object.map(|id| id.to_string());
        Ok(audit::write(&self.db, caller.actor(), action, object, Outcome::Denied).await?)
    }
}
