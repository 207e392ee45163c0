//! Every file is read by somebody, and whoever names a file names one that is there.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Document, Findings, is_yaml};
use crate::{LOCK_PATH, Tree, sync::FLUX_NAMESPACE};

/// Read by people and by us, never by Flux.
const BESIDE: [&str; 2] = ["README.md", LOCK_PATH];

pub(super) fn files(tree: &Tree, documents: &[Document<'_>], findings: &mut Findings) {
    let mut reached = BTreeSet::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let list = join(&folder, "kustomization.yaml");
        let Some(document) = documents.iter().find(|document| document.file == list && document.is_list()) else {
            findings.add(&list, "is applied by Flux but has no kustomization.yaml");
            continue;
        };
        if !reached.insert(list.clone()) {
            continue;
        }
        for resource in strings(document.at(&["resources"])) {
            let path = join(&folder, resource);
            if tree.get(&path).is_none() {
                findings.add(&list, format!("lists {resource}, which is not there"));
            }
            for applied in documents.iter().filter(|document| document.file == path) {
                folders.extend(folder_of(applied));
            }
            reached.insert(path);
        }
    }
    for (path, _) in tree.files() {
        if is_yaml(path) && !reached.contains(path) {
            findings.add(path, "is listed by no kustomization.yaml that Flux reads");
        } else if !is_yaml(path) && !BESIDE.contains(&path) {
            findings.add(path, "is neither YAML nor one of the files beside it");
        }
    }
}

/// The folder that a Flux Kustomization of this tree applies, relative to the tree.
fn folder_of(document: &Document<'_>) -> Option<String> {
    if !document.is("kustomize.toolkit.fluxcd.io", "Kustomization") || document.namespace() != FLUX_NAMESPACE {
        return None;
    }
    let path = document.text(&["spec", "path"])?;
    let layer = crate::Layer::ALL.into_iter().find(|layer| path.ends_with(&format!("/{}", layer.folder())))?;
    Some(layer.folder().to_owned())
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

fn strings(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
