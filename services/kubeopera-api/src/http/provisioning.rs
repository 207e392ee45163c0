//! `/api/v1/clusters/{id}/provisioning`: what is created for a cluster in a cloud, and what its runs say.

use std::sync::Arc;

use axum::extract::{Path, State};
use cluster_provisioner_contract::{LogPart, Price, Provisioning, Resource, RunState};
use http::StatusCode;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::{IntoParams, ToSchema};
use vocabulary::{ClusterId, Money};

use super::{parting::Confirmation, query::Query};
use crate::{
    app::{Caller, Platform},
    error::AppError,
    store::audit::Action,
    view::Cluster,
};

/// A cluster's infrastructure, and the run that creates or deletes it. It stays readable when the cluster is gone.
#[derive(Serialize, ToSchema)]
pub(crate) struct ClusterProvisioning {
    /// The run, such as create-1 or destroy-2.
    run: String,
    /// Where it is.
    state: ProvisioningState,
    /// What it is doing, or why it stopped, as sentences.
    message: String,
    /// What there is in the cloud, and what there was.
    resources: Vec<CloudResource>,
    /// How many of them are there.
    left: usize,
    /// What those cost in a month that have a list price, in US dollars.
    #[schema(value_type = f64)]
    left_monthly: Money,
    /// How many of those cost something that is not known here, and is not in the sum.
    left_not_priced: usize,
    /// When the last of it was gone, or was given up. Null until then.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    ended_at: Option<Timestamp>,
}

/// Where a run is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum ProvisioningState {
    /// Working, or about to.
    Running,
    /// What was to be done is done.
    Succeeded,
    /// It stopped short.
    Failed,
    /// The infrastructure is gone.
    Destroyed,
    /// KubeOpera no longer looks after it; what is not gone is still there.
    GivenUp,
}

/// Something in the cloud.
#[derive(Serialize, ToSchema)]
struct CloudResource {
    /// Terraform's address.
    address: String,
    /// What it is, in words.
    what: String,
    /// How the cloud calls it; empty if it has no name of its own.
    id: String,
    /// When it was seen to be gone. Null while it is there.
    #[schema(required, value_type = Option<String>, format = DateTime)]
    gone_at: Option<Timestamp>,
    /// What it costs in a month at list price, in US dollars. Null if that is not known here.
    #[schema(required, value_type = Option<f64>)]
    monthly: Option<Money>,
}

/// Some of the log of a cluster's runs.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProvisioningLog {
    /// The byte of the whole log that this begins with: later than what was asked for, if that is no longer kept.
    from: u64,
    /// What to ask for next.
    next: u64,
    /// Whether more may come.
    is_live: bool,
    /// Whole lines.
    lines: Vec<LogLine>,
}

/// A line of a log.
#[derive(Serialize, ToSchema)]
struct LogLine {
    /// When it was said.
    #[schema(format = DateTime)]
    at: String,
    /// What was said.
    text: String,
}

/// From where on.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct WantedLog {
    /// The byte to begin with: `next` of the last answer. From the beginning, if left out.
    #[serde(default)]
    #[param(value_type = Option<u64>)]
    from: u64,
}

impl From<Provisioning> for ClusterProvisioning {
    fn from(shown: Provisioning) -> Self {
        let left = || shown.resources.iter().filter(|resource| resource.gone_at.is_none());
        let monthly = |resource: &Resource| match resource.price {
            Price::Free => Some(Money::default()),
            Price::Monthly(amount) => Some(amount),
            Price::Unknown => None,
        };
        Self {
            left: left().count(),
            left_monthly: left().filter_map(monthly).sum(),
            left_not_priced: left().filter(|resource| monthly(resource).is_none()).count(),
            run: shown.run,
            state: match shown.state {
                RunState::Running => ProvisioningState::Running,
                RunState::Succeeded => ProvisioningState::Succeeded,
                RunState::Failed => ProvisioningState::Failed,
                RunState::Destroyed => ProvisioningState::Destroyed,
                RunState::GivenUp => ProvisioningState::GivenUp,
            },
            message: shown.message,
            resources: shown
                .resources
                .into_iter()
                .map(|resource| CloudResource {
                    monthly: monthly(&resource),
                    address: resource.address,
                    what: resource.what,
                    id: resource.id,
                    gone_at: resource.gone_at,
                })
                .collect(),
            ended_at: shown.ended_at,
        }
    }
}

impl From<LogPart> for ProvisioningLog {
    fn from(part: LogPart) -> Self {
        let line = |line: &str| {
            let (at, text) = line.split_once(' ').unwrap_or((line, ""));
            LogLine { at: at.to_owned(), text: text.to_owned() }
        };
        let lines = part.text.lines().map(line).collect();
        Self { from: part.from, next: part.next, is_live: part.is_live, lines }
    }
}

fn id(text: &str) -> Result<ClusterId, AppError> {
    text.parse().map_err(|_| AppError::NoSuchRun)
}

/// Shows what KubeOpera created for a cluster in the cloud, what of it is gone, and what is left with its price. Also
/// when the cluster is gone.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}/provisioning",
    tag = "provisioning",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "Its infrastructure", body = ClusterProvisioning),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "Nothing was created for such a cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_provisioning(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
) -> Result<Json<ClusterProvisioning>, AppError> {
    platform.permit(&caller, Action::SeeProvisioning).await?;
    Ok(Json(platform.provisioning(&caller, id(&cluster)?).await?.into()))
}

/// Shows what the runs of a cluster said, without secrets: the last 128 KiB of all its runs. Also when the cluster is gone.
#[utoipa::path(
    get,
    path = "/api/v1/clusters/{id}/provisioning/log",
    tag = "provisioning",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id"), WantedLog),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The log from there on", body = ProvisioningLog),
        (status = 400, description = "The query is not understood", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "Nothing was created for such a cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_provisioning_log(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
    wanted: Result<Query<WantedLog>, Problem>,
) -> Result<Json<ProvisioningLog>, Problem> {
    platform.permit(&caller, Action::SeeProvisioning).await?;
    let id = id(&cluster)?;
    let Query(wanted) = wanted?;
    Ok(Json(platform.provisioning_log(&caller, id, wanted.from).await?.into()))
}

/// Gives the infrastructure of a cluster up that is being deleted: KubeOpera forgets it, and what is not gone stays in the
/// cloud, with its price.
///
/// For when it cannot be deleted, or what KubeOpera knows of it was lost. What is left stays readable.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/{id}/provisioning/give-up",
    tag = "provisioning",
    params(("id" = uuid::Uuid, Path, description = "The cluster's id")),
    request_body = Confirmation,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 202, description = "It is given up", body = Cluster),
        (status = 400, description = "The body is not JSON", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "It is not being deleted", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "The name is not that of the cluster", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now: a run is being stopped first", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn give_up(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path(cluster): Path<String>,
    body: Result<Json<Confirmation>, Problem>,
) -> Result<(StatusCode, Json<Cluster>), Problem> {
    platform.permit(&caller, Action::GiveUpInfrastructure).await?;
    let id = id(&cluster)?;
    let Json(confirmation) = body?;
    let cluster = platform.give_up(&caller, id, &confirmation.name).await?;
    Ok((StatusCode::ACCEPTED, Json(cluster)))
}
