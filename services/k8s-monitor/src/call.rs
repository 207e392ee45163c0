//! One request to a cluster's API server, and what its answer means.

use std::{fmt::Write, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body_util::{BodyExt, Limited};
use jiff::Timestamp;
use kube::{
    Client,
    client::Body,
    core::{Status, response::StatusSummary},
};
use kube_kit::{Attempt, trouble};
use vocabulary::Trouble;

/// A server cannot send KubeOpera away for longer than this.
const LONGEST_RETRY_AFTER: Duration = Duration::from_mins(1);
/// Of the answer to a request that failed, no more than this is looked at.
const LARGEST_STATUS: usize = 64 << 10;

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What it means and what to do.
    pub(crate) trouble: Trouble,
    /// The HTTP status, if the server answered.
    pub(crate) code: Option<u16>,
    /// How long the server asks to be left alone.
    pub(crate) retry_after: Option<Duration>,
}

impl Refusal {
    /// Not answered by the server: a connection that failed, a limit that was passed, an answer that makes no sense.
    pub(crate) fn of(attempt: Attempt<'_>, error: &kube::Error) -> Self {
        let code = if let kube::Error::Api(status) = error { Some(status.code) } else { None };
        Self { trouble: trouble(attempt, error), code, retry_after: None }
    }

    /// The revision to continue from is forgotten by the server.
    pub(crate) const fn is_expired(&self) -> bool {
        matches!(self.code, Some(410))
    }
}

/// An answer that was read whole.
pub(crate) struct Answer {
    pub(crate) body: Bytes,
    /// The server's own clock when it answered.
    pub(crate) server_time: Option<Timestamp>,
}

/// The answer to a GET, as soon as its head is there. What is not 2xx is an error.
pub(crate) async fn open(client: &Client, attempt: Attempt<'_>, path: &str) -> Result<Response<Body>, Refusal> {
    let answer = send(client, attempt, path).await?;
    if answer.status().is_success() { Ok(answer) } else { Err(refused(attempt, answer).await) }
}

/// The answer to a GET, whatever its status.
pub(crate) async fn send(client: &Client, attempt: Attempt<'_>, path: &str) -> Result<Response<Body>, Refusal> {
    let mut request = Request::new(Body::empty());
    let uri = path.parse().map_err(|error: http::uri::InvalidUri| http::Error::from(error));
    *request.uri_mut() = uri.map_err(|error| Refusal::of(attempt, &kube::Error::HttpError(error)))?;
    let headers = request.headers_mut();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    // From Kubernetes 1.37 a watch is compressed event by event, which few decoders read. Lists are a matter of taste:
    // uncompressed they cost the API server less of its processor.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    client.send(request).await.map_err(|error| Refusal::of(attempt, &error))
}

/// The whole answer to a GET, within the limits of the client.
pub(crate) async fn read(client: &Client, attempt: Attempt<'_>, path: &str) -> Result<Answer, Refusal> {
    let answer = open(client, attempt, path).await?;
    let server_time = answer.headers().get(header::DATE).and_then(|date| date.to_str().ok());
    let server_time = server_time.and_then(|date| jiff::fmt::rfc2822::parse(date).ok()).map(|date| date.timestamp());
    let body = answer.into_body().collect().await.map_err(|error| Refusal::of(attempt, &error))?;
    Ok(Answer { body: body.to_bytes(), server_time })
}

/// An answer that is not JSON of the expected shape.
pub(crate) fn not_kubernetes(attempt: Attempt<'_>, error: serde_json::Error) -> Refusal {
    Refusal::of(attempt, &kube::Error::SerdeError(error))
}

/// What an answer that is not 2xx means.
pub(crate) async fn refused(attempt: Attempt<'_>, answer: Response<Body>) -> Refusal {
    let code = answer.status().as_u16();
    let retry_after = answer.headers().get(header::RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let retry_after = retry_after.map(|seconds| Duration::from_secs(seconds).min(LONGEST_RETRY_AFTER));
    let body = Limited::new(answer.into_body(), LARGEST_STATUS).collect().await;
    let status: Option<Status> = body.ok().and_then(|body| serde_json::from_slice(&body.to_bytes()).ok());
    let mut status = status.unwrap_or_default();
    status.status = Some(StatusSummary::Failure);
    status.code = code;
    if code == 403 {
        // No policy stands before a GET, so that it can only be a right that is missing, whatever the words.
        " cannot ".clone_into(&mut status.message);
    }
    Refusal { retry_after, ..Refusal::of(attempt, &kube::Error::Api(status.boxed())) }
}

/// A path with a query.
pub(crate) fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    for (key, value) in pairs {
        if !value.is_empty() {
            query.append_pair(key, value);
        }
    }
    let mut whole = path.to_owned();
    // Writing to a string does not fail.
    let _ = write!(whole, "?{}", query.finish());
    whole
}
