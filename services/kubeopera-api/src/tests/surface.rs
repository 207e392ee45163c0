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
