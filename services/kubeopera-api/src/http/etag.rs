//! Entity tags: a reader that has the newest answer already gets none, and who changes something says what they saw.

use axum::{
    body::Bytes,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::Serialize;
use service_kit::Problem;
use sha2::{Digest, Sha256};
use vocabulary::hex;

/// The answer to a GET with its tag, or without a body if the reader has it. `strong` is put in front of the tag's hash
/// and makes it a strong one.
pub(super) fn answer(headers: &HeaderMap, strong: Option<&str>, body: &impl Serialize) -> Response {
    let Ok(json) = serde_json::to_vec(body) else { return Problem::internal().into_response() };
    let tag = tag(strong, &json);
    let Ok(tag) = HeaderValue::from_str(&tag) else { return Problem::internal().into_response() };
    prepared(headers, &tag, &json.into())
}

/// The same for an answer that is kept as bytes with its tag.
pub(super) fn prepared(headers: &HeaderMap, tag: &HeaderValue, json: &Bytes) -> Response {
    let head = [(header::ETAG, tag.clone())];
    let tag = tag.to_str().unwrap_or_default();
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let has_it = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    if has_it.flat_map(|tags| tags.split(',')).any(|known| known.trim() == "*" || opaque(known) == opaque(tag)) {
        return (StatusCode::NOT_MODIFIED, head).into_response();
    }
    (head, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], json.clone()).into_response()
}

fn tag(strong: Option<&str>, json: &[u8]) -> String {
    let hash: String = hex(&Sha256::digest(json)).chars().take(24).collect();
    match strong {
        Some(part) => format!("\"{part}-{hash}\""),
        None => format!("W/\"{hash}\""),
    }
}

/// The strong part of the tag of what somebody saw before they changed it, from `If-Match`; `None` if they want their
/// change whatever it is. The rest of the tag does not count: how a cluster does changes by itself, and makes nobody's
/// change an old one.
pub(super) fn seen(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else {
        return Err(Problem::new(
            StatusCode::PRECONDITION_REQUIRED,
            "if_match_required",
            "A change needs the header If-Match with the ETag of what was seen, so that nobody's change is lost.",
        )
        .field("If-Match")
        .hint("Read it, and send the ETag that comes with it."));
    };
    let value = value.to_str().unwrap_or_default().trim();
    if value == "*" {
        return Ok(None);
    }
    // What is no tag of ours names nothing that ever was.
    let tag = value.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')?.split_once('-'));
    Ok(Some(tag.map_or("", |(part, _)| part).to_owned()))
}
