//! Fields of bodies and addresses, refused by name and with the rule they break.

use std::str::FromStr;

use http::StatusCode;
use serde::Deserialize;
use service_kit::Problem;
use utoipa::IntoParams;
use uuid::Uuid;
use vocabulary::NotAcceptable;

use super::page::Limit;

/// A text as one of our types, or the rule it breaks.
pub(super) fn parsed<T: FromStr<Err = NotAcceptable>>(field: &'static str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|why: NotAcceptable| {
        let detail = format!("This is not a usable {}. {}", why.what, why.rule);
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail).field(field)
    })
}

/// Which page of a list.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageOf {
    /// Things a page, 100 unless said otherwise.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500)]
    limit: Limit,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Whose things are asked for, and which page of them.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct PageOfUser {
    /// A user's id; without it they are your own. Those of others are for platform administrators.
    pub(super) user: Option<Uuid>,
    /// Things a page, 100 unless said otherwise.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500)]
    limit: Limit,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

impl PageOf {
    pub(super) fn asked(&self) -> (Limit, Option<&str>) {
        (self.limit, self.cursor.as_deref())
    }
}

impl PageOfUser {
    pub(super) fn asked(&self) -> (Limit, Option<&str>) {
        (self.limit, self.cursor.as_deref())
    }
}
