//! What a page of another site can do with somebody's browser: nothing.

use std::collections::BTreeMap;

use axum::body::Body;
use http::{Method, Request, StatusCode};
use tower::ServiceExt;

use super::World;

/// What browsers say of a request that another site's page makes, each enough to refuse it.
const FOREIGN: [(&str, &str); 6] = [
    ("sec-fetch-site", "cross-site"),
    ("sec-fetch-site", "same-site"),
    ("origin", "https://evil.example"),
    ("origin", "https://kubeopera.acme.com.evil.example"),
    ("origin", "https://kubeopera.acme.com:444"),
    ("origin", "null"),
];

const OWN: [(&str, &str); 3] =
    [("sec-fetch-site", "same-origin"), ("origin", "https://kubeopera.acme.com"), ("x-own", "a script's")];

fn log_in(headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::post("/api/v1/session").header("host", "kubeopera.acme.com");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(r#"{"username":"nobody","password":"x"}"#)).unwrap()
}

#[tokio::test]
async fn a_page_of_another_site_changes_nothing() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let world = World::on_sqlite().await;
    let cookie = world.log_in("operator").await;

    for foreign in FOREIGN {
        let refused = world.send(log_in(&[JSON, foreign, ("cookie", &cookie)])).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "csrf_rejected"), "{foreign:?}");
        let register = Request::post("/api/v1/clusters/register")
            .header("host", "kubeopera.acme.com")
            .header("cookie", &cookie)
            .header(foreign.0, foreign.1);
        assert_eq!(world.send(register.body(Body::empty()).unwrap()).await.code(), "csrf_rejected", "{foreign:?}");
    }
    assert!(world.dump("clusters").await.is_empty());
    for own in OWN {
        assert_eq!(world.send(log_in(&[JSON, own])).await.code(), "wrong_credentials", "{own:?}");
    }
    let form = log_in(&[("content-type", "text/plain"), ("sec-fetch-site", "same-origin")]);
    assert_eq!(world.send(form).await.code(), "json_required");
}

#[tokio::test]
async fn a_page_of_another_site_gets_no_stream_and_nobody_a_socket() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("viewer").await;
    let socket = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let ask = async |said: (&str, &str), more: &[(&str, &str)]| {
        let mut request = Request::get("/api/v1/events").header("host", "kubeopera.acme.com").header("cookie", &cookie);
        for (name, value) in more.iter().chain([&said]) {
            request = request.header(*name, *value);
        }
        // Only the head: it is a stream without end.
        world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    };

    for handshake in [&[][..], &socket] {
        for foreign in FOREIGN {
            let refused = ask(foreign, handshake).await;
            assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{foreign:?} {handshake:?}");
        }
        for own in OWN {
            let stream = ask(own, handshake).await;
            assert_eq!(
                (stream.status(), &stream.headers()["content-type"] == "text/event-stream"),
                (StatusCode::OK, true)
            );
            assert!(!stream.headers().contains_key("upgrade"), "{own:?}: {stream:?}");
        }
    }
}

#[tokio::test]
async fn no_answer_lets_another_site_read_it() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("administrator").await;

    for (method, path) in super::roles::routes() {
        for method in [method.as_str(), "OPTIONS"] {
            let request = Request::builder()
                .method(method)
                .uri(&path)
                .header("cookie", &cookie)
                .header("origin", "https://evil.example")
                .header("access-control-request-method", "POST")
                .header("access-control-request-headers", "authorization");
            let answer = world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
            let told = answer.headers().keys().any(|name| name.as_str().starts_with("access-control-"));
            assert!(!told, "{method} {path}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn an_image_or_a_link_changes_nothing() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("administrator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let state = async || {
        let mut state = BTreeMap::new();
        for table in ["clusters", "outbox", "users", "sessions", "access_tokens", "credentials", "git_setting"] {
            state.insert(table, world.dump(table).await);
        }
        (state, world.api_server.secrets(), world.api_server.resources())
    };
    let before = state().await;

    for (_, path) in super::roles::routes().into_iter().filter(|(method, _)| method == "GET") {
        for method in [Method::GET, Method::HEAD] {
            let request = Request::builder()
                .method(method)
                .uri(path.replace(super::roles::NOBODYS, &id))
                .header("cookie", &cookie)
                .header("sec-fetch-site", "cross-site");
            world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        }
    }

    assert_eq!(state().await, before);
}
