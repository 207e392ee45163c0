//! The few calls this service makes to an API server, with faults that a real one does not show on demand. How the real
//! one behaves is the subject of the stack's tests.

use std::{
    collections::{BTreeMap, VecDeque},
    convert::Infallible,
    sync::{Arc, Mutex},
};

use axum::body::Bytes;
use base64::{Engine, engine::general_purpose::STANDARD};
use futures::{StreamExt, stream};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, StreamBody};
use serde_json::{Value, json};
use tokio::sync::watch;

/// UID of its kube-system namespace.
pub(super) const UID: &str = "0b7a6b8e-uid-of-kube-system";
const SECRETS: &str = "/api/v1/namespaces/kubeopera-system/secrets";
/// Of all values in its data together, as in Kubernetes.
const LARGEST_SECRET: usize = 1 << 20;
const RESOURCES: &str = "/apis/kubeopera.io/v1alpha1/namespaces/kubeopera-system/hostclusters";

/// An API server that knows `kube-system`, nodes and HostCluster resources.
#[derive(Clone)]
pub(super) struct ApiServer {
    state: Arc<Mutex<State>>,
    news: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    kube_system_uid: String,
    nodes: Vec<Value>,
    resources: BTreeMap<String, Value>,
    secrets: BTreeMap<String, Value>,
    /// How often Secrets were written.
    secret_writes: u64,
    /// Every change so far, as a watch tells it.
    log: Vec<String>,
    /// What the next creates are answered with instead of being done.
    refused_creates: VecDeque<u16>,
    /// The next creates are done and not answered: the connection breaks.
    lost_answers: usize,
    is_down: bool,
    creates: usize,
    /// Whether whoever asks may do everything.
    grants_everything: bool,
    /// What every request is answered with instead of being done.
    answers: Option<u16>,
    /// Requests that came, whatever became of them.
    requests: usize,
}

impl ApiServer {
    pub(super) fn new() -> Self {
        let node = |id: &str, ready: &str| {
            json!({"metadata": {"name": id}, "spec": {"providerID": id},
                "status": {"conditions": [{"type": "Ready", "status": ready}]}})
        };
        let state = State {
            kube_system_uid: UID.to_owned(),
            grants_everything: true,
            nodes: vec![node("aws:///eu-north-1a/i-0abc", "True"), node("aws:///eu-north-1b/i-0def", "False")],
            ..State::default()
        };
        Self { state: Arc::new(Mutex::new(state)), news: watch::Sender::new(0) }
    }

    pub(super) fn client(&self) -> kube::Client {
        let server = self.clone();
        let service = tower::service_fn(move |request: Request<kube::client::Body>| {
            let server = server.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.map_err(std::io::Error::other)?.to_bytes();
                server.answer(&parts, &body)
            }
        });
        kube::Client::new(service, "kubeopera-system")
    }

    pub(super) fn be_down(&self, is_down: bool) {
        self.state.lock().unwrap().is_down = is_down;
    }

    /// Another cluster than [`UID`].
    pub(super) fn of_cluster(uid: &str) -> Self {
        let server = Self::new();
        server.state.lock().unwrap().kube_system_uid = uid.to_owned();
        server
    }

    /// A node joins.
    pub(super) fn join(&self, node: Value) {
        self.state.lock().unwrap().nodes.push(node);
    }

    pub(super) fn grant_everything(&self, grants: bool) {
        self.state.lock().unwrap().grants_everything = grants;
    }

    pub(super) fn answer_always(&self, status: u16) {
        self.state.lock().unwrap().answers = Some(status);
    }

    pub(super) fn requests(&self) -> usize {
        self.state.lock().unwrap().requests
    }

    pub(super) fn refuse_creates(&self, with: &[u16]) {
        self.state.lock().unwrap().refused_creates.extend(with);
    }

    pub(super) fn lose_answers_to_creates(&self, number: usize) {
        self.state.lock().unwrap().lost_answers = number;
    }

    /// Creates asked for, successful or not.
    pub(super) fn creates(&self) -> usize {
        self.state.lock().unwrap().creates
    }

    pub(super) fn become_another_cluster(&self) {
        self.state.lock().unwrap().kube_system_uid = "another-uid".to_owned();
    }

    pub(super) fn resources(&self) -> Vec<Value> {
        self.state.lock().unwrap().resources.values().cloned().collect()
    }

    pub(super) fn secrets(&self) -> Vec<Value> {
        self.state.lock().unwrap().secrets.values().cloned().collect()
    }

    /// Loses all Secrets, as when somebody deletes them.
    pub(super) fn lose_secrets(&self) {
        self.state.lock().unwrap().secrets.clear();
    }

    /// Lets time pass over all Secrets.
    pub(super) fn age_secrets(&self) {
        for secret in self.state.lock().unwrap().secrets.values_mut() {
            secret["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z".into();
        }
    }

    /// Every change so far, as a watch tells it.
    pub(super) fn told(&self) -> Vec<String> {
        self.state.lock().unwrap().log.clone()
    }

    /// Puts a resource there, as `kubectl` or the controller would.
    pub(super) fn put(&self, mut resource: Value) {
        let mut state = self.state.lock().unwrap();
        let name = resource["metadata"]["name"].as_str().unwrap().to_owned();
        let kind = if state.resources.contains_key(&name) { "MODIFIED" } else { "ADDED" };
        state.tell(kind, &mut resource);
        state.resources.insert(name, resource);
        let revision = state.log.len();
        drop(state);
        self.news.send_replace(revision);
    }

    /// Deletes a resource in sight of whoever watches.
    pub(super) fn delete(&self, name: &str) {
        let mut state = self.state.lock().unwrap();
        let mut resource = state.resources.remove(name).unwrap();
        state.tell("DELETED", &mut resource);
        let revision = state.log.len();
        drop(state);
        self.news.send_replace(revision);
    }

    /// Loses a resource: nobody is told, as when etcd is restored from a backup.
    pub(super) fn lose(&self, name: &str) {
        self.state.lock().unwrap().resources.remove(name).unwrap();
    }

    fn answer(&self, parts: &http::request::Parts, body: &Bytes) -> Result<Response<Body>, std::io::Error> {
        let mut state = self.state.lock().unwrap();
        state.requests += 1;
        if let Some(status) = state.answers {
            return Ok(refusal(StatusCode::from_u16(status).unwrap(), "Unauthorized"));
        }
        if state.is_down {
            return Err(std::io::ErrorKind::ConnectionRefused.into());
        }
        let path = parts.uri.path();
        let query = parts.uri.query().unwrap_or_default();
        Ok(match (&parts.method, path) {
            (&Method::GET, "/api/v1/namespaces/kube-system") => answer(
                StatusCode::OK,
                &json!({"apiVersion": "v1", "kind": "Namespace",
                    "metadata": {"name": "kube-system", "uid": state.kube_system_uid}}),
            ),
            (&Method::GET, "/version") => answer(StatusCode::OK, &json!({"gitVersion": "v1.34.4"})),
            (&Method::GET, "/api/v1/nodes") => answer(
                StatusCode::OK,
                &json!({"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": state.nodes}),
            ),
            (&Method::GET, SECRETS) => state.list_secrets(query),
            (method, one) if one.starts_with(SECRETS) => state.answer_about_secrets(method, one, body),
            (&Method::DELETE | &Method::PATCH, one) if one.starts_with(RESOURCES) => {
                let name = one.rsplit('/').next().unwrap().to_owned();
                let Some(mut resource) = state.resources.get(&name).cloned() else {
                    return Ok(refusal(StatusCode::NOT_FOUND, "NotFound"));
                };
                let is_deletion = parts.method == Method::DELETE;
                if is_deletion {
                    resource["metadata"]["deletionTimestamp"] = "2026-11-30T09:00:00Z".into();
                } else {
                    let change: Value = serde_json::from_slice(body).unwrap();
                    let seen = &change["metadata"]["resourceVersion"];
                    if !seen.is_null() && *seen != resource["metadata"]["resourceVersion"] {
                        return Ok(refusal(StatusCode::CONFLICT, "Conflict"));
                    }
                    merge(&mut resource, &change);
                }
                // Like the controller, which is seen deleting first and lets go later.
                state.tell("MODIFIED", &mut resource);
                state.resources.insert(name, resource.clone());
                let revision = state.log.len();
                drop(state);
                self.news.send_replace(revision);
                answer(StatusCode::OK, &resource)
            }
            (&Method::GET, RESOURCES) if query.contains("watch=true") => {
                let seen = query.split('&').find_map(|pair| pair.strip_prefix("resourceVersion=")).unwrap();
                Response::new(self.watch(seen.parse().unwrap()))
            }
            (&Method::GET, RESOURCES) => {
                let items: Vec<_> = state.resources.values().collect();
                let revision = state.log.len().to_string();
                answer(
                    StatusCode::OK,
                    &json!({"apiVersion": "kubeopera.io/v1alpha1", "kind": "HostClusterList",
                    "metadata": {"resourceVersion": revision}, "items": items}),
                )
            }
            (&Method::GET, one) => match state.resources.get(one.rsplit('/').next().unwrap()) {
                Some(resource) => answer(StatusCode::OK, resource),
                None => refusal(StatusCode::NOT_FOUND, "NotFound"),
            },
            (&Method::POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews") => {
                let mut review: Value = serde_json::from_slice(body).unwrap();
                assert_eq!(review["spec"]["resourceAttributes"]["verb"], "*");
                review["status"] = json!({"allowed": state.grants_everything});
                answer(StatusCode::CREATED, &review)
            }
            (&Method::POST, RESOURCES) => {
                state.creates += 1;
                if let Some(status) = state.refused_creates.pop_front() {
                    return Ok(refusal(StatusCode::from_u16(status).unwrap(), "HIDDEN-text-of-the-server"));
                }
                let mut resource: Value = serde_json::from_slice(body).unwrap();
                let name = resource["metadata"]["name"].as_str().unwrap().to_owned();
                if state.resources.contains_key(&name) {
                    return Ok(refusal(StatusCode::CONFLICT, "AlreadyExists"));
                }
                resource["metadata"]["creationTimestamp"] = "2026-11-30T08:00:00Z".into();
                state.tell("ADDED", &mut resource);
                state.resources.insert(name, resource.clone());
                let revision = state.log.len();
                let is_lost = state.lost_answers > 0;
                state.lost_answers = state.lost_answers.saturating_sub(1);
                drop(state);
                self.news.send_replace(revision);
                if is_lost {
                    return Err(std::io::ErrorKind::ConnectionReset.into());
                }
                answer(StatusCode::CREATED, &resource)
            }
            (method, path) => panic!("this service has no reason to call {method} {path}"),
        })
    }

    /// Everything after a revision, and whatever comes.
    fn watch(&self, seen: usize) -> Body {
        let (server, news) = (self.clone(), self.news.subscribe());
        let lines = stream::unfold((seen, news), move |(seen, mut news)| {
            let server = server.clone();
            async move {
                loop {
                    let line = server.state.lock().unwrap().log.get(seen).cloned();
                    if let Some(line) = line {
                        return Some((Ok(http_body::Frame::data(Bytes::from(line))), (seen + 1, news)));
                    }
                    news.changed().await.ok()?;
                }
            }
        });
        StreamBody::new(lines.boxed()).boxed_unsync()
    }
}

type Body = http_body_util::combinators::UnsyncBoxBody<Bytes, Infallible>;

impl State {
    /// Whole Secrets, whatever was asked for: who wants the metadata alone reads no more.
    fn list_secrets(&self, query: &str) -> Response<Body> {
        let selector = query.split('&').find_map(|pair| pair.strip_prefix("labelSelector=")).unwrap_or_default();
        let selector = selector.replace("%3D", "=").replace("%2C", ",").replace("%2F", "/");
        let is_selected = |secret: &&Value| {
            let labels = &secret["metadata"]["labels"];
            selector.split(',').filter(|one| !one.is_empty()).all(|one| match one.split_once('=') {
                Some((key, value)) => labels[key] == value,
                None => !labels[one].is_null(),
            })
        };
        let items: Vec<_> = self.secrets.values().filter(is_selected).collect();
        answer(StatusCode::OK, &json!({"apiVersion": "v1", "kind": "SecretList", "metadata": {}, "items": items}))
    }

    fn answer_about_secrets(&mut self, method: &Method, path: &str, body: &Bytes) -> Response<Body> {
        match (method, path) {
            (&Method::POST, SECRETS) => {
                let mut secret: Value = serde_json::from_slice(body).unwrap();
                let name = secret["metadata"]["name"].as_str().unwrap().to_owned();
                if self.secrets.contains_key(&name) {
                    return refusal(StatusCode::CONFLICT, "AlreadyExists");
                }
                secret["metadata"]["creationTimestamp"] = jiff::Timestamp::now().to_string().into();
                self.keep_secret(name, secret, StatusCode::CREATED)
            }
            (&Method::PATCH, one) => {
                let mut secret: Value = serde_json::from_slice(body).unwrap();
                let name = one.rsplit('/').next().unwrap().to_owned();
                secret["metadata"]["creationTimestamp"] = jiff::Timestamp::now().to_string().into();
                self.keep_secret(name, secret, StatusCode::OK)
            }
            (method, one) => {
                let name = one.rsplit('/').next().unwrap();
                let Some(secret) = self.secrets.get(name).cloned() else {
                    return refusal(StatusCode::NOT_FOUND, "NotFound");
                };
                // A deletion names the version in its preconditions, a replacement in the object itself.
                let wanted: Value = serde_json::from_slice(body).unwrap_or_default();
                let place = if method == Method::DELETE { "preconditions" } else { "metadata" };
                let version = &wanted[place]["resourceVersion"];
                if !version.is_null() && *version != secret["metadata"]["resourceVersion"] {
                    return refusal(StatusCode::CONFLICT, "Conflict");
                }
                if method == Method::DELETE {
                    self.secrets.remove(name);
                }
                if method == Method::PUT {
                    let mut another = wanted;
                    another["metadata"]["creationTimestamp"] = secret["metadata"]["creationTimestamp"].clone();
                    return self.keep_secret(name.to_owned(), another, StatusCode::OK);
                }
                answer(StatusCode::OK, &secret)
            }
        }
    }

    fn keep_secret(&mut self, name: String, mut secret: Value, done: StatusCode) -> Response<Body> {
        let sizes = secret["data"].as_object().into_iter().flat_map(|data| data.values());
        let size: usize = sizes.map(|value| STANDARD.decode(value.as_str().unwrap()).unwrap().len()).sum();
        if size > LARGEST_SECRET {
            return refusal(StatusCode::UNPROCESSABLE_ENTITY, "Invalid");
        }
        self.secret_writes += 1;
        secret["metadata"]["resourceVersion"] = self.secret_writes.to_string().into();
        self.secrets.insert(name, secret.clone());
        answer(done, &secret)
    }

    fn tell(&mut self, kind: &str, resource: &mut Value) {
        resource["metadata"]["resourceVersion"] = (self.log.len() + 1).to_string().into();
        self.log.push(json!({"type": kind, "object": resource}).to_string() + "\n");
    }
}

/// A merge patch (RFC 7386).
fn merge(target: &mut Value, change: &Value) {
    let Value::Object(change) = change else { return *target = change.clone() };
    if !target.is_object() {
        *target = json!({});
    }
    for (key, value) in change {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(key);
        } else {
            merge(&mut target[key], value);
        }
    }
}

fn answer(status: StatusCode, body: &Value) -> Response<Body> {
    let body = Bytes::from(body.to_string());
    let once = stream::once(async move { Ok(http_body::Frame::data(body)) });
    Response::builder().status(status).body(StreamBody::new(once.boxed()).boxed_unsync()).unwrap()
}

fn refusal(status: StatusCode, reason: &str) -> Response<Body> {
    answer(
        status,
        &json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "reason": reason,
        "message": format!("HIDDEN {reason}"), "code": status.as_u16()}),
    )
}
