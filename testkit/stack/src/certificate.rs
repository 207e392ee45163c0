//! Client certificates by the authority of a local cluster, which end when a test wants them to.

use std::time::Duration;

use anyhow::Context;
use rcgen::{CertificateParams, DistinguishedName, DnType, DnValue, ExtendedKeyUsagePurpose, Issuer, KeyPair};

use crate::LocalCluster;

/// A certificate with its key, both as PEM.
pub struct ClientCertificate {
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl LocalCluster {
    /// A client certificate of cluster-admin rights that begins now and ends after this.
    pub async fn client_certificate(&self, life: Duration) -> anyhow::Result<ClientCertificate> {
        let signer = tokio::fs::read_to_string(self.folder().join("pki/ca.key")).await.context("reading its key")?;
        let mut authority = CertificateParams::default();
        authority.distinguished_name = name(DnValue::PrintableString("local-cluster".try_into()?));
        let authority = Issuer::new(authority, KeyPair::from_pem(&signer)?);
        let mut params = CertificateParams::default();
        params.distinguished_name = name("short-lived".into());
        params.distinguished_name.push(DnType::OrganizationName, "system:masters");
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let now = std::time::SystemTime::now();
        params.not_before = now.into();
        params.not_after = (now + life).into();
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &authority)?;
        Ok(ClientCertificate { certificate: certificate.pem(), key: key.serialize_pem() })
    }
}

fn name(common: DnValue) -> DistinguishedName {
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common);
    name
}
