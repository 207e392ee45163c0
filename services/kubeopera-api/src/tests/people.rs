//! Users, their passwords and their sessions.

use http::{Method, Request, StatusCode, header};
use serde_json::json;

use super::{
    World, on_both_databases,
    world::{PASSWORD, cookie_of},
};

on_both_databases! {
    an_administrator_adds_people_changes_their_role_and_disables_them
    a_field_that_breaks_a_rule_is_named_with_the_rule
    a_field_that_is_there_twice_is_refused
    the_last_administrator_stays_one_and_is_told_what_to_do
    ones_own_password_needs_the_present_one_and_begins_a_new_session
    an_administrator_resets_the_password_of_somebody_else
    sessions_are_listed_and_ended_by_their_owner_or_an_administrator
    changes_of_people_are_written_down
}

const NEW_PASSWORD: &str = "CANARY-another-horse-staple";

async fn an_administrator_adds_people_changes_their_role_and_disables_them(world: World) {
    let administrator = world.log_in("administrator").await;
    let body = json!({"username": "grace", "role": "viewer", "password": PASSWORD});

    let added = world.change(Method::POST, "/api/v1/users", &administrator, &body).await;
    assert_eq!((added.status, added.json()["role"].as_str().unwrap()), (StatusCode::CREATED, "viewer"));
    let path = format!("/api/v1/users/{}", added.json()["id"].as_str().unwrap());
    let again = world.change(Method::POST, "/api/v1/users", &administrator, &body).await;
    assert_eq!((again.status, again.code().as_str()), (StatusCode::CONFLICT, "name_taken"));
    let grace = world.log_in("grace").await;
    assert_eq!(world.get("/api/v1/clusters", &grace).await.code(), "password_change_required");

    let changed = world.change(Method::PATCH, &path, &administrator, &json!({"role": "operator"})).await;
    assert_eq!((changed.status, changed.json()["role"].as_str().unwrap()), (StatusCode::OK, "operator"));
    assert_eq!(world.get("/api/v1/session", &grace).await.code(), "session_expired");
    assert_eq!(world.get("/api/v1/session", &world.log_in("grace").await).await.json()["user"]["role"], "operator");

    let disabled = world.change(Method::PATCH, &path, &administrator, &json!({"disabled": true})).await;
    assert!(disabled.json()["disabled_at"].as_str().unwrap().ends_with('Z'));
    assert_eq!(world.try_log_in("grace", PASSWORD).await.code(), "wrong_credentials");
    let enabled = world.change(Method::PATCH, &path, &administrator, &json!({"disabled": false})).await;
    assert!(enabled.json()["disabled_at"].is_null());
    world.log_in("grace").await;

    let everybody = world.get("/api/v1/users", &administrator).await.json();
    let names: Vec<_> = everybody["items"].as_array().unwrap().iter().map(|one| one["username"].clone()).collect();
    assert_eq!(names, ["administrator", "grace", "operator", "viewer"]);
    assert!(!everybody.to_string().contains("argon2"), "{everybody}");
}

async fn a_field_that_breaks_a_rule_is_named_with_the_rule(world: World) {
    let administrator = world.log_in("administrator").await;
    for (body, code, field) in [
        (json!({"username": "Grace!", "role": "viewer", "password": PASSWORD}), "field_invalid", json!("username")),
        (json!({"username": "grace", "role": "root", "password": PASSWORD}), "field_invalid", json!("role")),
        (
            json!({"username": "grace", "role": "viewer", "password": "short"}),
            "password_not_acceptable",
            json!("password"),
        ),
        (json!({"username": "grace", "role": "viewer", "password": PASSWORD, "id": 1}), "field_invalid", json!("id")),
        (json!({"username": "grace", "role": "viewer"}), "field_invalid", json!(null)),
    ] {
        let refused = world.change(Method::POST, "/api/v1/users", &administrator, &body).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (422, code), "{body}");
        assert_eq!(refused.json()["field"], field, "{body}");
    }
    let path = format!("/api/v1/users/{}", world.user("viewer").await);
    for extra in ["is_host", "created_at", "password_hash", "owner_id"] {
        let refused = world.change(Method::PATCH, &path, &administrator, &json!({extra: "x"})).await;
        assert_eq!(refused.code(), "field_invalid", "{extra}");
    }
    for id in ["x", "00000000-0000-0000-0000-000000000000"] {
        let path = format!("/api/v1/users/{id}");
        let missing = world.change(Method::PATCH, &path, &administrator, &json!({"disabled": true})).await;
        assert_eq!((missing.status.as_u16(), missing.code().as_str()), (404, "no_such_user"), "{id}");
    }
}

async fn a_field_that_is_there_twice_is_refused(world: World) {
    let administrator = world.log_in("administrator").await;
    let twice = format!(r#"{{"username": "grace", "role": "viewer", "password": "{PASSWORD}", "role": "operator"}}"#);
    let request = Request::post("/api/v1/users").header(header::COOKIE, &administrator);
    let request = request.header(header::CONTENT_TYPE, "application/json");

    let refused = world.send(request.body(twice.into()).unwrap()).await;

    assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "key_repeated"), "{refused:?}");
    assert_eq!(world.dump("users").await.len(), 3);
}

async fn the_last_administrator_stays_one_and_is_told_what_to_do(world: World) {
    let administrator = world.log_in("administrator").await;
    let path = format!("/api/v1/users/{}", world.user("administrator").await);

    for change in [json!({"disabled": true}), json!({"role": "viewer"})] {
        let refused = world.change(Method::PATCH, &path, &administrator, &change).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::CONFLICT, "last_administrator"));
        assert!(refused.json()["hint"].as_str().unwrap().contains("first"), "{refused:?}");
    }

    assert_eq!(world.get("/api/v1/users", &administrator).await.status, StatusCode::OK);
}

async fn ones_own_password_needs_the_present_one_and_begins_a_new_session(world: World) {
    let (here, elsewhere) = (world.log_in("viewer").await, world.log_in("viewer").await);
    let (token, _) = world.token_of(&here).await;
    let path = format!("/api/v1/users/{}/password", world.user("viewer").await);

    let without = world.change(Method::PUT, &path, &here, &json!({"password": NEW_PASSWORD})).await;
    assert_eq!((without.status.as_u16(), without.json()["field"].as_str().unwrap()), (422, "current_password"));
    let guess = json!({"current_password": "CANARY-guess", "password": NEW_PASSWORD});
    let wrong = world.change(Method::PUT, &path, &here, &guess).await;
    assert_eq!((wrong.status.as_u16(), wrong.code().as_str()), (422, "wrong_password"));
    assert_eq!(world.get("/api/v1/session", &here).await.status, StatusCode::OK);

    let body = json!({"current_password": PASSWORD, "password": NEW_PASSWORD});
    let changed = world.change(Method::PUT, &path, &here, &body).await;

    assert_eq!((changed.status, changed.json()), (StatusCode::OK, json!({"ended_tokens": ["CI"]})));
    assert_eq!(world.get("/api/v1/session", &cookie_of(&changed)).await.json()["user"]["username"], "viewer");
    assert_eq!(world.with_token(Method::GET, "/api/v1/session", &token, &[]).await.code(), "session_expired");
    assert_eq!(world.get("/api/v1/tokens", &cookie_of(&changed)).await.json()["items"], json!([]));
    for ended in [&here, &elsewhere] {
        assert_eq!(world.get("/api/v1/session", ended).await.code(), "session_expired");
    }
    assert_eq!(world.try_log_in("viewer", PASSWORD).await.code(), "wrong_credentials");
    assert_eq!(world.try_log_in("viewer", NEW_PASSWORD).await.status, StatusCode::OK);
}

async fn an_administrator_resets_the_password_of_somebody_else(world: World) {
    let (administrator, operator) = (world.log_in("administrator").await, world.log_in("operator").await);
    let viewer = world.log_in("viewer").await;
    let path = format!("/api/v1/users/{}/password", world.user("viewer").await);
    let body = json!({"password": NEW_PASSWORD});

    assert_eq!(world.change(Method::PUT, &path, &operator, &body).await.code(), "forbidden");
    let reset = world.change(Method::PUT, &path, &administrator, &body).await;

    assert_eq!(reset.status, StatusCode::NO_CONTENT);
    assert!(!reset.headers.contains_key(header::SET_COOKIE), "the administrator stays who they are");
    assert_eq!(world.get("/api/v1/session", &viewer).await.code(), "session_expired");
    let anew = world.try_log_in("viewer", NEW_PASSWORD).await;
    assert_eq!((anew.status, &anew.json()["must_change_password"]), (StatusCode::OK, &json!(true)));
    assert_eq!(world.get("/api/v1/clusters", &cookie_of(&anew)).await.code(), "password_change_required");
}

async fn sessions_are_listed_and_ended_by_their_owner_or_an_administrator(world: World) {
    let (one, other) = (world.log_in("viewer").await, world.log_in("viewer").await);
    let (administrator, operator) = (world.log_in("administrator").await, world.log_in("operator").await);
    let of_viewer = format!("/api/v1/sessions?user={}", world.user("viewer").await);

    let own = world.get("/api/v1/sessions", &one).await.json();
    let items = own["items"].as_array().unwrap();
    assert_eq!(items.len(), 2);
    assert_eq!(items.iter().filter(|session| session["current"] == true).count(), 1);
    assert_eq!(world.get(&of_viewer, &one).await.json()["items"].as_array().unwrap().len(), 2, "by one's own id");
    let foreign = items.iter().find(|session| session["current"] == false).unwrap()["id"].as_str().unwrap();
    let path = format!("/api/v1/sessions/{foreign}");

    assert_eq!(world.get(&of_viewer, &operator).await.code(), "forbidden");
    assert_eq!(world.call(Method::DELETE, &path, Some(&operator)).await.code(), "no_such_session");
    assert_eq!(world.get("/api/v1/session", &other).await.status, StatusCode::OK);
    assert_eq!(world.call(Method::DELETE, &path, Some(&one)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(world.get("/api/v1/session", &other).await.code(), "session_expired");

    let seen = world.get(&of_viewer, &administrator).await.json();
    let last = seen["items"][0]["id"].as_str().unwrap();
    assert_eq!((seen["items"].as_array().unwrap().len(), &seen["items"][0]["current"]), (1, &json!(false)));
    let path = format!("/api/v1/sessions/{last}");
    assert_eq!(world.call(Method::DELETE, &path, Some(&administrator)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(world.get("/api/v1/session", &one).await.code(), "session_expired");
    for query in ["user=x", "user=", "all=true"] {
        assert_eq!(world.get(&format!("/api/v1/sessions?{query}"), &administrator).await.code(), "query_invalid");
    }
}

async fn changes_of_people_are_written_down(world: World) {
    let (administrator, viewer) = (world.log_in("administrator").await, world.log_in("viewer").await);
    let id = world.user("viewer").await;
    let (path, password) = (format!("/api/v1/users/{id}"), format!("/api/v1/users/{id}/password"));
    let before = world.told().await.len();

    world.get("/api/v1/users", &viewer).await;
    world.change(Method::PATCH, &path, &viewer, &json!({"role": "platform_administrator"})).await;
    let guess = json!({"current_password": "CANARY-guess", "password": NEW_PASSWORD});
    world.change(Method::PUT, &password, &viewer, &guess).await;
    world.change(Method::PUT, &password, &administrator, &json!({"password": NEW_PASSWORD})).await;
    world.change(Method::PATCH, &path, &administrator, &json!({"disabled": true})).await;

    let rows = world.told().await;
    let row = |words: &[&str]| rows.iter().filter(|row| words.iter().all(|word| row.contains(word))).count();
    assert_eq!(row(&["|see_users|", "|denied|", "|viewer|"]), 1);
    assert_eq!(row(&["|change_user|", "|denied|", "|viewer|"]), 1);
    assert_eq!(row(&["|change_own_password|", "|denied|", &id]), 1);
    assert_eq!(row(&["|reset_password|", "|done|", "|administrator|", &id]), 1);
    assert_eq!(row(&["|change_user|", "|done|", "|administrator|", &id]), 1);
    assert_eq!(rows.len(), before + 5, "{rows:#?}");
    assert!(!rows.concat().contains("CANARY"));
}
