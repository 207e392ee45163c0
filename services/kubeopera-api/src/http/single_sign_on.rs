//! `/api/v1/session/ways` and `/api/v1/session/oidc`: logging in at an identity provider.
//!
//! Browsers come here by following links, so that what they get is another page: the provider's, the one they wanted, or
//! the login page with a word for why not. Programs get a problem document.

use std::sync::Arc;

use auth_service_contract::ProviderAnswer;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    response::{AppendHeaders, IntoResponse, Response},
};
use axum_extra::extract::CookieJar;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use service_kit::{Json, Problem, ProblemBody};
use utoipa::{IntoParams, ToSchema};
use vocabulary::Secret;

use super::{
    caller::{Address, token},
    session::cookie,
};
use crate::{app::Platform, error::AppError};

/// Name of the cookie of a browser that is on the way to the identity provider.
const COOKIE: &str = "__Host-kubeopera-departed";
/// Seconds that it is kept: as long as one may be under way.
const LIFETIME: u32 = 600;

/// How people log in here.
#[derive(Serialize, ToSchema)]
pub(crate) struct LoginWays {
    /// With a user name and a password. Always, so that somebody can when the identity provider is away.
    password: bool,
    /// At an identity provider. Null if there is none.
    #[schema(required)]
    oidc: Option<OidcWay>,
}

/// An identity provider.
#[derive(Serialize, ToSchema)]
pub(crate) struct OidcWay {
    /// What people call it.
    name: String,
}

/// Where to go afterwards.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Departing {
    /// A path of the dashboard; anything else counts as `/`.
    #[serde(default)]
    return_to: String,
}

/// With what a browser comes back. Providers add what they like.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Arriving {
    /// The authorization code.
    #[param(value_type = Option<String>)]
    code: Option<Secret>,
    /// What the browser was sent there with.
    #[param(value_type = Option<String>)]
    state: Option<Secret>,
    /// Who answers.
    iss: Option<String>,
    /// Why there is no code.
    error: Option<String>,
}

/// Tells how people log in here.
#[utoipa::path(
    get,
    path = "/api/v1/session/ways",
    tag = "session",
    responses((status = 200, description = "How people log in here", body = LoginWays))
)]
pub(crate) async fn list_ways(State(platform): State<Arc<Platform>>) -> Json<LoginWays> {
    let oidc = platform.provider().map(|name| OidcWay { name: name.to_owned() });
    Json(LoginWays { password: true, oidc })
}

/// Sends a browser to the identity provider.
#[utoipa::path(
    get,
    path = "/api/v1/session/oidc",
    tag = "session",
    params(Departing),
    responses(
        (status = 303, description = "To the identity provider, or for a browser back to the login page"),
        (status = 404, description = "There is no identity provider", body = ProblemBody, content_type = "application/problem+json"),
        (status = 429, description = "Too many attempts; see Retry-After", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn depart(
    State(platform): State<Arc<Platform>>,
    Address(address): Address,
    headers: HeaderMap,
    query: Result<Query<Departing>, QueryRejection>,
) -> Response {
    let return_to = query.map(|Query(departing)| departing.return_to).unwrap_or_default();
    match platform.depart(&return_to, &address).await {
        Ok(departure) => {
            let departed = departed(departure.browser.reveal(), LIFETIME);
            (AppendHeaders([(header::SET_COOKIE, departed)]), to(departure.address.as_str())).into_response()
        }
        Err(error) => refused(&headers, error),
    }
}

/// Logs in who comes back from the identity provider.
#[utoipa::path(
    get,
    path = "/api/v1/session/oidc/callback",
    tag = "session",
    params(Arriving),
    responses(
        (status = 303, description = "Logged in, the session is in the cookie: to where one wanted. Or for a browser back to the login page"),
        (status = 401, description = "What came back proves nothing", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "The identity provider knows them and KubeOpera does not let them in", body = ProblemBody, content_type = "application/problem+json"),
        (status = 404, description = "There is no identity provider", body = ProblemBody, content_type = "application/problem+json"),
        (status = 503, description = "Not now", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn arrive(
    State(platform): State<Arc<Platform>>,
    Address(address): Address,
    headers: HeaderMap,
    query: Result<Query<Arriving>, QueryRejection>,
) -> Response {
    // A query that is not understood proves as little as an empty one.
    let answer = query.map(|Query(arriving)| arriving.into()).unwrap_or_default();
    let browser = CookieJar::from_headers(&headers).get(COOKIE).map(|cookie| Secret::new(cookie.value()));
    match platform.arrive(browser.as_ref(), answer, &address, token(&headers).as_ref()).await {
        Ok(arrival) => {
            let session = cookie(arrival.session.token.reveal().to_owned()).to_string();
            let cookies = [session, departed("", 0)].map(|cookie| (header::SET_COOKIE, cookie));
            (AppendHeaders(cookies), to(&arrival.return_to)).into_response()
        }
        Err(error) => refused(&headers, error),
    }
}

impl From<Arriving> for ProviderAnswer {
    fn from(Arriving { code, state, iss, error }: Arriving) -> Self {
        Self { code, state, issuer: iss, error }
    }
}

/// The cookie of a browser under way. Lax: the way back begins at the provider, which is another site.
fn departed(value: &str, lifetime: u32) -> String {
    format!("{COOKIE}={value}; Path=/; Max-Age={lifetime}; Secure; HttpOnly; SameSite=Lax")
}

/// A browser gets back to the login page with the word of the problem, a program the problem itself.
fn refused(headers: &HeaderMap, error: AppError) -> Response {
    let problem = Problem::from(error);
    let accepted = headers.get(header::ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    if accepted.contains("text/html") {
        to(&format!("/login?refused={}", problem.code()))
    } else {
        problem.into_response()
    }
}

fn to(address: &str) -> Response {
    match HeaderValue::from_str(address) {
        Ok(address) => (StatusCode::SEE_OTHER, [(header::LOCATION, address)]).into_response(),
        Err(_) => Problem::internal().into_response(),
    }
}
