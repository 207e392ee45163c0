//! Why something was not done, and what the client is told about it.

use std::time::Duration;

use ::http::StatusCode;
use auth_service_contract::{AuthError, CredentialError, PeopleError, SingleSignOnError};
use axum::response::{IntoResponse, Response};
use sea_orm::DbErr;
use service_kit::Problem;
use vocabulary::{ClusterName, Trouble};

use crate::{
    settings::Refusal,
    store::audit::{Action, Outcome},
    verdict::Finding,
};

/// Why a use case did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AppError {
    #[error("there is no session")]
    NoSession,
    #[error("the role does not allow it")]
    Forbidden,
    #[error("a token is not enough for it")]
    SessionRequired,
    #[error("there is no such cluster")]
    NoSuchCluster,
    #[error("another cluster is the host cluster")]
    AnotherHost,
    #[error("the cluster is being let go of")]
    BeingRemoved,
    #[error(transparent)]
    Auth(#[from] AuthError),
    #[error(transparent)]
    SingleSignOn(#[from] SingleSignOnError),
    #[error("the password is good for nothing but choosing another")]
    PasswordChangeRequired,
    #[error(transparent)]
    People(#[from] PeopleError),
    #[error(transparent)]
    Credential(#[from] CredentialError),
    /// The credential that came with a request to create a cluster.
    #[error(transparent)]
    NewCredential(CredentialError),
    #[error("the credential is in use")]
    CredentialInUse {
        /// Clusters by name, and roles that are assumed with it by label.
        by: Vec<String>,
    },
    #[error("the infrastructure of the cluster is not complete")]
    Busy,
    #[error("it is the host cluster")]
    HostProtected,
    #[error("KubeOpera did not provision the cluster")]
    NotProvisioned,
    #[error("no run was ever asked for")]
    NoSuchRun,
    #[error("the cluster is not being deleted")]
    NotBeingDeleted,
    #[error("the name is not that of the cluster")]
    NotConfirmed,
    #[error("another cluster has this name")]
    NameTaken,
    #[error("the name is part of what is in the cloud")]
    NameIsInCloud,
    #[error("it was changed meanwhile")]
    ChangedMeanwhile,
    #[error("the cluster has no kubeconfig to replace")]
    NoKubeconfig(String),
    #[error("another cluster has this Git path")]
    GitPathInUse { by: ClusterName },
    #[error("another request had this Idempotency-Key")]
    KeyReused,
    #[error("it was done too often")]
    TooOften { action: Action, retry_after: Duration },
    #[error("the kubeconfig cannot be used: {}", .0.code)]
    Kubeconfig(Finding),
    #[error("the setting is not acceptable: {}", .0.code)]
    Setting(Refusal),
    #[error(transparent)]
    Trouble(#[from] Trouble),
    #[error("the database did not do it")]
    Database(#[from] DbErr),
}

impl AppError {
    /// What the audit log says of it: a rule refused, or something of ours failed. None for what was written down by
    /// whoever checks passwords and rights, counts attempts, or keeps credentials, and for what is not there, which the
    /// router writes down.
    pub(crate) const fn outcome(&self) -> Option<Outcome> {
        match self {
            Self::NoSuchCluster
            | Self::NoSession
            | Self::Forbidden
            | Self::SessionRequired
            | Self::TooOften { .. }
            | Self::CredentialInUse { .. }
            | Self::Auth(AuthError::NoSession | AuthError::WrongCredentials)
            | Self::Credential(CredentialError::NoSuchCredential | CredentialError::InUse { .. })
            | Self::People(
                PeopleError::NoSuchUser
                | PeopleError::NoSuchSession
                | PeopleError::NoSuchToken
                | PeopleError::Auth(AuthError::NoSession | AuthError::WrongCredentials),
            ) => None,
            Self::Trouble(_)
            | Self::Database(_)
            | Self::Auth(AuthError::Unavailable)
            | Self::People(PeopleError::Auth(AuthError::Unavailable))
            | Self::SingleSignOn(SingleSignOnError::ProviderUnavailable)
            | Self::Credential(
                CredentialError::Unreadable | CredentialError::CloudUnreachable { .. } | CredentialError::Unavailable,
            )
            | Self::NewCredential(
                CredentialError::Unreadable | CredentialError::CloudUnreachable { .. } | CredentialError::Unavailable,
            ) => Some(Outcome::Failed),
            _ => Some(Outcome::Denied),
        }
    }
}

impl From<AppError> for Problem {
    #[allow(clippy::too_many_lines, reason = "an arm for each error")]
    fn from(error: AppError) -> Self {
        match error {
            AppError::NoSession | AppError::Auth(AuthError::NoSession) => Self::new(
                StatusCode::UNAUTHORIZED,
                "session_expired",
                "You are not logged in, or the session has ended.",
            )
            .hint("Log in again."),
            AppError::Forbidden => Self::new(StatusCode::FORBIDDEN, "forbidden", "Your role does not allow this.")
                .hint("Ask a platform administrator to do it or to change your role."),
            AppError::SessionRequired => Self::new(
                StatusCode::FORBIDDEN,
                "session_required",
                "This takes a person who is logged in; a personal access token is not enough.",
            )
            .hint("Log in to the dashboard and do it there."),
            AppError::PasswordChangeRequired => Self::new(
                StatusCode::FORBIDDEN,
                "password_change_required",
                "This password is good for one log-in and for choosing another.",
            )
            .hint("Choose a password of your own first."),
            AppError::SingleSignOn(error) => single_sign_on(error),
            AppError::People(error) => people(error),
            AppError::Credential(error) => credential(&error),
            AppError::NewCredential(error) => credential(&error).field_within("credential"),
            AppError::CredentialInUse { by } => Self::new(
                StatusCode::CONFLICT,
                "credential_in_use",
                format!("This credential cannot be deleted, because it is in use by {}.", by.join(", ")),
            )
            .hint("Delete or disconnect what uses it first."),
            AppError::NoSuchCluster => {
                Self::new(StatusCode::NOT_FOUND, "no_such_cluster", "KubeOpera has no cluster with this id.")
            }
            AppError::AnotherHost => Self::new(
                StatusCode::CONFLICT,
                "another_host_cluster",
                "KubeOpera now runs on another cluster than the one that is marked as the host cluster.",
            )
            .hint("There is only ever one. Disconnect the old host cluster first."),
            AppError::BeingRemoved => {
                Self::new(StatusCode::CONFLICT, "being_removed", "KubeOpera is just letting go of this cluster.")
                    .hint("Register or connect it again when it has disappeared from the list.")
            }
            AppError::Auth(AuthError::WrongCredentials) => {
                Self::new(StatusCode::UNAUTHORIZED, "wrong_credentials", "The user name or the password is wrong.")
            }
            AppError::Auth(error @ AuthError::TooManyAttempts { retry_after }) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_attempts", sentence(&error.to_string()))
                    .retry_after(retry_after)
            }
            AppError::Auth(AuthError::Unavailable) => not_now("auth-service is not available at the moment."),
            AppError::Busy => Self::new(
                StatusCode::CONFLICT,
                "cluster_busy",
                "The infrastructure of this cluster is not complete, so it cannot be disconnected now: what there is of it in \
                 the cloud would be forgotten.",
            )
            .hint("Wait until it is provisioned, or delete it."),
            AppError::HostProtected => Self::new(
                StatusCode::CONFLICT,
                "host_cluster_protected",
                "This is the cluster that KubeOpera runs on. It cannot be deleted.",
            )
            .hint("Disconnect it, if KubeOpera is to manage it no more: everything keeps running."),
            AppError::NotProvisioned => Self::new(
                StatusCode::CONFLICT,
                "not_provisioned_by_kubeopera",
                "KubeOpera did not provision this cluster, so it cannot delete it.",
            )
            .hint("Disconnect it: everything keeps running."),
            AppError::NoSuchRun => Self::new(
                StatusCode::NOT_FOUND,
                "nothing_provisioned",
                "KubeOpera has created nothing in a cloud for a cluster with this id.",
            ),
            AppError::NotBeingDeleted => Self::new(
                StatusCode::CONFLICT,
                "not_being_deleted",
                "Only the infrastructure of a cluster that is being deleted can be given up.",
            )
            .hint("Delete the cluster first. To keep it running without KubeOpera, disconnect it."),
            AppError::NotConfirmed => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "confirmation_mismatch",
                "This is not the name of the cluster. Type it exactly as it is.",
            )
            .field("name"),
            AppError::NameTaken => {
                Self::new(StatusCode::CONFLICT, "name_taken", "Another cluster has this name.").field("name")
            }
            AppError::NameIsInCloud => Self::new(
                StatusCode::CONFLICT,
                "name_is_in_cloud",
                "KubeOpera provisioned this cluster, and its name is part of the names of its infrastructure, so it stays.",
            )
            .field("name")
            .hint("Use labels to mark it."),
            AppError::ChangedMeanwhile => Self::new(
                StatusCode::PRECONDITION_FAILED,
                "changed_meanwhile",
                "Somebody else changed this since you saw it, so your change was not made.",
            )
            .field("If-Match")
            .hint("Read it again, and make your change to what it is now."),
            AppError::NoKubeconfig(message) => {
                Self::new(StatusCode::CONFLICT, "no_kubeconfig_to_replace", message).field("kubeconfig")
            }
            AppError::GitPathInUse { by } => Self::new(
                StatusCode::CONFLICT,
                "git_path_in_use",
                format!("This folder is that of cluster {by} in the Git repository, or lies in it or around it."),
            )
            .field("git_path")
            .hint("Choose another folder: each cluster has one of its own."),
            AppError::KeyReused => Self::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "idempotency_key_reused",
                "Another request was made with this Idempotency-Key before.",
            )
            .hint("Use a new key for each new request."),
            AppError::TooOften { action, retry_after } => {
                let (code, detail) = match action {
                    Action::TryToCreate => {
                        ("create_rate_limited", "You have asked for as many clusters as one person can in this time.")
                    }
                    _ => (
                        "connect_rate_limited",
                        "You have had as many kubeconfigs tried as one person can have in this time.",
                    ),
                };
                Self::new(StatusCode::TOO_MANY_REQUESTS, code, detail)
                    .hint("Try again when the time in Retry-After has passed.")
                    .retry_after(retry_after)
            }
            AppError::Kubeconfig(finding) => kubeconfig(finding),
            AppError::Setting(refusal) => refusal.into(),
            AppError::Trouble(trouble) => trouble.into(),
            AppError::Database(error) => {
                tracing::error!("the database failed: {}", service_kit::chain(&error));
                not_now("KubeOpera's database is not available at the moment.")
            }
        }
    }
}

fn kubeconfig(finding: Finding) -> Problem {
    let status = match finding.code {
        "kubeconfig_too_large" => StatusCode::PAYLOAD_TOO_LARGE,
        "kubeconfig_malformed" => StatusCode::BAD_REQUEST,
        "cluster_already_known" | "is_host_cluster" | "another_cluster" => StatusCode::CONFLICT,
        _ => StatusCode::UNPROCESSABLE_ENTITY,
    };
    let problem = Problem::new(status, finding.code, finding.message);
    problem.field(finding.field.unwrap_or_else(|| "kubeconfig".to_owned()))
}

impl From<Finding> for AppError {
    fn from(finding: Finding) -> Self {
        Self::Kubeconfig(finding)
    }
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Setting(refusal)
    }
}

impl From<Refusal> for Problem {
    fn from(Refusal { code, field, message }: Refusal) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message).field(field)
    }
}

fn single_sign_on(error: SingleSignOnError) -> Problem {
    match error {
        SingleSignOnError::NoProvider => Problem::new(
            StatusCode::NOT_FOUND,
            "oidc_not_configured",
            "KubeOpera was not told of an identity provider to log in at.",
        ),
        SingleSignOnError::Rejected => Problem::new(
            StatusCode::UNAUTHORIZED,
            "oidc_rejected",
            "What came back from the identity provider could not be trusted, so nobody was logged in.",
        )
        .hint("Log in again. If it happens again, a platform administrator finds the reason in KubeOpera's log."),
        SingleSignOnError::NotLoggedIn => {
            Problem::new(StatusCode::UNAUTHORIZED, "oidc_not_logged_in", "The identity provider did not log you in.")
        }
        SingleSignOnError::NoAccess => Problem::new(
            StatusCode::FORBIDDEN,
            "oidc_no_access",
            "The identity provider knows you, but you have no access to KubeOpera.",
        )
        .hint("Ask a platform administrator which group you need to be in."),
        SingleSignOnError::ProviderUnavailable => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "oidc_unavailable",
            "The identity provider could not be asked. KubeOpera's log tells why.",
        )
        .hint("Try again in a moment, or log in with a password.")
        .retry_after(Duration::from_secs(5)),
        SingleSignOnError::Auth(error) => AppError::Auth(error).into(),
    }
}

fn people(error: PeopleError) -> Problem {
    let missing = |code, detail: &'static str| Problem::new(StatusCode::NOT_FOUND, code, detail);
    match error {
        PeopleError::NameTaken => {
            Problem::new(StatusCode::CONFLICT, "name_taken", "Another user has this user name.").field("username")
        }
        PeopleError::NoSuchUser => missing("no_such_user", "KubeOpera has no user with this id."),
        PeopleError::NoSuchSession => missing("no_such_session", "There is no open session with this id."),
        PeopleError::NoSuchToken => missing("no_such_token", "There is no token with this id."),
        PeopleError::LastAdministrator => Problem::new(
            StatusCode::CONFLICT,
            "last_administrator",
            "This is the last platform administrator who can log in with a password, so role and access stay as they are.",
        )
        .hint("Make somebody else with a password a platform administrator first."),
        PeopleError::RoleOfProvider => Problem::new(
            StatusCode::CONFLICT,
            "role_of_provider",
            "This person logs in at the identity provider, and their role follows their groups there.",
        )
        .field("role"),
        PeopleError::NoPassword => Problem::new(
            StatusCode::CONFLICT,
            "no_password",
            "This person logs in at the identity provider and has no password here.",
        ),
        PeopleError::PasswordNotAcceptable(rule) => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "password_not_acceptable", rule).field("password")
        }
        PeopleError::ExpiryNotAcceptable => Problem::new(
            StatusCode::UNPROCESSABLE_ENTITY,
            "expiry_not_acceptable",
            "A token has to end within a year, and not in the past.",
        )
        .field("expires_at"),
        PeopleError::TooManyTokens { most } => Problem::new(
            StatusCode::CONFLICT,
            "too_many_tokens",
            format!("You have {most} tokens, which is as many as one person can have."),
        )
        .hint("Revoke tokens that are not used any more."),
        PeopleError::Auth(AuthError::WrongCredentials) => {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong_password", "Your present password is another one.")
                .field("current_password")
        }
        PeopleError::Auth(error) => AppError::Auth(error).into(),
    }
}

fn credential(error: &CredentialError) -> Problem {
    match error {
        CredentialError::NoSuchCredential => {
            Problem::new(StatusCode::NOT_FOUND, "no_such_credential", "KubeOpera has no credential with this id.")
        }
        CredentialError::LabelTaken => {
            Problem::new(StatusCode::CONFLICT, "label_taken", "Another credential has this label.").field("label")
        }
        CredentialError::NotAcceptable { field, rule } => {
            let code = if *field == "key" { "gcp_key_invalid" } else { "credential_not_acceptable" };
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, code, *rule).field(format!("secret.{field}"))
        }
        // Whoever deletes one says by what; everybody else learns no more than this.
        CredentialError::InUse { .. } => {
            Problem::new(StatusCode::CONFLICT, "credential_in_use", "This credential is in use.")
        }
        CredentialError::NotBound => Problem::new(
            StatusCode::FORBIDDEN,
            "credential_not_permitted",
            "This credential was not chosen for this cluster.",
        ),
        CredentialError::Unreadable => Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "credential_unreadable",
            "This credential cannot be read: what is stored was altered, or its encryption key is missing.",
        )
        .hint("Save the credential again. The log tells more under the id of this request."),
        CredentialError::CloudUnreachable { cloud } => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "cloud_unreachable",
            format!("{cloud} could not be asked, so nothing is known about this credential."),
        )
        .hint("Look whether KubeOpera can reach the internet, then try again.")
        .retry_after(std::time::Duration::from_secs(10)),
        CredentialError::Unavailable => not_now("auth-service is not available at the moment."),
    }
}

impl IntoResponse for AppError {
    fn into_response(self) -> Response {
        Problem::from(self).into_response()
    }
}

fn not_now(detail: &'static str) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_available", detail)
        .hint("Try again in a moment.")
        .retry_after(std::time::Duration::from_secs(5))
}

/// An error's text begins small, as part of a chain; shown alone it begins like a sentence.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
