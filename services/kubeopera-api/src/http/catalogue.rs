//! `/api/v1/catalogue`: what can be created where.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::Response,
};
use cluster_provisioner_catalogue::{AS_OF, Catalogue, Cloud, InstanceType, Region, Release, Support, TopologyName};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use jiff::civil::Date;
use serde::Serialize;
use service_kit::{Problem, ProblemBody};
use utoipa::ToSchema;

use super::etag;
use crate::app::{Caller, Platform, create::today};

/// What KubeOpera can create where.
#[derive(Serialize, ToSchema)]
pub(crate) struct CatalogueView {
    /// The month in which the catalogue was last compared with what the clouds say.
    as_of: &'static str,
    /// The clouds.
    providers: Vec<ProviderView>,
}

/// A cloud.
#[derive(Serialize, ToSchema)]
#[schema(as = CatalogueProvider)]
struct ProviderView {
    /// Its id: `aws` or `gcp`.
    id: &'static str,
    /// What people call it.
    title: &'static str,
    /// What can be built there.
    topologies: Vec<TopologyView>,
    /// Where.
    regions: Vec<RegionView>,
}

/// What can be built.
#[derive(Serialize, ToSchema)]
#[schema(as = CatalogueTopology)]
struct TopologyView {
    /// Its id, such as `managed_eks`.
    id: &'static str,
    /// What people call it.
    title: &'static str,
    /// What KubeOpera builds, as a sentence.
    builds: &'static str,
    /// Numbers of control-plane nodes to choose from; none where the cloud operates the control plane.
    control_plane_counts: &'static [u8],
    /// Worker nodes at most.
    max_nodes: u16,
    /// Kubernetes versions to choose from, the newest first.
    kubernetes_versions: Vec<VersionView>,
}

/// A version of Kubernetes.
#[derive(Serialize, ToSchema)]
#[schema(as = CatalogueVersion)]
struct VersionView {
    /// What to ask for, such as 1.36.4, or 1.36 where the cloud chooses the patch version.
    version: String,
    /// How well it is supported.
    support: SupportView,
    /// Last day of that support. Null where the cloud has not announced it.
    #[schema(required, value_type = Option<String>, format = Date)]
    supported_until: Option<Date>,
}

/// How well a version is supported.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
enum SupportView {
    Standard,
    Extended,
}

/// A region.
#[derive(Serialize, ToSchema)]
#[schema(as = CatalogueRegion)]
struct RegionView {
    /// Its id, such as eu-north-1.
    id: &'static str,
    /// Where it is, such as Stockholm.
    name: &'static str,
    /// Whether the account has to enable it before it can be used.
    opt_in: bool,
}

/// The instance types that a region offers.
#[derive(Serialize, ToSchema)]
pub(crate) struct InstanceTypeList {
    /// Family by family, the small ones first.
    items: Vec<InstanceTypeView>,
}

/// A size of node.
#[derive(Serialize, ToSchema)]
#[schema(as = CatalogueInstanceType)]
struct InstanceTypeView {
    /// Its name, such as m7g.large.
    name: &'static str,
    /// Its family, such as m7g.
    family: &'static str,
    /// Virtual processors.
    cpus: u16,
    /// Memory in MiB.
    memory_mib: u32,
    /// Instruction set: `amd64` or `arm64`.
    architecture: &'static str,
    /// Graphics processors.
    gpus: u16,
    /// Which, such as NVIDIA L4. Null without one.
    #[schema(required)]
    gpu: Option<&'static str>,
}

/// Lists what can be created where: clouds, topologies, regions and Kubernetes versions.
#[utoipa::path(
    get,
    path = "/api/v1/catalogue",
    tag = "catalogue",
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The catalogue", body = CatalogueView),
        (status = 304, description = "It is as it was"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn get_catalogue(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let catalogue = platform.catalogue(&caller).await?;
    Ok(kept(etag::answer(&headers, None, &CatalogueView::of(catalogue, today()))))
}

/// Lists the instance types that a region offers.
#[utoipa::path(
    get,
    path = "/api/v1/catalogue/{provider}/{region}/instance-types",
    tag = "catalogue",
    params(
        ("provider" = String, Path, description = "Id of a cloud: aws or gcp"),
        ("region" = String, Path, description = "Id of a region, such as eu-north-1"),
    ),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The instance types", body = InstanceTypeList),
        (status = 304, description = "They are as they were"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "No such region", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn list_instance_types(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    Path((provider, region)): Path<(String, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let catalogue = platform.catalogue(&caller).await?;
    let region = provider.parse().ok().and_then(|cloud| catalogue.region(cloud, &region)).ok_or_else(|| {
        Problem::new(StatusCode::NOT_FOUND, "no_such_region", "KubeOpera knows no such region of a cloud.")
            .hint("GET /api/v1/catalogue lists those it knows.")
    })?;
    let items = catalogue.instance_types(region).map(InstanceTypeView::from).collect();
    Ok(kept(etag::answer(&headers, None, &InstanceTypeList { items })))
}

/// The same for everybody, and no secret: a browser may keep it, and asks each time whether it is still so.
fn kept(mut answer: Response) -> Response {
    answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    answer
}

impl CatalogueView {
    fn of(catalogue: &Catalogue, today: Date) -> Self {
        let provider = |cloud: Cloud| ProviderView {
            id: cloud.as_str(),
            title: cloud.title(),
            topologies: TopologyName::ALL
                .into_iter()
                .filter(|topology| topology.cloud() == cloud)
                .map(|topology| TopologyView::of(catalogue, topology, today))
                .collect(),
            regions: catalogue.regions(cloud).map(RegionView::from).collect(),
        };
        Self { as_of: AS_OF, providers: Cloud::ALL.into_iter().map(provider).collect() }
    }
}

impl TopologyView {
    fn of(catalogue: &Catalogue, topology: TopologyName, today: Date) -> Self {
        Self {
            id: topology.as_str(),
            title: topology.title(),
            builds: topology.builds(),
            control_plane_counts: topology.control_plane_counts(),
            max_nodes: topology.most_nodes(),
            kubernetes_versions: catalogue
                .releases(topology)
                .filter_map(|release| VersionView::of(release, today))
                .collect(),
        }
    }
}

impl VersionView {
    /// None if no new cluster can have it.
    fn of(release: &Release, today: Date) -> Option<Self> {
        let (support, supported_until) = match release.support(today) {
            Support::Standard { until } => (SupportView::Standard, until),
            Support::Extended { until } => (SupportView::Extended, Some(until)),
            Support::Ended { .. } => return None,
        };
        Some(Self { version: release.newest(), support, supported_until })
    }
}

impl From<&Region> for RegionView {
    fn from(region: &Region) -> Self {
        Self { id: region.id, name: region.name, opt_in: region.is_opt_in }
    }
}

impl From<&InstanceType> for InstanceTypeView {
    fn from(one: &InstanceType) -> Self {
        Self {
            name: one.name,
            family: one.family,
            cpus: one.cpus,
            memory_mib: one.memory_mib,
            architecture: one.architecture.as_str(),
            gpus: one.gpus.map_or(0, |gpus| gpus.count),
            gpu: one.gpus.map(|gpus| gpus.model),
        }
    }
}
