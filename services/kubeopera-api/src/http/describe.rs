//! `PATCH /api/v1/clusters/{id}`.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{Path, State},
    response::Response,
};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::{ClusterLabels, LabelKey, LabelValue, NotAcceptable};

use super::{etag, fields::parsed};
use crate::{
    app::{Caller, Platform, describe::Description},
    error::AppError,
    store::audit::Action,
    view::Cluster,
};

/// Labels of a cluster at most.
const MOST: usize = 32;

/// What is to be different about a cluster; what is left out stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterChange {
    /// A name of its own: at most 40 lower-case letters, digits and hyphens. The folder in Git keeps its path.
    #[schema(max_length = 40)]
    name: Option<String>,
    /// All its labels, at most 32; those that are left out go. Keys and values are as in Kubernetes, but those of
    /// kubeopera.io are KubeOpera's own.
    labels: Option<BTreeMap<String, String>>,
}

/// Gives a cluster another name or other labels.
///
/// Its HostCluster resource follows. The cluster's folder in Git does not move with the name. A cluster that KubeOpera
/// provisioned keeps its name, which is part of the names of its infrastructure.
#[utoipa::path(
    patch,
    path = "/api/v1/clusters/{id}",
    tag = "clusters",
    params(
        ("id" = uuid::Uuid, Path, description = "The cluster's id"),
        ("If-Match" = String, Header, description = "The ETag of what was seen of the cluster"),
    ),
    request_body = ClusterChange,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The cluster as it is now", body = Cluster, headers(("ETag" = String, description = "Names this answer"))),
        (status = 400, description = "The body is not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "Another cluster has the name, or this one cannot be changed now", body = ProblemBody, content_type = "application/problem+json"),
        (status = 412, description = "Somebody else changed it meanwhile", body = ProblemBody, content_type = "application/problem+json"),
        (status = 415, description = "The body is not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 428, description = "If-Match is missing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn change_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Result<Json<ClusterChange>, Problem>,
) -> Result<Response, Problem> {
    platform.permit(&caller, Action::ChangeCluster).await?;
    let seen = etag::seen(&headers)?;
    let Json(change) = body?;
    let name = change.name.map(|name| parsed("name", &name)).transpose()?;
    let wanted = Description { name, labels: change.labels.map(labels).transpose()? };
    let id = id.parse().map_err(|_| AppError::NoSuchCluster)?;
    let cluster = platform.describe(&caller, id, seen.as_deref(), wanted).await?;
    Ok(etag::answer(&HeaderMap::new(), Some(&cluster.description_tag()), &cluster))
}

fn labels(pairs: BTreeMap<String, String>) -> Result<ClusterLabels, Problem> {
    let refused = |detail: String, field: String| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail).field(field)
    };
    let broken =
        |why: NotAcceptable, field: String| refused(format!("This is not a usable {}. {}", why.what, why.rule), field);
    if pairs.len() > MOST {
        return Err(refused(format!("A cluster has at most {MOST} labels."), "labels".to_owned()));
    }
    let mut labels = ClusterLabels::new();
    for (key, value) in pairs {
        // A key that breaks the rules is not repeated in the answer.
        let key: LabelKey = key.parse().map_err(|why| broken(why, "labels".to_owned()))?;
        let field = format!("labels.{key}");
        let value: LabelValue = value.parse().map_err(|why| broken(why, field))?;
        labels.insert(key, value);
    }
    Ok(labels)
}
