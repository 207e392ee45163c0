//! `/api/v1/clusters`.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use host_cluster_controller_crd::{Mode, Phase};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::IntoParams;
use vocabulary::{Provider, Region};

use super::{
    etag, page,
    page::Limit,
    query::{Query, Several, at_most},
};
use crate::{
    app::{Caller, Platform, clusters::WantedPage},
    error::AppError,
    listing::{Direction, Filter, Selector, Sort},
    store::audit::Action,
    view::{Cluster, ClusterList},
};

/// Which clusters, and in which order. Where several values are separated by commas, one of them has to fit.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedClusters {
    /// What to sort by. What is not known comes last in both directions.
    #[serde(default)]
    #[param(value_type = Option<Sort>, inline)]
    sort: Sort,
    /// Which way.
    #[serde(default)]
    #[param(value_type = Option<Direction>, inline)]
    direction: Direction,
    /// Phases, such as `Ready,Failed`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    phase: Several<Phase>,
    /// Modes, such as `provision_eks,provision_gke`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    mode: Several<Mode>,
    /// Providers, such as `aws,gcp`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    provider: Several<Provider>,
    /// Regions, such as `eu-north-1`.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    region: Several<Region>,
    /// Labels, such as `env=prod,team`: all of them have to fit, and one without a value fits with any.
    #[serde(default)]
    #[param(value_type = Option<String>)]
    label: Several<Selector>,
    /// Part of the name.
    #[serde(default, deserialize_with = "at_most::<40, _>")]
    #[param(max_length = 40)]
    q: Option<String>,
    /// Clusters a page, 100 unless said otherwise.
    #[serde(default)]
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500)]
    limit: Limit,
    /// The `next_cursor` of the page before, which had the same order and filter.
    cursor: Option<String>,
}

/// Lists clusters, each with the phase and message of its resource at this moment.
#[utoipa::path(
    get,
    path = "/api/v1/clusters",
    tag = "clusters",
    params(
        WantedClusters,
        ("If-None-Match" = Option<String>, Header, description = "The ETag of an answer that is known"),
    ),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "A page of clusters", body = ClusterList, headers(("ETag" = String, description = "Names this answer"))),
        (status = 304, description = "The page is as it was"),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_clusters(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    query: Result<Query<WantedClusters>, Problem>,
) -> Result<Response, Problem> {
    platform.permit(&caller, Action::SeeClusters).await?;
    let Query(query) = query?;
    let cursor = query.cursor.clone();
    let mut wanted = query.wanted();
    let of = format!("clusters {:?} {:?} {:?}", wanted.sort, wanted.direction, wanted.filter);
    wanted.after = cursor.map(|cursor| page::place(&of, &cursor)).transpose()?;
    let (mut list, next) = platform.list(&caller, &wanted).await?;
    list.next_cursor = next.and_then(|place| page::cursor(&of, &place));
    Ok(etag::answer(&headers, None, &list))
}

impl WantedClusters {
    fn wanted(self) -> WantedPage {
        let filter = Filter {
            phases: self.phase.0,
            modes: self.mode.0,
            providers: self.provider.0.into_iter().map(Provider::into).collect(),
            regions: self.region.0.into_iter().map(Region::into).collect(),
            labels: self.label.0,
            part_of_name: self.q.map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()),
        };
        WantedPage { sort: self.sort, direction: self.direction, filter, after: None, limit: self.limit.things() }
    }
}

/// Shows one cluster.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}",
    tag = "clusters",
    params(
        ("id" = uuid::Uuid, Path, description = "The cluster's id"),
        ("If-None-Match" = Option<String>, Header, description = "The ETag of an answer that is known"),
    ),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The cluster", body = Cluster, headers(("ETag" = String, description = "Names this answer, and goes into If-Match of a change"))),
        (status = 304, description = "It is as it was"),
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
    headers: HeaderMap,
) -> Result<Response, AppError> {
    let id = id.parse().map_err(|_| AppError::NoSuchCluster)?;
    let cluster = platform.cluster(&caller, id).await?;
    Ok(etag::answer(&headers, Some(&cluster.description_tag()), &cluster))
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
