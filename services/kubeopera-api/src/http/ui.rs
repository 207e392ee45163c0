//! The dashboard: files of `web/dist`, in the binary in release builds and from disk in debug builds.

use axum::response::{Html, IntoResponse, Response};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
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

/// For files whose names change with their content.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For all others: the browser asks whether it has the present one.
const ASK_EACH_TIME: HeaderValue = HeaderValue::from_static("no-cache");

/// The file of this path, or the page itself: its router knows what the path means.
pub(crate) async fn serve(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    serve_from::<Dist>(&method, &uri, &headers)
}

fn serve_from<Files: RustEmbed>(method: &Method, uri: &Uri, headers: &HeaderMap) -> Response {
    let path = uri.path();
    if path == "/api" || path.starts_with("/api/") {
        return Problem::new(StatusCode::NOT_FOUND, "no_such_address", "The API has nothing under this address.")
            .into_response();
    }
    if *method != Method::GET && *method != Method::HEAD {
        return super::method_not_allowed().into_response();
    }
    let path = path.trim_start_matches('/');
    if path.starts_with("assets/") {
        return file::<Files>(path, headers, FOR_EVER).unwrap_or_else(|| {
            Problem::new(StatusCode::NOT_FOUND, "no_such_file", "The dashboard has no such file.")
                .hint("It may belong to an older version. Reload the page.")
                .into_response()
        });
    }
    file::<Files>(path, headers, ASK_EACH_TIME)
        .or_else(|| file::<Files>("index.html", headers, ASK_EACH_TIME))
        .unwrap_or_else(|| {
            (StatusCode::NOT_FOUND, [(header::CACHE_CONTROL, "no-store")], Html(NOT_BUILT)).into_response()
        })
}

fn file<Files: RustEmbed>(path: &str, request: &HeaderMap, caching: HeaderValue) -> Option<Response> {
    let file = Files::get(path)?;
    // Weak, because what is sent may be compressed.
    let hash = URL_SAFE_NO_PAD.encode(file.metadata.sha256_hash());
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

    use axum::{Router, body::Body};
    use http::Request;
    use http_body_util::BodyExt;
    use tower::ServiceExt;
    use tower_http::compression::CompressionLayer;

    use super::*;

    #[derive(RustEmbed)]
    #[folder = "testdata/dashboard"]
    struct Built;

    #[derive(RustEmbed)]
    #[folder = "testdata/not-built"]
    #[allow_missing = true]
    struct NotBuilt;

    async fn get<Files: RustEmbed + 'static>(path: &str, headers: &[(&str, &str)]) -> (u16, HeaderMap, String) {
        let serve = async |method: Method, uri: Uri, headers: HeaderMap| serve_from::<Files>(&method, &uri, &headers);
        let router: Router = Router::new().fallback(serve).layer(CompressionLayer::new());
        let request = headers.iter().fold(Request::get(path), |request, (name, value)| request.header(*name, *value));
        let response = router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        (parts.status.as_u16(), parts.headers, String::from_utf8_lossy(&body).into_owned())
    }

    #[tokio::test]
    async fn every_address_of_the_dashboard_is_the_page_and_is_asked_for_each_time() {
        for path in [
            "/",
            "/clusters",
            "/clusters/7e9d3a1b",
            "/index.html",
            "/../Cargo.toml",
            "/%2e%2e/Cargo.toml",
            "//etc/passwd",
        ] {
            let (status, headers, body) = get::<Built>(path, &[]).await;
            assert_eq!((status, headers["cache-control"].to_str().unwrap()), (200, "no-cache"), "{path}");
            assert!(headers["content-type"].to_str().unwrap().starts_with("text/html"), "{path}");
            assert!(body.contains("Dashboard of the tests"), "{path}: {body}");
        }
    }

    #[tokio::test]
    async fn files_whose_names_change_with_their_content_are_kept_for_ever_and_compressed() {
        let (status, headers, body) = get::<Built>("/assets/page-1a2b3c.js", &[]).await;
        assert_eq!((status, headers["cache-control"].to_str().unwrap()), (200, "public, max-age=31536000, immutable"));
        assert!(headers["content-type"].to_str().unwrap().contains("javascript"));

        let (_, headers, packed) = get::<Built>("/assets/page-1a2b3c.js", &[("accept-encoding", "gzip")]).await;
        assert_eq!(
            (headers["content-encoding"].to_str().unwrap(), headers["vary"].to_str().unwrap()),
            ("gzip", "accept-encoding")
        );
        assert!(packed.len() < body.len() / 2);

        let (status, headers, _) = get::<Built>("/assets/page-0000.js", &[]).await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (404, "application/problem+json"));
    }

    #[tokio::test]
    async fn what_the_browser_has_already_is_not_sent_again() {
        let (_, headers, _) = get::<Built>("/", &[]).await;
        let etag = headers["etag"].to_str().unwrap();

        let (status, headers, body) = get::<Built>("/clusters", &[("if-none-match", etag)]).await;
        assert_eq!((status, body.as_str(), headers["etag"].to_str().unwrap()), (304, "", etag));
        let (status, ..) = get::<Built>("/", &[("if-none-match", "W/\"another\"")]).await;
        assert_eq!(status, 200);
    }

    #[tokio::test]
    async fn without_a_dashboard_one_plain_page_says_how_to_build_it() {
        for path in ["/", "/clusters"] {
            let (status, headers, body) = get::<NotBuilt>(path, &[]).await;
            assert_eq!((status, headers["cache-control"].to_str().unwrap()), (404, "no-store"));
            assert!(body.contains("npm run build") && !body.contains("<script"), "{body}");
        }
    }
}
