//! `/api/v1/settings/registry`: the registry credential that new clusters get. A password goes in and never comes out.

use std::sync::Arc;

use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::Secret;

use crate::{
    app::{Caller, Platform},
    error::AppError,
    settings::{Refusal, registry},
    store::audit::Action,
};

/// The registry credential that new clusters get.
#[derive(Serialize, ToSchema)]
pub(crate) struct RegistrySetting {
    /// Null if none is set.
    #[schema(required)]
    credential: Option<RegistryUser>,
}

/// A registry credential, as much as ever leaves of it.
#[derive(Serialize, ToSchema)]
struct RegistryUser {
    /// Host of the registry, such as ghcr.io.
    server: String,
    /// User name.
    username: String,
}

/// A credential to pull images and charts from a registry with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RegistryCredential {
    /// Host of the registry, with its port if it has one, such as ghcr.io or registry.acme.com:5000.
    #[schema(max_length = 300)]
    server: String,
    /// User name.
    #[schema(max_length = 255)]
    username: String,
    /// Password or token that may pull.
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

impl RegistryCredential {
    pub(super) fn judged(&self) -> Result<registry::RegistryCredential, Refusal> {
        registry::RegistryCredential::judged(&self.server, &self.username, &self.password)
    }
}

impl From<Option<registry::RegistryCredential>> for RegistrySetting {
    fn from(credential: Option<registry::RegistryCredential>) -> Self {
        let user = |of: registry::RegistryCredential| RegistryUser { server: of.server, username: of.username };
        Self { credential: credential.map(user) }
    }
}

/// Tells the registry credential that new clusters get.
#[utoipa::path(
    get,
    path = "/api/v1/settings/registry",
    tag = "settings",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What is not secret of it", body = RegistrySetting),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
) -> Result<Json<RegistrySetting>, AppError> {
    Ok(Json(platform.registry_setting(&caller).await?.into()))
}

/// Sets the registry credential that new clusters get, unless they bring their own.
///
/// Clusters that got the one of before get this one, too; those that had none stay without.
#[utoipa::path(
    put,
    path = "/api/v1/settings/registry",
    tag = "settings",
    request_body = RegistryCredential,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As it is now", body = RegistrySetting),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn put_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<RegistryCredential>, Problem>,
) -> Result<Json<RegistrySetting>, Problem> {
    platform.permit(&caller, Action::ChangeRegistrySetting).await?;
    let Json(body) = body?;
    let credential = body.judged()?;
    platform.set_registry(&caller, &credential).await?;
    Ok(Json(Some(credential).into()))
}

/// Forgets the registry credential that new clusters get. Clusters that got it keep it.
#[utoipa::path(
    delete,
    path = "/api/v1/settings/registry",
    tag = "settings",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 204, description = "None is set"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
) -> Result<StatusCode, AppError> {
    platform.unset_registry(&caller).await?;
    Ok(StatusCode::NO_CONTENT)
}
