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

/// Right after a CustomResourceDefinition is established its kind may not yet be served for a moment.
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
