//! `/api/v1/clusters/{id}/disconnect`, and `DELETE /api/v1/clusters/{id}`.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use uuid::Uuid;
use vocabulary::ClusterId;

use crate::{
    app::{Caller, Platform, Receipt, Thing},
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
    kind: String,
    /// Its namespace.
    namespace: String,
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

impl From<Thing> for GoingObject {
    fn from(thing: Thing) -> Self {
        Self {
            place: if thing.is_on_cluster { Place::Cluster } else { Place::Kubeopera },
            kind: thing.kind.into_owned(),
            namespace: thing.namespace.into_owned(),
            name: thing.name,
        }
    }
}

/// What became of a cluster that KubeOpera let go of.
#[derive(Serialize, ToSchema)]
pub(crate) struct PartingReceipt {
    /// Identity of the cluster.
    id: Uuid,
    /// The name it had.
    name: String,
    /// When KubeOpera was done with it.
    #[schema(value_type = String, format = DateTime)]
    ended_at: Timestamp,
    /// Whether the cluster itself was deleted, with its infrastructure.
    is_destroyed: bool,
    /// The objects that are gone.
    gone: Vec<GoingObject>,
    /// KubeOpera's objects on the cluster that could not be removed.
    left: Vec<GoingObject>,
    /// Why not, as sentences. Null if nothing is left.
    #[schema(required)]
    left_because: Option<String>,
    /// Commands that remove what is left, run with the cluster's own kubeconfig. The workloads stay.
    commands: Vec<String>,
    /// What stays by intent, as sentences.
    stays: Vec<String>,
}

impl From<Receipt> for PartingReceipt {
    fn from(receipt: Receipt) -> Self {
        Self {
            id: receipt.cluster.uuid(),
            name: receipt.name,
            ended_at: receipt.ended_at,
            is_destroyed: receipt.is_destroyed,
            gone: receipt.gone.into_iter().map(GoingObject::from).collect(),
            left: receipt.left.into_iter().map(GoingObject::from).collect(),
            left_because: receipt.left_because,
            commands: receipt.commands,
            stays: receipt.stays,
        }
    }
}

/// The cluster's name, typed to confirm that it is meant.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmation {
    /// Exactly as it is.
    pub(super) name: String,
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
    let goes = parting.goes.into_iter().map(GoingObject::from).collect();
    Ok(Json(Disconnection { goes, stays: parting.stays }))
}

/// Tells what became of a cluster that KubeOpera let go of: what is gone, what is left and what removes it.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}/receipt",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The id that the cluster had")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "What became of it", body = PartingReceipt),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No cluster of this id was let go of", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_receipt(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
) -> Result<Json<PartingReceipt>, AppError> {
    Ok(Json(platform.receipt(&caller, id(&cluster)?).await?.into()))
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
        (status = 409, description = "It is not wholly provisioned yet", body = ProblemBody, content_type = "application/problem+json"),
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
