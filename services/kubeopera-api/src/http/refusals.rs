//! A change that was asked for and refused is written down, wherever the refusal comes from: from a use case, which writes
//! the row itself, or from what stands in front of it, such as a body that cannot be read or a page of another site.

use std::sync::Arc;

use audit_log::Noted;
use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::Method;
use uuid::Uuid;

use super::caller::{address, proof};
use crate::{
    app::{Platform, Refused},
    store::audit::Action,
};

/// Middleware, outside of all that refuses. Where nothing else limits how much is brought that is refused, it is counted
/// and not written down: of strangers always, of a person beyond what the audit log takes of one.
pub(crate) async fn write_down(State(platform): State<Arc<Platform>>, request: Request, next: Next) -> Response {
    let asked_for = asked_for(&request);
    let (response, noted) = audit_log::observed(next.run(request)).await;
    let to_note = asked_for.filter(|_| noted == Noted::Nothing && response.status().is_client_error());
    let noted = match to_note {
        Some(refused) => platform.note_refused(refused).await,
        None => Ok(noted),
    };
    match noted {
        Ok(Noted::LeftOut) => platform.refusals.left_out(),
        Ok(Noted::Nothing | Noted::Written) => {}
        Err(error) => return error.into_response(),
    }
    response
}

/// The change that a request asks for, as it is written down if it is refused.
fn asked_for(request: &Request) -> Option<Refused> {
    let path = request.extensions().get::<MatchedPath>()?.as_str();
    Some(Refused {
        action: action(request.method(), path)?,
        object: object(path, request.uri().path()),
        proof: proof(request.headers()),
        address: address(request.extensions()),
    })
}

/// What somebody asks for by a method at an address, if it would change something here or elsewhere.
pub(crate) fn action(method: &Method, path: &str) -> Option<Action> {
    Some(match (method.as_str(), path.strip_prefix("/api/v1")?) {
        ("POST", "/session") => Action::LogIn,
        ("DELETE", "/session") => Action::LogOut,
        ("PATCH", "/clusters/{id}") => Action::ChangeCluster,
        ("DELETE", "/clusters/{id}") => Action::DeleteCluster,
        ("PUT", "/clusters/{id}/kubeconfig") => Action::ReplaceKubeconfig,
        ("POST", "/clusters/{id}/disconnect") => Action::DisconnectCluster,
        ("POST", "/clusters/{id}/retry") => Action::RetryCluster,
        ("POST", "/clusters/{id}/provisioning/give-up") => Action::GiveUpInfrastructure,
        ("POST", "/clusters/register") => Action::RegisterCluster,
        ("POST", "/clusters/connect") => Action::ConnectCluster,
        ("POST", "/clusters/create") => Action::CreateCluster,
        ("POST", "/clusters/kubeconfig-check") => Action::CheckKubeconfig,
        ("POST", "/users") => Action::AddUser,
        ("PATCH", "/users/{id}") => Action::ChangeUser,
        ("PUT", "/users/{id}/password") => Action::ResetPassword,
        ("DELETE", "/sessions/{id}") => Action::EndSession,
        ("POST", "/tokens") => Action::MakeToken,
        ("DELETE", "/tokens/{id}") => Action::RevokeToken,
        ("POST", "/credentials") => Action::AddCredential,
        ("PATCH", "/credentials/{id}") => Action::ChangeCredential,
        ("DELETE", "/credentials/{id}") => Action::DeleteCredential,
        ("POST", "/credentials/{id}/check") => Action::CheckCredential,
        ("PUT" | "DELETE", "/settings/git") => Action::ChangeGitSetting,
        ("POST", "/settings/git/check") => Action::CheckGitSetting,
        ("PUT" | "DELETE", "/settings/registry") => Action::ChangeRegistrySetting,
        _ => return None,
    })
}

/// The id in an address. What is none is text of the client's, and stays out of the log.
fn object(pattern: &str, path: &str) -> Option<Uuid> {
    let (_, id) = pattern.split('/').zip(path.split('/')).find(|(segment, _)| *segment == "{id}")?;
    id.parse().ok()
}
