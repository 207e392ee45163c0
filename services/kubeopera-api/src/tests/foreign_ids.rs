//! Who knows the id of something that is not theirs gets no further with it than with an id that nothing has.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{World, on_both_databases, roles::NOBODYS, world::PASSWORD};

on_both_databases! {
    what_belongs_to_others_is_answered_like_what_is_not_there
    what_only_a_role_may_is_refused_before_the_id_is_looked_at
}

/// Ids of things that an administrator has.
struct Ids {
    session: String,
    token: String,
    user: String,
    credential: String,
    cluster: String,
}

impl World {
    async fn ids_of_administrator(&self) -> Ids {
        let cookie = self.log_in("administrator").await;
        let key = json!({"type": "aws_access_key", "access_key_id": "AKIACANARY0KEY0ID0WX",
            "secret_access_key": "CANARYsecret/access+key0123456789ABCDEFG"});
        let credential = json!({"label": "Production", "secret": key});
        let credential = self.change(Method::POST, "/api/v1/credentials", &cookie, &credential).await.json();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Ids {
            session: text(&self.get("/api/v1/sessions", &cookie).await.json()["items"][0]["id"]),
            token: self.token_of(&cookie).await.1,
            user: self.user("administrator").await,
            credential: text(&credential["credential"]["id"]),
            cluster: text(&self.register(&cookie).await.json()["id"]),
        }
    }

    /// What somebody is told about an id, but for the request's own.
    async fn told_of(
        &self,
        cookie: &str,
        (method, path, body): (&Method, &str, &Value),
        id: &str,
    ) -> (StatusCode, Value) {
        let path = path.replace("{id}", id);
        let answer = self.change_seen("*", method.clone(), &path, cookie, body).await;
        let mut problem = answer.json();
        problem.as_object_mut().unwrap().remove("request_id");
        (answer.status, problem)
    }
}

async fn what_belongs_to_others_is_answered_like_what_is_not_there(world: World) {
    let Ids { session, token, user, credential, cluster } = world.ids_of_administrator().await;
    let nothing = json!(null);
    let role = json!({"role": "viewer"});
    let password = json!({"password": PASSWORD, "current_password": PASSWORD});
    let (delete, patch, put, post) = (Method::DELETE, Method::PATCH, Method::PUT, Method::POST);

    let own = [
        (&delete, "/api/v1/sessions/{id}", &nothing, &session, 404),
        (&delete, "/api/v1/tokens/{id}", &nothing, &token, 404),
    ];
    let administrators = [
        (&patch, "/api/v1/users/{id}", &role, &user, 403),
        (&put, "/api/v1/users/{id}/password", &password, &user, 403),
        (&patch, "/api/v1/credentials/{id}", &nothing, &credential, 403),
        (&delete, "/api/v1/credentials/{id}", &nothing, &credential, 403),
        (&post, "/api/v1/credentials/{id}/check", &nothing, &credential, 403),
        (&delete, "/api/v1/clusters/{id}", &nothing, &cluster, 403),
    ];
    let operators = [
        (&patch, "/api/v1/clusters/{id}", &nothing, &cluster, 403),
        (&put, "/api/v1/clusters/{id}/kubeconfig", &nothing, &cluster, 403),
        (&post, "/api/v1/clusters/{id}/disconnect", &nothing, &cluster, 403),
        (&post, "/api/v1/clusters/{id}/retry", &nothing, &cluster, 403),
    ];

    for (who, table) in [
        ("viewer", [&own[..], &administrators, &operators].concat()),
        ("operator", [&own[..], &administrators].concat()),
    ] {
        let cookie = world.log_in(who).await;
        for (method, path, body, id, status) in table {
            let told = world.told_of(&cookie, (method, path, body), id).await;
            assert_eq!(told.0.as_u16(), status, "{method} {path} as {who}: {told:?}");
            assert_eq!(told, world.told_of(&cookie, (method, path, body), NOBODYS).await, "{method} {path} as {who}");
        }
    }
    let administrator = world.log_in("administrator").await;
    let there = world.get(&format!("/api/v1/tokens?user={user}"), &administrator).await.json();
    assert_eq!(there["items"][0]["id"], json!(token), "it is still there");
    assert_eq!(world.get(&format!("/api/v1/clusters/{cluster}"), &administrator).await.status, StatusCode::OK);
}

async fn what_only_a_role_may_is_refused_before_the_id_is_looked_at(world: World) {
    let Ids { user, credential, .. } = world.ids_of_administrator().await;
    for who in ["viewer", "operator"] {
        let cookie = world.log_in(who).await;
        for path in [
            format!("/api/v1/sessions?user={user}"),
            format!("/api/v1/tokens?user={user}"),
            format!("/api/v1/audit?object={credential}"),
            format!("/api/v1/audit/export?who={user}"),
        ] {
            let told = world.get(&path, &cookie).await;
            assert_eq!((told.status, told.code().as_str()), (StatusCode::FORBIDDEN, "forbidden"), "{path} as {who}");
            assert!(!told.text.contains(&user) && !told.text.contains(&credential));
        }
    }
}
