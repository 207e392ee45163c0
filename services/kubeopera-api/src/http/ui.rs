//! The dashboard: files of `web/dist`, in the binary in release builds and from disk in debug builds.

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use rust_embed::RustEmbed;
use service_kit::Problem;

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Dist;

/// What is shown where the dashboard was not built.
const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>KubeOpera</title>\
    <h1>The dashboard is not built</h1><p>KubeOpera runs and its API answers under /api/v1, but its dashboard was not \
    built. Build it with <code>npm ci &amp;&amp; npm run build</code> in the folder <code>web</code>, or run \
    <code>make up</code>.</p></html>";

/// The file of this path, or the page itself: its router knows what the path means.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path();
    if path == "/api" || path.starts_with("/api/") {
        return Problem::new(StatusCode::NOT_FOUND, "no_such_address", "The API has nothing under this address.")
            .into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        return super::method_not_allowed().await.into_response();
    }
    let path = path.trim_start_matches('/');
    if path.starts_with("assets/") {
        // Their names change with their content.
        const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
        return file(path, &headers, FOR_EVER).unwrap_or_else(|| {
            Problem::new(StatusCode::NOT_FOUND, "no_such_file", "The dashboard has no such file.")
                .hint("It may belong to an older version. Reload the page.")
                .into_response()
        });
    }
    const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");
    file(path, &headers, ASK_EACH_TIME).or_else(|| file("index.html", &headers, ASK_EACH_TIME)).unwrap_or_else(|| {
        (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-store")], Html(NOT_BUILT)).into_response()
    })
}

fn file(path: &str, request: &HeaderMap, caching: HeaderValue) -> Option<Response> {
    let file = Dist::get(path)?;
    // Weak, because what is sent may be compressed.
    let hash: String = file.metadata.sha256_hash().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let etag = HeaderValue::from_str(&format!("W/\"{hash}\"")).ok()?;
    let known = request.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_known = known.split(',').any(|tag| tag.trim() == "*" || tag.contains(&hash));
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let type_ = HeaderValue::from_str(file.metadata.mimetype()).ok()?;
        ([(header::CONTENT_TYPE, type_)], file.data.into_owned()).into_response()
    };
    response.headers_mut().insert(header::ETAG, etag);
    response.headers_mut().insert(header::CACHE_CONTROL, caching);
    Some(response)
}
