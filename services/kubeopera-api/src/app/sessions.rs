//! Logging in and out, and which sessions there are.

use auth_service_contract::{AuthError, OpenSession, Session, Whose};
use uuid::Uuid;
use vocabulary::Secret;

use super::{Caller, Platform, caller::Proof};
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

    /// Who shows this, if it is good.
    pub(crate) async fn caller(&self, proof: Proof, address: String) -> Result<Caller, AppError> {
        let (user, proof_id, expires_at) = match &proof {
            Proof::Session(token) => {
                let session = self.auth.session(token).await?;
                (session.user, session.id, session.expires_at)
            }
            Proof::Token(token) => {
                let token = self.auth.token(token).await?;
                (token.user, token.id, token.expires_at)
            }
        };
        Ok(Caller { user, address, proof, proof_id, expires_at })
    }

    /// Ends a session; one that is gone already is fine.
    pub(crate) async fn log_out(&self, token: &Secret, address: String) -> Result<(), AppError> {
        match self.caller(Proof::Session(token.clone()), address).await {
            Ok(caller) => {
                self.auth.log_out(token).await?;
                audit::write(&self.db, caller.actor(), Action::LogOut, None, Outcome::Done).await?;
                Ok(())
            }
            Err(AppError::Auth(AuthError::NoSession)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Open sessions: one's own, or those of somebody else.
    pub(crate) async fn sessions(&self, caller: &Caller, user: Option<Uuid>) -> Result<Vec<OpenSession>, AppError> {
        let user = user.unwrap_or(caller.user.id);
        let action = if user == caller.user.id { Action::SeeSessions } else { Action::SeeOthersSessions };
        self.permit(caller, action).await?;
        Ok(self.auth.sessions(Whose::Only(user)).await?)
    }

    /// Ends a session: one's own, or as an administrator anybody's.
    pub(crate) async fn end_session(&self, caller: &Caller, session: Uuid) -> Result<(), AppError> {
        self.permit(caller, Action::EndSession).await?;
        self.auth.end_session(session, caller.whose(Action::SeeOthersSessions)).await?;
        self.done(caller, Action::EndSession, session).await
    }
}
