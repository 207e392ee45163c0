//! What proxies say, and what clients say in their place.

use std::{net::SocketAddr, sync::Arc};

use axum::{body::Body, extract::ConnectInfo};
use http::{Request, StatusCode, header};
use serde_json::json;

use super::{
    World, on_both_databases,
    world::{Answer, PASSWORD},
};
use crate::config::Config;

on_both_databases! {
    the_address_that_counts_is_the_one_that_a_trusted_proxy_names
    what_a_client_says_of_itself_counts_for_nothing
}

impl World {
    fn behind_proxies(mut self, ranges: &[&str]) -> Self {
        let trusted_proxies = ranges.iter().map(|range| range.parse().unwrap()).collect();
        let external_url = Some("https://kubeopera.acme.com".to_owned());
        let config = Config { external_url, trusted_proxies, ..Config::default() };
        self.router = crate::http::router(Arc::clone(&self.platform), &config).unwrap();
        self
    }

    async fn log_in_from(&self, peer: &str, forwarded: &str, password: &str) -> Answer {
        let mut request = Request::post("/api/v1/session")
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-forwarded-for", forwarded)
            .body(Body::from(json!({"username": "viewer", "password": password}).to_string()))
            .unwrap();
        request.extensions_mut().insert(ConnectInfo(format!("{peer}:4711").parse::<SocketAddr>().unwrap()));
        self.send(request).await
    }

    /// Where sessions were opened from.
    async fn addresses(&self, cookie: &str) -> Vec<String> {
        let sessions = self.get("/api/v1/sessions", cookie).await.json();
        let of = |session: &serde_json::Value| session["address"].as_str().unwrap().to_owned();
        let mut addresses: Vec<_> = sessions["items"].as_array().unwrap().iter().map(of).collect();
        addresses.sort();
        addresses
    }
}

async fn the_address_that_counts_is_the_one_that_a_trusted_proxy_names(world: World) {
    let world = world.behind_proxies(&["10.0.0.0/8"]);
    for guess in 0..5 {
        // What is left of the client's own address is what the client says.
        let forwarded = format!("198.51.100.{guess}, 203.0.113.9");
        assert_eq!(world.log_in_from("10.0.0.1", &forwarded, "guess").await.code(), "wrong_credentials");
    }

    assert_eq!(world.log_in_from("10.0.0.1", "203.0.113.9", PASSWORD).await.code(), "too_many_attempts");
    let elsewhere = world.log_in_from("10.0.0.1", "203.0.113.8, 10.9.9.9", PASSWORD).await;
    assert_eq!(elsewhere.status, StatusCode::OK, "behind the same proxy");

    let cookie = super::world::cookie_of(&elsewhere);
    assert_eq!(world.addresses(&cookie).await, ["203.0.113.8"]);
    let rows = world.dump("audit_entries").await.join("\n");
    assert!(rows.contains("203.0.113.9") && rows.contains("203.0.113.8"), "{rows}");
    assert!(!rows.contains("10.0.0.1") && !rows.contains("198.51.100"), "{rows}");
}

async fn what_a_client_says_of_itself_counts_for_nothing(world: World) {
    let answer = world.log_in_from("203.0.113.7", "198.51.100.1", PASSWORD).await;
    let cookie = super::world::cookie_of(&answer);
    assert_eq!(world.addresses(&cookie).await, ["203.0.113.7"]);

    for (name, value) in [
        ("x-forwarded-user", "administrator"),
        ("x-remote-user", "administrator"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example"),
        ("connection", "cookie"),
        ("host", "evil.example"),
    ] {
        let request = Request::get("/api/v1/session").header(name, value).body(Body::empty()).unwrap();
        assert_eq!(world.send(request).await.code(), "session_expired", "{name}");
        let request = Request::get("/api/v1/session").header(header::COOKIE, &cookie).header(name, value);
        let session = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!(session.json()["user"]["username"], "viewer", "{name}");
        assert!(!format!("{session:?}").contains("evil.example"), "{name}");
    }
    for name in ["impersonate-user", "Impersonate-Group", "impersonate-uid", "impersonate-extra-scopes"] {
        let request = Request::get("/api/v1/session").header(header::COOKIE, &cookie).header(name, "system:masters");
        let refused = world.send(request.body(Body::empty()).unwrap()).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::BAD_REQUEST, "impersonation_refused"));
    }
}

#[tokio::test]
async fn browsers_are_told_to_come_over_https_where_that_is_the_way() {
    let world = World::on_sqlite().await;
    for path in ["/", "/api/v1/session", "/livez"] {
        let answer = world.call(http::Method::GET, path, None).await;
        assert!(!answer.headers.contains_key("strict-transport-security"), "{path}");
    }
    let world = world.behind_proxies(&[]);
    for path in ["/", "/api/v1/session", "/livez"] {
        let answer = world.call(http::Method::GET, path, None).await;
        assert_eq!(answer.headers["strict-transport-security"], "max-age=31536000", "{path}");
    }
}
