//! `/api/v1/clusters/{id}/disconnect`, and `DELETE /api/v1/clusters/{id}`.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::ClusterId;

use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
    view::Cluster,
};

/// What disconnecting a cluster takes away and what it leaves.
#[derive(Serialize, ToSchema)]
pub(crate) struct Disconnection {
    /// The objects that go. On the cluster only those go that carry KubeOpera's mark.
    goes: Vec<GoingObject>,
    /// What stays, as sentences.
    stays: Vec<String>,
}

/// An object that goes.
#[derive(Serialize, ToSchema)]
pub(crate) struct GoingObject {
    /// Where it is: on the cluster itself, or where KubeOpera keeps its resources.
    place: Place,
    /// Kind, such as Secret.
    kind: &'static str,
    /// Its namespace.
    namespace: &'static str,
    /// Its name; a * stands for any ending.
    name: String,
}

/// Where an object is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum Place {
    Cluster,
    Kubeopera,
}

/// The cluster's name, typed to confirm that it is meant.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmation {
    /// Exactly as it is.
    name: String,
}

fn id(text: &str) -> Result<ClusterId, AppError> {
    text.parse().map_err(|_| AppError::NoSuchCluster)
}

/// Tells what disconnecting a cluster would take away and what it would leave. Nothing is done.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}/disconnect",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What goes and what stays", body = Disconnection),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn preview_disconnect(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
) -> Result<Json<Disconnection>, AppError> {
    platform.permit(&caller, Action::DisconnectCluster).await?;
    let parting = platform.parting(&caller, id(&cluster)?).await?;
    let goes = parting.goes.into_iter().map(|thing| GoingObject {
        place: if thing.is_on_cluster { Place::Cluster } else { Place::Kubeopera },
        kind: thing.kind,
        namespace: thing.namespace,
        name: thing.name,
    });
    Ok(Json(Disconnection { goes: goes.collect(), stays: parting.stays }))
}

/// Disconnects a cluster: KubeOpera stops managing it, and everything on it keeps running.
///
/// The cluster leaves the list when KubeOpera has let go of it. Safe to repeat until then.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/{id}/disconnect",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 202, description = "KubeOpera is letting go of it", body = Cluster),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is being provisioned", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn disconnect_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
) -> Result<(StatusCode, Json<Cluster>), AppError> {
    platform.permit(&caller, Action::DisconnectCluster).await?;
    let cluster = platform.disconnect(&caller, id(&cluster)?).await?;
    Ok((StatusCode::ACCEPTED, Json(cluster)))
}

/// Deletes a cluster that KubeOpera provisioned, with its infrastructure. Never one that it only registered or connected.
///
/// The cluster leaves the list when its infrastructure is gone. Safe to repeat until then.
#[utoipa::path(
    delete,
    path = "/api/v1/clusters/{id}",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    request_body = Confirmation,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 202, description = "It is being destroyed", body = Cluster),
        (status = 400, description = "The body is not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "KubeOpera did not provision it, or is disconnecting it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "The name is not that of the cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn delete_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
    body: Result<Json<Confirmation>, Problem>,
) -> Result<(StatusCode, Json<Cluster>), Problem> {
    platform.permit(&caller, Action::DeleteCluster).await?;
    let id = id(&cluster)?;
    let Json(Confirmation { name }) = body?;
    let cluster = platform.delete_cluster(&caller, id, &name).await?;
    Ok((StatusCode::ACCEPTED, Json(cluster)))
}
