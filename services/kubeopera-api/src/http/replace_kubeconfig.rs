//! `PUT /api/v1/clusters/{id}/kubeconfig`.

use std::sync::Arc;

use axum::extract::{Path, State};
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::Secret;

use super::kubeconfig_check::{Encoding, bytes};
use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
    view::Cluster,
};

/// Another kubeconfig for a cluster.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKubeconfig {
    /// A kubeconfig with cluster-admin access to the same cluster, at most 1023 KiB. It is stored as a Kubernetes Secret
    /// exactly as supplied, and never shown again.
    #[schema(value_type = String, format = Password)]
    kubeconfig: Secret,
    /// How the file is given: text unless said otherwise. A file in UTF-16 can only be given in base64.
    #[serde(default)]
    encoding: Encoding,
    /// The context to use; without it the current one, or the only one there is.
    context: Option<String>,
}

/// Replaces the kubeconfig of a connected cluster, such as one that has expired.
///
/// It is checked first, as `kubeconfig-check` does, and has to lead to the same cluster, which is known by the UID of its
/// kube-system namespace. The same kubeconfig again changes nothing.
#[utoipa::path(
    put,
    path = "/api/v1/clusters/{id}/kubeconfig",
    tag = "clusters",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    request_body = NewKubeconfig,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "It is used from now on", body = Cluster),
        (status = 400, description = "The file is not a kubeconfig", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It leads to another cluster, or this cluster takes none", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "The file is too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "The body is not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable, or the kubeconfig cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many attempts; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn replace_kubeconfig(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    body: Result<Json<NewKubeconfig>, Problem>,
) -> Result<Json<Cluster>, Problem> {
    platform.permit(&caller, Action::ReplaceKubeconfig).await?;
    let Json(body) = body?;
    let id = id.parse().map_err(|_| AppError::NoSuchCluster)?;
    let kubeconfig = bytes(&body.kubeconfig, body.encoding)?;
    let context = body.context.as_deref().filter(|name| !name.is_empty());
    Ok(Json(platform.replace_kubeconfig(&caller, id, &kubeconfig, context).await?))
}
