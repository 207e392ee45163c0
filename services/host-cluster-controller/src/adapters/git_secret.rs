//! The keys of a Git credentials Secret: how it is read on the management cluster, and how written on a managed one.

use std::collections::BTreeMap;

use gitops_scaffolder_contract::{CredentialIncomplete, GitCredential};
use host_cluster_controller_crd::{ANNOTATION_GIT_REPOSITORY, NAMESPACE};
use k8s_openapi::{ByteString, api::core::v1::Secret as SecretObject};
use vocabulary::{GitUrl, SecretName, Trouble};

use super::connect::text_of;
use crate::ports::GitCredentials;

/// Both credentials in a Secret: `username` and `password`, or `identity` and `known_hosts`, to push with; the same keys
/// with `readonly-` before them for managed clusters, where there are such.
pub(super) fn credentials(
    name: &SecretName,
    secret: &SecretObject,
    repository: &GitUrl,
) -> Result<GitCredentials, Trouble> {
    let annotations = secret.metadata.annotations.as_ref();
    let is_for = annotations.and_then(|all| all.get(ANNOTATION_GIT_REPOSITORY));
    if is_for.is_none_or(|url| url != repository.as_str()) {
        return Err(Trouble::rejected(
            "GitCredentialsNotPermitted",
            format!(
                "Secret {NAMESPACE}/{name} does not say that its credentials are for the repository {repository}. If they \
                 are, mark it: `kubectl -n {NAMESPACE} annotate --overwrite secret {name} \
                 {ANNOTATION_GIT_REPOSITORY}={repository}`."
            ),
        ));
    }
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

    const REPOSITORY: &str = "https://github.com/acme/gitops-iac.git";

    fn read(keys: &[(&str, &str)]) -> Result<GitCredentials, Trouble> {
        let data = keys.iter().map(|(key, text)| ((*key).to_owned(), ByteString(text.as_bytes().to_vec()))).collect();
        let mut secret = SecretObject { data: Some(data), ..SecretObject::default() };
        secret.metadata.annotations = Some([(ANNOTATION_GIT_REPOSITORY.to_owned(), REPOSITORY.to_owned())].into());
        credentials(&"gitops-credentials".parse().unwrap(), &secret, &REPOSITORY.parse().unwrap())
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

    #[test]
    fn credentials_are_for_the_repository_that_their_secret_names_and_for_no_other() {
        let data = [("username", "u"), ("password", "CANARY")];
        let data = data.map(|(key, text)| (key.to_owned(), ByteString(text.as_bytes().to_vec()))).into();
        let mut secret = SecretObject { data: Some(data), ..SecretObject::default() };
        let name = "gitops-credentials".parse().unwrap();
        for (named, wanted) in [
            (None, REPOSITORY),
            (Some(REPOSITORY), "https://evil.example/x.git"),
            (Some("https://github.com"), REPOSITORY),
        ] {
            secret.metadata.annotations =
                named.map(|url| [(ANNOTATION_GIT_REPOSITORY.to_owned(), url.to_owned())].into());

            let trouble = credentials(&name, &secret, &wanted.parse().unwrap()).unwrap_err();

            assert_eq!(trouble.reason, "GitCredentialsNotPermitted");
            assert!(trouble.message.contains("kubectl -n kubeopera-system annotate"), "{trouble}");
        }
    }
}
