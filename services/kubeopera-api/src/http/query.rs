//! Queries of addresses, refused by the key at fault and never repeated.

use std::collections::BTreeSet;

use axum::extract::FromRequestParts;
use http::{StatusCode, request::Parts};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, IntoDeserializer},
};
use service_kit::Problem;
use url::form_urlencoded;

/// The query of a request. `T` should deny unknown fields; a key may be there once.
pub(super) struct Query<T>(pub(super) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        read(parts.uri.query().unwrap_or_default()).map(Self)
    }
}

fn read<T: DeserializeOwned>(query: &str) -> Result<T, Problem> {
    let pairs: Vec<(String, String)> =
        serde_urlencoded::from_str(query).map_err(|_| refused("The query is not text.", None))?;
    let mut keys = BTreeSet::new();
    for (key, _) in &pairs {
        if !keys.insert(key) {
            return Err(refused("The query has a key more than once.", Some(key)));
        }
    }
    serde_path_to_error::deserialize(serde_urlencoded::Deserializer::new(form_urlencoded::parse(query.as_bytes())))
        .map_err(|error| {
            let key = error.path().to_string();
            let detail = if keys.contains(&key) {
                "The query has a key that is unknown here, or a value that its key does not take."
            } else {
                "The query lacks a key."
            };
            refused(detail, Some(&key))
        })
}

fn refused(detail: &'static str, key: Option<&str>) -> Problem {
    let problem = Problem::new(StatusCode::BAD_REQUEST, "query_invalid", detail);
    let tellable =
        |key: &&str| (1..=64).contains(&key.len()) && key.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_');
    match key.filter(tellable) {
        Some(key) => problem.field(key),
        None => problem,
    }
}

/// A text of at most so many characters that can be in a database and in a log: no control characters.
pub(super) fn at_most<'de, const MOST: usize, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let is_fine = |text: &String| text.chars().count() <= MOST && !text.contains(char::is_control);
    if text.as_ref().is_none_or(is_fine) { Ok(text) } else { Err(D::Error::custom("a text that is too long or odd")) }
}

/// Several values of a key, separated by commas.
#[derive(Debug)]
pub(super) struct Several<T>(pub(super) Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// No filter needs more.
const MOST: usize = 16;

impl<'de, T: DeserializeOwned> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let values = text.split(',').map(|one| T::deserialize(one.into_deserializer()));
        let values = values.collect::<Result<Vec<_>, serde::de::value::Error>>().map_err(D::Error::custom)?;
        if values.len() > MOST { Err(D::Error::custom("too many values")) } else { Ok(Self(values)) }
    }
}
