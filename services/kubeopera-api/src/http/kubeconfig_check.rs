//! `/api/v1/clusters/kubeconfig-check`.

use std::sync::Arc;

use axum::extract::State;
use base64::{Engine, engine::general_purpose::STANDARD};
use http::StatusCode;
use serde::Deserialize;
use service_kit::{Json, Problem, ProblemBody};
use utoipa::ToSchema;
use vocabulary::Secret;

use crate::{
    app::{Caller, Platform},
    store::audit::Action,
    verdict::KubeconfigCheck,
};

/// How the bytes of a file are in a JSON text.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "a documented variant would turn the document's plain enum into a oneOf")]
pub(crate) enum Encoding {
    /// As it was pasted.
    #[default]
    Text,
    /// As it was uploaded, byte by byte.
    Base64,
}

/// A kubeconfig to look at.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KubeconfigToCheck {
    /// The file, at most 1023 KiB. It is not stored.
    #[schema(value_type = String, format = Password)]
    kubeconfig: Secret,
    /// How the file is given: text unless said otherwise. A file in UTF-16 can only be given in base64.
    #[serde(default)]
    encoding: Encoding,
    /// The one context to look at; without it all of them.
    context: Option<String>,
}

/// The bytes of a file.
pub(super) fn bytes(kubeconfig: &Secret, encoding: Encoding) -> Result<Vec<u8>, Problem> {
    match encoding {
        Encoding::Text => Ok(kubeconfig.reveal().as_bytes().to_vec()),
        Encoding::Base64 => STANDARD.decode(kubeconfig.reveal().trim()).map_err(|_| {
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "field_invalid", "The kubeconfig is not base64.")
                .field("kubeconfig")
        }),
    }
}

/// Says of each context of a kubeconfig whether it can be used from here, and if not, why and what mends it.
///
/// Nothing is stored, and the file is not quoted. A person has ten checks in ten minutes.
#[utoipa::path(
    post,
    path = "/api/v1/clusters/kubeconfig-check",
    tag = "clusters",
    request_body = KubeconfigToCheck,
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "A verdict for each context", body = KubeconfigCheck),
        (status = 400, description = "The file is not a kubeconfig", body = ProblemBody, content_type = "application/problem+json"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
        (status = 413, description = "The file is too large", body = ProblemBody, content_type = "application/problem+json"),
        (status = 422, description = "A field is not acceptable", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many checks; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn check_kubeconfig(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    body: Result<Json<KubeconfigToCheck>, Problem>,
) -> Result<Json<KubeconfigCheck>, Problem> {
    platform.permit(&caller, Action::CheckKubeconfig).await?;
    let Json(body) = body?;
    let file = bytes(&body.kubeconfig, body.encoding)?;
    Ok(Json(platform.check_kubeconfig(&caller, &file, body.context.as_deref()).await?))
}
