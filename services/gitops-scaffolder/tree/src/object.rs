//! Kubernetes objects as typed data. Text comes only from serialising them, so a value can never become structure.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::values::sorted;

/// An object of a tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Object {
    /// `group/version`.
    #[serde(rename = "apiVersion")]
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name, namespace, labels and annotations.
    pub metadata: Metadata,
    /// Everything else: `spec`, `data`, `rules`, ….
    #[serde(flatten)]
    pub body: BTreeMap<&'static str, Value>,
}

/// Metadata of an object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Metadata {
    /// Name.
    pub name: String,
    /// Namespace, unless the object belongs to the whole cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
const FORCE: &str = "kustomize.toolkit.fluxcd.io/force";
const DISABLED: &str = "disabled";

impl Object {
    /// An object that belongs to the whole cluster.
    pub fn cluster_wide(api_version: &str, kind: &str, name: &str) -> Self {
        let metadata =
            Metadata { name: name.to_owned(), namespace: None, labels: BTreeMap::new(), annotations: BTreeMap::new() };
        Self { api_version: api_version.to_owned(), kind: kind.to_owned(), metadata, body: BTreeMap::new() }
    }

    /// An object in a namespace.
    pub fn namespaced(api_version: &str, kind: &str, namespace: &str, name: &str) -> Self {
        let mut object = Self::cluster_wide(api_version, kind, name);
        object.metadata.namespace = Some(namespace.to_owned());
        object
    }

    /// Sets a part of the body.
    pub fn with(mut self, part: &'static str, value: Value) -> Self {
        self.body.insert(part, sorted(value));
        self
    }

    /// Sets an annotation.
    pub fn annotated(mut self, key: &str, value: &str) -> Self {
        self.metadata.annotations.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Sets a label.
    pub fn labelled(mut self, key: &str, value: &str) -> Self {
        self.metadata.labels.insert(key.to_owned(), value.to_owned());
        self
    }

    /// Stays on the cluster when it leaves Git.
    pub fn kept(self) -> Self {
        self.annotated(PRUNE, DISABLED)
    }

    /// Stays on the cluster when it leaves Git, and is never recreated to change what cannot be changed: it holds data.
    pub fn keeping_data(self) -> Self {
        self.kept().annotated(FORCE, DISABLED)
    }

    /// Whether it stays on the cluster when it leaves Git.
    pub fn is_kept(&self) -> bool {
        self.metadata.annotations.get(PRUNE).is_some_and(|value| value == DISABLED)
    }
}
