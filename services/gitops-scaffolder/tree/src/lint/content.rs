//! What is in the files: no secret, no other cluster's host, nothing that removes people's data.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Document, Findings};
use crate::{Cluster, LOCK_PATH, Lock, Tree, sync::FLUX_NAMESPACE};

/// Namespaces every cluster with Flux has.
const ALWAYS_THERE: [&str; 2] = [FLUX_NAMESPACE, "kube-system"];
/// Ends of keys whose values are secrets. What names a Secret object ends differently (`secretName`, `secretRef`).
const SECRET_KEYS: [&str; 6] = ["password", "token", "secretkey", "accesskey", "privatekey", "apikey"];

pub(super) fn texts(tree: &Tree, findings: &mut Findings) {
    for (path, file) in tree.files() {
        if file.text.contains('\r') {
            findings.add(path, "has line ends of another system");
        }
        if !file.text.ends_with('\n') {
            findings.add(path, "does not end with a line end");
        }
    }
}

pub(super) fn lock(tree: &Tree, lock: &Lock, findings: &mut Findings) {
    for (path, file) in tree.files().filter(|(path, _)| *path != LOCK_PATH) {
        if !lock.wrote(path, &file.text) {
            findings.add(path, "is not what the lock file says");
        }
    }
    for path in lock.files.keys().filter(|path| tree.get(path).is_none()) {
        findings.add(LOCK_PATH, format!("records {path}, which is not there"));
    }
}

pub(super) fn objects(documents: &[Document<'_>], findings: &mut Findings) {
    let is_namespace = |document: &&Document<'_>| document.is("", "Namespace");
    let mut namespaces: BTreeSet<&str> = documents.iter().filter(is_namespace).map(Document::name).collect();
    namespaces.extend(ALWAYS_THERE);
    let mut seen = BTreeSet::new();
    for document in documents.iter().filter(|document| !document.is_list()) {
        let file = document.file;
        if document.kind().is_empty() || document.name().is_empty() {
            findings.add(file, "holds something that is not a Kubernetes object");
        }
        if !seen.insert((document.group(), document.kind(), document.namespace(), document.name())) {
            findings.add(file, format!("{} {} is defined twice", document.kind(), document.name()));
        }
        let target = document.text(&["spec", "targetNamespace"]).unwrap_or_default();
        for namespace in [document.namespace(), target] {
            if !namespace.is_empty() && !namespaces.contains(namespace) {
                findings.add(file, format!("uses the namespace {namespace}, which nobody makes"));
            }
        }
        guards(document, findings);
        if document.is("", "Secret") {
            findings.add(file, "holds a Secret, and no secret belongs in Git");
        }
        secrets(document, &document.value, findings);
        images(document, &document.value, findings);
    }
}

/// What holds people's data stays when it leaves Git.
fn guards(document: &Document<'_>, findings: &mut Findings) {
    let holds_data = document.is("postgresql.cnpg.io", "Cluster") || document.is("", "PersistentVolumeClaim");
    let kept = document.annotation("kustomize.toolkit.fluxcd.io/prune") == "disabled";
    let never_replaced = document.annotation("kustomize.toolkit.fluxcd.io/force") == "disabled";
    if (document.is("", "Namespace") || holds_data) && !kept {
        findings.add(document.file, format!("{} would be removed from the cluster with Git", document.kind()));
    }
    if holds_data && !never_replaced {
        findings.add(document.file, format!("{} could be recreated, and its data lost", document.kind()));
    }
}

fn secrets(document: &Document<'_>, value: &Value, findings: &mut Findings) {
    each_entry(value, &mut |key, value| {
        let key_of_secret = SECRET_KEYS.iter().any(|end| key.to_ascii_lowercase().ends_with(end));
        if key_of_secret && value.as_str().is_some_and(|text| !text.is_empty()) {
            findings.add(document.file, format!("{key} holds a value, and no secret belongs in Git"));
        }
    });
}

/// Images of plain objects carry an exact tag; those of charts are the charts' own.
fn images(document: &Document<'_>, value: &Value, findings: &mut Findings) {
    each_entry(value, &mut |key, value| {
        let Some(image) = value.as_str().filter(|_| key == "image" || key == "imageName") else { return };
        let tag = image.rsplit('/').next().and_then(|name| name.split_once(':')).map(|(_, tag)| tag);
        if tag.is_none_or(|tag| tag.is_empty() || tag == "latest") {
            findings.add(document.file, format!("the image {image} has no exact tag"));
        }
    });
}

/// Hosts of Ingresses are the cluster's domain or below it.
pub(super) fn hosts(documents: &[Document<'_>], cluster: &Cluster, findings: &mut Findings) {
    let domain = cluster.domain.as_ref().map(vocabulary::Domain::as_str);
    let ours = |host: &str| {
        domain.is_some_and(|domain| {
            host.strip_suffix(domain).is_some_and(|label| label.is_empty() || label.ends_with('.'))
        })
    };
    for document in documents {
        each_entry(&document.value, &mut |key, value| {
            let hosts: Vec<&str> = match (key, value) {
                ("host" | "domain", Value::String(host)) => vec![host],
                ("hosts", Value::Array(hosts)) => hosts.iter().filter_map(Value::as_str).collect(),
                _ => Vec::new(),
            };
            for host in hosts.into_iter().filter(|host| !ours(host)) {
                findings.add(document.file, format!("{host} is not below this cluster's domain"));
            }
        });
    }
}

/// With a mirror, nothing comes from anywhere else.
pub(super) fn registries(documents: &[Document<'_>], cluster: &Cluster, findings: &mut Findings) {
    let Some(mirror) = &cluster.mirror else { return };
    let prefix = mirror.registry("");
    for document in documents.iter().filter(|document| document.group() == "source.toolkit.fluxcd.io") {
        let url = document.text(&["spec", "url"]).and_then(|url| url.strip_prefix("oci://"));
        if !url.is_some_and(|url| url.starts_with(&prefix)) {
            findings.add(document.file, "takes a chart from elsewhere than the mirror");
        }
    }
    for document in documents {
        each_entry(&document.value, &mut |key, value| {
            let Some(image) = value.as_str().filter(|_| matches!(key, "image" | "imageName" | "newName")) else {
                return;
            };
            if !image.starts_with(&prefix) {
                findings.add(document.file, format!("takes the image {image} from elsewhere than the mirror"));
            }
        });
    }
}

/// Calls `visit` for each key of each map, however deep.
fn each_entry(value: &Value, visit: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                visit(key, value);
                each_entry(value, visit);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| each_entry(value, visit)),
        _ => {}
    }
}
