//! The password that is printed at the first start.

use auth_service::AuthService;
use http::{Method, StatusCode};
use sea_orm::ConnectionTrait;
use serde_json::json;

use super::{
    World, on_both_databases,
    world::{cookie_of, root_keys},
};

on_both_databases! {
    the_printed_password_is_good_for_choosing_another_and_nothing_else
    whoever_has_chosen_a_password_is_in_and_the_printed_one_is_worth_nothing
}

const OWN: &str = "CANARY-own-horse-staple";

impl World {
    /// The first administrator as a fresh installation has them: their password and their cookie.
    async fn first_administrator(&self) -> (String, String) {
        let db = self.platform.db.clone();
        db.execute_unprepared("DELETE FROM users").await.unwrap();
        let mut printed = String::new();
        let auth = AuthService::open(db, root_keys()).await.unwrap();
        let tell = |_: &str, password: &vocabulary::Secret| {
            password.reveal().clone_into(&mut printed);
            Ok(())
        };
        assert!(auth.ensure_first_administrator(tell).await.unwrap());
        let answer = self.try_log_in("admin", &printed).await;
        assert_eq!((answer.status, &answer.json()["must_change_password"]), (StatusCode::OK, &json!(true)));
        (printed, cookie_of(&answer))
    }
}

async fn the_printed_password_is_good_for_choosing_another_and_nothing_else(world: World) {
    let (printed, cookie) = world.first_administrator().await;
    let me = world.user("admin").await;

    let session = world.get("/api/v1/session", &cookie).await;
    assert_eq!((session.status, &session.json()["must_change_password"]), (StatusCode::OK, &json!(true)));
    let another = format!("/api/v1/users/{}/password", uuid::Uuid::from_u128(7));
    for (method, path) in [
        (Method::GET, "/api/v1/clusters"),
        (Method::POST, "/api/v1/clusters/register"),
        (Method::GET, "/api/v1/events"),
        (Method::GET, "/api/v1/users"),
        (Method::POST, "/api/v1/users"),
        (Method::GET, "/api/v1/sessions"),
        (Method::POST, "/api/v1/tokens"),
        (Method::GET, "/api/v1/credentials"),
        (Method::PUT, another.as_str()),
        (Method::PATCH, &format!("/api/v1/users/{me}")),
    ] {
        let refused = world.call(method.clone(), path, Some(&cookie)).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{method} {path}");
        assert_eq!(refused.code(), "password_change_required", "{method} {path}");
    }
    assert!(world.dump("clusters").await.is_empty());

    let path = format!("/api/v1/users/{me}/password");
    for (current, new, code) in [
        (printed.as_str(), printed.as_str(), "password_not_acceptable"),
        (&printed, "password123456", "password_not_acceptable"),
        ("CANARY-guess", OWN, "wrong_password"),
    ] {
        let body = json!({"current_password": current, "password": new});
        let refused = world.change(Method::PUT, &path, &cookie, &body).await;
        assert_eq!((refused.status, refused.code().as_str()), (StatusCode::UNPROCESSABLE_ENTITY, code));
    }
    assert_eq!(world.get("/api/v1/clusters", &cookie).await.code(), "password_change_required");
    assert_eq!(world.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(world.get("/api/v1/session", &cookie).await.code(), "session_expired");
}

async fn whoever_has_chosen_a_password_is_in_and_the_printed_one_is_worth_nothing(world: World) {
    let (printed, cookie) = world.first_administrator().await;
    let path = format!("/api/v1/users/{}/password", world.user("admin").await);

    let body = json!({"current_password": printed, "password": OWN});
    let changed = world.change(Method::PUT, &path, &cookie, &body).await;

    assert_eq!(changed.status, StatusCode::OK, "{changed:?}");
    let anew = cookie_of(&changed);
    assert_eq!(world.get("/api/v1/clusters", &anew).await.status, StatusCode::OK);
    assert_eq!(world.get("/api/v1/session", &anew).await.json()["must_change_password"], false);
    assert_eq!(world.get("/api/v1/session", &cookie).await.code(), "session_expired");
    assert_eq!(world.try_log_in("admin", &printed).await.code(), "wrong_credentials");
    let answer = world.try_log_in("admin", OWN).await;
    assert_eq!((answer.status, &answer.json()["must_change_password"]), (StatusCode::OK, &json!(false)));
}
