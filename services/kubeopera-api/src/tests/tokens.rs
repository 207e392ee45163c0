//! Personal access tokens.

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{World, on_both_databases, world::Answer};

on_both_databases! {
    a_token_does_what_its_owner_may_do_and_opens_no_session
    a_token_counts_whatever_a_browser_would_say_and_a_cookie_beside_it_does_not
    what_is_no_good_token_lets_nobody_in
    a_token_makes_no_other_token_and_changes_no_password
    a_token_lets_nobody_in_and_changes_nobody
    tokens_are_shown_once_listed_and_revoked
}

pub(super) fn tomorrow() -> Value {
    json!(Timestamp::now() + SignedDuration::from_hours(24))
}

impl World {
    /// Makes a token and returns it with its id.
    pub(super) async fn token_of(&self, cookie: &str) -> (String, String) {
        let body = json!({"label": "CI", "expires_at": tomorrow()});
        let made = self.change(Method::POST, "/api/v1/tokens", cookie, &body).await;
        assert_eq!(made.status, StatusCode::CREATED, "{made:?}");
        let made = made.json();
        (made["secret"].as_str().unwrap().to_owned(), made["token"]["id"].as_str().unwrap().to_owned())
    }

    pub(super) async fn with_token(&self, method: Method, path: &str, token: &str, more: &[(&str, &str)]) -> Answer {
        let mut request = Request::builder().method(method).uri(path).header(header::HOST, "kubeopera.acme.com");
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        for (name, value) in more {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(r#"{"label":"CI","expires_at":"2099-01-01T00:00:00Z"}"#)).unwrap()).await
    }
}

const REGISTER: &str = "/api/v1/clusters/register";

async fn a_token_does_what_its_owner_may_do_and_opens_no_session(world: World) {
    for (name, users, register) in [("viewer", 403, 403), ("operator", 403, 201), ("administrator", 200, 200)] {
        let (token, _) = world.token_of(&world.log_in(name).await).await;

        let session = world.with_token(Method::GET, "/api/v1/session", &token, &[]).await;
        assert_eq!(session.json()["user"]["username"], name);
        assert!(!session.headers.contains_key(header::SET_COOKIE));
        assert_eq!(world.with_token(Method::GET, "/api/v1/users", &token, &[]).await.status.as_u16(), users, "{name}");
        assert_eq!(world.with_token(Method::POST, REGISTER, &token, &[]).await.status.as_u16(), register, "{name}");
    }
}

async fn a_token_counts_whatever_a_browser_would_say_and_a_cookie_beside_it_does_not(world: World) {
    let administrator = world.log_in("administrator").await;
    let (of_operator, _) = world.token_of(&world.log_in("operator").await).await;

    for said in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
        let answer = world.with_token(Method::POST, REGISTER, &of_operator, &[said]).await;
        assert!(answer.status.is_success(), "{said:?}: {answer:?}");
    }
    let with_cookie = [("cookie", administrator.as_str())];
    let answer = world.with_token(Method::GET, "/api/v1/users", &of_operator, &with_cookie).await;
    assert_eq!(answer.code(), "forbidden", "the cookie of somebody who may do more");
    let evil = [("cookie", administrator.as_str()), ("origin", "https://evil.example")];
    let answer = world.with_token(Method::POST, REGISTER, "ko_pat_forged", &evil).await;
    assert_eq!(answer.code(), "session_expired", "a forged token does not get a cookie past the check of the origin");
}

async fn what_is_no_good_token_lets_nobody_in(world: World) {
    let cookie = world.log_in("viewer").await;
    let (token, _) = world.token_of(&cookie).await;
    let of_session = cookie.split_once('=').unwrap().1;

    for (shown, beside_a_cookie) in [
        (format!("Bearer {token}x"), "session_expired"),
        ("Bearer ko_pat_".to_owned(), "session_expired"),
        // None of ours: a proxy's own, beside which the cookie counts.
        (format!("Bearer {of_session}"), "viewer"),
        (format!("Basic {token}"), "viewer"),
        ("Bearer".to_owned(), "viewer"),
        (String::new(), "viewer"),
    ] {
        let request = || Request::get("/api/v1/session").header(header::AUTHORIZATION, &shown);
        let answer = world.send(request().body(Body::empty()).unwrap()).await;
        assert_eq!(answer.code(), "session_expired", "{shown}");
        let answer = world.send(request().header("cookie", &cookie).body(Body::empty()).unwrap()).await;
        assert!(answer.text.contains(beside_a_cookie), "{shown}: {answer:?}");
        let evil = Request::post(REGISTER).header(header::AUTHORIZATION, &shown).header("cookie", &cookie);
        let evil = evil.header("origin", "https://evil.example").body(Body::empty()).unwrap();
        let code = if beside_a_cookie == "viewer" { "csrf_rejected" } else { "session_expired" };
        assert_eq!(world.send(evil).await.code(), code, "{shown}");
    }
    let as_cookie = world.get("/api/v1/session", &format!("__Host-kubeopera={token}")).await;
    assert_eq!(as_cookie.code(), "session_expired");
}

async fn a_token_makes_no_other_token_and_changes_no_password(world: World) {
    let (token, _) = world.token_of(&world.log_in("administrator").await).await;

    let json = [("content-type", "application/json")];
    let refused = world.with_token(Method::POST, "/api/v1/tokens", &token, &json).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "session_required"));
    let path = format!("/api/v1/users/{}/password", world.user("administrator").await);
    let request = Request::put(path)
        .header("authorization", format!("Bearer {token}"))
        .header("content-type", "application/json");
    let body = json!({"current_password": super::world::PASSWORD, "password": "CANARY-another-horse"});
    let refused = world.send(request.body(Body::from(body.to_string())).unwrap()).await;
    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "session_required"));

    let rows = world.told().await;
    assert_eq!(rows.iter().filter(|row| row.contains("denied")).count(), 2, "{rows:#?}");
    world.log_in("administrator").await;
}

async fn a_token_lets_nobody_in_and_changes_nobody(world: World) {
    let (token, _) = world.token_of(&world.log_in("administrator").await).await;
    let viewer = format!("/api/v1/users/{}", world.user("viewer").await);
    let before = world.dump("users").await;

    for (method, path, body) in [
        (Method::POST, "/api/v1/users", json!({"username": "eve", "role": "viewer", "password": "CANARY-eves-horse"})),
        (Method::PATCH, &*viewer, json!({"role": "platform_administrator"})),
        (Method::PUT, &*format!("{viewer}/password"), json!({"password": "CANARY-eves-horse"})),
    ] {
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {token}"));
        let refused = world.send(request.body(Body::from(body.to_string())).unwrap()).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::FORBIDDEN, "session_required"), "{path}");
    }

    assert_eq!(world.dump("users").await, before);
    let rows = world.told().await;
    for action in ["|add_user|", "|change_user|", "|reset_password|"] {
        assert_eq!(rows.iter().filter(|row| row.contains(action) && row.contains("|denied|")).count(), 1, "{action}");
    }
}

async fn tokens_are_shown_once_listed_and_revoked(world: World) {
    let (viewer, operator) = (world.log_in("viewer").await, world.log_in("operator").await);
    let administrator = world.log_in("administrator").await;
    let (token, id) = world.token_of(&viewer).await;
    let (of_operator, id_of_operator) = world.token_of(&operator).await;

    let listed = world.get("/api/v1/tokens", &viewer).await;
    assert_eq!(listed.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&listed.json()["items"][0]["label"], &listed.json()["items"][0]["last_used_at"]),
        (&json!("CI"), &json!(null))
    );
    assert!(!listed.text.contains(&token));
    let path = format!("/api/v1/tokens/{id}");
    let of_viewer = format!("/api/v1/tokens?user={}", world.user("viewer").await);
    assert_eq!(world.get(&of_viewer, &operator).await.code(), "forbidden");
    assert_eq!(world.get(&of_viewer, &administrator).await.json()["items"].as_array().unwrap().len(), 1);
    assert_eq!(world.call(Method::DELETE, &path, Some(&operator)).await.code(), "no_such_token");
    assert!(world.with_token(Method::GET, "/api/v1/session", &token, &[]).await.status.is_success());

    assert_eq!(world.call(Method::DELETE, &path, Some(&viewer)).await.status, StatusCode::NO_CONTENT);
    let path = format!("/api/v1/tokens/{id_of_operator}");
    assert_eq!(world.call(Method::DELETE, &path, Some(&administrator)).await.status, StatusCode::NO_CONTENT);
    for revoked in [token, of_operator] {
        assert_eq!(world.with_token(Method::GET, "/api/v1/session", &revoked, &[]).await.code(), "session_expired");
    }
    for (expires_at, code) in [
        (json!("2020-01-01T00:00:00Z"), "expiry_not_acceptable"),
        (json!("2099-01-01T00:00:00Z"), "expiry_not_acceptable"),
        (json!("tomorrow"), "field_invalid"),
        (json!(null), "field_invalid"),
    ] {
        let body = json!({"label": "CI", "expires_at": expires_at});
        let refused = world.change(Method::POST, "/api/v1/tokens", &viewer, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{body}");
        assert_eq!(refused.json()["field"], "expires_at", "{body}");
    }
}
