//! When a credential ends.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde::Deserialize;
use vocabulary::Secret;
use x509_cert::{Certificate, der::Decode};

/// The end of the first certificate of a PEM file, which is the client's own.
pub(super) fn of_certificate(pem: &[u8]) -> Option<Timestamp> {
    let der = CertificateDer::pem_slice_iter(pem).next()?.ok()?;
    let certificate = Certificate::from_der(&der).ok()?;
    let seconds = certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs();
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

/// The claim `exp` of a JWT. It is only shown: whether the token is good, its API server says.
pub(super) fn of_token(token: &Secret) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Claims {
        exp: i64,
    }
    let mut parts = token.reveal().split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    Timestamp::from_second(claims.exp).ok()
}
