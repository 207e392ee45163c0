//! The identity provider: what it was registered as, what it publishes, and asking it.

use std::{fmt, str::FromStr, sync::Arc};

use base64::{Engine, engine::general_purpose::STANDARD};
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::jwk::Jwk;
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;
use url::{Host, Url, form_urlencoded};
use vocabulary::Secret;

use super::{
    Proofs,
    id_token::{self, Expected, Identity, Refusal},
    roles::GroupRoles,
};
use crate::outbound::{NoAnswer, send};

/// What the provider publishes is asked for again after this.
const LONGEST_KNOWN: SignedDuration = SignedDuration::from_hours(1);
/// A key that nobody knows is a reason to ask again, at most this often: whoever sends such tokens only makes us ask.
const BETWEEN_REFRESHES: SignedDuration = SignedDuration::from_secs(60);
/// Who did not answer is not asked again before this.
const BETWEEN_ATTEMPTS: SignedDuration = SignedDuration::from_secs(5);
/// No document of a provider is as long.
const LARGEST: usize = 256 * 1024;
/// Nobody publishes as many keys.
const MOST_KEYS: usize = 100;

/// Who vouches for people: an https:// URL, compared letter by letter with what documents and tokens say. On this machine
/// http:// will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issuer {
    text: String,
    url: Url,
}

/// The text is no issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an issuer is an https:// URL without user, query and fragment, exactly as the identity provider writes it")]
pub struct NotAnIssuer;

impl FromStr for Issuer {
    type Err = NotAnIssuer;
    fn from_str(text: &str) -> Result<Self, NotAnIssuer> {
        let url = Url::parse(text).map_err(|_| NotAnIssuer)?;
        let is_plain = url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
            && text == text.trim();
        let is_safe = url.scheme() == "https" || url.scheme() == "http" && is_this_machine(&url);
        if is_plain && is_safe { Ok(Self { text: text.to_owned(), url }) } else { Err(NotAnIssuer) }
    }
}

impl fmt::Display for Issuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Issuer {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Name or address of the machine.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Whether an address that the provider publishes may be used: over TLS, unless provider and address are on this
    /// machine.
    fn lets_use(&self, address: &Url) -> bool {
        address.scheme() == "https"
            || address.scheme() == "http" && self.url.scheme() == "http" && is_this_machine(address)
    }
}

fn is_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

/// What KubeOpera was registered as at an identity provider.
#[derive(Debug, Clone)]
pub struct ProviderSettings {
    /// What people call the provider.
    pub name: String,
    /// Who vouches.
    pub issuer: Issuer,
    /// KubeOpera's name there.
    pub client_id: String,
    /// KubeOpera's password there; a public client has none.
    pub client_secret: Option<Secret>,
    /// Where the provider sends browsers back to, exactly as registered.
    pub redirect_uri: Url,
    /// What is asked for beside `openid`.
    pub scopes: Vec<String>,
    /// The claim with the groups.
    pub groups_claim: String,
    /// What the groups may do here.
    pub roles: GroupRoles,
}

/// An identity provider. What it publishes is fetched when it is first needed, so that KubeOpera starts without it.
#[derive(Debug)]
pub struct Provider {
    pub(super) settings: ProviderSettings,
    cache: Mutex<Cache>,
}

#[derive(Debug, Default)]
struct Cache {
    published: Option<Arc<Published>>,
    failed_at: Option<Timestamp>,
}

/// What the provider publishes about itself.
#[derive(Debug)]
struct Published {
    metadata: Metadata,
    keys: Vec<Jwk>,
    at: Timestamp,
}

/// OpenID Connect Discovery 1.0, section 3, as far as it is needed.
#[derive(Debug, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: Url,
    token_endpoint: Url,
    jwks_uri: Url,
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

#[derive(Deserialize)]
struct KeySet {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: Option<Secret>,
    error: Option<String>,
}

/// Why there is no identity.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("{what}")]
    NoAnswer {
        what: &'static str,
        #[source]
        why: NoAnswer,
    },
    #[error("the provider did not answer a moment ago")]
    NotAskedAgain,
    #[error("the provider's discovery document is not one of {0}")]
    AnotherIssuer(String),
    #[error("the provider publishes an address that is not https://")]
    UnsafeAddress,
    #[error(
        "the provider does not take KubeOpera for a client of its own: look at the client's id, secret and redirect URI"
    )]
    NotAClient,
    #[error("the provider does not take the code: it is not from here, was used before or is too old")]
    CodeRefused,
    #[error("the answer does not say that it is from the issuer")]
    Issuer,
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl Failure {
    /// Whether it says nothing about who wants to log in.
    pub(super) fn is_of_provider(&self) -> bool {
        match self {
            Self::NoAnswer { .. }
            | Self::NotAskedAgain
            | Self::AnotherIssuer(_)
            | Self::UnsafeAddress
            | Self::NotAClient => true,
            Self::CodeRefused | Self::Issuer | Self::Refused(_) => false,
        }
    }
}

impl Provider {
    /// A provider that was not asked anything yet.
    pub fn new(settings: ProviderSettings) -> Self {
        Self { settings, cache: Mutex::default() }
    }

    /// Whether this is the provider with that issuer.
    pub(crate) fn is(&self, issuer: &str) -> bool {
        self.settings.issuer.as_str() == issuer
    }

    /// Where a browser logs in.
    pub(super) async fn authorization(&self, proofs: &Proofs, now: Timestamp) -> Result<Url, Failure> {
        let published = self.published(now, LONGEST_KNOWN).await?;
        let mut address = published.metadata.authorization_endpoint.clone();
        let scopes: Vec<&str> =
            std::iter::once("openid").chain(self.settings.scopes.iter().map(String::as_str)).collect();
        address
            .query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", self.settings.redirect_uri.as_str())
            .append_pair("scope", &scopes.join(" "))
            .append_pair("state", &proofs.state)
            .append_pair("nonce", &proofs.nonce)
            .append_pair("code_challenge", &proofs.challenge())
            .append_pair("code_challenge_method", "S256");
        Ok(address)
    }

    /// Whether an answer is from this provider, as far as it can be told before the code is redeemed (RFC 9207).
    pub(super) async fn check_issuer(&self, said: Option<&str>, now: Timestamp) -> Result<(), Failure> {
        let must_say =
            self.published(now, LONGEST_KNOWN).await?.metadata.authorization_response_iss_parameter_supported;
        match said {
            Some(issuer) if issuer == self.settings.issuer.as_str() => Ok(()),
            None if !must_say => Ok(()),
            Some(_) | None => Err(Failure::Issuer),
        }
    }

    /// Redeems a code, and says whom it was given for.
    pub(super) async fn redeem(&self, code: &Secret, proofs: &Proofs, now: Timestamp) -> Result<Identity, Failure> {
        let published = self.published(now, LONGEST_KNOWN).await?;
        let token = self.id_token(&published.metadata, code, proofs).await?;
        let expected = Expected {
            issuer: self.settings.issuer.as_str(),
            client_id: &self.settings.client_id,
            nonce: &proofs.nonce,
            groups_claim: &self.settings.groups_claim,
            now,
        };
        match id_token::verify(token.reveal(), &published.keys, expected) {
            Err(Refusal::UnknownKey) => {
                let published = self.published(now, BETWEEN_REFRESHES).await?;
                Ok(id_token::verify(token.reveal(), &published.keys, expected)?)
            }
            verified => Ok(verified?),
        }
    }

    async fn id_token(&self, metadata: &Metadata, code: &Secret, proofs: &Proofs) -> Result<Secret, Failure> {
        let ProviderSettings { client_id, client_secret, redirect_uri, .. } = &self.settings;
        let methods = metadata.token_endpoint_auth_methods_supported.as_deref();
        let in_body = |method: &str| methods.is_some_and(|methods| methods.iter().any(|one| one == method));
        let posts_secret = !in_body("client_secret_basic") && in_body("client_secret_post");
        let mut fields = vec![
            ("grant_type", "authorization_code"),
            ("code", code.reveal()),
            ("redirect_uri", redirect_uri.as_str()),
            ("code_verifier", &proofs.verifier),
        ];
        let mut basic = None;
        match client_secret {
            None => fields.push(("client_id", client_id)),
            Some(secret) if posts_secret => {
                fields.extend([("client_id", client_id.as_str()), ("client_secret", secret.reveal())]);
            }
            Some(secret) => {
                // RFC 6749, section 2.3.1: both are encoded before they are joined.
                let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
                let joined = Secret::new(format!("{}:{}", encoded(client_id), encoded(secret.reveal())));
                basic = Some(Secret::new(format!("Basic {}", STANDARD.encode(joined.reveal()))));
            }
        }
        let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let answer = send(LARGEST, |client| {
            let request = client
                .post(metadata.token_endpoint.clone())
                .header("content-type", "application/x-www-form-urlencoded")
                .header("accept", "application/json")
                .body(form);
            match basic.map(|basic| reqwest::header::HeaderValue::from_str(basic.reveal())) {
                Some(Ok(mut value)) => {
                    value.set_sensitive(true);
                    request.header("authorization", value)
                }
                Some(Err(_)) | None => request,
            }
        });
        let what = "the provider does not redeem codes";
        let (status, text) = answer.await.map_err(|why| Failure::NoAnswer { what, why })?;
        let unknown = || Failure::NoAnswer { what, why: NoAnswer::Unknown(status) };
        let answer: TokenAnswer = serde_json::from_str(&text).map_err(|_| unknown())?;
        match (status.is_success(), answer.id_token, answer.error.as_deref()) {
            (true, Some(token), None) => Ok(token),
            (true, None, None) => Err(Refusal::NoToken.into()),
            (false, _, Some("invalid_grant")) => Err(Failure::CodeRefused),
            (false, _, Some("invalid_client" | "unauthorized_client" | "invalid_request")) => Err(Failure::NotAClient),
            _ => Err(unknown()),
        }
    }

    /// What the provider publishes, fetched anew if it is older than `longest`. One asks at a time; the others wait and
    /// take what that one got.
    async fn published(&self, now: Timestamp, longest: SignedDuration) -> Result<Arc<Published>, Failure> {
        let mut cache = self.cache.lock().await;
        if let Some(published) = &cache.published
            && now.duration_since(published.at) < longest
        {
            return Ok(Arc::clone(published));
        }
        if cache.failed_at.is_some_and(|at| now.duration_since(at) < BETWEEN_ATTEMPTS) {
            return Err(Failure::NotAskedAgain);
        }
        match self.fetch(now).await {
            Ok(published) => {
                let published = Arc::new(published);
                *cache = Cache { published: Some(Arc::clone(&published)), failed_at: None };
                Ok(published)
            }
            Err(failure) => {
                cache.failed_at = Some(now);
                Err(failure)
            }
        }
    }

    async fn fetch(&self, now: Timestamp) -> Result<Published, Failure> {
        let issuer = &self.settings.issuer;
        let address = format!("{}/.well-known/openid-configuration", issuer.as_str().trim_end_matches('/'));
        let metadata: Metadata = document(&address, "the provider's discovery document cannot be read").await?;
        if metadata.issuer != issuer.as_str() {
            return Err(Failure::AnotherIssuer(issuer.to_string()));
        }
        let addresses = [&metadata.authorization_endpoint, &metadata.token_endpoint, &metadata.jwks_uri];
        if !addresses.into_iter().all(|address| issuer.lets_use(address)) {
            return Err(Failure::UnsafeAddress);
        }
        let set: KeySet = document(metadata.jwks_uri.as_str(), "the provider's keys cannot be read").await?;
        // Keys of kinds that nobody here knows are none of ours.
        let keys = set.keys.into_iter().take(MOST_KEYS).filter_map(|key| serde_json::from_value(key).ok()).collect();
        Ok(Published { metadata, keys, at: now })
    }
}

async fn document<T: serde::de::DeserializeOwned>(address: &str, what: &'static str) -> Result<T, Failure> {
    let failed = |why| Failure::NoAnswer { what, why };
    let (status, text) =
        send(LARGEST, |client| client.get(address).header("accept", "application/json")).await.map_err(failed)?;
    if !status.is_success() {
        return Err(failed(NoAnswer::Unknown(status)));
    }
    serde_json::from_str(&text).map_err(|_| failed(NoAnswer::Unknown(status)))
}
