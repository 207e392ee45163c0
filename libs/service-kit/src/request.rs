//! What surrounds every request: an id, a log line, a time limit, and a net under panics.

use std::{any::Any, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode};
use tracing::Instrument;
use uuid::Uuid;

use crate::Problem;

/// The header under which every answer carries its request's id.
pub const ID_HEADER: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static ID: Uuid;
}

/// The id of the request that is being answered; the nil id outside of [`scope`].
pub fn id() -> String {
    ID.try_with(Uuid::to_string).unwrap_or_else(|_| Uuid::nil().to_string())
}

/// Middleware, to be the outermost: gives the request an id and logs what became of it.
///
/// An id sent by the client is not taken over: it would be text of a stranger in our log. Neither query nor headers nor
/// body are logged.
pub async fn scope(request: Request, next: Next) -> Response {
    let id = Uuid::now_v7();
    let started = std::time::Instant::now();
    let span =
        tracing::info_span!("request", request_id = %id, method = %request.method(), path = request.uri().path());
    let answer = async move {
        let mut response = next.run(request).await;
        let status = response.status().as_u16();
        let took_ms = started.elapsed().as_millis();
        if response.status().is_server_error() {
            tracing::warn!(status, took_ms, "answered");
        } else {
            tracing::debug!(status, took_ms, "answered");
        }
        if let Ok(value) = HeaderValue::from_str(&id.to_string()) {
            response.headers_mut().insert(ID_HEADER, value);
        }
        response
    };
    ID.scope(id, answer.instrument(span)).await
}

/// Middleware: a request that is not answered within the limit gets a 503. A body that has begun (a stream) is not cut.
pub async fn time_limit(State(limit): State<Duration>, request: Request, next: Next) -> Response {
    tokio::time::timeout(limit, next.run(request)).await.unwrap_or_else(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "timed_out", "The answer took too long, so it was given up.")
            .hint("What was asked for may still happen. Look before you try again.")
            .retry_after(Duration::from_secs(5))
            .into_response()
    })
}

/// For `CatchPanicLayer::custom`: the client learns that it was our fault, and nothing of the panic's text.
pub fn panicked(_text: Box<dyn Any + Send + 'static>) -> Response {
    Problem::internal().into_response()
}
