//! `/metrics`, for Prometheus. It is behind a token as everything else: names, scores and costs are nobody else's business.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse};
use http::header;
use service_kit::ProblemBody;

use crate::{
    app::{Caller, Platform},
    error::AppError,
    metrics::MEDIA_TYPE,
    store::audit::Action,
};

/// Tells Prometheus of KubeOpera and its clusters. A personal access token is the scrape's credential.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "monitor",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "All metrics, in the text format of Prometheus", body = String, content_type = "text/plain"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn tell_prometheus(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
) -> Result<impl IntoResponse, AppError> {
    platform.permit(&caller, Action::SeeClusters).await?;
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], platform.exposition().await?))
}
