//! Who is let in: a browser by its cookie, a script by its token. It fails closed: a handler that wants a [`Caller`] on a
//! route without a session gets none, and answers 401.

use std::{convert::Infallible, sync::Arc};

use auth_service_contract::{Role, TOKEN_PREFIX};
use axum::{
    extract::{FromRequestParts, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use axum_extra::extract::CookieJar;
use http::{HeaderMap, HeaderName, Method, header, request::Parts};
use service_kit::Problem;
use vocabulary::Secret;

use super::{proxies::ClientAddress, session::COOKIE};
use crate::{
    app::{Caller, Platform, Proof},
    error::AppError,
};

/// Middleware: no session, no entrance.
pub(crate) async fn require_session(
    State(platform): State<Arc<Platform>>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(proof) = proof(request.headers()) else { return AppError::NoSession.into_response() };
    match platform.caller(proof, address(request.extensions())).await {
        Ok(caller) => {
            tracing::debug!(user.id = %caller.user.id, role = role(&caller), "let in");
            if caller.must_change_password && !is_about_oneself(&request, &caller) {
                return AppError::PasswordChangeRequired.into_response();
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => error.into_response(),
    }
}

/// What is left to somebody who has to choose another password first: to do so, and to see who they are. Logging out needs
/// no session.
fn is_about_oneself(request: &Request, caller: &Caller) -> bool {
    let (method, path) = (request.method(), request.uri().path());
    method == Method::GET && path == "/api/v1/session"
        || method == Method::PUT && path == format!("/api/v1/users/{}/password", caller.user.id)
}

fn role(caller: &Caller) -> &'static str {
    match caller.user.role {
        Role::PlatformAdministrator => "platform_administrator",
        Role::Operator => "operator",
        Role::Viewer => "viewer",
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().cloned().ok_or_else(|| AppError::NoSession.into())
    }
}

/// Middleware, outside of the one that refuses pages of other sites: a request that shows a token is a script's. No page
/// can add that header for another site without asking that site first, which never answers. So neither what a browser
/// would say of itself nor a cookie counts.
pub(crate) async fn scripts_have_no_cookies(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    if access_token(headers).is_some() {
        for browsers_own in [header::COOKIE, header::ORIGIN, HeaderName::from_static("sec-fetch-site")] {
            headers.remove(browsers_own);
        }
    }
    next.run(request).await
}

/// What a request shows of who sends it.
pub(super) fn proof(headers: &HeaderMap) -> Option<Proof> {
    access_token(headers).map(Proof::Token).or_else(|| token(headers).map(Proof::Session))
}

/// The personal access token that a script shows. What a proxy adds for purposes of its own is none of ours.
fn access_token(headers: &HeaderMap) -> Option<Secret> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    let is_ours = scheme.eq_ignore_ascii_case("bearer") && token.starts_with(TOKEN_PREFIX);
    is_ours.then(|| Secret::new(token))
}

/// The session's token, as the browser sends it.
pub(crate) fn token(headers: &HeaderMap) -> Option<Secret> {
    CookieJar::from_headers(headers).get(COOKIE).map(|cookie| Secret::new(cookie.value()))
}

/// Where a request comes from: the other end of the connection, or where a trusted proxy says.
#[derive(Debug, Clone)]
pub(crate) struct Address(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Address {
    type Rejection = Infallible;
    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self(address(&parts.extensions)))
    }
}

pub(super) fn address(extensions: &http::Extensions) -> String {
    extensions.get::<ClientAddress>().map_or_else(|| "unknown".to_owned(), |client| client.0.to_string())
}
