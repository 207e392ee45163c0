//! Logging in and out.

use auth_service_contract::{AuthError, Session};
use vocabulary::Secret;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    store::audit::{self, Action, Actor, Outcome},
};

impl Platform {
    /// Opens a session. One that the browser still has is ended: an id from before is worth nothing after.
    pub(crate) async fn log_in(
        &self,
        username: &str,
        password: &Secret,
        address: &str,
        previous: Option<&Secret>,
    ) -> Result<Session, AppError> {
        let session = match self.auth.log_in(username, password, address).await {
            Ok(session) => session,
            Err(error) => {
                if error == AuthError::WrongCredentials {
                    audit::write(&self.db, Actor::Stranger { address }, Action::LogIn, None, Outcome::Denied).await?;
                }
                return Err(error.into());
            }
        };
        if let Some(previous) = previous {
            self.auth.log_out(previous).await?;
        }
        let actor = Actor::User { id: session.user.id, username: &session.user.username, address };
        audit::write(&self.db, actor, Action::LogIn, None, Outcome::Done).await?;
        Ok(session)
    }

    /// Whose session it is.
    pub(crate) async fn caller(&self, token: Secret, address: String) -> Result<Caller, AppError> {
        let session = self.auth.session(&token).await?;
        Ok(Caller { user: session.user, address, token, expires_at: session.expires_at })
    }

    /// Ends a session; one that is gone already is fine.
    pub(crate) async fn log_out(&self, token: &Secret, address: String) -> Result<(), AppError> {
        match self.caller(token.clone(), address).await {
            Ok(caller) => {
                self.auth.log_out(token).await?;
                audit::write(&self.db, caller.actor(), Action::LogOut, None, Outcome::Done).await?;
                Ok(())
            }
            Err(AppError::Auth(AuthError::NoSession)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
