//! `/api/v1/clusters`.

use std::sync::Arc;

use axum::{
    extract::{Path, Query, State, rejection::QueryRejection},
    response::IntoResponse,
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::StatusCode;
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::IntoParams;
use vocabulary::ClusterName;

use crate::{
    app::{Caller, Platform, clusters::PAGE},
    error::AppError,
    view::{Cluster, ClusterList},
};

/// Which page.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
#[into_params(parameter_in = Query)]
pub(crate) struct Page {
    /// Clusters a page, 100 unless said otherwise.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists clusters by name, each with the phase and message of its resource at this moment.
#[utoipa::path(
    get,
    path = "/api/v1/clusters",
    tag = "clusters",
    params(Page),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "A page of clusters", body = ClusterList),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_clusters(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    page: Result<Query<Page>, QueryRejection>,
) -> Result<Json<ClusterList>, Problem> {
    let Ok(Query(page)) = page else {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "query_invalid",
            "The query can have limit and cursor only.",
        ));
    };
    let after = page.cursor.as_deref().map(name_of).transpose()?;
    let limit = page.limit.unwrap_or(PAGE);
    let (mut list, next) = platform.list(&caller, after.as_ref().map(ClusterName::as_str), limit).await?;
    list.next_cursor = next.map(|name| URL_SAFE_NO_PAD.encode(name));
    Ok(Json(list))
}

/// Cursors are not for reading: what is in them may change.
fn name_of(cursor: &str) -> Result<ClusterName, Problem> {
    let name = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    name.and_then(|name| name.parse().ok()).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "cursor_invalid", "This is not the next_cursor of a page of clusters.")
            .field("cursor")
    })
}

/// Shows one cluster.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The cluster", body = Cluster),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
) -> Result<Json<Cluster>, AppError> {
    let id = id.parse().map_err(|_| AppError::NoSuchCluster)?;
    Ok(Json(platform.cluster(&caller, id).await?))
}

/// Registers the cluster KubeOpera runs on. Safe to repeat: it is known by the UID of its kube-system namespace.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/register",
    tag = "clusters",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "It was registered before", body = Cluster),
        (status = 201, description = "It is registered now", body = Cluster),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another cluster is the host cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "The Kubernetes API cannot be reached", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn register_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
) -> Result<impl IntoResponse, AppError> {
    let registered = platform.register(&caller).await?;
    let status = if registered.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(registered.cluster)))
}
