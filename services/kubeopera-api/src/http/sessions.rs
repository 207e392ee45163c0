//! `/api/v1/sessions`: where somebody is logged in.

use std::{cmp::Reverse, sync::Arc};

use auth_service_contract::{OpenSession, PeopleError};
use axum::extract::{Path, State};
use http::StatusCode;
use jiff::Timestamp;
use serde::Serialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{fields::PageOfUser, page, query::Query};
use crate::{
    app::{Caller, Platform},
    error::AppError,
};

/// A session that has not ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionEntry {
    /// Names it without giving it away.
    id: Uuid,
    /// Whose it is.
    user: Uuid,
    /// Where it was opened from.
    address: String,
    /// Whether it is the one that asks.
    current: bool,
    /// When it was opened.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was last used, to the minute.
    #[schema(value_type = String, format = DateTime)]
    last_seen_at: Timestamp,
    /// When it ends whatever happens.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// Sessions that have not ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct SessionList {
    /// The last used first.
    items: Vec<SessionEntry>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

impl SessionEntry {
    fn of(session: OpenSession, caller: &Caller) -> Self {
        let OpenSession { id, user, address, created_at, last_seen_at, expires_at } = session;
        Self { id, user, address, current: id == caller.proof_id, created_at, last_seen_at, expires_at }
    }
}

/// Lists your sessions, or as a platform administrator those of somebody else.
#[utoipa::path(
    get,
    path = "/api/v1/sessions",
    tag = "sessions",
    params(PageOfUser),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "Sessions that have not ended", body = SessionList),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_sessions(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    query: Result<Query<PageOfUser>, Problem>,
) -> Result<Json<SessionList>, Problem> {
    let Query(query) = query?;
    let sessions = platform.sessions(&caller, query.user).await?;
    let list = format!("sessions {:?}", query.user);
    let (sessions, next_cursor) =
        page::cut(sessions, &list, query.asked(), |session| (Reverse(session.last_seen_at), session.id))?;
    let items = sessions.into_iter().map(|session| SessionEntry::of(session, &caller)).collect();
    Ok(Json(SessionList { items, next_cursor }))
}

/// Ends a session of yours, or as a platform administrator anybody's.
#[utoipa::path(
    delete,
    path = "/api/v1/sessions/{id}",
    tag = "sessions",
    params(("id" = Uuid, Path, description = "The session's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 204, description = "It has ended"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such session, or not yours", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn end_session(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
) -> Result<StatusCode, AppError> {
    let id = id.parse().map_err(|_| PeopleError::NoSuchSession)?;
    platform.end_session(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
