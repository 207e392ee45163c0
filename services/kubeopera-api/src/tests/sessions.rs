//! Logging in and out.

use axum::body::Body;
use http::{Method, Request, StatusCode, header};
use serde_json::json;

use super::{
    World, on_both_databases,
    world::{PASSWORD, cookie_of},
};

on_both_databases! {
    logging_in_gives_a_cookie_that_only_this_host_gets_and_no_script_reads
    a_session_is_told_whose_it_is_until_it_is_logged_out
    logging_in_again_ends_the_session_the_browser_had
    an_id_that_somebody_else_chose_is_never_a_session
    whatever_ends_a_session_ends_it_at_once_on_every_replica
    a_wrong_password_and_an_unknown_name_are_answered_alike
    too_many_attempts_are_told_when_to_come_back
}

async fn logging_in_gives_a_cookie_that_only_this_host_gets_and_no_script_reads(world: World) {
    let answer = world.try_log_in("operator", PASSWORD).await;

    let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
    let mut parts: Vec<_> = cookie.split("; ").skip(1).collect();
    parts.sort_unstable();
    assert_eq!(parts, ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    assert!(cookie.starts_with("__Host-kubeopera="), "{cookie}");
    let session = answer.json();
    assert_eq!(session["user"]["username"], "operator");
    assert_eq!(session["user"]["role"], "operator");
    assert!(session["expires_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
    let token = cookie_of(&answer).split_once('=').unwrap().1.to_owned();
    assert!(!answer.text.contains(&token), "a script could read it");
}

async fn a_session_is_told_whose_it_is_until_it_is_logged_out(world: World) {
    assert_eq!(world.call(Method::GET, "/api/v1/session", None).await.code(), "session_expired");
    let cookie = world.log_in("viewer").await;

    assert_eq!(world.get("/api/v1/session", &cookie).await.json()["user"]["role"], "viewer");

    let gone = world.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    assert!(gone.headers[header::SET_COOKIE].to_str().unwrap().contains("Max-Age=0"), "{gone:?}");
    assert_eq!(world.get("/api/v1/session", &cookie).await.code(), "session_expired");
    let again = world.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await;
    assert_eq!(again.status, StatusCode::NO_CONTENT);
    assert_eq!(world.call(Method::DELETE, "/api/v1/session", None).await.status, StatusCode::NO_CONTENT);
}

async fn logging_in_again_ends_the_session_the_browser_had(world: World) {
    let before = world.log_in("viewer").await;
    let body = serde_json::json!({"username": "operator", "password": PASSWORD}).to_string();
    let request = Request::post("/api/v1/session")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::COOKIE, &before)
        .body(Body::from(body));

    let after = cookie_of(&world.send(request.unwrap()).await);

    assert_ne!(before, after);
    assert_eq!(world.get("/api/v1/session", &before).await.code(), "session_expired");
    assert_eq!(world.get("/api/v1/session", &after).await.json()["user"]["username"], "operator");
}

async fn an_id_that_somebody_else_chose_is_never_a_session(world: World) {
    let fixed = "__Host-kubeopera=chosen-by-somebody-else-chosen-by-somebody";
    let body = serde_json::json!({"username": "viewer", "password": PASSWORD}).to_string();
    let request = Request::post("/api/v1/session")
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::COOKIE, fixed)
        .body(Body::from(body));

    let own = cookie_of(&world.send(request.unwrap()).await);

    assert_ne!(own, fixed);
    assert_eq!(world.get("/api/v1/session", fixed).await.code(), "session_expired");
    assert_eq!(world.get("/api/v1/session", &own).await.status, StatusCode::OK);
}

async fn whatever_ends_a_session_ends_it_at_once_on_every_replica(world: World) {
    const OTHER: &str = "CANARY-other-horse-staple";
    let replica = world.beside().await;
    let administrator = world.log_in("administrator").await;
    let viewer = format!("/api/v1/users/{}", world.user("viewer").await);
    let own_password = json!({"current_password": OTHER, "password": PASSWORD});
    let session_of_viewer = async |password: &str| {
        let cookie = cookie_of(&world.try_log_in("viewer", password).await);
        assert_eq!(replica.get("/api/v1/session", &cookie).await.status, StatusCode::OK);
        cookie
    };
    let has_ended = async |cookie: &str, by: &str| {
        for one in [&world, &replica] {
            let answer = one.get("/api/v1/session", cookie).await;
            assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "session_expired"), "{by}");
        }
    };

    let cookie = session_of_viewer(PASSWORD).await;
    world.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await;
    has_ended(&cookie, "logging out").await;

    let cookie = session_of_viewer(PASSWORD).await;
    world.change(Method::PATCH, &viewer, &administrator, &json!({"role": "operator"})).await;
    has_ended(&cookie, "another role").await;

    let cookie = session_of_viewer(PASSWORD).await;
    world.change(Method::PUT, &format!("{viewer}/password"), &administrator, &json!({"password": OTHER})).await;
    has_ended(&cookie, "a password set by an administrator").await;

    let cookie = session_of_viewer(OTHER).await;
    let changed = world.change(Method::PUT, &format!("{viewer}/password"), &cookie, &own_password).await;
    has_ended(&cookie, "another password of one's own").await;
    assert_eq!(replica.get("/api/v1/session", &cookie_of(&changed)).await.status, StatusCode::OK);

    let cookie = session_of_viewer(PASSWORD).await;
    world.change(Method::PATCH, &viewer, &administrator, &json!({"disabled": true})).await;
    has_ended(&cookie, "being disabled").await;
}

async fn a_wrong_password_and_an_unknown_name_are_answered_alike(world: World) {
    let wrong = world.try_log_in("viewer", "guess").await;
    let unknown = world.try_log_in("nobody", "guess").await;

    for answer in [&wrong, &unknown] {
        assert_eq!((answer.status, answer.code().as_str()), (StatusCode::UNAUTHORIZED, "wrong_credentials"));
        assert!(!answer.headers.contains_key(header::SET_COOKIE));
    }
    assert_eq!(wrong.json()["detail"], unknown.json()["detail"]);
}

async fn too_many_attempts_are_told_when_to_come_back(world: World) {
    for _ in 0..5 {
        assert_eq!(world.try_log_in("viewer", "guess").await.code(), "wrong_credentials");
    }

    let refused = world.try_log_in("viewer", PASSWORD).await;

    assert_eq!((refused.status, refused.code().as_str()), (StatusCode::TOO_MANY_REQUESTS, "too_many_attempts"));
    let wait: u64 = refused.headers[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{wait}");
}
