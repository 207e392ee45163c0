//! The one shape of every error answer: RFC 9457 problem details with a stable code and sentences for people.

use std::{borrow::Cow, time::Duration};

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use vocabulary::{Trouble, TroubleKind};

use crate::request;

/// Why a request was not done. `detail` and `hint` are whole sentences for people; neither may hold a secret, nor text
/// of a client or another server that has not passed an allow-list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: Cow<'static, str>,
    field: Option<String>,
    hint: Option<Cow<'static, str>>,
    retry_after: Option<Duration>,
}

/// An RFC 9457 problem document.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub struct ProblemBody {
    /// Always `about:blank`: `code` tells problems apart.
    #[serde(rename = "type")]
    type_: &'static str,
    /// The HTTP status in words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// One word for programs, stable over versions.
    code: &'static str,
    /// What happened, to which object.
    detail: String,
    /// The field that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    field: Option<String>,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    hint: Option<String>,
    /// Finds the request in the log.
    request_id: String,
}

impl Problem {
    /// A problem with its status, its word for programs and its sentence for people.
    pub fn new(status: StatusCode, code: &'static str, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { status, code, detail: detail.into(), field: None, hint: None, retry_after: None }
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Which field was refused.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// That the field, if one was refused, is one of this object.
    pub fn field_within(mut self, object: &str) -> Self {
        self.field = self.field.map(|field| format!("{object}.{field}"));
        self
    }

    /// When to come back.
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// A fault of ours, about which the client learns nothing but the request's id.
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal_error",
            "KubeOpera could not do this because of a fault of its own.",
        )
        .hint("The log has the reason under the id of this request.")
    }

    /// The HTTP status.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The word for programs.
    pub const fn code(&self) -> &'static str {
        self.code
    }
}

/// The kind of trouble decides the status, as it decides every clock.
impl From<Trouble> for Problem {
    fn from(trouble: Trouble) -> Self {
        let later = Duration::from_secs(5);
        match trouble.kind {
            TroubleKind::Waiting | TroubleKind::Transient => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "not_available", trouble.message).retry_after(later)
            }
            TroubleKind::Rejected => Self::new(StatusCode::CONFLICT, "rejected", trouble.message),
            TroubleKind::Bug => {
                tracing::error!(reason = trouble.reason, "{}", trouble.message);
                Self::internal()
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = ProblemBody {
            type_: "about:blank",
            title: self.status.canonical_reason().unwrap_or("Problem").to_owned(),
            status: self.status.as_u16(),
            code: self.code,
            detail: self.detail.into_owned(),
            field: self.field,
            hint: self.hint.map(Cow::into_owned),
            request_id: request::id(),
        };
        let mut response = (self.status, axum::Json(body)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(wait) = self.retry_after {
            let whole_seconds = wait.as_millis().div_ceil(1000).max(1);
            if let Ok(value) = HeaderValue::from_str(&whole_seconds.to_string()) {
                headers.insert(header::RETRY_AFTER, value);
            }
        }
        response
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn the_kind_of_a_trouble_decides_the_status_and_a_bug_keeps_its_words_to_itself() {
        for (trouble, status, tells) in [
            (Trouble::waiting("Busy", "The cluster is busy."), 503, true),
            (Trouble::transient("Unreachable", "The server is away."), 503, true),
            (Trouble::rejected("Forbidden", "The account may not do this."), 409, true),
            (Trouble::bug("Broken", "CANARY"), 500, false),
        ] {
            let words = trouble.message.clone();
            let response = Problem::from(trouble).into_response();
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers().contains_key(header::RETRY_AFTER), status == 503);
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(String::from_utf8_lossy(&body).contains(&words), tells);
        }
    }

    #[test]
    fn a_wait_is_told_in_whole_seconds_and_never_shorter_than_it_is() {
        for (wait, told) in [(0, "1"), (1, "1"), (1000, "1"), (1001, "2"), (59_500, "60")] {
            let problem =
                Problem::new(StatusCode::TOO_MANY_REQUESTS, "x", "X.").retry_after(Duration::from_millis(wait));
            assert_eq!(problem.into_response().headers()[header::RETRY_AFTER], told);
        }
    }
}
