//! How clusters are: `/api/v1/clusters/multi` and `/api/v1/clusters/{id}/monitor`.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use k8s_monitor_contract::{MultiCluster, Snapshot};
use serde::Deserialize;
use service_kit::{Problem, ProblemBody};
use utoipa::IntoParams;

use super::{etag, query::Query};
use crate::{
    app::{Caller, Platform},
    error::AppError,
};

/// How fresh it has to be.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Wanted {
    /// Ask every cluster anew, all at the same time, for at most two seconds. What a cluster does not answer by then is
    /// shown as it was, marked as `stale`.
    #[serde(default)]
    #[param(value_type = Option<bool>)]
    refresh: bool,
}

/// Compares all clusters, from memory.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/multi",
    tag = "monitor",
    params(
        Wanted,
        ("If-None-Match" = Option<String>, Header, description = "The ETag of an answer that is known"),
    ),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "All clusters", body = MultiCluster, headers(("ETag" = String, description = "Names this answer"))),
        (status = 304, description = "All is as it was"),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn compare_clusters(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    wanted: Result<Query<Wanted>, Problem>,
) -> Result<Response, Problem> {
    let Query(wanted) = wanted?;
    let drawing = platform.compare(&caller, wanted.refresh).await?;
    let mut answer = etag::prepared(&headers, &drawing.tag, &drawing.json);
    if answer.status() == StatusCode::OK
        && takes_gzip(&headers)
        && let Some(compressed) = drawing.compressed()
    {
        *answer.body_mut() = compressed.into();
        let head = answer.headers_mut();
        head.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        head.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    Ok(answer)
}

/// Whether the reader names gzip, and does not name it as what it takes in no case.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.flat_map(|value| value.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("gzip") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

/// Shows how one cluster is: health with every point accounted for, nodes, usage, cost and events of late. Of a cluster
/// that was not read yet everything is null.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}/monitor",
    tag = "monitor",
    params(
        ("id" = uuid::Uuid, Path, description = "The cluster's id"),
        ("If-None-Match" = Option<String>, Header, description = "The ETag of an answer that is known"),
    ),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The cluster", body = Snapshot, headers(("ETag" = String, description = "Names this answer"))),
        (status = 304, description = "It is as it was"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn monitor_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id = id.parse().map_err(|_| AppError::NoSuchCluster)?;
    Ok(etag::answer(&headers, None, &*platform.monitored(&caller, id).await?))
}
