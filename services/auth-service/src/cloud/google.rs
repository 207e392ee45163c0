//! Google's token endpoint, asked with an assertion that the service account's key signs (RFC 7523).

use auth_service_contract::CheckOutcome;
use aws_lc_rs::{rand::SystemRandom, rsa::KeyPair, signature::RSA_PKCS1_SHA256};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use rustls_pki_types::{PrivatePkcs8KeyDer, pem::PemObject};
use serde::Deserialize;
use url::Url;
use vocabulary::Secret;

use super::{NoAnswer, refused, send};
use crate::credentials::gcp_key::TOKEN_URI;

/// The least that a token can be asked for: it only says who it is.
const SCOPE: &str = "https://www.googleapis.com/auth/userinfo.email";
const GRANT: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/// Seconds that the assertion is good for.
const LIFETIME: i64 = 300;

#[derive(Deserialize)]
struct Key {
    private_key_id: String,
    #[serde(rename = "private_key")]
    pem: Secret,
    client_email: String,
}

/// What the endpoint answers. The token itself is not read.
#[derive(Deserialize)]
struct Answer {
    token_type: Option<String>,
    error: Option<String>,
}

/// Whether Google gives a token for a key.
pub(super) async fn token(
    endpoint: &Url,
    project_id: &str,
    key: &Secret,
    now: Timestamp,
) -> Result<CheckOutcome, NoAnswer> {
    let key: Key = serde_json::from_str(key.reveal()).map_err(|error| NoAnswer::NotMade(error.into()))?;
    let assertion = assertion(&key, now).ok_or_else(|| NoAnswer::NotMade("the key signs nothing".into()))?;
    let form = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([("grant_type", GRANT), ("assertion", &assertion)])
        .finish();
    let (status, text) = send(|client| {
        client.post(endpoint.clone()).header("content-type", "application/x-www-form-urlencoded").body(form)
    })
    .await?;
    let answer: Answer = serde_json::from_str(&text).map_err(|_| NoAnswer::Unknown(status))?;
    match (status.is_success(), answer.error.as_deref()) {
        (true, None) if answer.token_type.is_some() => {
            Ok(CheckOutcome::Accepted { account: project_id.to_owned(), identity: key.client_email })
        }
        (false, Some("invalid_grant")) => Ok(refused(
            "Google does not accept this key: the key was deleted or disabled, its service account is gone, or the clock \
             of this machine is wrong.",
        )),
        (false, Some("invalid_client" | "unauthorized_client" | "access_denied" | "disabled_client")) => {
            Ok(refused("Google does not let this service account have a token. It may be disabled."))
        }
        _ => Err(NoAnswer::Unknown(status)),
    }
}

fn assertion(key: &Key, now: Timestamp) -> Option<String> {
    let issued = now.as_second();
    let header = serde_json::json!({"alg": "RS256", "typ": "JWT", "kid": key.private_key_id});
    // For Google, wherever it is sent: an assertion that was caught elsewhere would be good there too, but never longer.
    let claims = serde_json::json!({
        "iss": key.client_email,
        "scope": SCOPE,
        "aud": TOKEN_URI,
        "iat": issued,
        "exp": issued + LIFETIME,
    });
    let encoded = |value: &serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encoded(&header), encoded(&claims));
    let der = PrivatePkcs8KeyDer::from_pem_slice(key.pem.reveal().as_bytes()).ok()?;
    let pair = KeyPair::from_pkcs8(der.secret_pkcs8_der()).ok()?;
    let mut signature = vec![0; pair.public_modulus_len()];
    pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), signed.as_bytes(), &mut signature).ok()?;
    Some(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
