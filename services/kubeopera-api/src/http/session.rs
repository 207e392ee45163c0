//! `/api/v1/session`: who you are.

use std::sync::Arc;

use auth_service_contract as contract;
use axum::{extract::State, response::IntoResponse};
use axum_extra::extract::{
    CookieJar,
    cookie::{Cookie, SameSite},
};
use http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use service_kit::{Json, ProblemBody};
use utoipa::ToSchema;
use uuid::Uuid;
use vocabulary::Secret;

use super::caller::{Address, token};
use crate::{
    app::{Caller, Platform},
    error::AppError,
};

/// Name of the session's cookie. The prefix makes browsers insist on Secure, on Path=/ and on this very host.
pub(crate) const COOKIE: &str = "__Host-kubeopera";

/// What a person logs in with.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    /// Name of the user.
    #[schema(max_length = 128)]
    username: String,
    /// Their password.
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

/// A session.
#[derive(Serialize, ToSchema)]
pub(crate) struct Session {
    /// Whose it is.
    user: User,
    /// Whether it is good for nothing but choosing another password, `PUT /api/v1/users/{id}/password`.
    must_change_password: bool,
    /// When it ends whatever happens. It ends earlier when it is not used for half an hour.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// A person who is logged in.
#[derive(Serialize, ToSchema)]
pub(crate) struct User {
    /// Stable identity.
    id: Uuid,
    /// Name to log in with; of somebody from the identity provider, what they are called there.
    username: String,
    /// What they may do.
    role: Role,
}

/// What a person may do.
#[derive(Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Role {
    PlatformAdministrator,
    Operator,
    Viewer,
}

impl From<contract::Role> for Role {
    fn from(role: contract::Role) -> Self {
        match role {
            contract::Role::PlatformAdministrator => Self::PlatformAdministrator,
            contract::Role::Operator => Self::Operator,
            contract::Role::Viewer => Self::Viewer,
        }
    }
}

impl From<Role> for contract::Role {
    fn from(role: Role) -> Self {
        match role {
            Role::PlatformAdministrator => Self::PlatformAdministrator,
            Role::Operator => Self::Operator,
            Role::Viewer => Self::Viewer,
        }
    }
}

impl From<contract::User> for User {
    fn from(user: contract::User) -> Self {
        Self { id: user.id, username: user.username, role: user.role.into() }
    }
}

/// Logs in.
#[utoipa::path(
    post,
    path = "/api/v1/session",
    tag = "session",
    request_body = Credentials,
    responses(
        (status = 200, description = "Logged in; the session is in the cookie", body = Session),
        (status = 401, description = "The user name or the password is wrong", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many attempts; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn create_session(
    State(platform): State<Arc<Platform>>,
    Address(address): Address,
    headers: HeaderMap,
    Json(credentials): Json<Credentials>,
) -> Result<impl IntoResponse, AppError> {
    let previous = token(&headers);
    let opened = platform.log_in(&credentials.username, &credentials.password, &address, previous.as_ref()).await?;
    let cookie = cookie(opened.token.reveal().to_owned());
    let session = Session {
        user: opened.user.into(),
        must_change_password: opened.must_change_password,
        expires_at: opened.expires_at,
    };
    Ok((CookieJar::new().add(cookie), Json(session)))
}

/// Tells whose session it is.
#[utoipa::path(
    get,
    path = "/api/v1/session",
    tag = "session",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The session", body = Session),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_session(caller: Caller) -> Json<Session> {
    Json(Session {
        user: caller.user.into(),
        must_change_password: caller.must_change_password,
        expires_at: caller.expires_at,
    })
}

/// Logs out. Without a session nothing happens.
#[utoipa::path(
    delete,
    path = "/api/v1/session",
    tag = "session",
    responses((status = 204, description = "There is no session any more"))
)]
pub(crate) async fn delete_session(
    State(platform): State<Arc<Platform>>,
    Address(address): Address,
    headers: HeaderMap,
) -> Result<impl IntoResponse, AppError> {
    if let Some(token) = token(&headers) {
        platform.log_out(&token, &address).await?;
    }
    let mut gone = cookie(String::new());
    gone.make_removal();
    Ok((CookieJar::new().add(gone), StatusCode::NO_CONTENT))
}

/// The cookie with a session's token.
pub(super) fn cookie(value: String) -> Cookie<'static> {
    Cookie::build((COOKIE, value)).path("/").secure(true).http_only(true).same_site(SameSite::Lax).build()
}
