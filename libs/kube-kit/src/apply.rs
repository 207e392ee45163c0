//! Server-side apply of objects whose kinds are known only at run time.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use futures::{StreamExt, TryStreamExt, stream};
use kube::{
    Api, Client,
    api::{DynamicObject, Patch, PatchParams},
    core::GroupVersionKind,
    discovery::{self, ApiResource, Scope},
};
use tokio::sync::Mutex;
use vocabulary::Trouble;

use crate::trouble::{Attempt, is_not_found, trouble};

/// Objects that are applied at a time: enough to hide the way to a distant cluster, few enough not to be a burden.
const AT_A_TIME: usize = 6;

/// Right after a `CustomResourceDefinition` is established its kind may not yet be served for a moment.
const KIND_APPEARS_WITHIN: Duration = Duration::from_secs(15);

/// Applies objects under one field manager, taking over fields that others hold.
pub struct Applier {
    client: Client,
    manager: &'static str,
    kinds: Mutex<HashMap<GroupVersionKind, (ApiResource, Scope)>>,
}

impl Applier {
    /// `manager` must not begin with `kubectl`, `before-first-apply` or `kustomize-controller`: Flux takes fields from
    /// managers by these prefixes.
    pub fn new(client: Client, manager: &'static str) -> Self {
        Self { client, manager, kinds: Mutex::default() }
    }

    /// The client objects are applied with.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Makes the object be as given; equal objects change nothing on the server.
    pub async fn apply(&self, object: &DynamicObject) -> Result<DynamicObject, Trouble> {
        let name = object.metadata.name.clone().unwrap_or_default();
        let api = self.api(object).await?;
        let params = PatchParams::apply(self.manager).force();
        let what = format!("apply {} {name}", kind(object).kind);
        match api.patch(&name, &params, &Patch::Apply(object)).await {
            // A kind that was removed and made again since it was looked up.
            Err(error) if is_not_found(&error) => {
                self.kinds.lock().await.remove(&kind(object));
                Err(trouble(Attempt(&what), &error))
            }
            answer => answer.map_err(|error| trouble(Attempt(&what), &error)),
        }
    }

    /// Makes all these objects be as given, in no particular order; stops at the first that cannot.
    pub async fn apply_all(&self, objects: &[DynamicObject]) -> Result<Vec<DynamicObject>, Trouble> {
        let applications: Vec<_> = objects.iter().map(|object| self.apply(object)).collect();
        stream::iter(applications).buffered(AT_A_TIME).try_collect().await
    }

    /// The API for an object of this kind and namespace.
    pub async fn api(&self, object: &DynamicObject) -> Result<Api<DynamicObject>, Trouble> {
        let (resource, scope) = self.resource(&kind(object)).await?;
        let client = self.client.clone();
        Ok(match (scope, &object.metadata.namespace) {
            (Scope::Cluster, _) => Api::all_with(client, &resource),
            (Scope::Namespaced, Some(namespace)) => Api::namespaced_with(client, namespace, &resource),
            (Scope::Namespaced, None) => Api::default_namespaced_with(client, &resource),
        })
    }

    async fn resource(&self, kind: &GroupVersionKind) -> Result<(ApiResource, Scope), Trouble> {
        if let Some(known) = self.kinds.lock().await.get(kind) {
            return Ok(known.clone());
        }
        let what = format!("find the kind {} of {}", kind.kind, kind.api_version());
        let found = wait_until(KIND_APPEARS_WITHIN, Duration::from_millis(250), || async {
            match discovery::pinned_kind(&self.client, kind).await {
                Ok((resource, capabilities)) => Ok(Some((resource, capabilities.scope))),
                Err(kube::Error::Discovery(_)) => Ok(None),
                Err(error) if is_not_found(&error) => Ok(None),
                Err(error) => Err(trouble(Attempt(&what), &error)),
            }
        });
        let found = found.await?.ok_or_else(|| {
            Trouble::transient("KindNotServed", format!("Could not {what}: the API server does not serve it (yet)."))
        })?;
        self.kinds.lock().await.insert(kind.clone(), found.clone());
        Ok(found)
    }
}

/// Group, version and kind that an object gives itself.
fn kind(object: &DynamicObject) -> GroupVersionKind {
    let types = object.types.clone().unwrap_or_default();
    let (group, version) = types.api_version.rsplit_once('/').unwrap_or(("", &types.api_version));
    GroupVersionKind::gvk(group, version, &types.kind)
}

/// Asks again every `pause` until there is an answer; None when there was none within `deadline`.
pub async fn wait_until<T, F>(
    deadline: Duration,
    pause: Duration,
    mut ask: impl FnMut() -> F,
) -> Result<Option<T>, Trouble>
where
    F: Future<Output = Result<Option<T>, Trouble>>,
{
    let end = Instant::now() + deadline;
    loop {
        if let Some(answer) = ask().await? {
            return Ok(Some(answer));
        }
        if Instant::now() + pause > end {
            return Ok(None);
        }
        tokio::time::sleep(pause).await;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use http::{Method, Request, Response};
    use kube::client::Body;
    use serde_json::json;
    use tower::{BoxError, service_fn};

    use super::*;

    /// An API server that serves the kind Cup from the `appears`-th question on, and refuses cups named `broken`.
    fn server(appears: usize) -> (Client, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let questions = Arc::clone(&asked);
        let service = service_fn(move |request: Request<Body>| {
            let uri = request.uri().to_string();
            let (code, body) = match (request.method(), uri.as_str()) {
                (&Method::GET, "/apis/kitchen.io/v1") => {
                    let served = questions.fetch_add(1, Ordering::SeqCst) + 1 >= appears;
                    let cup =
                        json!({"name": "cups", "singularName": "cup", "namespaced": true, "kind": "Cup", "verbs": []});
                    let resources = if served { json!([cup]) } else { json!([]) };
                    (200, json!({"kind": "APIResourceList", "groupVersion": "kitchen.io/v1", "resources": resources}))
                }
                (&Method::PATCH, uri) if uri.starts_with("/apis/kitchen.io/v1/namespaces/home/cups/broken?") => {
                    (422, json!({"kind": "Status", "code": 422, "reason": "Invalid", "message": "CANARY"}))
                }
                (&Method::PATCH, uri) => {
                    assert!(uri.contains("force=true") && uri.contains("fieldManager=tester"), "{uri}");
                    (200, json!({"apiVersion": "kitchen.io/v1", "kind": "Cup", "metadata": {"name": "blue"}}))
                }
                other => unreachable!("{other:?}"),
            };
            let answer = Response::builder().status(code).body(Body::from(body.to_string().into_bytes())).unwrap();
            async { Ok::<_, BoxError>(answer) }
        });
        (Client::new(service, "default"), asked)
    }

    fn cup(name: &str) -> DynamicObject {
        let cup =
            json!({"apiVersion": "kitchen.io/v1", "kind": "Cup", "metadata": {"name": name, "namespace": "home"}});
        serde_json::from_value(cup).unwrap()
    }

    #[tokio::test]
    async fn a_kind_that_is_not_served_yet_is_awaited_and_then_remembered() {
        let (client, asked) = server(3);
        let applier = Applier::new(client, "tester");

        applier.apply_all(&[cup("blue"), cup("red")]).await.unwrap();
        let questions = asked.load(Ordering::SeqCst);
        applier.apply(&cup("green")).await.unwrap();

        assert!(questions >= 3);
        assert_eq!(asked.load(Ordering::SeqCst), questions);
    }

    #[tokio::test]
    async fn an_object_that_is_refused_is_named() {
        let (client, _) = server(1);

        let trouble = Applier::new(client, "tester").apply_all(&[cup("blue"), cup("broken")]).await.unwrap_err();

        assert_eq!(trouble.reason, "Invalid");
        assert!(trouble.message.starts_with("Could not apply Cup broken: "), "{trouble}");
        assert!(!trouble.message.contains("CANARY"));
    }

    #[tokio::test]
    async fn waiting_ends_at_the_deadline_and_at_the_first_trouble() {
        let pause = Duration::from_millis(1);

        let late = wait_until(Duration::from_millis(5), pause, || async { Ok(None::<()>) }).await;
        let failed = wait_until(Duration::from_mins(1), pause, || async {
            Err::<Option<()>, _>(Trouble::rejected("Broken", "It is broken."))
        });

        assert_eq!(late, Ok(None));
        assert_eq!(failed.await.unwrap_err().reason, "Broken");
    }
}
