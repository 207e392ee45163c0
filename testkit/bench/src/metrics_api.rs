//! A metrics API that tells what it is told.

use anyhow::Context;
use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams},
    core::{ApiResource, GroupVersionKind},
};
use serde_json::{Value, json};
use tokio::time::{Duration, Instant, sleep};

/// How long an API server may take to serve a new kind of object.
const PATIENCE: Duration = Duration::from_mins(1);
const DEFINITION: &str = "nodes.metrics.k8s.io";

/// What nodes use, kept by the API server itself in place of metrics-server: it answers whoever asks as that does, with
/// figures that are chosen.
pub struct MetricsApi {
    usage: Api<DynamicObject>,
    definitions: Api<DynamicObject>,
}

impl MetricsApi {
    /// Has the API server serve it. None of metrics-server's may be there.
    pub async fn start(client: &Client) -> anyhow::Result<Self> {
        let definitions = ApiResource::from_gvk(&kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"));
        let mut usage = ApiResource::from_gvk(&kind("metrics.k8s.io", "v1beta1", "NodeMetrics"));
        "nodes".clone_into(&mut usage.plural);
        let started = Self {
            usage: Api::all_with(client.clone(), &usage),
            definitions: Api::all_with(client.clone(), &definitions),
        };
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let definition = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": DEFINITION, "annotations": {"api-approved.kubernetes.io": "unapproved, for tests only"}},
            "spec": {
                "group": "metrics.k8s.io", "scope": "Cluster", "names": {"plural": "nodes", "kind": "NodeMetrics"},
                "versions": [{"name": "v1beta1", "served": true, "storage": true, "schema": schema}],
            },
        });
        apply(&started.definitions, DEFINITION, definition).await?;
        let began = Instant::now();
        while let Err(error) = started.usage.list(&ListParams::default()).await {
            if began.elapsed() > PATIENCE {
                return Err(error).context("waiting for the metrics API");
            }
            sleep(Duration::from_millis(50)).await;
        }
        Ok(started)
    }

    /// A node uses this from now on, such as `1500m` and `1Gi`.
    pub async fn tell(&self, node: &str, cpu: &str, memory: &str) -> anyhow::Result<()> {
        let usage = json!({
            "apiVersion": "metrics.k8s.io/v1beta1", "kind": "NodeMetrics", "metadata": {"name": node}, "window": "15s",
            "usage": {"cpu": cpu, "memory": memory},
        });
        apply(&self.usage, node, usage).await
    }

    /// The API server serves it no more.
    pub async fn end(self) -> anyhow::Result<()> {
        self.definitions.delete(DEFINITION, &DeleteParams::default()).await.context("ending the metrics API").map(drop)
    }
}

fn kind(group: &str, version: &str, kind: &str) -> GroupVersionKind {
    GroupVersionKind::gvk(group, version, kind)
}

async fn apply(api: &Api<DynamicObject>, name: &str, object: Value) -> anyhow::Result<()> {
    let applied = api.patch(name, &PatchParams::apply("testkit").force(), &Patch::Apply(object)).await;
    applied.map(drop).with_context(|| format!("writing {name}"))
}
