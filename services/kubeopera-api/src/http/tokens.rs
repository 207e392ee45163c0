//! `/api/v1/tokens`: personal access tokens, with which scripts act for a person.

use std::{cmp::Reverse, sync::Arc};

use auth_service_contract::{AccessToken, PeopleError};
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

use super::{
    fields::{PageOfUser, parsed},
    page,
    query::Query,
};
use crate::{
    app::{Caller, Platform},
    error::AppError,
};

/// A token that has not ended, without the token itself.
#[derive(Serialize, ToSchema)]
pub(crate) struct Token {
    /// Names it without giving it away.
    id: Uuid,
    /// For whom it acts.
    user: Uuid,
    /// What it is for.
    label: String,
    /// When it was made.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it ends.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// When it was last used, to the minute. Null if it never was.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
}

/// Tokens that have not ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct TokenList {
    /// The youngest first.
    items: Vec<Token>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// A token to make.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// What it is for: 1 to 64 characters.
    label: String,
    /// When it ends, within a year.
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
}

/// A token just made.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeToken {
    /// About it.
    token: Token,
    /// The token itself, shown this once. Send it as `Authorization: Bearer`.
    secret: String,
}

impl From<AccessToken> for Token {
    fn from(token: AccessToken) -> Self {
        let AccessToken { id, user, label, created_at, expires_at, last_used_at } = token;
        Self { id, user, label: label.into(), created_at, expires_at, last_used_at }
    }
}

/// Lists your tokens, or as a platform administrator those of somebody else.
#[utoipa::path(
    get,
    path = "/api/v1/tokens",
    tag = "tokens",
    params(PageOfUser),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "Tokens that have not ended", body = TokenList),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_tokens(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    query: Result<Query<PageOfUser>, Problem>,
) -> Result<Json<TokenList>, Problem> {
    let Query(query) = query?;
    let tokens = platform.tokens(&caller, query.user).await?;
    let list = format!("tokens {:?}", query.user);
    let (tokens, next_cursor) = page::cut(tokens, &list, query.asked(), |token| (Reverse(token.created_at), token.id))?;
    Ok(Json(TokenList { items: tokens.into_iter().map(Token::from).collect(), next_cursor }))
}

/// Makes a token with which a script may do what you may do, until it ends. This takes a person who is logged in.
#[utoipa::path(
    post,
    path = "/api/v1/tokens",
    tag = "tokens",
    request_body = NewToken,
    security(("session" = [])),
    responses(
        (status = 201, description = "The token, shown this once", body = MadeToken),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "A token is not enough for it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "There are too many", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn make_token(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Json(new): Json<NewToken>,
) -> Result<impl IntoResponse, Problem> {
    let label = parsed("label", &new.label)?;
    let made = platform.make_token(&caller, &label, new.expires_at).await?;
    let answer = MadeToken { token: made.token.into(), secret: made.secret.reveal().to_owned() };
    Ok((StatusCode::CREATED, Json(answer)))
}

/// Ends a token of yours, or as a platform administrator anybody's.
#[utoipa::path(
    delete,
    path = "/api/v1/tokens/{id}",
    tag = "tokens",
    params(("id" = Uuid, Path, description = "The token's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 204, description = "It is good for nothing any more"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such token, or not yours", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn revoke_token(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
) -> Result<StatusCode, AppError> {
    let id = id.parse().map_err(|_| PeopleError::NoSuchToken)?;
    platform.revoke_token(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
