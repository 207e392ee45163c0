//! Personal access tokens.

use auth_service_contract::{AccessToken, MadeToken, Whose};
use jiff::Timestamp;
use uuid::Uuid;
use vocabulary::Label;

use super::{Caller, Platform};
use crate::{error::AppError, store::audit::Action};

impl Platform {
    /// Tokens: one's own, or those of somebody else.
    pub(crate) async fn tokens(&self, caller: &Caller, user: Option<Uuid>) -> Result<Vec<AccessToken>, AppError> {
        let user = user.unwrap_or(caller.user.id);
        let action = if user == caller.user.id { Action::SeeTokens } else { Action::SeeOthersTokens };
        self.permit(caller, action).await?;
        Ok(self.auth.tokens(Whose::Only(user)).await?)
    }

    /// Makes a token for oneself.
    pub(crate) async fn make_token(
        &self,
        caller: &Caller,
        label: &Label,
        expires_at: Timestamp,
    ) -> Result<MadeToken, AppError> {
        self.permit_in_person(caller, Action::MakeToken).await?;
        let by = caller.actor();
        let make = async { Ok(self.auth.make_token(&by, caller.user.id, label, expires_at).await?) };
        self.judged(caller, Action::MakeToken, None, make).await
    }

    /// Ends a token: one's own, or as an administrator anybody's.
    pub(crate) async fn revoke_token(&self, caller: &Caller, token: Uuid) -> Result<(), AppError> {
        self.permit(caller, Action::RevokeToken).await?;
        let whose = caller.whose(Action::SeeOthersTokens);
        Ok(self.auth.revoke_token(&caller.actor(), token, whose).await?)
    }
}
