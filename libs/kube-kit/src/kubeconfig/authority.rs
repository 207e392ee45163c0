//! Whether what stands as certificate authority is one.

use jiff::Timestamp;
use rustls::pki_types::{CertificateDer, pem::PemObject};
use x509_cert::{Certificate, der::Decode, ext::pkix::BasicConstraints};

/// Sentences about a bundle in PEM. kubectl takes a server's own certificate as authority and refuses an expired
/// authority; rustls does it the other way round, so that both are worth a word.
pub(super) fn flaws(pem: &[u8]) -> Vec<&'static str> {
    let certificates: Vec<_> =
        CertificateDer::pem_slice_iter(pem).filter_map(|der| Certificate::from_der(&der.ok()?).ok()).collect();
    if certificates.is_empty() {
        return Vec::new();
    }
    let mut flaws = Vec::new();
    if !certificates.iter().any(is_authority) {
        flaws.push(
            "What the kubeconfig has as certificate authority is a server's own certificate, so that it fails with the next \
             one. Put in the authority that signed it.",
        );
    }
    if certificates.iter().all(has_expired) {
        flaws.push("The certificate authority of the kubeconfig has expired, so that kubectl refuses this cluster.");
    }
    flaws
}

/// A certificate that does not tell, as those before version 3, is one if it signed itself.
fn is_authority(certificate: &Certificate) -> bool {
    let contents = certificate.tbs_certificate();
    match contents.get_extension::<BasicConstraints>() {
        Ok(Some((_, constraints))) => constraints.ca,
        Ok(None) => contents.subject() == contents.issuer(),
        Err(_) => false,
    }
}

fn has_expired(certificate: &Certificate) -> bool {
    let end = certificate.tbs_certificate().validity().not_after.to_unix_duration().as_secs();
    i64::try_from(end).is_ok_and(|end| end < Timestamp::now().as_second())
}
