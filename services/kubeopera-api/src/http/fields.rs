//! Fields of bodies and addresses, refused by name and with the rule they break.

use std::str::FromStr;

use axum::extract::{Query, rejection::QueryRejection};
use http::StatusCode;
use serde::Deserialize;
use service_kit::Problem;
use utoipa::IntoParams;
use uuid::Uuid;
use vocabulary::NotAcceptable;

/// A text as one of our types, or the rule it breaks.
pub(super) fn parsed<T: FromStr<Err = NotAcceptable>>(field: &'static str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|why: NotAcceptable| {
        let detail = format!("This is not a usable {}. {}", why.what, why.rule);
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail).field(field)
    })
}

/// Whose things are asked for.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct OfUser {
    /// A user's id; without it they are your own. Those of others are for platform administrators.
    pub(super) user: Option<Uuid>,
}

/// The query, if it is one we know.
pub(super) fn of_user(query: Result<Query<OfUser>, QueryRejection>) -> Result<Option<Uuid>, Problem> {
    query.map(|Query(of)| of.user).map_err(|_| {
        Problem::new(StatusCode::BAD_REQUEST, "query_invalid", "The query can have user only, which is a user's id.")
    })
}
