//! An API server in memory that knows objects and nothing of what they mean.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use http::{Method, Request, Response};
use http_body_util::BodyExt;
use kube::client::Body;
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct ApiServer {
    objects: Arc<Mutex<BTreeMap<String, Value>>>,
    version: Arc<Mutex<u64>>,
    /// What whoever deleted Jobs said about which.
    deletions: Arc<Mutex<Vec<Value>>>,
    /// What the next write is refused to whose path has this.
    conflict: Arc<Mutex<Option<String>>>,
}

impl ApiServer {
    pub(crate) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let server = server.clone();
            async move {
                let (parts, body) = request.into_parts();
                let bytes = body.collect().await.unwrap().to_bytes();
                let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
                let (status, answer) = server.answer(&parts.method, parts.uri.path(), &body);
                Ok::<_, Infallible>(
                    Response::builder().status(status).body(Body::from(answer.to_string().into_bytes())).unwrap(),
                )
            }
        });
        kube::Client::new(service, "default")
    }

    /// All objects of a kind, such as `jobs`, by name.
    pub(crate) fn all(&self, resource: &str) -> Vec<Value> {
        let within = format!("/{resource}/");
        let objects = self.objects.lock().unwrap();
        objects.iter().filter(|(path, _)| path.contains(&within)).map(|(_, object)| object.clone()).collect()
    }

    /// The kinds of all that there is, each once.
    pub(crate) fn kinds(&self) -> Vec<String> {
        let objects = self.objects.lock().unwrap();
        let kinds = objects.keys().map(|path| path.rsplit('/').nth(1).unwrap().to_owned());
        kinds.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.objects.lock().unwrap().is_empty()
    }

    /// Changes the one object of a kind, or of a kind and a name, as another program would.
    pub(crate) fn change(&self, which: &str, change: &Value) {
        let (within, named) = (format!("/{which}/"), format!("/{which}"));
        let is_it = |path: &&String| path.contains(&within) || path.ends_with(&named);
        let path = self.objects.lock().unwrap().keys().find(is_it).unwrap().clone();
        assert_eq!(self.answer(&Method::PATCH, &path, change).0, 200);
    }

    /// Removes the one object of a kind.
    pub(crate) fn remove(&self, resource: &str) {
        self.objects.lock().unwrap().retain(|path, _| !path.contains(&format!("/{resource}/")));
    }

    /// Removes the one object whose path ends like this.
    pub(crate) fn remove_named(&self, ending: &str) {
        self.objects.lock().unwrap().retain(|path, _| !path.ends_with(ending));
    }

    pub(crate) fn deletions(&self) -> Vec<Value> {
        self.deletions.lock().unwrap().clone()
    }

    /// The next change to an object of such a name finds that somebody else was faster.
    pub(crate) fn conflict_next(&self, named: &str) {
        *self.conflict.lock().unwrap() = Some(named.to_owned());
    }

    /// All objects, by path.
    pub(crate) fn everything(&self) -> BTreeMap<String, Value> {
        self.objects.lock().unwrap().clone()
    }

    /// Puts objects back.
    pub(crate) fn put_all(&self, objects: impl Iterator<Item = (String, Value)>) {
        self.objects.lock().unwrap().extend(objects);
    }

    /// Puts an object where it is not looked after.
    pub(crate) fn put(&self, path: &str, object: Value) {
        self.objects.lock().unwrap().insert(path.to_owned(), object);
    }

    fn answer(&self, method: &Method, path: &str, body: &Value) -> (u16, Value) {
        let mut objects = self.objects.lock().unwrap();
        let named = body["metadata"]["name"].as_str().unwrap_or_default();
        let existing = objects.get(path).cloned();
        let is_list = !path.rsplit('/').next().unwrap().contains('-');
        match (method.as_str(), existing) {
            ("GET", None) if is_list => {
                let within = format!("{path}/");
                let items: Vec<_> = objects
                    .iter()
                    .filter(|(at, _)| at.starts_with(&within))
                    .map(|(_, object)| object.clone())
                    .collect();
                (200, json!({ "kind": "List", "apiVersion": "v1", "metadata": {}, "items": items }))
            }
            ("GET", Some(object)) => (200, object),
            ("POST", _) if objects.contains_key(&format!("{path}/{named}")) => status(409, "AlreadyExists"),
            ("POST", _) => (201, self.store(&mut objects, &format!("{path}/{named}"), body.clone())),
            ("PATCH", None) if body["apiVersion"].is_string() => (200, self.store(&mut objects, path, body.clone())),
            ("PATCH", Some(_))
                if self.conflict.lock().unwrap().take_if(|named| path.contains(named.as_str())).is_some() =>
            {
                status(409, "Conflict")
            }
            ("PATCH", Some(mut object)) => {
                let follows = &body["metadata"]["resourceVersion"];
                if follows.is_string() && *follows != object["metadata"]["resourceVersion"] {
                    return status(409, "Conflict");
                }
                merge(&mut object, body);
                (200, self.store(&mut objects, path, object))
            }
            ("DELETE", Some(object)) => {
                let wanted = &body["preconditions"]["uid"];
                if path.contains("/jobs/") {
                    self.deletions.lock().unwrap().push(body.clone());
                }
                if wanted.is_string() && *wanted != object["metadata"]["uid"] {
                    return status(409, "Conflict");
                }
                objects.remove(path);
                (200, object)
            }
            _ => status(404, "NotFound"),
        }
    }

    fn store(&self, objects: &mut BTreeMap<String, Value>, path: &str, mut object: Value) -> Value {
        let mut version = self.version.lock().unwrap();
        *version += 1;
        object["metadata"]["resourceVersion"] = json!(version.to_string());
        if object["metadata"]["uid"].is_null() {
            object["metadata"]["uid"] = json!(format!("uid-{version}"));
        }
        objects.insert(path.to_owned(), object.clone());
        object
    }
}

fn status(code: u16, reason: &str) -> (u16, Value) {
    (
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": "" }),
    )
}

/// RFC 7396.
fn merge(into: &mut Value, change: &Value) {
    let Some(fields) = change.as_object() else { return into.clone_from(change) };
    if !into.is_object() {
        *into = json!({});
    }
    for (name, value) in fields {
        if value.is_null() {
            into.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut into[name], value);
        }
    }
}
