//! How long a credential counts.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use serde::Deserialize;
use vocabulary::{Secret, Trouble};
use x509_cert::{Certificate, der::Decode, time::Time};

/// The time in which a credential counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// When it was made, where it tells.
    pub from: Option<Timestamp>,
    /// When it ends.
    pub until: Timestamp,
}

impl Validity {
    /// What a failed call with this credential means: refused after its end, it is refused because of that. Before, it is for
    /// the API server to say, whose clock counts.
    #[must_use]
    pub fn explain(self, trouble: Trouble, now: Timestamp) -> Trouble {
        if trouble.reason != "Unauthorized" || now < self.until {
            return trouble;
        }
        let when = self.until.strftime("%Y-%m-%d %H:%M:%S UTC");
        Trouble::rejected(
            "CredentialExpired",
            format!("The credential of the kubeconfig expired at {when}. Replace the kubeconfig by one that is valid."),
        )
    }
}

/// Of the first certificate of a PEM file, which is the client's own.
pub(super) fn of_certificate(pem: &[u8]) -> Option<Validity> {
    let der = CertificateDer::pem_slice_iter(pem).next()?.ok()?;
    let certificate = Certificate::from_der(&der).ok()?;
    let validity = certificate.tbs_certificate().validity();
    Some(Validity { from: timestamp(&validity.not_before), until: timestamp(&validity.not_after)? })
}

fn timestamp(time: &Time) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(time.to_unix_duration().as_secs()).ok()?).ok()
}

/// The claims `iat` and `exp` of a JWT. They are only shown: whether the token is good, its API server says.
pub(super) fn of_token(token: &Secret) -> Option<Validity> {
    #[derive(Deserialize)]
    struct Claims {
        iat: Option<i64>,
        exp: i64,
    }
    let mut parts = token.reveal().split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    let claims: Claims = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
    let from = claims.iat.and_then(|at| Timestamp::from_second(at).ok());
    Some(Validity { from, until: Timestamp::from_second(claims.exp).ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_that_is_refused_after_its_end_has_expired_and_before_it_is_merely_refused() {
        let until = Timestamp::from_second(1_800_000_000).unwrap_or_default();
        let validity = Validity { from: None, until };
        let refused = || Trouble::rejected("Unauthorized", "It may have expired.");
        let before = Timestamp::from_second(1_799_999_999).unwrap_or_default();

        assert_eq!(validity.explain(refused(), before), refused());
        let expired = validity.explain(refused(), until);
        assert_eq!(expired.reason, "CredentialExpired");
        assert!(expired.message.contains("expired at 2027-01-15 08:00:00 UTC"), "{}", expired.message);
        let unreachable = Trouble::transient("Unreachable", "It does not answer.");
        assert_eq!(validity.explain(unreachable.clone(), until), unreachable, "another trouble is not explained by it");
    }
}
