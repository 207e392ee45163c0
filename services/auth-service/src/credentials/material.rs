//! What a credential is made of: checked before it is sealed, and read again when it is opened. Pure.

use auth_service_contract::{CredentialError, CredentialId, CredentialKind, NewSecret};
use serde::{Deserialize, Serialize, Serializer};
use uuid::Uuid;
use vocabulary::Secret;
use zeroize::Zeroizing;

use super::gcp_key;

/// A checked credential, as it is sealed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Material {
    AwsAccessKey {
        #[serde(serialize_with = "revealed")]
        access_key_id: Secret,
        #[serde(serialize_with = "revealed")]
        secret_access_key: Secret,
    },
    AwsAssumeRole {
        role_arn: String,
        external_id: String,
    },
    GcpServiceAccountKey {
        project_id: String,
        #[serde(serialize_with = "revealed")]
        key: Secret,
    },
}

/// A credential that may be saved.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) material: Material,
    pub(crate) kind: CredentialKind,
    pub(crate) last_four: String,
    pub(crate) source: Option<CredentialId>,
}

/// Checks what was typed or uploaded. A role keeps the external ID it has, or gets one.
pub(crate) fn accept(secret: NewSecret, external_id: Option<String>) -> Result<Accepted, CredentialError> {
    match secret {
        NewSecret::AwsAccessKey { access_key_id, secret_access_key } => {
            let (id, secret) = (access_key_id.reveal().trim(), secret_access_key.reveal().trim());
            check(is_access_key_id(id), "access_key_id", ACCESS_KEY_ID)?;
            check(is_secret_access_key(secret), "secret_access_key", SECRET_ACCESS_KEY)?;
            Ok(Accepted {
                last_four: last_four(id),
                material: Material::AwsAccessKey {
                    access_key_id: Secret::new(id),
                    secret_access_key: Secret::new(secret),
                },
                kind: CredentialKind::AwsAccessKey,
                source: None,
            })
        }
        NewSecret::AwsAssumeRole { role_arn, source } => {
            let role_arn = role_arn.trim().to_owned();
            check(is_role_arn(&role_arn), "role_arn", ROLE_ARN)?;
            let external_id = external_id.unwrap_or_else(|| format!("kubeopera-{}", Uuid::new_v4()));
            Ok(Accepted {
                // Of the account: the ARN ends in letters of the role's name, which its label says already.
                last_four: last_four(role_arn.split(':').nth(4).unwrap_or_default()),
                material: Material::AwsAssumeRole { role_arn, external_id },
                kind: CredentialKind::AwsAssumeRole,
                source,
            })
        }
        NewSecret::GcpServiceAccountKey { key } => {
            let key = gcp_key::parse(&key).map_err(|rule| CredentialError::NotAcceptable { field: "key", rule })?;
            Ok(Accepted {
                last_four: last_four(&key.private_key_id),
                material: Material::GcpServiceAccountKey { project_id: key.project_id, key: key.document },
                kind: CredentialKind::GcpServiceAccountKey,
                source: None,
            })
        }
    }
}

const ACCESS_KEY_ID: &str = "Enter a long-lived access key ID: AKIA and 16 capital letters and digits.";
const SECRET_ACCESS_KEY: &str = "Enter the secret access key: 40 letters, digits, slashes and plus signs.";
const ROLE_ARN: &str = "Enter the ARN of an IAM role, such as arn:aws:iam::123456789012:role/kubeopera.";

fn check(is_fine: bool, field: &'static str, rule: &'static str) -> Result<(), CredentialError> {
    if is_fine { Ok(()) } else { Err(CredentialError::NotAcceptable { field, rule }) }
}

/// `ASIA…` is refused: it is of no use without its session token and ends within hours.
fn is_access_key_id(text: &str) -> bool {
    let rest = text.strip_prefix("AKIA");
    rest.is_some_and(|rest| rest.len() == 16 && rest.bytes().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit()))
}

fn is_secret_access_key(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|c| c.is_ascii_alphanumeric() || b"/+=".contains(&c))
}

/// IAM's own alphabet for paths and names.
fn is_role_arn(text: &str) -> bool {
    let parts: Vec<&str> = text.splitn(6, ':').collect();
    let ["arn", "aws" | "aws-cn" | "aws-us-gov", "iam", "", account, resource] = parts.as_slice() else { return false };
    let is_account = account.len() == 12 && account.bytes().all(|c| c.is_ascii_digit());
    let name = resource.strip_prefix("role/").unwrap_or_default();
    is_account
        && (1..=576).contains(&name.len())
        && !name.starts_with('/')
        && !name.ends_with('/')
        && name.bytes().all(|c| c.is_ascii_alphanumeric() || b"+=,.@_/-".contains(&c))
}

fn last_four(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    letters.iter().skip(letters.len().saturating_sub(4)).collect()
}

impl Material {
    /// The text that is sealed. Nothing is left of it in memory when it is dropped.
    pub(crate) fn to_json(&self) -> Result<Zeroizing<Vec<u8>>, serde_json::Error> {
        // Large enough never to grow: growing would leave a copy behind.
        let mut text = Zeroizing::new(Vec::with_capacity(2 * gcp_key::LARGEST));
        serde_json::to_writer(&mut *text, self)?;
        Ok(text)
    }

    pub(crate) fn of_json(text: &[u8]) -> Option<Self> {
        serde_json::from_slice(text).ok()
    }

    /// What the trust policy of a role has to ask for.
    pub(crate) fn external_id(&self) -> Option<&str> {
        match self {
            Self::AwsAssumeRole { external_id, .. } => Some(external_id),
            Self::AwsAccessKey { .. } | Self::GcpServiceAccountKey { .. } => None,
        }
    }
}

fn revealed<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.reveal())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use super::*;

    const ID: &str = "AKIACANARY0KEY0ID0WX";
    const SECRET: &str = "CANARYsecret/access+key0123456789ABCDEFG";

    fn access_key(id: &str, secret: &str) -> Result<Accepted, CredentialError> {
        let (access_key_id, secret_access_key) = (Secret::new(id), Secret::new(secret));
        accept(NewSecret::AwsAccessKey { access_key_id, secret_access_key }, None)
    }

    fn role(arn: &str) -> Result<Accepted, CredentialError> {
        accept(NewSecret::AwsAssumeRole { role_arn: arn.to_owned(), source: None }, None)
    }

    fn refused_field(answer: Result<Accepted, CredentialError>) -> &'static str {
        match answer.unwrap_err() {
            CredentialError::NotAcceptable { field, rule } => {
                assert!(rule.ends_with('.') && !rule.contains("CANARY"), "{rule}");
                field
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_access_key_is_known_by_the_end_of_its_id_and_comes_back_from_json_as_it_was() {
        let accepted = access_key(&format!(" {ID}\n"), &format!("{SECRET} ")).unwrap();

        assert_eq!((accepted.last_four.as_str(), accepted.kind), ("D0WX", CredentialKind::AwsAccessKey));
        let expected =
            Material::AwsAccessKey { access_key_id: Secret::new(ID), secret_access_key: Secret::new(SECRET) };
        assert_eq!(accepted.material, expected);
        assert_eq!(Material::of_json(&accepted.material.to_json().unwrap()).unwrap(), expected);
        assert!(!format!("{accepted:?}").contains("CANARY"));
    }

    #[test]
    fn what_is_no_access_key_is_refused_by_its_field() {
        for id in ["", "ASIACANARY0KEY0ID0WX", "AKIACANARY", "akiacanary0key0id0wx", "AKIACANARY0KEY0ID0W\"", SECRET] {
            assert_eq!(refused_field(access_key(id, SECRET)), "access_key_id", "{id}");
        }
        for secret in ["", "short", &"CANARY\"".repeat(6), &SECRET[1..], ID] {
            assert_eq!(refused_field(access_key(ID, secret)), "secret_access_key", "{secret}");
        }
    }

    #[test]
    fn a_role_gets_an_external_id_of_its_own_and_keeps_it() {
        let arn = "arn:aws:iam::123456789012:role/teams/kubeopera";
        let external_id = |accepted: &Accepted| accepted.material.external_id().unwrap().to_owned();

        let (one, other) = (role(arn).unwrap(), role(arn).unwrap());
        let replaced =
            accept(NewSecret::AwsAssumeRole { role_arn: arn.to_owned(), source: None }, Some(external_id(&one)))
                .unwrap();

        assert_ne!(external_id(&one), external_id(&other));
        assert_eq!(external_id(&one), external_id(&replaced));
        assert!(external_id(&one).starts_with("kubeopera-"));
        assert_eq!(one.last_four, "9012");
    }

    #[test]
    fn what_is_no_role_is_refused() {
        for arn in [
            "",
            "kubeopera",
            "arn:aws:iam::123456789012:user/kubeopera",
            "arn:aws:iam::12345678901:role/kubeopera",
            "arn:aws:iam::123456789012:role/",
            "arn:aws:iam::123456789012:role//x",
            "arn:evil:iam::123456789012:role/x",
            "arn:aws:sts::123456789012:assumed-role/x/y",
            "arn:aws:iam::123456789012:role/x\"; y",
            "arn:aws:iam::123456789012:role/${x}",
        ] {
            assert_eq!(refused_field(role(arn)), "role_arn", "{arn}");
        }
        for arn in ["arn:aws-cn:iam::123456789012:role/x", "arn:aws-us-gov:iam::123456789012:role/a.b_c=d,e@f+g-h"] {
            assert!(role(arn).is_ok(), "{arn}");
        }
    }
}
