//! Lists: sorted, filtered, page by page.

use http::{Method, StatusCode, header};
use serde_json::{Value, json};
use vocabulary::ClusterId;

use super::{
    World, on_both_databases,
    world::{Answer, PASSWORD, until},
};
use crate::store::clusters::Record;

on_both_databases! {
    clusters_are_sorted_by_what_is_shown_of_them_and_what_is_not_known_comes_last
    nodes_are_sorted_by_the_number_that_is_shown
    clusters_are_filtered_by_what_is_shown_of_them
    a_page_begins_after_the_last_one_whatever_came_and_went
    a_cursor_belongs_to_one_order_and_one_filter
    another_process_lists_what_this_one_writes
    a_list_that_is_known_is_not_sent_again
    people_sessions_tokens_and_credentials_are_read_page_by_page
}

impl World {
    /// A cluster on record with its resource, and what that says.
    pub(super) async fn cluster(&self, name: &str, place: (&str, &str), labels: &Value, status: &Value) -> ClusterId {
        let id = ClusterId::random();
        let mut spec = super::register::spec_of(id);
        (spec.provider, spec.region) = (place.0.to_owned(), place.1.to_owned());
        spec.git_ops_path = format!("fluxcd/clusters/{name}");
        let record = Record {
            id,
            name: name.parse().unwrap(),
            kube_system_uid: None,
            is_host: false,
            spec,
            created_at: jiff::Timestamp::now(),
            removing_since: None,
            labels: serde_json::from_value(labels.clone()).unwrap(),
            revision: 0,
        };
        self.put_on_record(&record).await;
        if !status.is_null() {
            let mut resource = serde_json::to_value(record.resource()).unwrap();
            resource["status"] = status.clone();
            self.api_server.put(resource);
        }
        id
    }

    async fn some_clusters(&self) -> String {
        self.start();
        let cookie = self.log_in("viewer").await;
        let status = |phase: &str, version: &str, nodes: u32| json!({"phase": phase, "kubernetesVersion": version, "nodes": {"total": nodes, "ready": 1}});
        let prod = json!({"env": "prod", "acme.com/team": "a"});
        self.cluster("delta", ("aws", "eu-north-1"), &prod, &status("Ready", "1.9.7", 9)).await;
        self.cluster("alpha", ("gcp", "europe-west1"), &json!({"env": "dev"}), &status("Failed", "1.34.4", 100)).await;
        self.cluster("echo", ("unknown", "unknown"), &json!({}), &status("Ready", "1.10.1-eks-1", 10)).await;
        self.cluster("bravo", ("aws", "eu-west-1"), &json!({"env": "prod"}), &Value::Null).await;
        until("the resources are seen", async || {
            let list = self.get("/api/v1/clusters?phase=Ready,Failed", &cookie).await.json();
            (list["items"].as_array().unwrap().len() == 3).then_some(())
        })
        .await;
        cookie
    }

    async fn names(&self, query: &str, cookie: &str) -> String {
        let answer = self.get(&format!("/api/v1/clusters?{query}"), cookie).await;
        assert_eq!(answer.status, StatusCode::OK, "{query}: {answer:?}");
        names(&answer)
    }
}

fn names(answer: &Answer) -> String {
    let list = answer.json();
    let names = list["items"].as_array().unwrap().iter().map(|cluster| cluster["name"].as_str().unwrap());
    names.collect::<Vec<_>>().join(" ")
}

async fn clusters_are_sorted_by_what_is_shown_of_them_and_what_is_not_known_comes_last(world: World) {
    let cookie = world.some_clusters().await;

    for (sort, up, down) in [
        ("name", "alpha bravo delta echo", "echo delta bravo alpha"),
        ("created_at", "delta alpha echo bravo", "bravo echo alpha delta"),
        ("phase", "bravo delta echo alpha", "alpha echo delta bravo"),
        ("provider", "bravo delta alpha echo", "alpha delta bravo echo"),
        ("region", "delta bravo alpha echo", "alpha bravo delta echo"),
        ("kubernetes_version", "delta echo alpha bravo", "alpha echo delta bravo"),
        ("nodes", "delta echo alpha bravo", "alpha echo delta bravo"),
    ] {
        assert_eq!(world.names(&format!("sort={sort}"), &cookie).await, up, "{sort}");
        assert_eq!(world.names(&format!("sort={sort}&direction=desc"), &cookie).await, down, "{sort}");
        let mut paged = Vec::new();
        let mut cursor = String::new();
        loop {
            let page =
                world.get(&format!("/api/v1/clusters?sort={sort}&direction=desc&limit=1{cursor}"), &cookie).await;
            paged.push(names(&page));
            let Some(next) = page.json()["next_cursor"].as_str().map(str::to_owned) else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(paged.join(" "), down, "{sort}, page by page");
    }
    assert_eq!(world.names("", &cookie).await, "alpha bravo delta echo", "by name unless said otherwise");
}

async fn nodes_are_sorted_by_the_number_that_is_shown(world: World) {
    let cookie = world.some_clusters().await;
    let delta = world.get("/api/v1/clusters?q=delta", &cookie).await.json()["items"][0]["id"].clone();
    let mut glance = super::monitor::glance(serde_json::from_value(delta).unwrap(), 100.0);

    // k8s-monitor has counted since the resource was written.
    glance.nodes = Some(k8s_monitor_contract::NodeCount { total: 50, ready: 50 });
    world.monitor.see(glance);

    until("the order follows", async || {
        let list = world.get("/api/v1/clusters?sort=nodes", &cookie).await;
        assert_eq!(list.json()["items"].as_array().unwrap().len(), 4);
        (names(&list) == "echo delta alpha bravo").then_some(())
    })
    .await;
}

async fn clusters_are_filtered_by_what_is_shown_of_them(world: World) {
    let cookie = world.some_clusters().await;

    for (query, expected) in [
        ("phase=Ready", "delta echo"),
        ("phase=Pending,Failed", "alpha bravo"),
        ("provider=aws", "bravo delta"),
        ("provider=gcp,unknown", "alpha echo"),
        ("region=eu-west-1", "bravo"),
        ("mode=connect_existing", "alpha bravo delta echo"),
        ("mode=provision_eks", ""),
        ("label=env%3Dprod", "bravo delta"),
        ("label=env", "alpha bravo delta"),
        ("label=env%3Dprod,acme.com/team", "delta"),
        ("q=a", "alpha bravo delta"),
        ("q=%20ECH%20", "echo"),
        ("q=", "alpha bravo delta echo"),
        ("phase=Ready&provider=aws&q=d&sort=nodes", "delta"),
    ] {
        assert_eq!(world.names(query, &cookie).await, expected, "{query}");
    }
    for (query, field) in [
        ("phase=ready", "phase"),
        ("phase=", "phase"),
        ("phase=Ready,,Failed", "phase"),
        ("mode=x", "mode"),
        ("provider=A%20B", "provider"),
        ("label=kubeopera.io/host", "label"),
        ("label=a%3D%3Db", "label"),
        ("sort=colour", "sort"),
        ("direction=up", "direction"),
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("page=2", "page"),
        ("limit=1&limit=2", "limit"),
        ("limit=1&%6Cimit=1", "limit"),
        ("provider=a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a", "provider"),
    ] {
        let refused = world.get(&format!("/api/v1/clusters?{query}"), &cookie).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "query_invalid"), "{query}");
        assert_eq!(refused.json()["field"], field, "{query}");
    }
}

async fn a_page_begins_after_the_last_one_whatever_came_and_went(world: World) {
    let cookie = world.some_clusters().await;
    let page = world.get("/api/v1/clusters?limit=2", &cookie).await;
    assert_eq!(names(&page), "alpha bravo");
    let cursor = page.json()["next_cursor"].as_str().unwrap().to_owned();
    let of_bravo = page.json()["items"][1]["id"].as_str().unwrap().parse().unwrap();

    // The very cluster the page ended with goes, one before it and one after it come.
    world.platform.finish_removal(of_bravo).await.unwrap();
    world.cluster("aaa", ("aws", "a"), &json!({}), &Value::Null).await;
    world.cluster("charlie", ("aws", "a"), &json!({}), &Value::Null).await;

    let next = world.get(&format!("/api/v1/clusters?limit=2&cursor={cursor}"), &cookie).await;
    assert_eq!(names(&next), "charlie delta");
    let cursor = next.json()["next_cursor"].as_str().unwrap().to_owned();
    let last = world.get(&format!("/api/v1/clusters?limit=2&cursor={cursor}"), &cookie).await;
    assert_eq!((names(&last).as_str(), &last.json()["next_cursor"]), ("echo", &Value::Null));
}

async fn a_cursor_belongs_to_one_order_and_one_filter(world: World) {
    let cookie = world.some_clusters().await;
    let page = world.get("/api/v1/clusters?limit=1&sort=phase&phase=Ready", &cookie).await;
    let cursor = page.json()["next_cursor"].as_str().unwrap().to_owned();

    assert_eq!(world.names(&format!("limit=5&phase=Ready&sort=phase&cursor={cursor}"), &cookie).await, "echo");
    for query in ["sort=phase", "sort=name&phase=Ready", "sort=phase&phase=Ready&direction=desc", ""] {
        let refused = world.get(&format!("/api/v1/clusters?{query}&cursor={cursor}"), &cookie).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "cursor_of_another_list"), "{query}");
        assert_eq!((refused.json()["field"].as_str(), refused.json()["hint"].is_string()), (Some("cursor"), true));
    }
    for cursor in ["", "x", "%00", "bnVsbA", &"A".repeat(5000)] {
        let refused = world.get(&format!("/api/v1/clusters?cursor={cursor}"), &cookie).await;
        assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "cursor_invalid"), "{cursor}");
    }
    let administrator = world.log_in("administrator").await;
    let refused = world.get(&format!("/api/v1/users?cursor={cursor}"), &administrator).await;
    assert_eq!(refused.code(), "cursor_of_another_list");
}

async fn another_process_lists_what_this_one_writes(world: World) {
    let cookie = world.some_clusters().await;
    let beside = world.beside().await;
    assert_eq!(beside.names("", &cookie).await, "alpha bravo delta echo");

    let id = world.cluster("charlie", ("aws", "a"), &json!({}), &Value::Null).await;
    assert_eq!(beside.names("", &cookie).await, "alpha bravo charlie delta echo");
    world.platform.finish_removal(id).await.unwrap();
    assert_eq!(beside.names("", &cookie).await, "alpha bravo delta echo");
    let id = world.cluster("foxtrot", ("aws", "a"), &json!({}), &Value::Null).await;
    world.platform.begin_removal(id).await.unwrap();
    assert_eq!(beside.names("q=f", &cookie).await, "foxtrot");
}

async fn a_list_that_is_known_is_not_sent_again(world: World) {
    let cookie = world.some_clusters().await;
    let get = async |path: &str, tag: &str| {
        let request = http::Request::get(path).header(header::COOKIE, &cookie).header(header::IF_NONE_MATCH, tag);
        world.send(request.body(axum::body::Body::empty()).unwrap()).await
    };
    // The stream's revisions settle a moment after the resources were seen.
    until("the answer stays the same", async || {
        let tag = world.get("/api/v1/clusters", &cookie).await.headers[header::ETAG].to_str().unwrap().to_owned();
        let again = get("/api/v1/clusters", &tag).await;
        (again.status == StatusCode::NOT_MODIFIED && again.text.is_empty()).then_some(())
    })
    .await;
    let list = world.get("/api/v1/clusters", &cookie).await;
    let id = list.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/clusters/{id}");
    let tag = world.get(&path, &cookie).await.headers[header::ETAG].to_str().unwrap().to_owned();

    assert!(tag.starts_with('"'), "{tag} is a strong one");
    for known in [tag.clone(), format!("W/{tag}"), format!("\"other\", {tag}"), "*".to_owned()] {
        let answer = get(&path, &known).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (304, ""), "{known}");
        assert_eq!(answer.headers[header::ETAG], *tag);
    }
    assert_eq!(get(&path, "\"other\"").await.status, StatusCode::OK);
    let mut resource = world.api_server.resources().into_iter().find(|one| one["metadata"]["name"] == id).unwrap();
    resource["status"]["phase"] = "Ready".into();
    world.api_server.put(resource);
    until("it is another answer", async || (get(&path, &tag).await.status == StatusCode::OK).then_some(())).await;
}

async fn people_sessions_tokens_and_credentials_are_read_page_by_page(world: World) {
    let administrator = world.log_in("administrator").await;
    world.log_in("administrator").await;
    world.log_in("administrator").await;
    for number in 0..3 {
        let ends = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(1);
        let token = json!({"label": format!("token {number}"), "expires_at": ends});
        assert_eq!(world.change(Method::POST, "/api/v1/tokens", &administrator, &token).await.status, 201);
        let secret = json!({"type": "aws_access_key", "access_key_id": format!("AKIAABCDEFGHIJKLMNO{number}"),
            "secret_access_key": "x".repeat(40)});
        let credential = json!({"label": format!("key {number}"), "secret": secret});
        let saved = world.change(Method::POST, "/api/v1/credentials", &administrator, &credential).await;
        assert_eq!(saved.status, StatusCode::CREATED, "{saved:?}");
    }
    for list in ["users", "sessions", "tokens", "credentials"] {
        let whole = world.get(&format!("/api/v1/{list}"), &administrator).await.json();
        assert_eq!((whole["items"].as_array().unwrap().len(), &whole["next_cursor"]), (3, &Value::Null), "{list}");
        let first = world.get(&format!("/api/v1/{list}?limit=2"), &administrator).await.json();
        let cursor = first["next_cursor"].as_str().unwrap();
        let second = world.get(&format!("/api/v1/{list}?limit=2&cursor={cursor}"), &administrator).await.json();
        let paged: Vec<_> = [&first, &second].iter().flat_map(|page| page["items"].as_array().unwrap()).collect();
        assert_eq!(paged, whole["items"].as_array().unwrap().iter().collect::<Vec<_>>(), "{list}");
        for query in ["limit=0", "limit=1&limit=1", "sort=x"] {
            let refused = world.get(&format!("/api/v1/{list}?{query}"), &administrator).await;
            assert_eq!((refused.status.as_u16(), refused.code().as_str()), (400, "query_invalid"), "{list} {query}");
        }
    }
    // The last on the page goes, and the next page begins where it would have.
    let first = world.get("/api/v1/users?limit=1", &administrator).await.json();
    let cursor = first["next_cursor"].as_str().unwrap().to_owned();
    let new = json!({"username": "aaron", "role": "viewer", "password": PASSWORD});
    world.change(Method::POST, "/api/v1/users", &administrator, &new).await;
    let next = world.get(&format!("/api/v1/users?limit=1&cursor={cursor}"), &administrator).await.json();
    assert_eq!(next["items"][0]["username"], "operator");
}
