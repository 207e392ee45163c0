//! A JSON body, or a problem that says what is wrong with it without repeating it.

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::error::Category;

use crate::Problem;

/// A request body of type `application/json`, or an answer of it. `T` should deny unknown fields.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        // Only this type: a form of another site can send every other one without asking the browser first.
        let is_json = declared
            .and_then(|value| value.split(';').next())
            .is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"));
        if !is_json {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "json_required",
                "The body must be JSON, with the header Content-Type: application/json.",
            ));
        }
        let body = Bytes::from_request(request, state).await.map_err(|rejection| {
            if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
                Problem::new(
                    StatusCode::PAYLOAD_TOO_LARGE,
                    "body_too_large",
                    "The body is larger than is accepted here.",
                )
            } else {
                Problem::new(StatusCode::BAD_REQUEST, "body_unreadable", "The body could not be read to its end.")
            }
        })?;
        parse(&body).map(Self)
    }
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let path = error.path().to_string();
        unacceptable(error.inner(), Some(path))
    })?;
    reader.end().map_err(|error| unacceptable(&error, None))?;
    Ok(value)
}

/// The parser's own words are not used: they repeat what was sent, which may be a secret.
fn unacceptable(error: &serde_json::Error, path: Option<String>) -> Problem {
    if error.classify() != Category::Data {
        let (line, column) = (error.line(), error.column());
        let detail = format!("The body is not JSON: it cannot be read beyond line {line}, column {column}.");
        return Problem::new(StatusCode::BAD_REQUEST, "body_not_json", detail);
    }
    let problem = Problem::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "field_invalid",
        "The body has a field that is unknown, missing, repeated or of the wrong type.",
    );
    let tellable = |path: &String| {
        (1..=64).contains(&path.len())
            && path != "."
            && path.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.[]".contains(&c))
    };
    match path.filter(tellable) {
        Some(path) => problem.field(path),
        None => problem,
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use axum::body::Body;
    use http_body_util::BodyExt;

    use super::*;

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[allow(dead_code)]
        name: String,
    }

    async fn refusal(content_type: &str, body: &str) -> (StatusCode, serde_json::Value) {
        let request =
            Request::post("/").header(header::CONTENT_TYPE, content_type).body(Body::from(body.to_owned())).unwrap();
        let response = Json::<Wanted>::from_request(request, &()).await.expect_err("accepted").into_response();
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap())
    }

    #[tokio::test]
    async fn a_body_is_accepted_only_as_json_whatever_it_looks_like() {
        for other in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""]
        {
            let (status, body) = refusal(other, r#"{"name":"a"}"#).await;
            assert_eq!((status.as_u16(), body["code"].as_str().unwrap()), (415, "json_required"), "{other}");
        }
        let request = Request::post("/")
            .header(header::CONTENT_TYPE, "application/json; charset=utf-8")
            .body(Body::from(r#"{"name":"a"}"#))
            .unwrap();
        assert!(Json::<Wanted>::from_request(request, &()).await.is_ok());
    }

    #[tokio::test]
    async fn a_refused_body_is_never_repeated_in_the_answer() {
        for (sent, status, code) in [
            (r#"{"name":"CANARY" "#, 400, "body_not_json"),
            (r#"{"name":CANARY}"#, 400, "body_not_json"),
            (r#"{"name":"a"} CANARY"#, 400, "body_not_json"),
            (r#"{"name":{"CANARY":1}}"#, 422, "field_invalid"),
            (r#"{"name":"a","CANARY !":1}"#, 422, "field_invalid"),
            (r#"{"name":"a","name":"CANARY"}"#, 422, "field_invalid"),
            (r"{}", 422, "field_invalid"),
            ("", 400, "body_not_json"),
        ] {
            let (answered, body) = refusal("application/json", sent).await;
            assert_eq!((answered.as_u16(), body["code"].as_str().unwrap()), (status, code), "{sent}");
            assert!(!body.to_string().contains("CANARY"), "{body}");
        }
    }

    #[tokio::test]
    async fn depth_that_would_exhaust_the_stack_is_refused() {
        let deep = format!(r#"{{"name":{}"#, "[".repeat(100_000));

        let (status, _) = refusal("application/json", &deep).await;

        assert!(status.is_client_error(), "{status}");
    }
}
