//! A change that is refused is written down, whoever refuses it.

use axum::body::Body;
use http::{Method, Request, StatusCode};
use serde_json::json;

use super::{World, on_both_databases, roles::NOBODYS, tokens::tomorrow, world::PASSWORD};

on_both_databases! {
    what_is_refused_before_it_is_understood_is_one_row_denied
    whoever_has_to_choose_a_password_first_is_written_down_with_what_they_tried
    strangers_are_counted_and_fill_no_log
    somebody_who_is_refused_without_end_fills_no_log_and_is_counted
}

/// What is sent in each of the tests: a body of a type, with a header more.
fn request(method: &Method, path: &str, more: &[(&str, &str)], body: &str) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path).header("host", "kubeopera.acme.com");
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_owned())).unwrap()
}

async fn what_is_refused_before_it_is_understood_is_one_row_denied(world: World) {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let cookie = world.log_in("administrator").await;
    let own = world.user("administrator").await;
    let (cluster, user) = (format!("/api/v1/clusters/{NOBODYS}"), format!("/api/v1/users/{NOBODYS}"));
    let own_password = format!("/api/v1/users/{own}/password");
    let large = format!(r#"{{"username":"{}"}}"#, "x".repeat(70_000));
    let (put, patch) = (Method::PUT, Method::PATCH);

    for (method, path, header, body, status, action, object) in [
        (&Method::POST, "/api/v1/users", ("content-type", "text/plain"), "{}", 415, "add_user", None),
        (&Method::POST, "/api/v1/users", JSON, r#"{"username":"CANARY"#, 400, "add_user", None),
        (&Method::POST, "/api/v1/users", JSON, r#"{"role":"viewer","role":"viewer"}"#, 400, "add_user", None),
        (&Method::POST, "/api/v1/users", JSON, r#"{"CANARY":1}"#, 422, "add_user", None),
        (&Method::POST, "/api/v1/users", JSON, &large, 413, "add_user", None),
        (&patch, &*user, JSON, r#"{"role":"CANARY"}"#, 422, "change_user", Some(NOBODYS)),
        (&put, &*own_password, JSON, r#"{"password":"CANARY"}"#, 422, "change_own_password", Some(&*own)),
        (&patch, &*cluster, JSON, "{}", 428, "change_cluster", Some(NOBODYS)),
        (&Method::DELETE, "/api/v1/tokens/CANARY", JSON, "", 404, "revoke_token", None),
        (&put, "/api/v1/settings/git", JSON, r#"{"url":"https://x/y"}"#, 428, "change_git_setting", None),
        (
            &Method::POST,
            "/api/v1/clusters/register",
            ("sec-fetch-site", "cross-site"),
            "",
            403,
            "register_cluster",
            None,
        ),
        (&Method::POST, "/api/v1/tokens", ("origin", "https://evil.example"), "{}", 403, "make_token", None),
    ] {
        let before = world.audit().await.len();
        let refused = world.send(request(method, path, &[("cookie", &cookie), header], body)).await;
        assert_eq!(refused.status.as_u16(), status, "{path}: {refused:?}");
        let rows = world.audit().await.split_off(before);
        let [row] = rows.try_into().unwrap();
        assert_eq!((row.actor_name.as_deref(), row.action.as_str()), (Some("administrator"), action), "{path}");
        assert_eq!((row.outcome.as_str(), row.object.as_deref()), ("denied", object), "{path}");
        assert_eq!(row.request_id, refused.headers["x-request-id"].to_str().unwrap());
    }
    let rows = world.audit().await;
    assert!(!format!("{rows:?}").contains("CANARY"));
    audit_log::verify(world.platform.db.clone(), None).await.unwrap();
}

async fn whoever_has_to_choose_a_password_first_is_written_down_with_what_they_tried(world: World) {
    let administrator = world.log_in("administrator").await;
    let grace = json!({"username": "grace", "role": "operator", "password": PASSWORD});
    world.change(Method::POST, "/api/v1/users", &administrator, &grace).await;
    let grace = world.log_in("grace").await;
    let before = world.audit().await.len();

    assert_eq!(world.register(&grace).await.code(), "password_change_required");

    let rows = world.audit().await.split_off(before);
    let rows: Vec<_> = rows.iter().map(|row| (row.action.as_str(), row.outcome.as_str())).collect();
    assert_eq!(rows, [("register_cluster", "denied")]);
}

async fn strangers_are_counted_and_fill_no_log(world: World) {
    let cookie = world.log_in("viewer").await;
    let ended = world.log_in("operator").await;
    world.call(Method::DELETE, "/api/v1/session", Some(&ended)).await;
    let before = world.audit().await.len();

    let token = json!({"label": "CI", "expires_at": tomorrow()}).to_string();
    for shown in [("x-shown", "nothing"), ("cookie", &*ended), ("authorization", "Bearer ko_pat_forged")] {
        for more in [("content-type", "application/json"), ("sec-fetch-site", "cross-site")] {
            let refused = world.send(request(&Method::POST, "/api/v1/tokens", &[shown, more], &token)).await;
            assert!([StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&refused.status), "{refused:?}");
        }
    }
    let broken = request(&Method::POST, "/api/v1/session", &[("content-type", "application/json")], "{");
    assert_eq!(world.send(broken).await.status, StatusCode::BAD_REQUEST);

    assert_eq!(world.audit().await.len(), before);
    let metrics = world.get("/metrics", &cookie).await.text;
    assert!(metrics.contains("\nkubeopera_changes_refused_to_strangers_total 7\n"), "{metrics}");
}

async fn somebody_who_is_refused_without_end_fills_no_log_and_is_counted(world: World) {
    let (viewer, operator) = (world.log_in("viewer").await, world.log_in("operator").await);
    let before = world.audit().await.len();
    let nobodys = format!("/api/v1/tokens/{NOBODYS}");

    // A role that does not suffice, what is read and what is changed; what is not there; what cannot be read.
    for n in 0..70 {
        let refused = match n % 3 {
            0 => world.get("/api/v1/users", &viewer).await,
            1 => world.call(Method::DELETE, &nobodys, Some(&viewer)).await,
            _ => world.send(request(&Method::POST, "/api/v1/users", &[("cookie", &viewer)], "{")).await,
        };
        assert!(refused.status.is_client_error(), "{refused:?}");
    }
    assert_eq!(world.audit().await.len(), before + 60);
    assert_eq!(world.call(Method::DELETE, &nobodys, Some(&operator)).await.status, StatusCode::NOT_FOUND);

    assert_eq!(world.audit().await.len(), before + 61, "somebody else's is written down");
    let metrics = world.get("/metrics", &viewer).await.text;
    assert!(metrics.contains("\nkubeopera_refusals_not_written_down_total 10\n"), "{metrics}");
    assert!(metrics.contains("\nkubeopera_changes_refused_to_strangers_total 0\n"), "{metrics}");
}

#[test]
fn everything_that_changes_something_has_a_word_for_it() {
    for (method, path) in super::roles::routes() {
        let path = path.replace(NOBODYS, "{id}");
        let changes = method != "GET" && path != "/api/v1/clusters/estimate";
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        assert_eq!(crate::http::refusals::action(&method, &path).is_some(), changes, "{method} {path}");
    }
}
