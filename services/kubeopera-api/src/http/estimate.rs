//! `/api/v1/clusters/estimate`.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::Money;

use super::fields::parsed;
use crate::app::{Caller, Platform, create::SizeWanted, estimate};

/// A cluster somebody thinks of.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterToEstimate {
    /// `aws` or `gcp`.
    provider: String,
    /// `vanilla_kubeadm`, `managed_eks` or `managed_gke`.
    topology: String,
    /// Region of the provider, such as eu-north-1.
    region: String,
    /// As for creating the cluster.
    kubernetes_version: String,
    /// Worker nodes.
    node_count: u32,
    /// Size of each node, and of each control-plane node of `vanilla_kubeadm`.
    instance_type: String,
    /// Control-plane nodes, for `vanilla_kubeadm` only; 1 if left out.
    control_plane_count: Option<u32>,
}

/// What a cluster would cost, at list prices, in US dollars a month of 730 hours.
#[derive(Serialize, ToSchema)]
pub(crate) struct Estimate {
    /// The sum of all items. Null if none has a price.
    #[schema(required, value_type = Option<f64>)]
    monthly: Option<Money>,
    /// What is in the sum.
    items: Vec<EstimatedItem>,
    /// What costs something as well and is not in the sum, as sentences.
    not_priced: Vec<String>,
}

/// A part of an estimate.
#[derive(Serialize, ToSchema)]
struct EstimatedItem {
    /// What it is, such as Nodes.
    what: &'static str,
    /// How many of it.
    count: u64,
    /// What all of it costs in a month.
    #[schema(value_type = f64)]
    monthly: Money,
    /// How that comes about, and who says so since when.
    basis: String,
}

/// Estimates what a cluster would cost in a month.
///
/// Only list prices that are known are counted, and each says where it is from; what has none is named.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/estimate",
    tag = "clusters",
    request_body = ClusterToEstimate,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The estimate", body = Estimate),
        (status = 400, description = "The request is not readable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn estimate_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<ClusterToEstimate>, Problem>,
) -> Result<Json<Estimate>, Problem> {
    let Json(body) = body?;
    let size = SizeWanted {
        provider: body.provider,
        topology: body.topology,
        region: body.region,
        kubernetes_version: parsed("kubernetes_version", &body.kubernetes_version)?,
        node_count: body.node_count,
        instance_type: body.instance_type,
        control_plane_count: body.control_plane_count,
    };
    Ok(Json(platform.estimate(&caller, &size).await?.into()))
}

impl From<estimate::Estimate> for Estimate {
    fn from(made: estimate::Estimate) -> Self {
        let estimate::Estimate { items, not_priced } = made;
        let monthly = if items.is_empty() { None } else { Some(items.iter().map(|item| item.monthly).sum()) };
        let items = items.into_iter().map(|estimate::Item { what, count, monthly, basis }| EstimatedItem {
            what,
            count,
            monthly,
            basis,
        });
        Self { monthly, items: items.collect(), not_priced }
    }
}
