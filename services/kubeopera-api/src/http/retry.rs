//! `/api/v1/clusters/{id}/retry`.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::StatusCode;
use service_kit::{Json, ProblemBody};

use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
    view::Cluster,
};

/// Asks for another attempt at once, instead of when the next one is due.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/{id}/retry",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 202, description = "Another attempt is asked for", body = Cluster),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "KubeOpera is letting go of it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn retry_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
) -> Result<(StatusCode, Json<Cluster>), AppError> {
    platform.permit(&caller, Action::RetryCluster).await?;
    let id = cluster.parse().map_err(|_| AppError::NoSuchCluster)?;
    Ok((StatusCode::ACCEPTED, Json(platform.retry(&caller, id).await?)))
}
