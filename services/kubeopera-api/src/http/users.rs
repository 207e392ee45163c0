//! `/api/v1/users`.

use std::sync::Arc;

use auth_service_contract as contract;
use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use axum_extra::extract::CookieJar;
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
    session::{Role, cookie},
};
use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
};

/// Somebody who may log in.
#[derive(Serialize, ToSchema)]
pub(crate) struct Person {
    /// Stable identity.
    id: Uuid,
    /// Name to log in with.
    username: String,
    /// What they may do.
    role: Role,
    /// How they log in.
    way: Way,
    /// Since when they are known.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// Since when they are kept from logging in. Null if they are not.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    disabled_at: Option<Timestamp>,
}

/// How somebody logs in.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Way {
    Password,
    Oidc,
}

/// Everybody who may log in.
#[derive(Serialize, ToSchema)]
pub(crate) struct PersonList {
    /// By name.
    items: Vec<Person>,
    /// Asks for the page after this one. Null on the last.
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Somebody to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPerson {
    /// Name to log in with: 2 to 32 lower-case letters, digits, dots, hyphens and underscores, a letter first.
    username: String,
    /// What they may do.
    role: Role,
    /// Their first password, of 12 to 128 characters.
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

/// What is to be different about somebody; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonChange {
    /// What they may do. Another role ends their sessions.
    role: Option<Role>,
    /// Whether they are kept from logging in. To disable somebody ends their sessions and, for good, their tokens.
    disabled: Option<bool>,
}

/// Another password.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewPassword {
    /// The present password: needed for one's own, and only for that.
    #[schema(value_type = Option<String>, format = Password)]
    current_password: Option<Secret>,
    /// The new one, of 12 to 128 characters.
    #[schema(value_type = String, format = Password)]
    password: Secret,
}

/// What came of another password of your own.
#[derive(Serialize, ToSchema)]
pub(crate) struct PasswordChanged {
    /// Labels of the personal access tokens that ended with the old password.
    ended_tokens: Vec<String>,
}

impl From<contract::Person> for Person {
    fn from(person: contract::Person) -> Self {
        let contract::Person { user, way, created_at, disabled_at } = person;
        let way = match way {
            contract::Way::Password => Way::Password,
            contract::Way::Provider => Way::Oidc,
        };
        Self { id: user.id, username: user.username, role: user.role.into(), way, created_at, disabled_at }
    }
}

/// Lists everybody who may log in.
#[utoipa::path(
    get,
    path = "/api/v1/users",
    tag = "users",
    params(PageOf),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "Everybody", body = PersonList),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_users(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    query: Result<Query<PageOf>, Problem>,
) -> Result<Json<PersonList>, Problem> {
    let users = platform.users(&caller).await?;
    let Query(query) = query?;
    let (users, next_cursor) = page::cut(users, "users", query.asked(), |person| person.user.username.clone())?;
    Ok(Json(PersonList { items: users.into_iter().map(Person::from).collect(), next_cursor }))
}

/// Adds somebody who can log in from now on.
#[utoipa::path(
    post,
    path = "/api/v1/users",
    tag = "users",
    request_body = NewPerson,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 201, description = "They can log in", body = Person),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another user has the name", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn add_user(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<NewPerson>, Problem>,
) -> Result<impl IntoResponse, Problem> {
    platform.permit(&caller, Action::AddUser).await?;
    let Json(new) = body?;
    let username = parsed("username", &new.username)?;
    let person = platform.add_user(&caller, &username, new.role.into(), &new.password).await?;
    Ok((StatusCode::CREATED, Json(Person::from(person))))
}

/// Gives somebody another role, or keeps them from logging in.
#[utoipa::path(
    patch,
    path = "/api/v1/users/{id}",
    tag = "users",
    params(("id" = Uuid, Path, description = "The user's id")),
    request_body = PersonChange,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "As they are now", body = Person),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such user", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is the last platform administrator", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn change_user(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Result<Json<PersonChange>, Problem>,
) -> Result<Json<Person>, Problem> {
    platform.permit(&caller, Action::ChangeUser).await?;
    let Json(change) = body?;
    let change = contract::PersonChange { role: change.role.map(contract::Role::from), is_disabled: change.disabled };
    Ok(Json(platform.change_user(&caller, user(&id)?, change).await?.into()))
}

/// Changes your own password, or gives somebody else another one. Either ends all sessions and personal access tokens of
/// who gets it; when it is your own, a new session begins.
#[utoipa::path(
    put,
    path = "/api/v1/users/{id}/password",
    tag = "users",
    params(("id" = Uuid, Path, description = "The user's id")),
    request_body = NewPassword,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "Your own password is another; a new session is in the cookie", body = PasswordChanged),
        (status = 204, description = "Somebody else's password is another"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such user", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many attempts; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn set_password(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Result<Json<NewPassword>, Problem>,
) -> Result<Response, Problem> {
    let is_own = user(&id).is_ok_and(|id| id == caller.user.id);
    if !is_own {
        platform.permit(&caller, Action::ResetPassword).await?;
    }
    let Json(new) = body?;
    if !is_own {
        platform.reset_password(&caller, user(&id)?, &new.password).await?;
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let Some(current) = new.current_password else {
        let detail = "To change your own password, enter the present one too.";
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail).field("current_password"));
    };
    let changed = platform.change_own_password(&caller, &current, &new.password).await?;
    let cookie = cookie(changed.session.token.reveal().to_owned());
    let ended_tokens = changed.ended_tokens.into_iter().map(String::from).collect();
    Ok((CookieJar::new().add(cookie), Json(PasswordChanged { ended_tokens })).into_response())
}

fn user(id: &str) -> Result<Uuid, AppError> {
    id.parse().map_err(|_| contract::PeopleError::NoSuchUser.into())
}
