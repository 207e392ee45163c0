//! A JSON body, or a problem that says what is wrong with it without repeating it.

use std::{collections::HashSet, fmt};

use axum::{
    body::Bytes,
    extract::{FromRequest, Request},
    response::{IntoResponse, Response},
};
use http::{StatusCode, header};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, DeserializeOwned, DeserializeSeed, MapAccess, SeqAccess, Visitor},
};
use serde_json::error::Category;

use crate::Problem;

const REPEATED: &str =
    "An object in the body has the same key twice, so that two readers could take it for different things.";

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
    if let Err(error) = read::<Unambiguous>(body) {
        return Err(match error.inner().classify() {
            // It refuses nothing else.
            Category::Data => at(Problem::new(StatusCode::BAD_REQUEST, "key_repeated", REPEATED), &error),
            _ => unacceptable(&error),
        });
    }
    read(body).map_err(|error| unacceptable(&error))
}

type ReadError = serde_path_to_error::Error<serde_json::Error>;

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let value = serde_path_to_error::deserialize(&mut reader)?;
    let path = serde_path_to_error::Track::new().path();
    reader.end().map_err(|error| ReadError::new(path, error))?;
    Ok(value)
}

/// The parser's own words are not used: they repeat what was sent, which may be a secret.
fn unacceptable(error: &ReadError) -> Problem {
    let inner = error.inner();
    if inner.classify() != Category::Data {
        let (line, column) = (inner.line(), inner.column());
        let detail = format!("The body is not JSON: it cannot be read beyond line {line}, column {column}.");
        return Problem::new(StatusCode::BAD_REQUEST, "body_not_json", detail);
    }
    let detail = "The body has a field that is unknown, missing or of the wrong type.";
    at(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail), error)
}

/// Names the field, if that is none of the client's own words.
fn at(problem: Problem, error: &ReadError) -> Problem {
    let path = error.path().to_string();
    let is_tellable = (1..=64).contains(&path.len())
        && path != "."
        && path.bytes().all(|c| c.is_ascii_alphanumeric() || b"_.[]".contains(&c));
    if is_tellable { problem.field(path) } else { problem }
}

/// Any JSON in which no object has a key twice. What reads into a map would take the last of them without a word.
struct Unambiguous;

impl<'de> Deserialize<'de> for Unambiguous {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unambiguous {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("objects that have each key once")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            let is_first = keys.insert(key);
            entries.next_value_seed(Value { is_first })?;
        }
        Ok(self)
    }
}

/// The value of a key; refused here rather than at its key, so that the path to it is known.
struct Value {
    is_first: bool,
}

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Unambiguous;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Unambiguous, D::Error> {
        if self.is_first { Unambiguous::deserialize(deserializer) } else { Err(de::Error::custom("a key is repeated")) }
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
            (r#"{"name":"a","name":"CANARY"}"#, 400, "key_repeated"),
            (r#"{"name":"a","n\u0061me":"CANARY"}"#, 400, "key_repeated"),
            (r"{}", 422, "field_invalid"),
            ("", 400, "body_not_json"),
        ] {
            let (answered, body) = refusal("application/json", sent).await;
            assert_eq!((answered.as_u16(), body["code"].as_str().unwrap()), (status, code), "{sent}");
            assert!(!body.to_string().contains("CANARY"), "{body}");
        }
    }

    #[test]
    fn a_key_that_is_there_twice_is_refused_in_whatever_object_it_is() {
        for (twice, field) in [
            (r#"{"a":1,"a":1}"#, Some("a")),
            (r#"{"a":{"b":null,"c":[true,{"d":"x","e":1.5,"d":-2}]}}"#, Some("a.c[1].d")),
            (r#"[{"a":1},{"a":1,"a":2}]"#, Some("[1].a")),
            (r#"{"of somebody":1,"of somebody":2}"#, None),
        ] {
            let problem = parse::<serde_json::Value>(twice.as_bytes()).expect_err(twice);
            let expected = Problem::new(StatusCode::BAD_REQUEST, "key_repeated", REPEATED);
            assert_eq!(problem, field.into_iter().fold(expected, Problem::field), "{twice}");
        }
        for once in
            [r#"{"a":{"a":{"b":1}},"b":[{"a":1},{"a":1}]}"#, "1", "null", r#"["a","a"]"#, "18446744073709551616"]
        {
            assert!(parse::<serde_json::Value>(once.as_bytes()).is_ok(), "{once}");
        }
    }

    #[tokio::test]
    async fn depth_that_would_exhaust_the_stack_is_refused() {
        let deep = format!(r#"{{"name":{}"#, "[".repeat(100_000));

        let (status, _) = refusal("application/json", &deep).await;

        assert!(status.is_client_error(), "{status}");
    }
}
