//! `/livez` and `/readyz`, for whoever runs the process.

use std::{sync::Arc, time::Duration};

use axum::{Router, extract::State, response::IntoResponse, routing::get};
use http::StatusCode;
use serde::Serialize;
use service_kit::Json;

use crate::app::Platform;

/// The database answers within this or is not there.
const WITHIN: Duration = Duration::from_secs(3);

pub(crate) fn routes() -> Router<Arc<Platform>> {
    Router::new().route("/livez", get(async || "ok\n")).route("/readyz", get(readyz))
}

#[derive(Serialize)]
struct Readiness {
    ready: bool,
    /// What is missing, by name.
    missing: Vec<Missing>,
}

#[derive(Serialize)]
struct Missing {
    part: &'static str,
    /// Whether requests are turned away for it.
    needed: bool,
    reason: String,
}

/// Ready while the database answers. An API server that does not answer is named, but the dashboard is there to say so.
async fn readyz(State(platform): State<Arc<Platform>>) -> impl IntoResponse {
    let mut missing = Vec::new();
    if !matches!(tokio::time::timeout(WITHIN, platform.db.ping()).await, Ok(Ok(()))) {
        missing.push(Missing { part: "database", needed: true, reason: "The database does not answer.".to_owned() });
    }
    if let Some(reason) = platform.observed.access().reason {
        missing.push(Missing { part: "kubernetes", needed: false, reason });
    }
    let ready = !missing.iter().any(|missing| missing.needed);
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Readiness { ready, missing }))
}
