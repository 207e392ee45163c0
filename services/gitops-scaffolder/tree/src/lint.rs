//! Proves a tree sound before anybody sees it: what Flux, Kubernetes or a person would only notice later.
//!
//! It reads the files as they will be committed, not the objects they were made from, so that it also judges a tree
//! whose files somebody else changed.

mod content;
mod flux;
mod reach;

use std::fmt;

use serde_json::Value;

use crate::{LOCK_PATH, Layer, Lock, Tree};

/// Something wrong with a tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The file it is in.
    pub file: String,
    /// What is wrong, as a sentence.
    pub message: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.file, self.message)
    }
}

/// Everything wrong with a tree as it was generated, ordered by file.
pub fn lint(tree: &Tree) -> Vec<Finding> {
    let mut findings = Findings::default();
    if let Some(lock) = tree.get(LOCK_PATH).and_then(|file| Lock::parse(&file.text).ok()) {
        content::lock(tree, &lock, &mut findings);
    }
    findings.0.extend(lint_edited(tree));
    findings.0.sort();
    findings.0
}

/// Everything wrong with a tree that people may have edited, ordered by file. That it is not what was generated is no fault.
pub fn lint_edited(tree: &Tree) -> Vec<Finding> {
    let mut findings = Findings::default();
    content::texts(tree, &mut findings);
    let documents = documents(tree, &mut findings);
    match tree.get(LOCK_PATH).map(|file| Lock::parse(&file.text)) {
        Some(Ok(lock)) => {
            flux::kustomizations(&documents, &lock.inputs, &mut findings);
            content::hosts(&documents, &lock.inputs, &mut findings);
            content::registries(&documents, &lock.inputs, &mut findings);
        }
        Some(Err(_)) | None => findings.add(LOCK_PATH, "the lock file is missing or cannot be read"),
    }
    reach::files(tree, &documents, &mut findings);
    flux::releases(&documents, &mut findings);
    flux::order_of_crds(&documents, &mut findings);
    content::objects(&documents, &mut findings);
    findings.0.sort();
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, file: &str, message: impl Into<String>) {
        self.0.push(Finding { file: file.to_owned(), message: message.into() });
    }
}

/// One YAML document of a tree.
struct Document<'tree> {
    file: &'tree str,
    value: Value,
}

impl Document<'_> {
    /// The text at a path of keys.
    fn text(&self, path: &[&str]) -> Option<&str> {
        self.at(path).and_then(Value::as_str)
    }

    fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, key| value.get(key))
    }

    fn kind(&self) -> &str {
        self.text(&["kind"]).unwrap_or_default()
    }

    /// The group of its API version; empty for the core group.
    fn group(&self) -> &str {
        self.text(&["apiVersion"]).and_then(|version| version.split_once('/')).map_or("", |(group, _)| group)
    }

    fn name(&self) -> &str {
        self.text(&["metadata", "name"]).unwrap_or_default()
    }

    fn namespace(&self) -> &str {
        self.text(&["metadata", "namespace"]).unwrap_or_default()
    }

    fn annotation(&self, key: &str) -> &str {
        self.text(&["metadata", "annotations", key]).unwrap_or_default()
    }

    fn is(&self, group: &str, kind: &str) -> bool {
        self.group() == group && self.kind() == kind
    }

    /// A `kustomization.yaml`, which is read by kustomize and never reaches the cluster.
    fn is_list(&self) -> bool {
        self.is("kustomize.config.k8s.io", "Kustomization")
    }

    /// The layer whose folder it is in.
    fn layer(&self) -> Option<Layer> {
        let in_folder =
            |layer: &Layer| self.file.strip_prefix(layer.folder()).is_some_and(|rest| rest.starts_with('/'));
        Layer::ALL.into_iter().find(in_folder)
    }
}

fn is_yaml(path: &str) -> bool {
    path.rsplit('.').next().is_some_and(|extension| extension == "yaml")
}

fn documents<'tree>(tree: &'tree Tree, findings: &mut Findings) -> Vec<Document<'tree>> {
    let mut documents = Vec::new();
    for (path, file) in tree.files().filter(|(path, _)| is_yaml(path)) {
        match serde_saphyr::from_multiple::<Value>(&file.text) {
            Ok(values) => documents.extend(values.into_iter().map(|value| Document { file: path, value })),
            Err(_) => findings.add(path, "is not YAML"),
        }
    }
    documents
}

#[cfg(test)]
mod tests;
