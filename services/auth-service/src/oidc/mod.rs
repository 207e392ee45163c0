//! Logging in at an identity provider: OpenID Connect's authorization code flow with PKCE.
//!
//! A browser departs with a secret in a cookie, from which everything that is to come back follows: `state`, `nonce` and
//! PKCE's verifier. Only the secret's hash is stored, and taken off when it comes back, so that nothing can be replayed,
//! and nobody else's browser can be made to arrive.

mod id_token;
mod provider;
mod roles;

use async_trait::async_trait;
use audit_log::{Action, Entry, Outcome};
use auth_service_contract::{Arrival, AuthError, Departure, ProviderAnswer, Session, SingleSignOn, SingleSignOnError};
use aws_lc_rs::{constant_time, hmac};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::{SignedDuration, Timestamp};
use sea_orm::DbErr;
use service_kit::database::begin_write;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use vocabulary::{Actor, Secret};

use crate::{
    AuthService, session,
    store::{access_tokens, departures, sessions, users},
    throttle::{self, Attempt},
    token, unavailable,
};
use id_token::Identity;
use provider::Failure;
pub use provider::{Issuer, NotAnIssuer, Provider, ProviderSettings};
pub use roles::GroupRoles;

/// Whoever takes longer at the provider departs anew.
pub(crate) const LONGEST_WAY: SignedDuration = SignedDuration::from_mins(10);

/// What has to come back, and what only the browser's secret tells.
struct Proofs {
    state: String,
    nonce: String,
    verifier: String,
}

impl Proofs {
    fn of(browser: &Secret) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, browser.reveal().as_bytes());
        let proof = |purpose: &str| URL_SAFE_NO_PAD.encode(hmac::sign(&key, purpose.as_bytes()));
        Self { state: proof("state"), nonce: proof("nonce"), verifier: proof("code verifier") }
    }

    fn challenge(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.verifier.as_bytes()))
    }
}

#[async_trait]
impl SingleSignOn for AuthService {
    fn provider(&self) -> Option<&str> {
        self.provider.as_ref().map(|provider| provider.settings.name.as_str())
    }

    async fn depart(&self, return_to: &str, address: &str) -> Result<Departure, SingleSignOnError> {
        let provider = self.provider.as_ref().ok_or(SingleSignOnError::NoProvider)?;
        let now = (self.clock)();
        throttle::admit(&self.db, &Attempt::at_provider(address), now).await?;
        let browser = token::random("");
        let to = provider.authorization(&Proofs::of(&browser), now).await.map_err(|why| refused(&why))?;
        let return_to = own_path(return_to).to_owned();
        departures::insert(&self.db, token::hash_of(&browser), return_to, now, now - LONGEST_WAY)
            .await
            .map_err(unavailable)?;
        Ok(Departure { address: to, browser })
    }

    async fn arrive(
        &self,
        browser: &Secret,
        answer: ProviderAnswer,
        address: &str,
    ) -> Result<Arrival, SingleSignOnError> {
        let provider = self.provider.as_ref().ok_or(SingleSignOnError::NoProvider)?;
        let now = (self.clock)();
        let proofs = Proofs::of(browser);
        // Not written down when it fails: strangers could fill the audit log. How many depart is limited.
        let return_to = self.departed(browser, &proofs, &answer, now).await?;
        let identity = vouched_for(provider, &proofs, answer, now).await;
        if identity == Err(SingleSignOnError::Rejected) {
            self.note_refusal(None, address).await?;
        }
        let identity = identity?;
        match self.admit_identity(provider, &identity, address, now).await.map_err(unavailable)? {
            Ok(session) => {
                throttle::forgive(&self.db, &Attempt::at_provider(address)).await?;
                Ok(Arrival { session, return_to })
            }
            Err(known) => {
                self.note_refusal(known, address).await?;
                Err(SingleSignOnError::NoAccess)
            }
        }
    }
}

impl AuthService {
    /// Where somebody wants to go who departed in this browser, and has not come back since.
    async fn departed(
        &self,
        browser: &Secret,
        proofs: &Proofs,
        answer: &ProviderAnswer,
        now: Timestamp,
    ) -> Result<String, SingleSignOnError> {
        let state = answer.state.as_ref().map(Secret::reveal).unwrap_or_default();
        // Before anything is taken off: a page of somebody else's could otherwise spoil a log-in.
        if constant_time::verify_slices_are_equal(state.as_bytes(), proofs.state.as_bytes()).is_err() {
            tracing::warn!("a log-in by way of the identity provider was refused: it did not begin in this browser");
            return Err(SingleSignOnError::Rejected);
        }
        let departed = departures::take(&self.db, token::hash_of(browser), now - LONGEST_WAY).await;
        departed.map_err(unavailable)?.ok_or_else(|| {
            tracing::warn!("a log-in by way of the identity provider was refused: it ended before, or took too long");
            SingleSignOnError::Rejected
        })
    }

    /// Opens a session with the role that the groups of this moment have, or says who it was that has none. Whoever has
    /// none any more loses also what they had: sessions, and tokens for good.
    async fn admit_identity(
        &self,
        provider: &Provider,
        identity: &Identity,
        address: &str,
        now: Timestamp,
    ) -> Result<Result<Session, Option<Uuid>>, DbErr> {
        let issuer = provider.settings.issuer.as_str();
        let role = provider.settings.roles.of(&identity.groups);
        let name = shown_name(&identity.name, provider.settings.issuer.host());
        let tx = begin_write(&self.db).await?;
        if let Some(role) = role {
            users::insert_identity_if_absent(&tx, issuer, &identity.subject, &name, role, now).await?;
        }
        let Some(mut user) = users::held_by_identity(&tx, issuer, &identity.subject).await? else {
            return Ok(Err(None));
        };
        let Some(role) = role else {
            sessions::delete_all_of(&tx, user.id).await?;
            access_tokens::delete_all_of(&tx, user.id).await?;
            tx.commit().await?;
            return Ok(Err(Some(user.id)));
        };
        if user.disabled_at.is_some() {
            return Ok(Err(Some(user.id)));
        }
        if user.role.0 != role {
            users::set_standing(&tx, user.id, role, None).await?;
            sessions::delete_all_of(&tx, user.id).await?;
        }
        users::set_vouched(&tx, user.id, &name, now).await?;
        user.role = users::StoredRole(role);
        user.shown_name = Some(name);
        let session = session::log_in(&tx, &user, address, now).await?;
        tx.commit().await?;
        Ok(Ok(session))
    }

    async fn note_refusal(&self, known: Option<Uuid>, address: &str) -> Result<(), AuthError> {
        let stranger = Actor::Stranger { address: address.to_owned() };
        let entry = Entry::new(&stranger, Action::LogIn, Outcome::Denied);
        let entry = known.into_iter().fold(entry, Entry::on);
        audit_log::note(&self.db, entry).await.map_err(unavailable)
    }
}

/// Whom the provider vouches for towards this browser.
async fn vouched_for(
    provider: &Provider,
    proofs: &Proofs,
    answer: ProviderAnswer,
    now: Timestamp,
) -> Result<Identity, SingleSignOnError> {
    provider.check_issuer(answer.issuer.as_deref(), now).await.map_err(|why| refused(&why))?;
    let code = match (answer.code, answer.error) {
        (Some(code), None) => code,
        (None, Some(_)) => return Err(SingleSignOnError::NotLoggedIn),
        (Some(_), Some(_)) | (None, None) => return Err(SingleSignOnError::Rejected),
    };
    provider.redeem(&code, proofs, now).await.map_err(|why| refused(&why))
}

/// With an `@`, so that nobody from a provider is taken for somebody with a password here.
fn shown_name(name: &str, host: &str) -> String {
    if name.contains('@') { name.to_owned() } else { format!("{name}@{host}") }
}

/// A path of the dashboard, or its front page: no other site, whatever browsers make of the text.
fn own_path(text: &str) -> &str {
    let is_path = text.starts_with('/') && !text.starts_with("//") && !text.starts_with("/api/") && text.len() <= 2048;
    let is_plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_path && is_plain && text != "/login" && !text.starts_with("/login?") { text } else { "/" }
}

/// The log learns why.
fn refused(failure: &Failure) -> SingleSignOnError {
    let why = service_kit::chain(failure);
    if failure.is_of_provider() {
        tracing::error!("the identity provider cannot be used: {why}");
        return SingleSignOnError::ProviderUnavailable;
    }
    tracing::warn!("a log-in by way of the identity provider was refused: {why}");
    SingleSignOnError::Rejected
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn coming_back_leads_to_a_page_of_this_dashboard() {
        for inside in ["/", "/clusters/new?way=connect", "/clusters/7#events", "/login-history"] {
            assert_eq!(own_path(inside), inside);
        }
        for elsewhere in [
            "",
            "clusters",
            "//evil.example",
            "///evil.example",
            "/\\evil.example",
            "\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/clusters\r\nset-cookie: a=b",
            "/clusters with blanks",
            "/login",
            "/login?next=/",
            "/api/v1/session",
            &format!("/{}", "x".repeat(2048)),
        ] {
            assert_eq!(own_path(elsewhere), "/", "{elsewhere:?}");
        }
    }

    #[test]
    fn what_comes_back_tells_nothing_of_the_browsers_secret() {
        let (one, other) = (Proofs::of(&Secret::new("one")), Proofs::of(&Secret::new("other")));

        let all =
            [&one.state, &one.nonce, &one.verifier, &one.challenge(), &other.state, &other.nonce, &other.verifier]
                .map(Clone::clone);
        assert_eq!(std::collections::BTreeSet::from(all.clone()).len(), all.len(), "no two are alike");
        // RFC 7636, section 4.1.
        assert!((43..=128).contains(&one.verifier.len()));
        assert_eq!(one.state, Proofs::of(&Secret::new("one")).state, "another replica computes the same");
    }

    #[test]
    fn a_name_from_a_provider_is_never_one_with_a_password() {
        assert_eq!(shown_name("ada", "id.acme.com"), "ada@id.acme.com");
        assert_eq!(shown_name("ada@acme.com", "id.acme.com"), "ada@acme.com");
        assert!("ada@id.acme.com".parse::<vocabulary::AdminUsername>().is_err());
    }
}
