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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use axum::{
        Router,
        body::Body,
        middleware::{from_fn, from_fn_with_state},
        routing::get,
    };
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    use tower_http::catch_panic::CatchPanicLayer;

    use super::*;

    async fn answer(path: &str) -> (StatusCode, http::HeaderMap, String) {
        let router = Router::new()
            .route("/panics", get(async || -> &'static str { panic!("CANARY") }))
            .route("/hangs", get(std::future::pending::<&'static str>))
            .route("/works", get(async || id()))
            .layer(from_fn_with_state(Duration::from_millis(20), time_limit))
            .layer(CatchPanicLayer::custom(panicked))
            .layer(from_fn(scope));
        let request = Request::get(path).header("x-request-id", "CANARY").body(Body::empty()).unwrap();
        let (parts, body) = router.oneshot(request).await.unwrap().into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status, parts.headers, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn a_panic_is_our_fault_and_tells_nothing_but_the_id_of_the_request() {
        let (status, headers, body) = answer("/panics").await;

        assert_eq!((status.as_u16(), headers["content-type"].to_str().unwrap()), (500, "application/problem+json"));
        assert!(body.contains(headers[ID_HEADER].to_str().unwrap()) && body.contains("internal_error"), "{body}");
        assert!(!body.contains("CANARY"), "{body}");
    }

    #[tokio::test]
    async fn a_request_that_takes_too_long_is_given_up() {
        let (status, headers, body) = answer("/hangs").await;

        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(headers.contains_key("retry-after") && body.contains("timed_out"), "{body}");
    }

    #[tokio::test]
    async fn every_request_has_an_id_of_ours_whatever_the_client_sends() {
        let (_, headers, body) = answer("/works").await;

        assert_eq!(headers[ID_HEADER].to_str().unwrap(), body);
        assert!(body.parse::<Uuid>().is_ok_and(|id| !id.is_nil()), "{body}");
        assert_ne!(answer("/works").await.2, body);
    }
}
