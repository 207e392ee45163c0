//! Cloud credentials. The secret goes in once, and out only to who runs Terraform for a cluster it was bound to.

use std::{fmt, str::FromStr};

use async_trait::async_trait;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;
use vocabulary::{Actor, ClusterId, Label, Secret};

/// Identity of a credential.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CredentialId(pub Uuid);

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CredentialId {
    type Err = uuid::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// What kind of credential it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CredentialKind {
    /// An AWS access key ID and its secret.
    AwsAccessKey,
    /// An AWS IAM role that is assumed for each run.
    AwsAssumeRole,
    /// A GCP service-account key.
    GcpServiceAccountKey,
}

/// A credential as it leaves: what it is called and how its identifier ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credential {
    /// Which.
    pub id: CredentialId,
    /// What people call it; no two are alike.
    pub label: Label,
    /// What it is.
    pub kind: CredentialKind,
    /// Last four characters of the access key ID, the role's account or the key's ID: never of a secret.
    pub last_four: String,
    /// When it was saved.
    pub created_at: Timestamp,
    /// When its secret was last replaced.
    pub changed_at: Timestamp,
    /// Clusters it is in use by.
    pub clusters: Vec<ClusterId>,
}

/// What is saved, as it was typed or uploaded.
#[derive(Debug, Clone)]
pub enum NewSecret {
    /// An AWS access key.
    AwsAccessKey {
        /// `AKIA…`.
        access_key_id: Secret,
        /// 40 characters.
        secret_access_key: Secret,
    },
    /// An AWS role. KubeOpera makes up the external ID that the role's trust policy has to ask for.
    AwsAssumeRole {
        /// `arn:aws:iam::<account>:role/<name>`.
        role_arn: String,
        /// The access key that assumes it; without one it is whoever KubeOpera runs as.
        source: Option<CredentialId>,
    },
    /// A GCP service-account key.
    GcpServiceAccountKey {
        /// The JSON file as Google hands it out.
        key: Secret,
    },
}

/// A credential just saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCredential {
    /// About it.
    pub credential: Credential,
    /// For the trust policy of a role, shown this once; stays the same when the role is replaced.
    pub external_id: Option<String>,
}

/// An AWS access key in the clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AwsAccessKey {
    /// `AKIA…`.
    pub access_key_id: Secret,
    /// Its secret.
    pub secret_access_key: Secret,
}

/// A credential in the clear, for one run for one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CloudAccess {
    /// An AWS access key.
    AwsAccessKey(AwsAccessKey),
    /// An AWS role to assume.
    AwsAssumeRole {
        /// The role.
        role_arn: String,
        /// What its trust policy asks for.
        external_id: String,
        /// The key that assumes it; without one it is whoever runs.
        source: Option<AwsAccessKey>,
    },
    /// A GCP service-account key.
    GcpServiceAccountKey {
        /// The project the account belongs to.
        project_id: String,
        /// The JSON document, with nothing in it but what Google's libraries need.
        key: Secret,
    },
}

/// What a cloud says of a credential.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It knows it.
    Accepted {
        /// The AWS account or GCP project.
        account: String,
        /// Who it is: an ARN, or a service account's address.
        identity: String,
    },
    /// It does not take it.
    Refused {
        /// Why and what to do, in whole sentences.
        message: String,
    },
}

/// Why something about credentials was not done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CredentialError {
    /// No credential has this id.
    #[error("there is no such credential")]
    NoSuchCredential,
    /// Another credential has the label.
    #[error("another credential has this label")]
    LabelTaken,
    /// A field breaks a rule, which is a whole sentence.
    #[error("{field} is not acceptable. {rule}")]
    NotAcceptable {
        /// Which field.
        field: &'static str,
        /// The rule it breaks.
        rule: &'static str,
    },
    /// Something cannot be without it.
    #[error("the credential is in use")]
    InUse {
        /// Clusters that are run with it.
        clusters: Vec<ClusterId>,
        /// Roles that are assumed with it.
        credentials: Vec<Label>,
    },
    /// The credential was never given to this cluster.
    #[error("the credential is not bound to this cluster")]
    NotBound,
    /// What is stored was altered, or sealed with a key that is not there any more.
    #[error("the credential cannot be read")]
    Unreadable,
    /// The cloud could not be asked, which says nothing about the credential.
    #[error("{cloud} cannot be reached")]
    CloudUnreachable {
        /// Which cloud.
        cloud: &'static str,
    },
    /// Database or service out of reach.
    #[error("auth-service is not available at the moment")]
    Unavailable,
}

/// Keeping cloud credentials. Who may do what is for the caller to decide.
#[async_trait]
pub trait Credentials: Send + Sync {
    /// All, by label.
    async fn credentials(&self) -> Result<Vec<Credential>, CredentialError>;

    /// Saves a credential.
    async fn add_credential(
        &self,
        by: &Actor,
        label: &Label,
        secret: NewSecret,
    ) -> Result<SavedCredential, CredentialError>;

    /// Gives a credential another label, or another secret of the same kind; what is `None` stays.
    async fn change_credential(
        &self,
        by: &Actor,
        credential: CredentialId,
        label: Option<&Label>,
        secret: Option<NewSecret>,
    ) -> Result<Credential, CredentialError>;

    /// Forgets a credential that nothing uses.
    async fn delete_credential(&self, by: &Actor, credential: CredentialId) -> Result<(), CredentialError>;

    /// Asks the cloud who a credential is. Nothing is changed there or here. That it was asked for is written down before
    /// the cloud is.
    async fn check_credential(&self, by: &Actor, credential: CredentialId) -> Result<CheckOutcome, CredentialError>;

    /// Lets a cluster use a credential. A cluster has one at a time: another one takes the place of the first.
    async fn bind(&self, by: &Actor, credential: CredentialId, cluster: ClusterId) -> Result<(), CredentialError>;

    /// Ends the use of whatever credential by a cluster; without one nothing happens.
    async fn release(&self, by: &Actor, cluster: ClusterId) -> Result<(), CredentialError>;

    /// The only way to the secret: for a cluster the credential is bound to. That it was asked for is written down
    /// before it is handed out.
    async fn open(&self, credential: CredentialId, cluster: ClusterId) -> Result<CloudAccess, CredentialError>;
}
