//! What protects everything, whatever the route.

use axum::body::Body;
use http::{Method, Request, StatusCode, header};

use super::{
    World,
    world::{PASSWORD, until},
};

fn change(headers: &[(&str, &str)], body: &'static str) -> Request<Body> {
    let mut request = Request::post("/api/v1/session").header(header::HOST, "kubeopera.acme.com");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body)).unwrap()
}

#[tokio::test]
async fn a_page_of_another_site_changes_nothing() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let world = World::on_sqlite().await;
    let cookie = world.log_in("operator").await;
    let body = r#"{"username":"nobody","password":"x"}"#;

    for foreign in [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "https://evil.example"),
        ("origin", "https://kubeopera.acme.com.evil.example"),
        ("origin", "https://kubeopera.acme.com:444"),
        ("origin", "null"),
    ] {
        let refused = world.send(change(&[JSON, foreign, ("cookie", &cookie)], body)).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "csrf_rejected"), "{foreign:?}");
        let register = Request::post("/api/v1/clusters/register")
            .header("host", "kubeopera.acme.com")
            .header("cookie", &cookie)
            .header(foreign.0, foreign.1);
        assert_eq!(world.send(register.body(Body::empty()).unwrap()).await.code(), "csrf_rejected", "{foreign:?}");
    }
    assert!(world.dump("clusters").await.is_empty());
    for own in [("sec-fetch-site", "same-origin"), ("origin", "https://kubeopera.acme.com"), ("x-own", "a script's")] {
        assert_eq!(world.send(change(&[JSON, own], body)).await.code(), "wrong_credentials", "{own:?}");
    }
    let form = change(&[("content-type", "text/plain"), ("sec-fetch-site", "same-origin")], body);
    assert_eq!(world.send(form).await.code(), "json_required");
}

#[tokio::test]
async fn no_answer_lets_another_site_read_it() {
    let world = World::on_sqlite().await;
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/api/v1/clusters")
        .header("origin", "https://evil.example")
        .header("access-control-request-method", "POST");

    let answer = world.send(request.body(Body::empty()).unwrap()).await;

    assert!(!answer.headers.keys().any(|name| name.as_str().starts_with("access-control-")), "{answer:?}");
}

#[tokio::test]
async fn fields_nobody_asked_for_and_bodies_too_large_are_refused() {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let world = World::on_sqlite().await;

    let extra = change(&[JSON], r#"{"username":"viewer","password":"x","role":"platform_administrator"}"#);
    let refused = world.send(extra).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, "field_invalid"));

    let large = Request::post("/api/v1/session").header("content-type", "application/json");
    let refused = world.send(large.body(Body::from("x".repeat(70_000))).unwrap()).await;
    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (413, "body_too_large"));

    let cookie = world.log_in("viewer").await;
    for query in ["limit=x", "limit=-1", "limit=70000", "limit=1&limit=2", "sort=x", "cursor=%25", "cursor=KioqKg"] {
        let refused = world.get(&format!("/api/v1/clusters?{query}"), &cookie).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{query}: {refused:?}");
    }
}

#[tokio::test]
async fn every_answer_tells_the_browser_to_be_strict() {
    let world = World::on_sqlite().await;

    for path in ["/", "/clusters", "/api/v1/session", "/livez", "/assets/missing.js"] {
        let answer = world.call(Method::GET, path, None).await;
        let csp = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(csp.contains("default-src 'none'") && csp.contains("frame-ancestors 'none'"), "{csp}");
        assert!(!csp.contains("unsafe"), "{csp}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(answer.headers["referrer-policy"], "no-referrer", "{path}");
    }
}

#[tokio::test]
async fn health_names_what_is_missing() {
    let world = World::on_sqlite().await;
    assert_eq!(world.call(Method::GET, "/livez", None).await.status, StatusCode::OK);
    let starting = world.call(Method::GET, "/readyz", None).await;
    assert_eq!(starting.status, StatusCode::OK);
    assert_eq!(starting.json()["missing"][0]["part"], "kubernetes");

    world.start();
    until("everything is there", async || {
        let answer = world.call(Method::GET, "/readyz", None).await.json();
        answer["missing"].as_array().unwrap().is_empty().then_some(())
    })
    .await;

    world.platform.db.clone().close().await.unwrap();
    let without = world.call(Method::GET, "/readyz", None).await;
    assert_eq!(without.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(without.json()["missing"][0]["part"], "database");
    assert_eq!(world.call(Method::GET, "/livez", None).await.status, StatusCode::OK);
    let login = world.try_log_in("viewer", PASSWORD).await;
    assert_eq!((login.status.as_u16(), login.code().as_str()), (503, "not_available"));
}
