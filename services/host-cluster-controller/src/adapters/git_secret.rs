//! The keys of a Git credentials Secret: how it is read on the management cluster, and how written on a managed one.

use std::collections::BTreeMap;

use gitops_scaffolder_contract::{CredentialIncomplete, GitCredential};
use host_cluster_controller_crd::NAMESPACE;
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use vocabulary::{SecretName, Trouble};

use super::connect::text_of;
use crate::ports::GitCredentials;

/// Both credentials in a Secret: `username` and `password`, or `identity` and `known_hosts`, to push with; the same keys
/// with `readonly-` before them for managed clusters, where there are such.
pub(super) fn credentials(name: &SecretName, secret: &SecretObject) -> Result<GitCredentials, Trouble> {
    let write = credential(name, secret, "")?.ok_or_else(|| {
        incomplete(
            name,
            "It needs the keys username and password, or identity and known_hosts, with the right to push.",
        )
    })?;
    let read = credential(name, secret, "readonly-")?.unwrap_or_else(|| write.clone());
    Ok(GitCredentials { write, read })
}

/// The credential whose keys begin with `prefix`; none if there is no key of it.
fn credential(name: &SecretName, secret: &SecretObject, prefix: &str) -> Result<Option<GitCredential>, Trouble> {
    GitCredential::read(|key| text_of(secret, key), prefix).map_err(|CredentialIncomplete(what)| incomplete(name, what))
}

fn incomplete(name: &SecretName, what: &str) -> Trouble {
    Trouble::rejected(
        "GitCredentialsIncomplete",
        format!("The Git credentials in Secret {NAMESPACE}/{name} cannot be used. {what}"),
    )
}

/// The data of a Secret as Flux's source-controller reads it.
pub(super) fn data_for_flux(credential: &GitCredential) -> BTreeMap<String, ByteString> {
    let entry = |(key, text): (&str, &str)| (key.to_owned(), ByteString(text.as_bytes().to_vec()));
    credential.keys().into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(keys: &[(&str, &str)]) -> Result<GitCredentials, Trouble> {
        let data = keys.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec()))).collect();
        let secret = SecretObject { data: Some(data), ..SecretObject::default() };
        credentials(&"gitops-credentials".parse().unwrap(), &secret)
    }

    fn keys(credential: &GitCredential) -> Vec<(String, String)> {
        let text = |bytes: ByteString| String::from_utf8(bytes.0).unwrap();
        data_for_flux(credential).into_iter().map(|(key, bytes)| (key, text(bytes))).collect()
    }

    #[test]
    fn managed_clusters_get_the_read_only_credential_where_there_is_one() {
        let both = read(&[
            ("username", "bot"),
            ("password", "may-push"),
            ("readonly-username", "reader"),
            ("readonly-password", "may-read"),
            ("ca.crt", "PEM"),
        ])
        .unwrap();
        let one = read(&[("password", "may-push")]).unwrap();

        let pair = |key: &str, text: &str| (key.to_owned(), text.to_owned());
        assert_eq!(keys(&both.write), [pair("ca.crt", "PEM"), pair("password", "may-push"), pair("username", "bot")]);
        assert_eq!(keys(&both.read), [pair("ca.crt", "PEM"), pair("password", "may-read"), pair("username", "reader")]);
        assert_eq!(keys(&one.read), [pair("password", "may-push"), pair("username", "git")]);
    }

    #[test]
    fn ssh_keys_need_known_hosts_which_both_credentials_may_share() {
        let ssh = read(&[("identity", "KEY"), ("known_hosts", "host ssh-ed25519 AAAA"), ("readonly-identity", "READ")]);

        let ssh = ssh.unwrap();
        assert!(matches!(&ssh.read, GitCredential::Ssh { private_key, .. } if private_key.reveal() == "READ"));
        assert_eq!(keys(&ssh.write).len(), 2);
        assert!(read(&[("identity", "KEY")]).unwrap_err().message.contains("known_hosts"));
    }

    #[test]
    fn what_cannot_be_used_is_named_and_not_quoted() {
        for keys in [
            &[("username", "CANARY")][..],
            &[("bearerToken", "CANARY")],
            &[("identity", "CANARY"), ("password", "CANARY"), ("known_hosts", "h")],
            &[],
        ] {
            let trouble = read(keys).unwrap_err();
            assert_eq!(trouble.reason, "GitCredentialsIncomplete");
            assert!(trouble.message.contains("kubeopera-system/gitops-credentials"));
            assert!(!trouble.message.contains("CANARY"));
        }
    }
}
