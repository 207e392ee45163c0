//! Two whole processes side by side on one database and one API server.

use futures::{FutureExt, future::join_all};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{
    World,
    elsewhere::kubeconfig,
    events::Page,
    on_both_databases,
    world::{Answer, PASSWORD, until},
};
use crate::{resources::relay::relay_what_is_due, store::outbox};

on_both_databases! {
    a_session_and_a_token_of_one_are_good_at_the_other_until_either_ends_them
    guesses_at_two_processes_are_as_many_as_at_one
    a_request_with_a_key_is_done_once_at_whichever_it_arrives
    twenty_at_once_over_both_connect_one_cluster_once
    what_is_due_is_done_once_and_nothing_is_left
    what_one_is_doing_the_other_leaves_alone
    a_change_through_one_reaches_the_pages_of_the_other
    a_cluster_that_hardly_came_goes_from_the_pages_of_both
    a_page_that_comes_over_from_the_other_reads_everything_again
    both_bring_an_empty_database_up_to_date_at_the_same_moment
    what_both_write_down_is_one_chain
}

const CONNECT: &str = "/api/v1/clusters/connect";

impl World {
    async fn join(&self, cookie: &str, key: &str, name: &str) -> Answer {
        let file = kubeconfig(&[("a", "api.acme.com")]).to_string();
        let body = json!({"name": name, "provider": "on-premises", "region": "berlin", "kubeconfig": file});
        let request = http::Request::post(CONNECT)
            .header("cookie", cookie)
            .header("idempotency-key", key)
            .header("content-type", "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    fn has_cluster(&self) {
        self.others.add("api.acme.com", &super::kubernetes::ApiServer::of_cluster("north-uid"));
    }
}

async fn a_session_and_a_token_of_one_are_good_at_the_other_until_either_ends_them(one: World) {
    let other = one.beside().await;
    let cookie = one.log_in("administrator").await;
    assert_eq!(other.get("/api/v1/session", &cookie).await.status, StatusCode::OK);
    let body = json!({"label": "CI", "expires_at": super::tokens::tomorrow()});
    let made = one.change(Method::POST, "/api/v1/tokens", &cookie, &body).await.json();
    let with_token = async |world: &World| {
        let bearer = format!("Bearer {}", made["secret"].as_str().unwrap());
        let request = http::Request::get("/api/v1/users").header("authorization", bearer);
        world.send(request.body(axum::body::Body::empty()).unwrap()).await.status
    };
    assert_eq!((with_token(&one).await, with_token(&other).await), (StatusCode::OK, StatusCode::OK));

    let token = format!("/api/v1/tokens/{}", made["token"]["id"].as_str().unwrap());
    assert_eq!(other.call(Method::DELETE, &token, Some(&cookie)).await.status, StatusCode::NO_CONTENT);
    assert_eq!(with_token(&one).await, StatusCode::UNAUTHORIZED);
    other.call(Method::DELETE, "/api/v1/session", Some(&cookie)).await;
    assert_eq!(one.get("/api/v1/session", &cookie).await.code(), "session_expired");
}

async fn guesses_at_two_processes_are_as_many_as_at_one(one: World) {
    let other = one.beside().await;

    let guesses = (0..5).flat_map(|_| [one.try_log_in("viewer", "wrong"), other.try_log_in("viewer", "wrong")]);
    let answers = join_all(guesses).await;

    let wrong = answers.iter().filter(|answer| answer.status == StatusCode::UNAUTHORIZED).count();
    let refused = answers.iter().filter(|answer| answer.status == StatusCode::TOO_MANY_REQUESTS).count();
    assert_eq!((wrong, refused), (5, 5), "{answers:?}");
    for world in [&one, &other] {
        assert_eq!(world.try_log_in("viewer", PASSWORD).await.code(), "too_many_attempts");
    }
}

async fn a_request_with_a_key_is_done_once_at_whichever_it_arrives(one: World) {
    let other = one.beside().await;
    one.has_cluster();
    let cookie = one.log_in("operator").await;

    let first = one.join(&cookie, "k", "north").await;
    let again = other.join(&cookie, "k", "north").await;
    let another = other.join(&cookie, "k", "south").await;

    assert_eq!((first.status, again.status), (StatusCode::CREATED, StatusCode::OK), "{again:?}");
    assert_eq!(first.json()["id"], again.json()["id"]);
    assert_eq!(another.code(), "idempotency_key_reused");
}

async fn twenty_at_once_over_both_connect_one_cluster_once(one: World) {
    let other = one.beside().await;
    one.start();
    other.start();
    one.has_cluster();
    let (operator, administrator) = (one.log_in("operator").await, other.log_in("administrator").await);

    let keys: Vec<_> = (0..10).map(|n| format!("k{n}")).collect();
    let worlds = [&one, &other];
    let same = (0..10).map(|n| worlds[n % 2].join(&operator, "k", "north").boxed_local());
    let others = keys.iter().enumerate().map(|(n, key)| worlds[n % 2].join(&administrator, key, key).boxed_local());
    let answers = join_all(same.chain(others).collect::<Vec<_>>()).await;

    let count = |status: u16| answers.iter().filter(|answer| answer.status.as_u16() == status).count();
    assert_eq!(count(201), 1, "{answers:?}");
    assert_eq!(count(200) + count(409) + count(201), 20, "{answers:?}");
    assert_eq!((one.dump("clusters").await.len(), one.api_server.secrets().len()), (1, 1));
    until("the outbox is empty", async || one.dump("outbox").await.is_empty().then_some(())).await;
    assert_eq!(one.api_server.resources().len(), 1);
    audit_log::verify(one.platform.db.clone(), None).await.unwrap();
}

async fn what_is_due_is_done_once_and_nothing_is_left(one: World) {
    let other = one.beside().await;
    let cookie = one.log_in("operator").await;
    let mut ids = Vec::new();
    for n in 0..8 {
        one.others.add("api.acme.com", &super::kubernetes::ApiServer::of_cluster(&format!("uid-{n}")));
        let cluster = one.join(&cookie, &format!("k{n}"), &format!("c{n}")).await.json();
        ids.push(cluster["id"].as_str().unwrap().to_owned());
    }
    let before = one.api_server.requests();

    let relays = join_all([&one, &other].map(|world| async {
        // Until nothing is left, as the task does that runs beside the requests.
        while !world.dump("outbox").await.is_empty() {
            relay_what_is_due(&world.platform).await.unwrap();
        }
    }));
    tokio::time::timeout(std::time::Duration::from_secs(20), relays).await.expect("something is left");

    let mut made: Vec<_> = one.api_server.resources().iter().map(|made| made["metadata"]["name"].clone()).collect();
    made.sort_by_key(Value::to_string);
    ids.sort();
    assert_eq!(made, ids);
    if one.url.starts_with("postgres") {
        assert_eq!(one.api_server.requests() - before, 8, "each was asked for once");
    }
}

async fn what_one_is_doing_the_other_leaves_alone(one: World) {
    let other = one.beside().await;
    let cookie = one.log_in("operator").await;
    let id = one.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let turn = service_kit::database::try_take_turn(&other.platform.db, &format!("outbox/{id}")).await.unwrap();
    let turn = turn.expect("nobody has it");

    relay_what_is_due(&one.platform).await.unwrap();
    let is_postgres = one.url.starts_with("postgres");
    assert_eq!(one.api_server.resources().is_empty(), is_postgres, "on SQLite there is one process");
    assert_eq!(one.dump("outbox").await.is_empty(), !is_postgres);

    // Whoever asks for something is not kept waiting by it.
    let asked = outbox::ask(&one.platform.db, id.parse().unwrap(), jiff::Timestamp::now());
    tokio::time::timeout(std::time::Duration::from_secs(5), asked).await.expect("it waits").unwrap();
    drop(turn);
    until("it is done", async || {
        relay_what_is_due(&one.platform).await.unwrap();
        one.dump("outbox").await.is_empty().then_some(())
    })
    .await;
    assert_eq!(one.api_server.resources().len(), 1);
}

async fn a_change_through_one_reaches_the_pages_of_the_other(one: World) {
    let other = one.beside().await;
    one.start();
    other.start();
    let cookie = one.log_in("administrator").await;
    let id = one.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/clusters/{id}");
    until("both know it", async || (other.get(&path, &cookie).await.status == StatusCode::OK).then_some(())).await;
    let mut page = Page::open(&other, &cookie, None).await;

    let cluster = one.get(&path, &cookie).await;
    let request = http::Request::patch(&path)
        .header("cookie", &cookie)
        .header("if-match", cluster.headers["etag"].to_str().unwrap())
        .header("content-type", "application/json");
    let renamed = one.send(request.body(json!({"name": "castle"}).to_string().into()).unwrap()).await;
    assert_eq!(renamed.status, StatusCode::OK, "{renamed:?}");

    page.until(|cluster| cluster["name"] == "castle").await;
    one.api_server.delete(&id);
    page.until_removed(&id).await;
}

async fn a_cluster_that_hardly_came_goes_from_the_pages_of_both(one: World) {
    let other = one.beside().await;
    one.start();
    other.start();
    let cookie = one.log_in("operator").await;
    let mut pages = [Page::open(&one, &cookie, None).await, Page::open(&other, &cookie, None).await];

    for _ in 0..3 {
        let id = one.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
        until("the resource is there", async || (!one.api_server.resources().is_empty()).then_some(())).await;
        for page in &mut pages {
            page.until(|cluster| cluster["id"] == id.as_str()).await;
        }
        one.api_server.delete(&id);
        for page in &mut pages {
            page.until_removed(&id).await;
        }
        until("it is off the record", async || one.dump("clusters").await.is_empty().then_some(())).await;
    }
}

async fn a_page_that_comes_over_from_the_other_reads_everything_again(one: World) {
    let other = one.beside().await;
    let cookie = one.log_in("viewer").await;
    let hello = Page::open(&one, &cookie, None).await.next().await.unwrap();

    let mut page = Page::open(&other, &cookie, Some(&hello.id.to_string())).await;

    let heard = [page.next().await.unwrap().event, page.next().await.unwrap().event];
    assert!(heard.contains(&"reset".to_owned()), "{heard:?}");
}

async fn both_bring_an_empty_database_up_to_date_at_the_same_moment(world: World) {
    let url = if world.url.starts_with("postgres") {
        tokio::task::spawn_blocking(testkit_postgres::database).await.unwrap().unwrap()
    } else {
        format!("sqlite://{}?mode=rwc", world.folder.path().join("empty.db").display())
    };
    let start = async || {
        let db = service_kit::database::open(&url).await.unwrap();
        let auth = auth_service::AuthService::open(db.clone(), super::world::root_keys()).await;
        crate::store::migrate(&db).await.unwrap();
        auth.unwrap().ensure_first_administrator(|_, _| Ok(())).await.unwrap()
    };

    let made = join_all((0..4).map(|_| start())).await;

    assert_eq!(made.into_iter().filter(|made| *made).count(), 1, "one first administrator");
}

async fn what_both_write_down_is_one_chain(one: World) {
    let other = one.beside().await;
    let cookie = one.log_in("viewer").await;
    let before = one.audit().await.len();

    join_all((0..10).flat_map(|_| [one.register(&cookie), other.register(&cookie)])).await;

    let verified = audit_log::verify(other.platform.db.clone(), None).await.unwrap();
    assert_eq!(usize::try_from(verified.rows).unwrap(), before + 20);
}
