//! auth-service's tables. SQL is here and nowhere else.

pub(crate) mod access_tokens;
pub(crate) mod attempts;
mod bounded;
pub(crate) mod credential_uses;
pub(crate) mod credentials;
pub(crate) mod departures;
pub(crate) mod environment_administrators;
mod migration;
pub(crate) mod root_keys;
pub(crate) mod sessions;
pub(crate) mod users;

use std::fmt;

use sea_orm::DeriveValueType;

use migration::Migrator;
use sea_orm::DatabaseConnection;
use service_kit::database::OpenError;

/// Brings the tables up to date, with those of the audit log, which has to be there first.
pub(crate) async fn migrate(db: &DatabaseConnection) -> Result<(), OpenError> {
    service_kit::database::migrate::<audit_log::Migrator>(db).await?;
    service_kit::database::migrate::<Migrator>(db).await
}

/// An argon2id hash as a PHC string. It prints as dots: it cannot be turned back, but it can be guessed at.
#[derive(Clone, PartialEq, Eq, DeriveValueType)]
pub struct PasswordHash(String);

impl PasswordHash {
    pub(crate) fn new(phc: String) -> Self {
        Self(phc)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("••••••••")
    }
}
