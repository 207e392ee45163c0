//! `/api/v1/credentials`: cloud credentials. A secret goes in and never comes out.

use std::sync::Arc;

use auth_service_contract as contract;
use axum::{
    extract::{Path, State},
    response::IntoResponse,
};
use http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use uuid::Uuid;
use vocabulary::Secret;

use super::{
    fields::{PageOf, parsed},
    page,
    query::Query,
};
use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
};

/// What kind of credential it is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
enum CredentialType {
    AwsAccessKey,
    AwsAssumeRole,
    GcpServiceAccountKey,
}

/// A cloud credential, as much as ever leaves of it.
#[derive(Serialize, ToSchema)]
pub(crate) struct Credential {
    /// Stable identity.
    id: Uuid,
    /// What people call it.
    label: String,
    /// What it is.
    #[serde(rename = "type")]
    type_: CredentialType,
    /// Last four characters of the access key ID, of the role's account or of the key's ID; never of a secret.
    last_four: String,
    /// When it was saved.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When its secret was last replaced.
    #[schema(value_type = String, format = DateTime)]
    changed_at: Timestamp,
    /// Clusters that it is in use by.
    clusters: Vec<Uuid>,
}

/// All cloud credentials.
#[derive(Serialize, ToSchema)]
pub(crate) struct CredentialList {
    /// By label.
    items: Vec<Credential>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A credential just saved.
#[derive(Serialize, ToSchema)]
pub(crate) struct SavedCredential {
    /// About it.
    credential: Credential,
    /// What the trust policy of the role has to ask for as `sts:ExternalId`, shown this once. Null unless it is a role.
    #[schema(required)]
    external_id: Option<String>,
}

/// A credential to save.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewCredential {
    /// What people call it: 1 to 64 characters, and no two alike.
    pub(super) label: String,
    /// The secret.
    pub(super) secret: CredentialSecret,
}

/// What is to be different about a credential; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CredentialChange {
    /// What people call it.
    label: Option<String>,
    /// Another secret of the same type.
    secret: Option<CredentialSecret>,
}

/// The secret of a credential.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum CredentialSecret {
    /// An AWS access key.
    AwsAccessKey {
        /// `AKIA` and 16 capital letters and digits.
        #[schema(value_type = String)]
        access_key_id: Secret,
        /// 40 characters.
        #[schema(value_type = String, format = Password)]
        secret_access_key: Secret,
    },
    /// An AWS IAM role that is assumed for each run.
    AwsAssumeRole {
        /// Its ARN, such as `arn:aws:iam::123456789012:role/kubeopera`.
        role_arn: String,
        /// The id of an AWS access key that is saved here and assumes it. Without one, it is whoever KubeOpera runs as.
        source: Option<Uuid>,
    },
    /// A GCP service-account key.
    GcpServiceAccountKey {
        /// The JSON file as Google hands it out, as text.
        #[schema(value_type = String, format = Password)]
        key: Secret,
    },
}

impl From<CredentialSecret> for contract::NewSecret {
    fn from(secret: CredentialSecret) -> Self {
        match secret {
            CredentialSecret::AwsAccessKey { access_key_id, secret_access_key } => {
                Self::AwsAccessKey { access_key_id, secret_access_key }
            }
            CredentialSecret::AwsAssumeRole { role_arn, source } => {
                Self::AwsAssumeRole { role_arn, source: source.map(contract::CredentialId) }
            }
            CredentialSecret::GcpServiceAccountKey { key } => Self::GcpServiceAccountKey { key },
        }
    }
}

impl From<contract::Credential> for Credential {
    fn from(credential: contract::Credential) -> Self {
        let contract::Credential { id, label, kind, last_four, created_at, changed_at, clusters } = credential;
        let type_ = match kind {
            contract::CredentialKind::AwsAccessKey => CredentialType::AwsAccessKey,
            contract::CredentialKind::AwsAssumeRole => CredentialType::AwsAssumeRole,
            contract::CredentialKind::GcpServiceAccountKey => CredentialType::GcpServiceAccountKey,
        };
        let clusters = clusters.into_iter().map(vocabulary::ClusterId::uuid).collect();
        Self { id: id.0, label: label.into(), type_, last_four, created_at, changed_at, clusters }
    }
}

/// What the cloud says of a credential.
#[derive(Serialize, ToSchema)]
pub(crate) struct CredentialCheck {
    /// Whether it knows it.
    accepted: bool,
    /// The AWS account or GCP project. Null if it does not.
    #[schema(required)]
    account: Option<String>,
    /// Who it is: an ARN, or a service account's address. Null if the cloud does not know it.
    #[schema(required)]
    identity: Option<String>,
    /// Why the cloud does not take it, and what to do. Null if it does.
    #[schema(required)]
    message: Option<String>,
}

impl From<contract::CheckOutcome> for CredentialCheck {
    fn from(outcome: contract::CheckOutcome) -> Self {
        match outcome {
            contract::CheckOutcome::Accepted { account, identity } => {
                Self { accepted: true, account: Some(account), identity: Some(identity), message: None }
            }
            contract::CheckOutcome::Refused { message } => {
                Self { accepted: false, account: None, identity: None, message: Some(message) }
            }
        }
    }
}

/// Lists cloud credentials by label.
#[utoipa::path(
    get,
    path = "/api/v1/credentials",
    tag = "credentials",
    params(PageOf),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "All credentials", body = CredentialList),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_credentials(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    query: Result<Query<PageOf>, Problem>,
) -> Result<Json<CredentialList>, Problem> {
    let credentials = platform.credentials(&caller).await?;
    let Query(query) = query?;
    let (credentials, next_cursor) =
        page::cut(credentials, "credentials", query.asked(), |credential| credential.label.clone())?;
    Ok(Json(CredentialList { items: credentials.into_iter().map(Credential::from).collect(), next_cursor }))
}

/// Saves a cloud credential.
#[utoipa::path(
    post,
    path = "/api/v1/credentials",
    tag = "credentials",
    request_body = NewCredential,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 201, description = "It is saved", body = SavedCredential),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another credential has the label", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn add_credential(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<NewCredential>, Problem>,
) -> Result<impl IntoResponse, Problem> {
    platform.permit(&caller, Action::AddCredential).await?;
    let Json(new) = body?;
    let label = parsed("label", &new.label)?;
    let saved = platform.add_credential(&caller, &label, new.secret.into()).await?;
    let answer = SavedCredential { credential: saved.credential.into(), external_id: saved.external_id };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Gives a cloud credential another label or another secret.
#[utoipa::path(
    patch,
    path = "/api/v1/credentials/{id}",
    tag = "credentials",
    params(("id" = Uuid, Path, description = "The credential's id")),
    request_body = CredentialChange,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As it is now", body = Credential),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such credential", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another credential has the label", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn change_credential(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Result<Json<CredentialChange>, Problem>,
) -> Result<Json<Credential>, Problem> {
    platform.permit(&caller, Action::ChangeCredential).await?;
    let Json(change) = body?;
    let label = change.label.map(|label| parsed("label", &label)).transpose()?;
    let secret = change.secret.map(contract::NewSecret::from);
    Ok(Json(platform.change_credential(&caller, credential(&id)?, label.as_ref(), secret).await?.into()))
}

/// Asks the cloud who a credential is. Nothing is changed by it.
#[utoipa::path(
    post,
    path = "/api/v1/credentials/{id}/check",
    tag = "credentials",
    params(("id" = Uuid, Path, description = "The credential's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What the cloud says", body = CredentialCheck),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such credential", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "The cloud cannot be reached", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn check_credential(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
) -> Result<Json<CredentialCheck>, AppError> {
    platform.permit(&caller, Action::CheckCredential).await?;
    Ok(Json(platform.check_credential(&caller, credential(&id)?).await?.into()))
}

/// Deletes a cloud credential that nothing uses.
#[utoipa::path(
    delete,
    path = "/api/v1/credentials/{id}",
    tag = "credentials",
    params(("id" = Uuid, Path, description = "The credential's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 204, description = "It is gone"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such credential", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is in use, by what it says", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete_credential(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
) -> Result<StatusCode, AppError> {
    platform.permit(&caller, Action::DeleteCredential).await?;
    platform.delete_credential(&caller, credential(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn credential(id: &str) -> Result<contract::CredentialId, AppError> {
    id.parse().map_err(|_| contract::CredentialError::NoSuchCredential.into())
}
