//! `/api/v1/clusters/create`.

use std::sync::Arc;

use auth_service_contract::CredentialId;
use axum::{extract::State, response::IntoResponse};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    connect::{described, idempotency_key},
    credentials::NewCredential,
    fields::parsed,
};
use crate::{
    app::{
        Caller, Platform,
        create::{ClusterWanted, CredentialWanted, SizeWanted},
    },
    store::audit::Action,
    view::Cluster,
};

/// A cluster to create.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterToCreate {
    /// A name of its own: at most 40 lower-case letters, digits and hyphens, on GKE at most 31 and a letter first.
    #[schema(max_length = 40)]
    name: String,
    /// `aws` or `gcp`.
    #[schema(max_length = 32)]
    provider: String,
    /// `vanilla_kubeadm`, `managed_eks` or `managed_gke`.
    topology: String,
    /// Region of the provider, such as eu-north-1.
    #[schema(max_length = 63)]
    region: String,
    /// Such as 1.36.4 for `vanilla_kubeadm`, and 1.36 for the others, where the cloud chooses the patch version.
    kubernetes_version: String,
    /// Worker nodes.
    #[schema(minimum = 1, maximum = 500)]
    node_count: u32,
    /// Size of each node, such as t3.medium, and of each control-plane node of `vanilla_kubeadm`.
    instance_type: String,
    /// Control-plane nodes: 1, 3, 5 or 7, for `vanilla_kubeadm` only; 1 if left out.
    #[schema(minimum = 1, maximum = 7)]
    control_plane_count: Option<u32>,
    /// A saved credential. Goes without `credential`.
    credential_id: Option<Uuid>,
    /// A credential to save first: an access key or a service-account key. Goes without `credential_id`.
    credential: Option<NewCredential>,
    /// Domain under which the environment is reached, such as my-cluster.acme.com; without it nothing is exposed.
    domain: Option<String>,
    /// E-mail address of the first administrator to create on this environment. Goes with `admin_username`.
    admin_email: Option<String>,
    /// User name of the first administrator.
    admin_username: Option<String>,
    /// Folder of the cluster's tree in the Git repository; without it fluxcd/clusters/ and the name.
    git_path: Option<String>,
}

/// Creates a cluster in a cloud.
///
/// The answer comes at once; creating takes 10 to 40 minutes and is shown by the cluster's phase and message. What can be
/// known to fail is refused by its field, and nothing is stored then. With an `Idempotency-Key` the request can be repeated
/// safely.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/create",
    tag = "clusters",
    params(("Idempotency-Key" = Option<String>, Header, description = "Names this request, so that it is done once however often it is sent")),
    request_body = ClusterToCreate,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "This very request was done before", body = Cluster),
        (status = 201, description = "It is on record now and being created", body = Cluster),
        (status = 400, description = "The request is not readable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The cluster's name or its folder in Git is known already, or the new credential's label", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn create_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    body: Result<Json<ClusterToCreate>, Problem>,
) -> Result<impl IntoResponse, Problem> {
    platform.permit(&caller, Action::CreateCluster).await?;
    let key = idempotency_key(&headers)?;
    let Json(body) = body?;
    let created = platform.create(&caller, key, body.wanted()?).await?;
    let status = if created.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(created.cluster)))
}

impl ClusterToCreate {
    fn wanted(self) -> Result<ClusterWanted, Problem> {
        Ok(ClusterWanted {
            described: described(&self.name, self.domain, (self.admin_email, self.admin_username), self.git_path)?,
            size: SizeWanted {
                provider: self.provider,
                topology: self.topology,
                region: self.region,
                kubernetes_version: parsed("kubernetes_version", &self.kubernetes_version)?,
                node_count: self.node_count,
                instance_type: self.instance_type,
                control_plane_count: self.control_plane_count,
            },
            credential: match (self.credential_id, self.credential) {
                (Some(id), None) => CredentialWanted::Saved(CredentialId(id)),
                (None, Some(new)) => {
                    CredentialWanted::New { label: parsed("credential.label", &new.label)?, secret: new.secret.into() }
                }
                (None, None) => return Err(credential("Choose a saved credential, or give one to save.")),
                (Some(_), Some(_)) => {
                    return Err(credential("Choose a saved credential or give one to save, not both."));
                }
            },
        })
    }
}

fn credential(rule: &'static str) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", rule).field("credential_id")
}
