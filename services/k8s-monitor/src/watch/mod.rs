//! A standing watch of one kind of object: listed once, followed from then on, and taken up again where it broke off.
//!
//! kube's own watcher decodes whole pages and objects into owned types and ends at the first object it cannot decode.
//! This one reads each object from the bytes it came in, passes over what it cannot read, and limits lines and rates.

mod decode;
mod lines;
mod list;
mod pace;

use std::{sync::Arc, time::Duration};

use kube::Client;
use kube_kit::Attempt;
use serde::Deserialize;
use tokio::time::{Instant, timeout_at};

use self::{
    decode::{Change, Decoded},
    lines::{Line, Lines},
    pace::Allowance,
};
pub(crate) use self::{
    decode::{Metadata, Text},
    pace::Pace,
};
use crate::{
    call::{Refusal, open, with_query},
    turns::Again,
};

/// The API server sends a bookmark every minute or so; a connection that is silent for longer leads nowhere.
const SILENT: Duration = Duration::from_secs(90);
/// While objects are being listed there is always something to send.
const SILENT_LISTING: Duration = Duration::from_secs(20);
/// More bytes than a quiet watch sends in its life.
const LARGE: usize = 64 << 10;
/// When the API server is to end a watch: below five minutes, after which it ends them by itself.
const WATCH_SECONDS: std::ops::Range<u32> = 240..290;

/// What is watched, and who is told of it. Calls come from one task, one after the other.
pub(crate) trait Kind: Send + Sync {
    /// What is looked at of an object.
    type Object<'a>: Deserialize<'a>;

    /// Path of the collection.
    const PATH: &'static str;
    /// Which objects, as a field selector; empty for all.
    const FIELDS: &'static str = "";
    /// Reads the list, as the words after "Could not".
    const ATTEMPT: &'static str;
    /// At so many objects reading a list ends, and the list is incomplete.
    const MOST: usize;
    /// Whether the list may come as a stream of events, which has no end that we could set.
    const STREAMS: bool = true;

    /// The revision of an object; empty if it has none.
    fn revision<'b>(object: &'b Self::Object<'_>) -> &'b str;

    /// A new list begins. What is known stays until the list is complete.
    fn list_begins(&self);
    /// An object is there, as it is now.
    fn put(&self, object: Self::Object<'_>);
    /// An object is gone.
    fn delete(&self, object: Self::Object<'_>);
    /// The list is complete: what it did not name is gone, unless it was cut short.
    fn list_ends(&self, is_cut_short: bool);
    /// An object could not be read.
    fn skipped(&self);
    /// What the server says is followed (none), or why not.
    fn follows(&self, why_not: Option<&Refusal>);
}

/// Where a watch is. Kept while it is interrupted, so that it goes on where it was.
pub(crate) struct Position {
    /// Everything up to this revision is known; none before the first list and after the server forgot.
    revision: Option<String>,
    streams: bool,
    page: u32,
    pace: Pace,
    allowance: Allowance,
}

impl Position {
    /// The beginning.
    pub(crate) fn start<K: Kind>(again: &Arc<Again>) -> Self {
        Self {
            revision: None,
            streams: K::STREAMS,
            page: list::PAGE,
            pace: Pace::new(Arc::clone(again)),
            allowance: Allowance::new(),
        }
    }
}

/// How one attempt ended.
enum End {
    /// As planned: go on from here at once.
    Continue,
    /// The server forgot the revision or cannot stream a list: list in another way, at once.
    ListAgain,
    /// The connection ended before its time: go on from here when it is its turn.
    BrokeOff,
}

/// Follows one kind of object of a cluster for ever. May be dropped at any time and begun again with the same position.
pub(crate) async fn follow<K: Kind>(client: &Client, kind: &K, position: &mut Position) {
    loop {
        position.pace.begin().await;
        let ended = attempt(client, kind, position).await;
        let asked = match ended {
            Ok(End::Continue) => {
                position.pace.ends_in_order();
                None
            }
            Ok(End::ListAgain) => {
                position.pace.ends_in_order();
                position.revision = None;
                None
            }
            Ok(End::BrokeOff) => None,
            Err(refusal) => {
                kind.follows(Some(&refusal));
                refusal.retry_after
            }
        };
        position.pace.wait(asked).await;
    }
}

async fn attempt<K: Kind>(client: &Client, kind: &K, position: &mut Position) -> Result<End, Refusal> {
    if position.revision.is_none() && !position.streams {
        position.revision = Some(list::read_all(client, kind, &mut position.page).await?);
        kind.follows(None);
    }
    let ended = watch(client, kind, position).await;
    match ended {
        Err(refusal) if refusal.is_expired() => Ok(End::ListAgain),
        // Servers before 1.34 or with the feature off: "sendInitialEvents is forbidden".
        Err(refusal) if position.revision.is_none() && matches!(refusal.code, Some(400 | 422)) => {
            position.streams = false;
            Ok(End::ListAgain)
        }
        ended => ended,
    }
}

/// Follows one connection to its end.
async fn watch<K: Kind>(client: &Client, kind: &K, position: &mut Position) -> Result<End, Refusal> {
    let attempt = Attempt(K::ATTEMPT);
    let answer = open(client, attempt, &query::<K>(position)).await?;
    let mut lines = Lines::new(answer.into_body());
    // The objects that are there come first, up to a bookmark that says so.
    let mut is_listing = position.revision.is_none();
    let mut received = 0;
    if is_listing {
        kind.list_begins();
    } else {
        kind.follows(None);
    }
    loop {
        while let Some(line) = lines.ready() {
            let Line::Whole(line) = line else {
                kind.skipped();
                continue;
            };
            if line.is_empty() {
                continue;
            }
            match decode::line::<K>(attempt, &line)? {
                Decoded::Object { change, object } => {
                    if !is_listing {
                        remember(position, K::revision(&object));
                    }
                    match change {
                        Change::Put => kind.put(object),
                        Change::Delete => kind.delete(object),
                    }
                }
                Decoded::Bookmark { revision, ends_list } => {
                    let is_complete = is_listing && ends_list;
                    is_listing &= !ends_list;
                    if !is_listing {
                        remember(position, &revision);
                    }
                    if is_complete {
                        kind.list_ends(false);
                        kind.follows(None);
                    }
                    // A connection keeps the buffer with which it took the list; a new one has none.
                    if is_complete && received > LARGE {
                        return Ok(End::Continue);
                    }
                }
                Decoded::Skipped { revision } => {
                    kind.skipped();
                    if !is_listing {
                        remember(position, &revision);
                    }
                }
            }
        }
        let limit = if is_listing { SILENT_LISTING } else { SILENT };
        match timeout_at(Instant::now() + limit, lines.more()).await {
            Ok(Ok(Some(bytes))) => {
                received += bytes;
                position.allowance.spend(bytes).await;
            }
            // The list did not come to its end: this server does not know how to stream one.
            Ok(Ok(None)) | Err(_) if is_listing => {
                position.streams = false;
                return Ok(End::ListAgain);
            }
            Ok(Ok(None)) if position.pace.lasted() >= Duration::from_secs(WATCH_SECONDS.start.into()) => {
                return Ok(End::Continue);
            }
            Ok(Ok(None)) | Err(_) => return Ok(End::BrokeOff),
            Ok(Err(error)) => return Err(Refusal::of(attempt, &error)),
        }
    }
}

fn query<K: Kind>(position: &Position) -> String {
    let seconds = rand::random_range(WATCH_SECONDS).to_string();
    let mut pairs = vec![
        ("watch", "true"),
        ("allowWatchBookmarks", "true"),
        ("fieldSelector", K::FIELDS),
        ("timeoutSeconds", seconds.as_str()),
    ];
    match &position.revision {
        Some(revision) => pairs.push(("resourceVersion", revision)),
        None => pairs.extend([("sendInitialEvents", "true"), ("resourceVersionMatch", "NotOlderThan")]),
    }
    with_query(K::PATH, &pairs)
}

/// Written over in place: a busy cluster changes many times a second.
fn remember(position: &mut Position, revision: &str) {
    if !revision.is_empty() {
        let known = position.revision.get_or_insert_default();
        known.clear();
        known.push_str(revision);
    }
}
