//! HTTP: extract, call a use case, answer. Nothing is decided here but who is let in.

mod audit;
mod caller;
mod catalogue;
mod clusters;
mod connect;
mod create;
mod credentials;
mod describe;
mod estimate;
mod etag;
mod events;
mod fields;
mod git_setting;
mod health;
mod kubeconfig_check;
mod metrics;
mod monitor;
mod page;
mod parting;
mod provisioning;
mod proxies;
mod query;
pub(crate) mod refusals;
mod registry_setting;
mod replace_kubeconfig;
mod retry;
mod session;
mod sessions;
mod single_sign_on;
mod tokens;
mod ui;
mod users;

use std::sync::Arc;

use axum::{
    Router,
    extract::{DefaultBodyLimit, Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use service_kit::{Problem, request};
use tower_http::{
    catch_panic::CatchPanicLayer,
    compression::CompressionLayer,
    csrf::{ConfigError, CsrfLayer, ProtectionError},
};
use utoipa::{
    OpenApi,
    openapi::{
        ContentBuilder, PathItem, Ref, ResponseBuilder,
        path::Operation,
        security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme},
    },
};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{app::Platform, config::Config};

/// A name and a password, each of whose characters may be twelve in JSON. Strangers may leave as many bodies half sent as
/// there are connections.
const LARGEST_OPEN_BODY: usize = 4 * 1024;

/// No other request of the API needs more.
const LARGEST_BODY: usize = 64 * 1024;

/// A kubeconfig of 1023 KiB in JSON, where each line end and quote takes two characters, or in base64.
const LARGEST_FILE_BODY: usize = 3 * 1024 * 1024;

/// What a page from here may load and do: only what comes from here. No inline script, no frame around it.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'none'; img-src 'self' data:; \
     font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
);

#[derive(OpenApi)]
#[openapi(info(
    title = "KubeOpera",
    description = "The API of kubeopera-api, which the dashboard uses. Errors are RFC 9457 problem documents whose \
                   `code` is stable.",
    license(name = "Apache-2.0", identifier = "Apache-2.0")
))]
struct Document;

/// Routes that need no session.
fn open_routes() -> OpenApiRouter<Arc<Platform>> {
    OpenApiRouter::new()
        .routes(routes!(session::create_session, session::delete_session))
        .routes(routes!(single_sign_on::list_ways))
        .routes(routes!(single_sign_on::depart))
        .routes(routes!(single_sign_on::arrive))
        .layer(DefaultBodyLimit::max(LARGEST_OPEN_BODY))
}

/// Routes behind a session. Whoever adds one here need not think of that; what the caller may do is checked in `app`.
fn guarded_routes() -> OpenApiRouter<Arc<Platform>> {
    OpenApiRouter::new()
        .merge(guarded_routes_for_files())
        .routes(routes!(session::get_session))
        .routes(routes!(clusters::list_clusters))
        .routes(routes!(clusters::register_cluster))
        .routes(routes!(clusters::get_cluster, describe::change_cluster, parting::delete_cluster))
        .routes(routes!(metrics::tell_prometheus))
        .routes(routes!(monitor::compare_clusters))
        .routes(routes!(monitor::monitor_cluster))
        .routes(routes!(retry::retry_cluster))
        .routes(routes!(provisioning::get_provisioning))
        .routes(routes!(provisioning::get_provisioning_log))
        .routes(routes!(provisioning::give_up))
        .routes(routes!(parting::preview_disconnect, parting::disconnect_cluster))
        .routes(routes!(parting::get_receipt))
        .routes(routes!(create::create_cluster))
        .routes(routes!(estimate::estimate_cluster))
        .routes(routes!(catalogue::get_catalogue))
        .routes(routes!(catalogue::list_instance_types))
        .routes(routes!(events::stream_events))
        .routes(routes!(users::list_users, users::add_user))
        .routes(routes!(users::change_user))
        .routes(routes!(users::set_password))
        .routes(routes!(sessions::list_sessions))
        .routes(routes!(sessions::end_session))
        .routes(routes!(tokens::list_tokens, tokens::make_token))
        .routes(routes!(tokens::revoke_token))
        .routes(routes!(credentials::list_credentials, credentials::add_credential))
        .routes(routes!(credentials::change_credential, credentials::delete_credential))
        .routes(routes!(credentials::check_credential))
        .routes(routes!(git_setting::get_git_setting, git_setting::put_git_setting, git_setting::delete_git_setting))
        .routes(routes!(git_setting::check_git_setting))
        .routes(routes!(
            registry_setting::get_registry_setting,
            registry_setting::put_registry_setting,
            registry_setting::delete_registry_setting
        ))
        .routes(routes!(audit::list_audit))
        .routes(routes!(audit::export_audit))
}

/// Routes behind a session that take a whole kubeconfig.
fn guarded_routes_for_files() -> OpenApiRouter<Arc<Platform>> {
    OpenApiRouter::new()
        .routes(routes!(connect::connect_cluster))
        .routes(routes!(replace_kubeconfig::replace_kubeconfig))
        .routes(routes!(kubeconfig_check::check_kubeconfig))
        .layer(DefaultBodyLimit::max(LARGEST_FILE_BODY))
}

/// The document, made from the handlers.
pub(crate) fn openapi() -> utoipa::openapi::OpenApi {
    let routes = open_routes().merge(guarded_routes());
    let mut document = OpenApiRouter::with_openapi(Document::openapi()).merge(routes).into_openapi();
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(session::COOKIE)));
    let token = SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("ko_pat_…").build());
    for item in document.paths.paths.values_mut() {
        let PathItem { put, post, delete, patch, .. } = item;
        for operation in [put, post, delete, patch].into_iter().flatten().filter(|one| one.request_body.is_some()) {
            say_what_becomes_of_bodies(operation);
        }
    }
    let schemes = &mut document.components.get_or_insert_default().security_schemes;
    schemes.insert("session".to_owned(), cookie.into());
    schemes.insert("token".to_owned(), token.into());
    document
}

/// What any route may answer that takes a body.
fn say_what_becomes_of_bodies(operation: &mut Operation) {
    let refusals = [
        ("400", "The body is not JSON"),
        ("413", "The body is larger than is accepted here"),
        ("415", "The body is not said to be JSON"),
    ];
    for (status, description) in refusals {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new().description(description).content("application/problem+json", content);
        operation.responses.responses.entry(status.to_owned()).or_insert_with(|| response.build().into());
    }
}

/// The whole surface: API, health, dashboard.
pub(crate) fn router(platform: Arc<Platform>, config: &Config) -> Result<Router, ConfigError> {
    let mut csrf = CsrfLayer::new();
    for origin in &config.trusted_origins {
        csrf = csrf.add_trusted_origin(origin)?;
    }
    let csrf = csrf.with_rejection_response(|_: ProtectionError| {
        Problem::new(
            StatusCode::FORBIDDEN,
            "csrf_rejected",
            "This was asked for by a page of another site, so it was refused.",
        )
        .hint("If KubeOpera is behind a proxy, let it pass the headers Host and Origin on unchanged.")
        .into_response()
    });
    let (open, _) = open_routes().split_for_parts();
    let (guarded, _) = guarded_routes().split_for_parts();
    let guarded = guarded.route_layer(from_fn_with_state(Arc::clone(&platform), caller::require_session));
    let api = Router::new()
        .merge(open)
        .merge(guarded)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(config.request_limit, request::time_limit))
        .layer(csrf)
        .layer(from_fn(streams_are_like_changes))
        .layer(from_fn_with_state(Arc::clone(&platform), refusals::write_down))
        .layer(from_fn(caller::scripts_have_no_cookies))
        .layer(from_fn(never_stored));
    Ok(Router::new()
        .merge(api)
        .merge(health::routes())
        .fallback(ui::serve)
        .method_not_allowed_fallback(async || method_not_allowed())
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(request::panicked))
        .layer(from_fn(security_headers))
        .layer(from_fn_with_state(Hsts::of(config), strict_transport))
        .layer(from_fn_with_state(Arc::from(config.trusted_proxies.clone()), proxies::find_client))
        .layer(from_fn(request::scope))
        .with_state(platform))
}

fn method_not_allowed() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", "This address does not know this method.")
        .hint("The header Allow lists those it knows.")
}

/// A stream is kept open with somebody's rights, so that a page of another site gets it no more than it may change
/// something. The handler does not look at the method.
async fn streams_are_like_changes(mut request: Request, next: Next) -> Response {
    if request.uri().path() == "/api/v1/events" {
        *request.method_mut() = Method::POST;
    }
    next.run(request).await
}

/// Answers of the API are about this moment and this person.
async fn never_stored(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    response.headers_mut().entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// What a browser is told about coming back over HTTPS alone: a year, if that is how people open the dashboard.
#[derive(Clone)]
struct Hsts(Option<HeaderValue>);

impl Hsts {
    fn of(config: &Config) -> Self {
        let is_https = config.external_url.as_ref().is_some_and(|url| url.starts_with("https://"));
        Self(is_https.then(|| HeaderValue::from_static("max-age=31536000")))
    }
}

async fn strict_transport(State(Hsts(value)): State<Hsts>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    if let Some(value) = value {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, value);
    }
    response
}

async fn security_headers(request: Request, next: Next) -> Response {
    const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
    const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
    const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(PERMISSIONS_POLICY, HeaderValue::from_static("camera=(), geolocation=(), microphone=()"));
    headers.insert(OPENER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-origin"));
    response
}
