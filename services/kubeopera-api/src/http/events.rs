//! `/api/v1/events`: one stream a page, of everything that changes.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::{
        IntoResponse,
        sse::{Event as Message, KeepAlive, Sse},
    },
};
use futures::{Stream, stream};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;
use service_kit::ProblemBody;
use tokio::sync::{broadcast::error::RecvError, watch};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use crate::{
    app::{Caller, Platform},
    error::AppError,
    events::{Event, News, Subscription},
    fleet::{Changes, Drawing},
    store::audit::Action,
};

/// A comment this often tells page and proxies that the connection lives.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A session that was ended loses its streams within this. Asking counts as use of the session: a page that somebody
/// looks at is used (the dashboard closes its stream when it is hidden).
const STILL_LET_IN: Duration = Duration::from_secs(30);
/// News of the Multi-Cluster view, and which clusters have changed in detail, are told at most this often.
const FLEET_TOLD_EVERY: Duration = Duration::from_secs(1);

/// Streams changes as server-sent events.
///
/// `cluster` carries a Cluster, `cluster.removed` an object with an `id`, and `reset` asks to read everything again. The
/// id of an event is its revision; `Last-Event-ID` resumes after it, or gets a `reset` if that is too long ago.
/// `monitor` carries a `MultiCluster` with the rows that are new or changed, at most once a second; `monitor.changed` an
/// object with the `ids` of the clusters of which `/api/v1/clusters/{id}/monitor` answers something else than before, at
/// most once a second. Neither has an id, so a page that resumes reads both again.
#[utoipa::path(
    get,
    path = "/api/v1/events",
    tag = "events",
    params(("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    security(("session" = []), ("token" = [])),
    responses(
        (status = 200, description = "The stream", body = String, content_type = "text/event-stream"),
        (status = 401, description = "No session", body = ProblemBody, content_type = "application/problem+json"),
        (status = 403, description = "Your role does not allow it", body = ProblemBody, content_type = "application/problem+json"),
    )
)]
pub(crate) async fn stream_events(
    caller: Caller,
    State(platform): State<Arc<Platform>>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, AppError> {
    const NOT_BUFFERED: (HeaderName, HeaderValue) =
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    platform.permit(&caller, Action::SeeClusters).await?;
    let last_seen = headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse().ok()).unwrap_or(0));
    let subscription = platform.events.subscribe(last_seen);
    let messages = messages(platform, caller, subscription);
    Ok(([NOT_BUFFERED], Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT))))
}

/// Where a stream is.
struct Position {
    platform: Arc<Platform>,
    caller: Caller,
    subscription: Subscription,
    missed: std::vec::IntoIter<Event>,
    check: Interval,
    fleet: watch::Receiver<Arc<Drawing>>,
    /// The drawing the page knows, and when it may be told of the next.
    known: u64,
    tell_after: Instant,
    details: Details,
    greeted: bool,
}

fn messages(
    platform: Arc<Platform>,
    caller: Caller,
    mut subscription: Subscription,
) -> impl Stream<Item = Result<Message, Infallible>> + use<> {
    let mut check = tokio::time::interval_at(Instant::now() + STILL_LET_IN, STILL_LET_IN);
    check.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let missed = std::mem::take(&mut subscription.missed).into_iter();
    let fleet = platform.fleet.follow();
    let known = fleet.borrow().number;
    let tell_after = Instant::now();
    let known_details = *platform.monitor.revision().borrow();
    let details = Details { changes: platform.fleet.follow_changes(), known: known_details, tell_after };
    let start =
        Position { platform, caller, subscription, missed, check, fleet, known, tell_after, details, greeted: false };
    stream::unfold(start, |mut at| async move {
        let message = at.next().await?;
        Some((Ok(message), at))
    })
}

impl Position {
    /// The next message; `None` ends the stream.
    async fn next(&mut self) -> Option<Message> {
        if let Some(event) = self.missed.next() {
            return Some(message(&event));
        }
        if !self.greeted {
            // Its id lets a page resume that has seen no event yet.
            self.greeted = true;
            let id = self.subscription.begins_at.to_string();
            return Some(Message::default().event("hello").id(id).retry(Duration::from_secs(2)).data("{}"));
        }
        loop {
            tokio::select! {
                () = self.platform.shutdown.cancelled() => return None,
                _ = self.check.tick() => {
                    let (proof, address) = (self.caller.proof.clone(), self.caller.address.clone());
                    let still = self.platform.caller(proof, address).await;
                    // Only a session that is known to have ended ends the stream: a database that is away does not.
                    if matches!(still, Err(AppError::Auth(auth_service_contract::AuthError::NoSession))) {
                        return None;
                    }
                }
                Some(message) = fleet_news(&mut self.fleet, &mut self.known, self.tell_after) => {
                    self.tell_after = Instant::now() + FLEET_TOLD_EVERY;
                    return Some(message);
                }
                Some(message) = self.details.news() => return Some(message),
                event = self.subscription.coming.recv() => return match event {
                    Ok(event) => Some(message(&event)),
                    // The page was too slow, so it reads everything again.
                    Err(RecvError::Lagged(_)) => Some(Message::default().event("reset").data("{}")),
                    Err(RecvError::Closed) => None,
                },
            }
        }
    }
}

/// What is new in the Multi-Cluster view, when it is time to tell. `None` if nothing can be new any more.
async fn fleet_news(
    fleet: &mut watch::Receiver<Arc<Drawing>>,
    known: &mut u64,
    tell_after: Instant,
) -> Option<Message> {
    tokio::time::sleep_until(tell_after).await;
    loop {
        fleet.changed().await.ok()?;
        let drawing = Arc::clone(&fleet.borrow_and_update());
        let news = drawing.news_since(*known);
        *known = drawing.number;
        if let Some(json) = news.and_then(|news| serde_json::to_string(&news).ok()) {
            return Some(Message::default().event("monitor").data(json));
        }
    }
}

/// Which clusters have changed in what is seen of one alone, such as an event of Kubernetes.
struct Details {
    changes: watch::Receiver<Changes>,
    /// The revision of k8s-monitor up to which the page was told, or has read itself.
    known: u64,
    tell_after: Instant,
}

impl Details {
    /// The clusters that have changed, when it is time to tell. `None` if nothing can change any more.
    async fn news(&mut self) -> Option<Message> {
        tokio::time::sleep_until(self.tell_after).await;
        loop {
            let ids = self.changes.borrow_and_update().news_since(&mut self.known);
            if !ids.is_empty() {
                self.tell_after = Instant::now() + FLEET_TOLD_EVERY;
                return Some(Message::default().event("monitor.changed").data(json!({ "ids": ids }).to_string()));
            }
            self.changes.changed().await.ok()?;
        }
    }
}

fn message(event: &Event) -> Message {
    let message = Message::default().id(event.revision.to_string());
    match &event.news {
        News::Cluster(json) => message.event("cluster").data(json),
        News::Removed(id) => message.event("cluster.removed").data(format!(r#"{{"id":"{id}"}}"#)),
        News::Reset => message.event("reset").data("{}"),
    }
}
