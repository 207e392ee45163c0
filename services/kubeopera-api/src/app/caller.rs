//! Who calls, and the one table of who may do what.

use auth_service_contract::{Role, User};
use jiff::Timestamp;
use vocabulary::Secret;

use super::Platform;
use crate::{
    error::AppError,
    store::audit::{self, Action, Actor, Outcome},
};

/// Somebody who is logged in.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) user: User,
    /// Where they come from.
    pub(crate) address: String,
    pub(crate) token: Secret,
    /// When their session ends whatever happens.
    pub(crate) expires_at: Timestamp,
}

impl Caller {
    pub(crate) fn actor(&self) -> Actor<'_> {
        Actor::User { id: self.user.id, username: &self.user.username, address: &self.address }
    }
}

/// Whether a role allows an action. A new action does not compile until it is in here.
pub(crate) const fn may(role: Role, action: Action) -> bool {
    match action {
        Action::LogIn | Action::LogOut | Action::SeeClusters => true,
        Action::RegisterCluster => matches!(role, Role::PlatformAdministrator | Role::Operator),
        // KubeOpera's own, when it follows what somebody did in Kubernetes.
        Action::AdoptCluster | Action::RemoveCluster => false,
    }
}

impl Platform {
    /// Lets an action pass or writes down that it was refused.
    pub(crate) async fn permit(&self, caller: &Caller, action: Action) -> Result<(), AppError> {
        if may(caller.user.role, action) {
            return Ok(());
        }
        audit::write(&self.db, caller.actor(), action, None, Outcome::Denied).await?;
        Err(AppError::Forbidden)
    }
}
