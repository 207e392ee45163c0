//! `/api/v1/settings/registry`: the registry credential that new clusters get. A password goes in and never comes out.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::Secret;

use super::etag;
use crate::{
    app::{Caller, Platform},
    error::AppError,
    resources::registry_pull,
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

fn answer(headers: &HeaderMap, setting: registry_pull::RegistrySetting) -> Response {
    let user = |of: registry::RegistryCredential| RegistryUser { server: of.server, username: of.username };
    etag::answer(headers, Some(&setting.version), &RegistrySetting { credential: setting.credential.map(user) })
}

/// Tells the registry credential that new clusters get.
#[utoipa::path(
    get,
    path = "/api/v1/settings/registry",
    tag = "settings",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What is not secret of it", body = RegistrySetting, headers(("ETag" = String, description = "Names this answer"))),
        (status = 304, description = "It is what If-None-Match names"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<Response, AppError> {
    Ok(answer(&headers, platform.registry_setting(&caller).await?))
}

/// Sets the registry credential that new clusters get, unless they bring their own.
///
/// Clusters that got the one of before get this one, too; those that had none stay without.
#[utoipa::path(
    put,
    path = "/api/v1/settings/registry",
    tag = "settings",
    params(("If-Match" = String, Header, description = "The ETag of what was seen of the setting")),
    request_body = RegistryCredential,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As it is now", body = RegistrySetting, headers(("ETag" = String, description = "Names this answer"))),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "Somebody else changed it meanwhile", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 428, description = "If-Match is missing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn put_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    body: Result<Json<RegistryCredential>, Problem>,
) -> Result<Response, Problem> {
    platform.permit(&caller, Action::ChangeRegistrySetting).await?;
    let seen = etag::seen(&headers)?;
    let Json(body) = body?;
    let credential = body.judged()?;
    let setting = platform.set_registry(&caller, &credential, seen.as_deref()).await?;
    Ok(answer(&HeaderMap::new(), setting))
}

/// Forgets the registry credential that new clusters get. Clusters that got it keep it.
#[utoipa::path(
    delete,
    path = "/api/v1/settings/registry",
    tag = "settings",
    params(("If-Match" = String, Header, description = "The ETag of what was seen of the setting")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 204, description = "None is set"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "Somebody else changed it meanwhile", body = ProblemBody, content_type = "application/problem+json"),
        (status = 428, description = "If-Match is missing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete_registry_setting(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    platform.permit(&caller, Action::ChangeRegistrySetting).await?;
    let seen = etag::seen(&headers)?;
    platform.unset_registry(&caller, seen.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}
