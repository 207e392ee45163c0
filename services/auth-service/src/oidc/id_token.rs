//! Whether an ID token is what it says, by OpenID Connect Core 1.0, section 3.1.3.7, read strictly.
//!
//! A token chooses neither its key nor its algorithm: it may only name one of the keys that the issuer publishes, and the
//! kind of key decides which algorithms there are. What else its header says, such as where to fetch a key, counts for
//! nothing.

use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{
    Algorithm, DecodingKey, Header, Validation,
    errors::ErrorKind,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse},
};
use serde::Deserialize;
use serde_json::{Map, Value};

/// How far two clocks may be apart.
const LEEWAY: SignedDuration = SignedDuration::from_secs(60);
/// By OpenID Connect Core 1.0, section 2.
const LONGEST_SUBJECT: usize = 255;
const LONGEST_NAME: usize = 64;

/// What a token has to be about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    pub(super) groups_claim: &'a str,
    pub(super) now: Timestamp,
}

/// Whom a token is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) subject: String,
    /// What the provider calls them. For show: neither unique nor for ever.
    pub(super) name: String,
    pub(super) groups: Vec<String>,
}

/// Why a token is not accepted. Nothing of the token is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("the ID token is no signed token")]
    NoToken,
    #[error("the ID token is signed with a key that the provider does not publish")]
    UnknownKey,
    #[error("the ID token's algorithm is not one for its key")]
    Algorithm,
    #[error("the ID token's signature is not that of its key")]
    Signature,
    #[error("the ID token lacks a claim, or one has a form that it must not have")]
    Claims,
    #[error("the ID token is from another issuer")]
    Issuer,
    #[error("the ID token is for another client, or not for this one alone")]
    Audience,
    #[error("the ID token is not from this log-in")]
    Nonce,
    #[error("the ID token has expired")]
    Expired,
    #[error("the ID token is from the future; one of two clocks is wrong")]
    FromTheFuture,
    #[error("the ID token names nobody")]
    Subject,
    #[error("the ID token's groups are not a list of names")]
    Groups,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: OneOrMany,
    azp: Option<String>,
    exp: i64,
    iat: i64,
    nbf: Option<i64>,
    nonce: Option<String>,
    preferred_username: Option<String>,
    email: Option<String>,
    name: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Whom a token is about, if one of the issuer's keys signed it for us, now, for this log-in.
pub(super) fn verify(token: &str, keys: &[Jwk], expected: Expected<'_>) -> Result<Identity, Refusal> {
    let header = jsonwebtoken::decode_header(token).map_err(|_| Refusal::NoToken)?;
    let key = key_for(&header, keys)?;
    let key = DecodingKey::from_jwk(key).map_err(|_| Refusal::UnknownKey)?;
    // The claims are checked below, against our clock and more of them than the library knows.
    let mut signature_only = Validation::new(header.alg);
    signature_only.validate_exp = false;
    signature_only.validate_aud = false;
    signature_only.required_spec_claims.clear();
    match jsonwebtoken::decode(token, &key, &signature_only) {
        Ok(decoded) => accept(decoded.claims, expected),
        Err(error) if matches!(error.kind(), ErrorKind::Json(_)) => Err(Refusal::Claims),
        Err(_) => Err(Refusal::Signature),
    }
}

/// The published key that a token is signed with.
fn key_for<'a>(header: &Header, keys: &'a [Jwk]) -> Result<&'a Jwk, Refusal> {
    if !matches!(
        header.alg,
        Algorithm::RS256
            | Algorithm::RS384
            | Algorithm::RS512
            | Algorithm::PS256
            | Algorithm::PS384
            | Algorithm::PS512
            | Algorithm::ES256
            | Algorithm::ES384
            | Algorithm::EdDSA
    ) {
        return Err(Refusal::Algorithm);
    }
    let mut usable = keys.iter().filter(|key| signs(key, header.alg));
    let Some(id) = &header.kid else {
        // Without a name there must be no choice.
        let (only, another) = (usable.next(), usable.next());
        return only.filter(|_| another.is_none()).ok_or(Refusal::UnknownKey);
    };
    let is_named = |key: &&Jwk| key.common.key_id.as_ref() == Some(id);
    usable.find(is_named).ok_or(if keys.iter().any(|key| is_named(&key)) {
        Refusal::Algorithm
    } else {
        Refusal::UnknownKey
    })
}

/// Whether a key is one for signatures by this algorithm.
fn signs(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    let of_its_kind: &[Algorithm] = match &key.algorithm {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(key) => match key.curve {
            EllipticCurve::P256 => &[ES256],
            EllipticCurve::P384 => &[ES384],
            _ => &[],
        },
        AlgorithmParameters::OctetKeyPair(key) if matches!(key.curve, EllipticCurve::Ed25519) => &[EdDSA],
        _ => &[],
    };
    let is_for_signatures = key.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
    let is_for_this = key.common.key_algorithm.is_none_or(|only| only == algorithm.into());
    of_its_kind.contains(&algorithm) && is_for_signatures && is_for_this
}

fn accept(claims: Claims, expected: Expected<'_>) -> Result<Identity, Refusal> {
    let Expected { issuer, client_id, nonce, groups_claim, now } = expected;
    if claims.iss != issuer {
        return Err(Refusal::Issuer);
    }
    let is_for_us = match &claims.aud {
        OneOrMany::One(audience) => audience == client_id,
        OneOrMany::Many(audiences) => !audiences.is_empty() && audiences.iter().all(|audience| audience == client_id),
    };
    if !is_for_us || claims.azp.is_some_and(|party| party != client_id) {
        return Err(Refusal::Audience);
    }
    if claims.nonce.as_deref() != Some(nonce) {
        return Err(Refusal::Nonce);
    }
    let at = |seconds: i64| Timestamp::from_second(seconds).map_err(|_| Refusal::Claims);
    if at(claims.exp)? + LEEWAY <= now {
        return Err(Refusal::Expired);
    }
    let latest = now + LEEWAY;
    if at(claims.iat)? > latest || claims.nbf.map(at).transpose()?.is_some_and(|begins| begins > latest) {
        return Err(Refusal::FromTheFuture);
    }
    let subject = claims.sub;
    if subject.trim().is_empty() || subject.len() > LONGEST_SUBJECT || subject.chars().any(char::is_control) {
        return Err(Refusal::Subject);
    }
    let groups = groups(claims.others.get(groups_claim))?;
    let named = [claims.preferred_username, claims.email, claims.name];
    let name = named.into_iter().flatten().map(|name| shown(&name)).find(|name| !name.is_empty());
    Ok(Identity { name: name.unwrap_or_else(|| shown(&subject)), subject, groups })
}

/// Some providers write a single group without a list around it. Without the claim there is none.
fn groups(claim: Option<&Value>) -> Result<Vec<String>, Refusal> {
    let groups = match claim {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::String(group)) => vec![group.clone()],
        Some(Value::Array(groups)) => {
            let groups = groups.iter().map(|group| group.as_str().map(str::to_owned));
            groups.collect::<Option<Vec<_>>>().ok_or(Refusal::Groups)?
        }
        Some(_) => return Err(Refusal::Groups),
    };
    if groups.iter().any(|group| group.trim().is_empty()) { Err(Refusal::Groups) } else { Ok(groups) }
}

/// A name without what could make it look like something else: control characters, and those that change the direction
/// of writing or cannot be seen.
fn shown(name: &str) -> String {
    let is_seen = |c: &char| {
        !c.is_control()
            && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{61c}' | '\u{e0000}'..='\u{e007f}')
    };
    name.trim().chars().filter(is_seen).take(LONGEST_NAME).collect()
}
