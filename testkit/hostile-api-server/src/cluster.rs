//! A cluster's objects in memory, served as Kubernetes serves them.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Bound,
    sync::{Arc, Mutex, PoisonError},
};

use bytes::{BufMut, Bytes, BytesMut};
use futures::{StreamExt, stream};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::{Answer, Asked};

/// Objects that can be listed, paged and watched. Clones are the same cluster.
#[derive(Clone)]
pub struct Cluster(Arc<Shared>);

struct Shared {
    streams_lists: bool,
    inner: Mutex<Inner>,
    revision: watch::Sender<u64>,
}

#[derive(Default)]
struct Inner {
    revision: u64,
    /// Nothing before this revision can be watched from.
    forgotten: u64,
    collections: HashMap<&'static str, Collection>,
    texts: HashMap<String, (u16, Bytes)>,
}

#[derive(Default)]
struct Collection {
    objects: BTreeMap<String, Bytes>,
    /// Lines of a watch with their revisions.
    history: Vec<(u64, Bytes)>,
}

/// Collections that exist without an object in them.
const COLLECTIONS: [&str; 3] = ["/api/v1/nodes", "/api/v1/pods", "/api/v1/events"];

impl Default for Cluster {
    fn default() -> Self {
        Self::new(true)
    }
}

impl Cluster {
    /// An empty cluster whose API server is well. `streams_lists`: whether it sends a list as the start of a watch.
    pub fn new(streams_lists: bool) -> Self {
        let mut inner = Inner { revision: 1, ..Inner::default() };
        for path in COLLECTIONS {
            inner.collections.insert(path, Collection::default());
        }
        let cluster =
            Self(Arc::new(Shared { streams_lists, inner: Mutex::new(inner), revision: watch::Sender::new(1) }));
        cluster.say("/livez", 200, "ok");
        cluster.say("/readyz", 200, "[+]ping ok\n[+]etcd ok\nreadyz check passed\n");
        cluster
    }

    /// A further collection, without an object yet.
    pub fn collection(&self, path: &'static str) {
        self.inner().collections.entry(path).or_default();
    }

    /// What a path that is no collection answers.
    pub fn say(&self, path: &str, status: u16, text: impl Into<Bytes>) {
        self.inner().texts.insert(path.to_owned(), (status, text.into()));
    }

    /// Creates or changes an object; it is known by its namespace and name.
    pub fn put(&self, collection: &'static str, mut object: Value) {
        let mut inner = self.inner();
        let revision = inner.next();
        set_revision(&mut object, revision);
        let key = key(&object);
        let text = Bytes::from(object.to_string());
        let collection = inner.collections.entry(collection).or_default();
        let is_new = collection.objects.insert(key, text.clone()).is_none();
        collection.history.push((revision, line(if is_new { "ADDED" } else { "MODIFIED" }, &text)));
        drop(inner);
        self.0.revision.send_replace(revision);
    }

    /// Deletes an object.
    pub fn delete(&self, collection: &'static str, namespace: &str, name: &str) {
        let mut inner = self.inner();
        let revision = inner.next();
        let Some(collection) = inner.collections.get_mut(collection) else { return };
        let Some(text) = collection.objects.remove(&format!("{namespace}/{name}")) else { return };
        let mut object: Value = serde_json::from_slice(&text).unwrap_or_default();
        set_revision(&mut object, revision);
        collection.history.push((revision, line("DELETED", object.to_string().as_bytes())));
        drop(inner);
        self.0.revision.send_replace(revision);
    }

    /// Sends this line on every watch of a collection, whatever it says.
    pub fn send(&self, collection: &'static str, text: impl Into<Bytes>) {
        let mut inner = self.inner();
        let revision = inner.next();
        inner.collections.entry(collection).or_default().history.push((revision, text.into()));
        drop(inner);
        self.0.revision.send_replace(revision);
    }

    /// Forgets the past: whoever watches from an earlier revision is told that it is gone.
    pub fn forget(&self) {
        let mut inner = self.inner();
        inner.forgotten = inner.revision;
        for collection in inner.collections.values_mut() {
            collection.history.clear();
        }
    }

    /// The answer of a cluster that is well.
    pub fn answer(&self, asked: &Asked) -> Answer {
        let inner = self.inner();
        let Some((path, collection)) = inner.collections.get_key_value(asked.path.as_str()) else {
            return match inner.texts.get(asked.path.as_str()) {
                Some((status, text)) => Answer::Json(*status, text.clone()),
                None => status(404, "NotFound"),
            };
        };
        let (path, revision) = (*path, inner.revision);
        if !asked.is_watch() {
            return list(collection, asked, revision);
        }
        if asked.parameter("sendInitialEvents") == "true" {
            if !self.0.streams_lists {
                return status(422, "Invalid");
            }
            let mut first: Vec<Bytes> = collection.objects.values().map(|object| line("ADDED", object)).collect();
            let bookmark = json!({"type": "BOOKMARK", "object": {"kind": "Any", "apiVersion": "v1", "metadata": {
                "resourceVersion": revision.to_string(), "annotations": {"k8s.io/initial-events-end": "true"},
            }}});
            first.push(format!("{bookmark}\n").into());
            drop(inner);
            return Answer::Chunks(stream::iter(first).chain(self.changes(path, revision)).boxed());
        }
        let since = asked.parameter("resourceVersion").parse().unwrap_or(revision);
        if since < inner.forgotten {
            return status(410, "Expired");
        }
        drop(inner);
        Answer::Chunks(self.changes(path, since).boxed())
    }

    /// Lines of changes after a revision, without end.
    fn changes(&self, path: &'static str, since: u64) -> impl futures::Stream<Item = Bytes> + Send + 'static {
        let state = (self.clone(), self.0.revision.subscribe(), since);
        stream::unfold(state, move |(cluster, mut revision, since)| async move {
            loop {
                revision.borrow_and_update();
                let (mut lines, mut last) = (BytesMut::new(), since);
                if let Some(collection) = cluster.inner().collections.get(path) {
                    let from = collection.history.partition_point(|(revision, _)| *revision <= since);
                    for (revision, line) in collection.history.iter().skip(from) {
                        lines.put_slice(line);
                        last = *revision;
                    }
                }
                if !lines.is_empty() {
                    return Some((lines.freeze(), (cluster, revision, last)));
                }
                revision.changed().await.ok()?;
            }
        })
    }

    fn inner(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    const fn next(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }
}

fn list(collection: &Collection, asked: &Asked, revision: u64) -> Answer {
    let limit = asked.parameter("limit").parse().unwrap_or(usize::MAX);
    let after = asked.parameter("continue");
    let from = if after.is_empty() { Bound::Unbounded } else { Bound::Excluded(after.to_owned()) };
    let mut rest = collection.objects.range((from, Bound::Unbounded));
    let page: Vec<_> = rest.by_ref().take(limit).collect();
    let last = page.last().filter(|_| rest.next().is_some()).map_or("", |(key, _)| key.as_str());
    let head = json!({"resourceVersion": revision.to_string(), "continue": last});
    let mut body =
        BytesMut::from(format!("{{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{head},\"items\":[").as_bytes());
    for (at, (_, object)) in page.iter().enumerate() {
        if at > 0 {
            body.put_u8(b',');
        }
        body.put_slice(object);
    }
    body.put_slice(b"]}");
    Answer::Json(200, body.freeze())
}

fn status(code: u16, reason: &str) -> Answer {
    let status = json!({"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": ""});
    Answer::Json(code, status.to_string().into())
}

fn set_revision(object: &mut Value, revision: u64) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), revision.to_string().into());
    }
}

fn key(object: &Value) -> String {
    let text = |field: &str| object.pointer(&format!("/metadata/{field}")).and_then(Value::as_str).unwrap_or_default();
    format!("{}/{}", text("namespace"), text("name"))
}

fn line(kind: &str, object: &[u8]) -> Bytes {
    let mut line = BytesMut::with_capacity(object.len() + 40);
    line.put_slice(format!("{{\"type\":\"{kind}\",\"object\":").as_bytes());
    line.put_slice(object);
    line.put_slice(b"}\n");
    line.freeze()
}
