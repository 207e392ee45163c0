//! Every route walked as everybody, against a table. A route that is not in the table fails the test.

use std::collections::BTreeSet;

use http::Method;

use super::{World, on_both_databases};

on_both_databases! {
    every_route_answers_everybody_as_the_table_says
}

/// Method, path, and what a stranger, a viewer, an operator and a platform administrator get.
const TABLE: &[(&str, &str, [u16; 4])] = &[
    // Without a body nobody gets further than that.
    ("POST", "/api/v1/session", [415, 415, 415, 415]),
    ("GET", "/api/v1/session", [401, 200, 200, 200]),
    ("GET", "/api/v1/session/ways", [200, 200, 200, 200]),
    // There is no identity provider.
    ("GET", "/api/v1/session/oidc", [404, 404, 404, 404]),
    ("GET", "/api/v1/session/oidc/callback", [404, 404, 404, 404]),
    ("GET", "/api/v1/clusters", [401, 200, 200, 200]),
    ("GET", "/api/v1/clusters/{id}", [401, 404, 404, 404]),
    ("PATCH", "/api/v1/clusters/{id}", [401, 403, 428, 428]),
    ("PUT", "/api/v1/clusters/{id}/kubeconfig", [401, 403, 415, 415]),
    ("DELETE", "/api/v1/clusters/{id}", [401, 403, 403, 415]),
    ("GET", "/api/v1/clusters/{id}/disconnect", [401, 403, 404, 404]),
    ("POST", "/api/v1/clusters/{id}/disconnect", [401, 403, 404, 404]),
    ("GET", "/api/v1/clusters/{id}/receipt", [401, 403, 404, 404]),
    ("POST", "/api/v1/clusters/{id}/retry", [401, 403, 404, 404]),
    // There is no provisioner.
    ("GET", "/api/v1/clusters/{id}/provisioning", [401, 403, 404, 404]),
    ("GET", "/api/v1/clusters/{id}/provisioning/log", [401, 403, 404, 404]),
    ("POST", "/api/v1/clusters/{id}/provisioning/give-up", [401, 403, 403, 415]),
    ("POST", "/api/v1/clusters/connect", [401, 403, 415, 415]),
    // It spends money and takes a credential, which only administrators see.
    ("POST", "/api/v1/clusters/create", [401, 403, 403, 415]),
    ("POST", "/api/v1/clusters/estimate", [401, 415, 415, 415]),
    ("POST", "/api/v1/clusters/kubeconfig-check", [401, 403, 415, 415]),
    ("POST", "/api/v1/clusters/register", [401, 403, 201, 200]),
    ("GET", "/api/v1/clusters/multi", [401, 200, 200, 200]),
    ("GET", "/api/v1/clusters/{id}/monitor", [401, 404, 404, 404]),
    ("GET", "/api/v1/catalogue", [401, 200, 200, 200]),
    ("GET", "/api/v1/catalogue/{provider}/{region}/instance-types", [401, 404, 404, 404]),
    ("GET", "/metrics", [401, 200, 200, 200]),
    ("GET", "/api/v1/events", [401, 200, 200, 200]),
    ("GET", "/api/v1/users", [401, 403, 403, 200]),
    ("POST", "/api/v1/users", [401, 403, 403, 415]),
    ("PATCH", "/api/v1/users/{id}", [401, 403, 403, 415]),
    ("PUT", "/api/v1/users/{id}/password", [401, 403, 403, 415]),
    ("GET", "/api/v1/sessions", [401, 200, 200, 200]),
    ("DELETE", "/api/v1/sessions/{id}", [401, 404, 404, 404]),
    ("GET", "/api/v1/tokens", [401, 200, 200, 200]),
    ("POST", "/api/v1/tokens", [401, 415, 415, 415]),
    ("DELETE", "/api/v1/tokens/{id}", [401, 404, 404, 404]),
    ("GET", "/api/v1/credentials", [401, 403, 403, 200]),
    ("POST", "/api/v1/credentials", [401, 403, 403, 415]),
    ("PATCH", "/api/v1/credentials/{id}", [401, 403, 403, 415]),
    ("POST", "/api/v1/credentials/{id}/check", [401, 403, 403, 404]),
    ("DELETE", "/api/v1/credentials/{id}", [401, 403, 403, 404]),
    ("GET", "/api/v1/settings/git", [401, 403, 403, 200]),
    ("PUT", "/api/v1/settings/git", [401, 403, 403, 428]),
    ("DELETE", "/api/v1/settings/git", [401, 403, 403, 428]),
    ("POST", "/api/v1/settings/git/check", [401, 403, 403, 415]),
    ("GET", "/api/v1/audit", [401, 403, 403, 200]),
    ("GET", "/api/v1/audit/export", [401, 403, 403, 200]),
    ("GET", "/api/v1/settings/registry", [401, 403, 403, 200]),
    ("PUT", "/api/v1/settings/registry", [401, 403, 403, 428]),
    ("DELETE", "/api/v1/settings/registry", [401, 403, 403, 428]),
    // Last, as it ends the session.
    ("DELETE", "/api/v1/session", [204, 204, 204, 204]),
];

/// An id that nothing has.
pub(super) const NOBODYS: &str = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";

/// Every route, with an id that nothing has where one belongs.
pub(super) fn routes() -> Vec<(String, String)> {
    TABLE.iter().map(|(method, path, _)| ((*method).to_owned(), path.replace("{id}", NOBODYS))).collect()
}

async fn every_route_answers_everybody_as_the_table_says(world: World) {
    let document = serde_json::to_value(crate::http::openapi()).unwrap();
    let routes: BTreeSet<_> = document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, operations)| {
            operations.as_object().unwrap().keys().map(move |method| (method.to_uppercase(), path.clone()))
        })
        .collect();
    let in_table = TABLE.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()));
    assert_eq!(in_table.collect::<BTreeSet<_>>(), routes, "the table and the router disagree");

    let mut everybody = vec![("stranger", None)];
    for name in ["viewer", "operator", "administrator"] {
        everybody.push((name, Some(world.log_in(name).await)));
    }
    for (method, path, expected) in TABLE {
        let path = path.replace("{id}", NOBODYS);
        for ((name, cookie), expected) in everybody.iter().zip(expected) {
            let request = http::Request::builder().method(*method).uri(&path);
            let request = match cookie {
                Some(cookie) => request.header("cookie", cookie),
                None => request,
            };
            // Only the head: one of them is a stream without end.
            let request = request.body(axum::body::Body::empty()).unwrap();
            let before = world.audit().await.len();
            let response = tower::ServiceExt::oneshot(world.router.clone(), request).await.unwrap();
            assert_eq!(response.status().as_u16(), *expected, "{method} {path} as {name}");
            // A change that is refused to somebody who is known is one row; what strangers try is none.
            let is_refused = response.status().is_client_error() && *method != "GET" && !path.ends_with("/estimate");
            if is_refused || cookie.is_none() {
                let rows = world.audit().await.split_off(before);
                let rows: Vec<_> = rows.iter().map(|row| (row.actor_name.as_deref(), row.outcome.as_str())).collect();
                let expected = if cookie.is_some() { vec![(Some(*name), "denied")] } else { Vec::new() };
                assert_eq!(rows, expected, "{method} {path} as {name}");
            }
        }
    }
}

#[tokio::test]
async fn methods_and_addresses_nobody_knows_are_problems_for_everybody() {
    let world = World::on_sqlite().await;
    let cookie = world.log_in("administrator").await;

    for cookie in [None, Some(cookie.as_str())] {
        for method in [Method::PUT, Method::PATCH, Method::from_bytes(b"BREW").unwrap()] {
            let answer = world.call(method, "/api/v1/clusters", cookie).await;
            assert_eq!((answer.status.as_u16(), answer.code().as_str()), (405, "method_not_allowed"));
            assert!(answer.headers["allow"].to_str().unwrap().contains("GET"));
        }
        for path in ["/api", "/api/", "/api/v1", "/api/v1/clusters/", "/api/v2/clusters", "/api/v1/clusters/x/y"] {
            let answer = world.call(Method::GET, path, cookie).await;
            assert_eq!((answer.status.as_u16(), answer.code().as_str()), (404, "no_such_address"), "{path}");
        }
    }
    for id in ["x", "7E9D3A1B-5C1F-4E0A-9B63-0D2F6F1F7A11", "..%2f..%2fetc", "%00", "%ff"] {
        let answer = world.get(&format!("/api/v1/clusters/{id}"), &cookie).await;
        assert!(answer.status.is_client_error(), "{id}: {answer:?}");
    }
}
