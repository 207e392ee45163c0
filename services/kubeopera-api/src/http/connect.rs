//! `/api/v1/clusters/connect`.

use std::sync::Arc;

use axum::{extract::State, response::IntoResponse};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::{GitPath, NotAGitPath, NotAcceptable, Secret};

use super::{
    fields::parsed,
    kubeconfig_check::{Encoding, bytes},
    registry_setting::RegistryCredential,
};
use crate::{
    app::{Caller, Platform, connect::Wanted, new_cluster::Described},
    error::sentence,
    settings::Refusal,
    store::audit::Action,
    view::Cluster,
};

/// An existing cluster to connect.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClusterToConnect {
    /// A name of its own: at most 40 lower-case letters, digits and hyphens.
    #[schema(max_length = 40)]
    name: String,
    /// Cloud or kind of installation, such as aws or on-premises.
    #[schema(max_length = 32)]
    provider: String,
    /// Region of the provider, such as eu-north-1.
    #[schema(max_length = 63)]
    region: String,
    /// A kubeconfig with cluster-admin access, at most 1023 KiB. It is stored as a Kubernetes Secret exactly as supplied, and
    /// never shown again.
    #[schema(value_type = String, format = Password)]
    kubeconfig: Secret,
    /// How the file is given: text unless said otherwise. A file in UTF-16 can only be given in base64.
    #[serde(default)]
    encoding: Encoding,
    /// The context to use; without it the current one, or the only one there is.
    context: Option<String>,
    /// Domain under which the environment is reached, such as my-cluster.acme.com; without it nothing is exposed.
    domain: Option<String>,
    /// E-mail address of the first administrator to create on this environment. Goes with `admin_username`.
    admin_email: Option<String>,
    /// User name of the first administrator.
    admin_username: Option<String>,
    /// Folder of the cluster's tree in the Git repository; without it fluxcd/clusters/ and the name.
    git_path: Option<String>,
    /// A credential of its own for a registry; without it the cluster gets the one that is set for the platform, if one is.
    registry: Option<RegistryCredential>,
}

/// Connects an existing cluster by its kubeconfig.
///
/// The kubeconfig is checked first, as `kubeconfig-check` does; nothing is stored unless it can be used. A cluster is known
/// by the UID of its kube-system namespace, so that it cannot be connected twice. With an `Idempotency-Key` the request can
/// be repeated safely.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/connect",
    tag = "clusters",
    params(("Idempotency-Key" = Option<String>, Header, description = "Names this request, so that it is done once however often it is sent")),
    request_body = ClusterToConnect,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "This very request was done before", body = Cluster),
        (status = 201, description = "It is connected now", body = Cluster),
        (status = 400, description = "The file is not a kubeconfig", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 409, description = "The cluster, its name or its folder in Git is known already", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "The file is too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable, or the kubeconfig cannot be used", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many attempts; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn connect_cluster(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
    body: Result<Json<ClusterToConnect>, Problem>,
) -> Result<impl IntoResponse, Problem> {
    platform.permit(&caller, Action::ConnectCluster).await?;
    let key = idempotency_key(&headers)?;
    let Json(body) = body?;
    let connected = platform.connect(&caller, key, body.wanted()?).await?;
    let status = if connected.is_new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(connected.cluster)))
}

impl ClusterToConnect {
    fn wanted(self) -> Result<Wanted, Problem> {
        Ok(Wanted {
            described: described(&self.name, self.domain, (self.admin_email, self.admin_username), self.git_path)?,
            provider: parsed("provider", &self.provider)?,
            region: parsed("region", &self.region)?,
            kubeconfig: bytes(&self.kubeconfig, self.encoding)?,
            context: self.context.filter(|name| !name.is_empty()),
            registry: self.registry.map(|registry| registry.judged().map_err(within_registry)).transpose()?,
        })
    }
}

/// What is said of a cluster, however it joins.
pub(super) fn described(
    name: &str,
    domain: Option<String>,
    (admin_email, admin_username): (Option<String>, Option<String>),
    path: Option<String>,
) -> Result<Described, Problem> {
    let administrator = match (optional("admin_email", admin_email)?, optional("admin_username", admin_username)?) {
        (Some(email), Some(username)) => Some((email, username)),
        (None, None) => None,
        (email, _) => {
            let missing = if email.is_some() { "admin_username" } else { "admin_email" };
            let detail = "E-mail address and user name of the first administrator go together: give both or neither.";
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", detail).field(missing));
        }
    };
    Ok(Described {
        name: parsed("name", name)?,
        domain: optional("domain", domain)?,
        administrator,
        git_path: path.filter(|text| !text.is_empty()).map(|text| git_path(&text)).transpose()?,
    })
}

/// A field that was left empty is one that was left out.
fn optional<T: std::str::FromStr<Err = NotAcceptable>>(
    field: &'static str,
    text: Option<String>,
) -> Result<Option<T>, Problem> {
    text.filter(|text| !text.is_empty()).map(|text| parsed(field, &text)).transpose()
}

fn within_registry(refusal: Refusal) -> Problem {
    let field = format!("registry.{}", refusal.field);
    Problem::from(refusal).field(field)
}

fn git_path(text: &str) -> Result<GitPath, Problem> {
    text.parse().map_err(|why: NotAGitPath| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "git_path_invalid", sentence(&why.to_string())).field("git_path")
    })
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str() {
        Ok(key) if (1..=255).contains(&key.len()) => Ok(Some(key)),
        _ => Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "idempotency_key_invalid",
            "The header Idempotency-Key takes 1 to 255 visible characters.",
        )),
    }
}
