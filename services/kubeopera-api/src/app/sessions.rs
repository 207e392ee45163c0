//! Logging in and out, and which sessions there are.

use auth_service_contract::{OpenSession, Session, Whose};
use uuid::Uuid;
use vocabulary::Secret;

use super::{Caller, Platform, caller::Proof};
use crate::{error::AppError, store::audit::Action};

impl Platform {
    /// Opens a session. One that the browser still has is ended: an id from before is worth nothing after.
    pub(crate) async fn log_in(
        &self,
        username: &str,
        password: &Secret,
        address: &str,
        previous: Option<&Secret>,
    ) -> Result<Session, AppError> {
        let session = self.auth.log_in(username, password, address).await?;
        if let Some(previous) = previous {
            self.auth.log_out(previous, address).await?;
        }
        Ok(session)
    }

    /// Who shows this, if it is good.
    pub(crate) async fn caller(&self, proof: Proof, address: String) -> Result<Caller, AppError> {
        let (user, proof_id, must_change_password, expires_at) = match &proof {
            Proof::Session(token) => {
                let session = self.auth.session(token).await?;
                (session.user, session.id, session.must_change_password, session.expires_at)
            }
            Proof::Token(token) => {
                let token = self.auth.token(token).await?;
                (token.user, token.id, false, token.expires_at)
            }
        };
        Ok(Caller { user, address, proof, proof_id, must_change_password, expires_at })
    }

    /// Ends a session; one that is gone already is fine.
    pub(crate) async fn log_out(&self, token: &Secret, address: &str) -> Result<(), AppError> {
        Ok(self.auth.log_out(token, address).await?)
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
        let whose = caller.whose(Action::SeeOthersSessions);
        Ok(self.auth.end_session(&caller.actor(), session, whose).await?)
    }
}
