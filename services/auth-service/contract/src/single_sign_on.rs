//! Logging in at an identity provider, by OpenID Connect.

use async_trait::async_trait;
use url::Url;
use vocabulary::Secret;

use crate::{AuthError, Session};

/// Somebody on the way to the identity provider.
#[derive(Debug)]
pub struct Departure {
    /// Where the browser goes now.
    pub address: Url,
    /// For a cookie of this browser: 256 random bits without which nobody comes back. Only their SHA-256 is stored.
    pub browser: Secret,
}

/// With what a browser comes back from the identity provider, as it stands in the address.
#[derive(Debug, Clone, Default)]
pub struct ProviderAnswer {
    /// The authorization code.
    pub code: Option<Secret>,
    /// What the browser was sent there with.
    pub state: Option<Secret>,
    /// Who answers (RFC 9207).
    pub issuer: Option<String>,
    /// Why there is no code, in a word.
    pub error: Option<String>,
}

/// Somebody back from the identity provider.
#[derive(Debug)]
pub struct Arrival {
    /// The session just opened.
    pub session: Session,
    /// The page that was asked for at the departure.
    pub return_to: String,
}

/// Why nobody was logged in by way of the identity provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SingleSignOnError {
    /// There is no identity provider.
    #[error("there is no identity provider")]
    NoProvider,
    /// What came back proves nothing. Why is for the log, not for who sent it.
    #[error("the identity provider's answer was not accepted")]
    Rejected,
    /// The provider was told not to, or did not want to.
    #[error("the identity provider did not log anybody in")]
    NotLoggedIn,
    /// The provider knows them, and KubeOpera does not let them in: no group of theirs has a role, or they are disabled.
    #[error("this person has no access to KubeOpera")]
    NoAccess,
    /// The provider does not answer, or does not take KubeOpera for the client it was registered as.
    #[error("the identity provider is not available")]
    ProviderUnavailable,
    /// Too many attempts, or the service is away.
    #[error(transparent)]
    Auth(#[from] AuthError),
}

/// Logging in at an identity provider. Who somebody is, is the pair of the provider's issuer and the subject it names:
/// names and addresses are for show.
#[async_trait]
pub trait SingleSignOn: Send + Sync {
    /// What people call the provider; `None` if there is none.
    fn provider(&self) -> Option<&str>;

    /// Sends a browser to the provider. `return_to` is a path of the dashboard; anything else counts as `/`. `address` is
    /// where the browser is, for throttling.
    async fn depart(&self, return_to: &str, address: &str) -> Result<Departure, SingleSignOnError>;

    /// Opens a session for who comes back. `browser` is what the departure left in its cookie; it is good once.
    async fn arrive(
        &self,
        browser: &Secret,
        answer: ProviderAnswer,
        address: &str,
    ) -> Result<Arrival, SingleSignOnError>;
}
