//! The stream of events.

use std::sync::Arc;

use axum::body::{Body, BodyDataStream};
use futures::StreamExt;
use http::{Request, Response, header};
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{World, on_both_databases, world::until};

on_both_databases! {
    a_click_and_every_phase_after_it_arrive_on_the_open_pages
    a_page_that_comes_back_gets_what_it_missed_or_is_told_to_read_again
    a_cluster_that_looks_as_before_is_not_news
    the_stream_ends_when_the_process_does
}

/// A page that listens.
pub(super) struct Page {
    body: BodyDataStream,
    text: String,
}

#[derive(Debug, PartialEq)]
pub(super) struct Heard {
    pub(super) event: String,
    pub(super) id: u64,
    pub(super) data: Value,
}

async fn open(world: &World, cookie: &str, last_seen: Option<&str>) -> Response<Body> {
    let mut request = Request::get("/api/v1/events").header(header::COOKIE, cookie).header("accept-encoding", "gzip");
    if let Some(id) = last_seen {
        request = request.header("last-event-id", id);
    }
    world.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
}

impl Page {
    pub(super) async fn open(world: &World, cookie: &str, last_seen: Option<&str>) -> Self {
        let response = open(world, cookie, last_seen).await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        assert_eq!(response.headers()[header::CACHE_CONTROL], "no-cache");
        assert!(!response.headers().contains_key(header::CONTENT_ENCODING), "compressed, so held back");
        Self { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event; `None` when the stream has ended. What only keeps the connection alive is none.
    pub(super) async fn next(&mut self) -> Option<Heard> {
        tokio::time::timeout(std::time::Duration::from_secs(20), self.hear()).await.expect("nothing came")
    }

    async fn hear(&mut self) -> Option<Heard> {
        loop {
            if let Some((message, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    message.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
                };
                let heard = Heard {
                    event: field("event:"),
                    id: field("id:").parse().unwrap_or(0),
                    data: serde_json::from_str(&field("data:")).unwrap_or(Value::Null),
                };
                let keeps_alive = message.starts_with(':');
                self.text = rest.to_owned();
                if keeps_alive {
                    continue;
                }
                return Some(heard);
            }
            let bytes = self.body.next().await.map(Result::unwrap)?;
            self.text += std::str::from_utf8(&bytes).unwrap();
        }
    }

    /// The next event about a cluster for which something holds.
    pub(super) async fn until(&mut self, holds: impl Fn(&Value) -> bool) -> Heard {
        loop {
            let heard = self.next().await.expect("the stream ended");
            if heard.event == "cluster" && holds(&heard.data) {
                return heard;
            }
        }
    }

    /// The event that a cluster is off the record.
    pub(super) async fn until_removed(&mut self, id: &str) -> Heard {
        loop {
            let heard = self.next().await.expect("the stream ended");
            if heard.event == "cluster.removed" && heard.data["id"] == id {
                return heard;
            }
        }
    }
}

async fn a_click_and_every_phase_after_it_arrive_on_the_open_pages(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    let mut page = Page::open(&world, &cookie, None).await;
    assert_eq!(page.next().await.unwrap().event, "hello");

    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().to_owned();
    let mut revision = 0;
    let pending = page.until(|cluster| cluster["phase"] == "Pending").await;
    assert_eq!(pending.data["id"], id.as_str());
    until("the resource is there", async || (!world.api_server.resources().is_empty()).then_some(())).await;
    for phase in ["BootstrappingFlux", "GeneratingGitOpsTree", "InstallingKubeOpera", "Ready"] {
        let mut resource = world.api_server.resources()[0].clone();
        resource["status"] = json!({"phase": phase, "message": format!("{phase} goes well."), "conditions": []});
        world.api_server.put(resource);
        let heard = page.until(|cluster| cluster["phase"] == phase).await;
        assert_eq!(heard.data["message"], format!("{phase} goes well."));
        assert_eq!(heard.data["revision"], heard.id);
        assert!(heard.id > revision, "revisions grow");
        revision = heard.id;
        let mut listed = world.get("/api/v1/clusters", &cookie).await.json()["items"][0].clone();
        assert!(listed["revision"].as_u64() >= Some(heard.id), "what is listed is not older");
        listed["revision"] = heard.id.into();
        assert_eq!(listed, heard.data, "the list and the stream say the same");
    }

    world.api_server.delete(&id);
    assert_eq!(page.until_removed(&id).await.data, json!({"id": id}));
}

async fn a_page_that_comes_back_gets_what_it_missed_or_is_told_to_read_again(world: World) {
    world.start();
    let cookie = world.log_in("operator").await;
    until("the resources were listed", async || world.platform.observed.all().map(|_| ())).await;
    let mut page = Page::open(&world, &cookie, None).await;
    let hello = page.next().await.unwrap();
    world.register(&cookie).await;
    let first = page.until(|_| true).await;
    drop(page);

    let mut resource = until("the resource is there", async || world.api_server.resources().pop()).await;
    resource["status"] = json!({"phase": "Ready", "message": "Missed."});
    world.api_server.put(resource);
    until("the change is published", async || {
        let subscription = world.platform.events.subscribe(Some(first.id));
        subscription
            .missed
            .iter()
            .any(|event| matches!(&event.news, crate::events::News::Cluster(json) if json.contains("Missed.")))
            .then_some(())
    })
    .await;

    let mut back = Page::open(&world, &cookie, Some(&first.id.to_string())).await;
    let missed = back.until(|cluster| cluster["message"] == "Missed.").await;
    assert!(missed.id > first.id);
    let mut from_hello = Page::open(&world, &cookie, Some(&hello.id.to_string())).await;
    assert_eq!(from_hello.next().await.unwrap().id, first.id, "nothing is left out");
    for unknown in ["1", "99999999999999999", "not a number", "-1"] {
        let mut page = Page::open(&world, &cookie, Some(unknown)).await;
        assert_eq!(page.next().await.unwrap().event, "reset", "{unknown}");
    }

    // Another process has another past.
    let world = world.restarted().await;
    let mut page = Page::open(&world, &cookie, Some(&missed.id.to_string())).await;
    let reset = page.next().await.unwrap();
    assert_eq!(reset.event, "reset");
    assert!(reset.id > missed.id, "revisions grow over a restart");
}

async fn the_stream_ends_when_the_process_does(world: World) {
    let cookie = world.log_in("viewer").await;
    let mut page = Page::open(&world, &cookie, None).await;
    assert_eq!(page.next().await.unwrap().event, "hello");

    world.platform.shutdown.cancel();

    assert_eq!(page.next().await, None);
}

async fn a_cluster_that_looks_as_before_is_not_news(world: World) {
    let cookie = world.log_in("operator").await;
    let id = world.register(&cookie).await.json()["id"].as_str().unwrap().parse().unwrap();
    let begin = world.platform.events.subscribe(None).begins_at;
    let news = || world.platform.events.subscribe(Some(begin)).missed;
    tokio::spawn(crate::events::keep_announcing(Arc::clone(&world.platform), world.platform.shutdown.clone()));
    until("it is news the first time", async || (news().len() == 1).then_some(())).await;

    world.platform.events.mark(id);
    let other = vocabulary::ClusterId::random();
    until("the task has looked at both", async || {
        world.platform.events.mark(other);
        news().iter().any(|event| matches!(event.news, crate::events::News::Removed(_))).then_some(())
    })
    .await;

    let clusters = news().iter().filter(|event| matches!(event.news, crate::events::News::Cluster(_))).count();
    assert_eq!(clusters, 1);
}
