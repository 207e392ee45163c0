//! Flux's own objects: what they refer to is there, they wait for each other without going round in circles, and
//! nothing they do surprises anybody.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{Document, Findings};
use crate::{
    Cluster, Layer,
    sync::{FLUX_NAMESPACE, GIT_REPOSITORY},
};

/// A Kustomization's name becomes the value of a label on everything it applies.
const LONGEST_LABEL: usize = 63;
/// Helm refuses longer names of releases.
const LONGEST_RELEASE: usize = 53;

/// CRDs by their group, and the component whose chart brings them.
const BROUGHT_BY: [(&str, &str); 3] = [
    ("cert-manager.io", "cert-manager"),
    ("monitoring.coreos.com", "kube-prometheus-stack"),
    ("postgresql.cnpg.io", "cloudnative-pg"),
];

pub(super) fn kustomizations(documents: &[Document<'_>], cluster: &Cluster, findings: &mut Findings) {
    let found: Vec<&Document<'_>> = kustomizations_of(documents).collect();
    let names: BTreeSet<&str> = found.iter().map(|document| document.name()).collect();
    for document in &found {
        let (file, name) = (document.file, document.name());
        if name.len() > LONGEST_LABEL {
            findings.add(file, format!("the name {name} is longer than {LONGEST_LABEL} characters"));
        }
        for missing in depends_on(document).filter(|target| !names.contains(target)) {
            findings.add(file, format!("waits for {missing}, which is not there"));
        }
        let expected = Layer::ALL.into_iter().find(|layer| layer.kustomization() == name);
        let expected = expected.map(|layer| format!("./{}/{}", cluster.path, layer.folder()));
        if document.text(&["spec", "path"]) != expected.as_deref() {
            findings.add(file, "does not apply its own layer of this tree");
        }
        if document.text(&["spec", "sourceRef", "name"]) != Some(GIT_REPOSITORY) {
            findings.add(file, format!("does not read the GitRepository {GIT_REPOSITORY}"));
        }
        // A target namespace renames the namespaces a Kustomization holds, and substitution would make `${…}` in any
        // value mean something.
        for surprising in ["targetNamespace", "postBuild", "namePrefix", "nameSuffix"] {
            if document.at(&["spec", surprising]).is_some() {
                findings.add(file, format!("sets {surprising}, which no layer may"));
            }
        }
        if document.text(&["spec", "deletionPolicy"]) != Some("Orphan") {
            findings.add(file, "would remove what it applied when it is removed itself");
        }
    }
    for name in &names {
        if reachable(documents, name).contains(name) {
            findings.add("sync", format!("{name} waits for itself"));
        }
    }
}

pub(super) fn releases(documents: &[Document<'_>], findings: &mut Findings) {
    let sources: BTreeSet<(&str, &str)> = documents
        .iter()
        .filter(|document| document.group() == "source.toolkit.fluxcd.io" && document.namespace() == FLUX_NAMESPACE)
        .map(|document| (document.kind(), document.name()))
        .collect();
    for document in documents {
        if let Some(version) = document.text(&["spec", "ref", "tag"]) {
            exact(document, version, findings);
        }
        if document.is("source.toolkit.fluxcd.io", "OCIRepository") && document.at(&["spec", "ref", "tag"]).is_none() {
            findings.add(document.file, "names no exact version of the chart");
        }
        if document.is("helm.toolkit.fluxcd.io", "HelmRelease") {
            release(document, &sources, findings);
        }
    }
}

fn release(document: &Document<'_>, sources: &BTreeSet<(&str, &str)>, findings: &mut Findings) {
    let file = document.file;
    let by_name = document.at(&["spec", "chartRef"]);
    let inline = document.at(&["spec", "chart", "spec", "sourceRef"]);
    let reference = by_name.or(inline);
    let part = |key: &str| reference.and_then(|found| found.get(key)).and_then(Value::as_str).unwrap_or_default();
    if !sources.contains(&(part("kind"), part("name"))) {
        findings.add(file, format!("takes its chart from {} {}, which is not there", part("kind"), part("name")));
    }
    if inline.is_some() {
        exact(document, document.text(&["spec", "chart", "spec", "version"]).unwrap_or_default(), findings);
    }
    let name = document.text(&["spec", "releaseName"]).unwrap_or_default();
    if name.is_empty() || name.len() > LONGEST_RELEASE {
        findings.add(file, format!("the release's name must have 1 to {LONGEST_RELEASE} characters"));
    }
    for action in ["install", "upgrade"] {
        if document.text(&["spec", action, "strategy", "name"]) != Some("RetryOnFailure") {
            findings.add(file, format!("gives up when its {action} fails"));
        }
    }
    if document.text(&["spec", "upgrade", "crds"]) != Some("CreateReplace") {
        findings.add(file, "leaves old CRDs behind when it is upgraded");
    }
    for from in document.at(&["spec", "valuesFrom"]).and_then(Value::as_array).into_iter().flatten() {
        if from.get("optional") != Some(&Value::Bool(true)) {
            findings.add(file, "needs values that are not in the tree");
        }
    }
}

/// `1.2.3`, with `v` or a suffix if upstream has them; no range, no moving name.
fn exact(document: &Document<'_>, version: &str, findings: &mut Findings) {
    let core = version.trim_start_matches('v').split(['-', '+']).next().unwrap_or_default();
    let numbers = core.split('.').filter(|part| part.parse::<u32>().is_ok()).count();
    if numbers != 3 || core.split('.').count() != 3 {
        findings.add(document.file, format!("{version:?} is not an exact version"));
    }
}

/// A resource in the same layer as the chart that brings its CRD fails the layer as a whole, because Flux tries all of
/// it before it applies any of it.
pub(super) fn order_of_crds(documents: &[Document<'_>], findings: &mut Findings) {
    for document in documents {
        let Some((_, chart)) = BROUGHT_BY.iter().find(|(group, _)| *group == document.group()) else { continue };
        let is_chart =
            |other: &&Document<'_>| other.is("helm.toolkit.fluxcd.io", "HelmRelease") && other.name() == *chart;
        let Some(installed_in) = documents.iter().find(is_chart).and_then(Document::layer) else { continue };
        let Some(used_in) = document.layer() else { continue };
        if !reachable(documents, &used_in.kustomization()).contains(installed_in.kustomization().as_str()) {
            findings.add(document.file, format!("is applied before {chart}, which brings its CRD, is ready"));
        }
    }
}

fn kustomizations_of<'a>(documents: &'a [Document<'_>]) -> impl Iterator<Item = &'a Document<'a>> {
    documents.iter().filter(|document| document.is("kustomize.toolkit.fluxcd.io", "Kustomization"))
}

fn depends_on<'a>(document: &'a Document<'_>) -> impl Iterator<Item = &'a str> {
    let list = document.at(&["spec", "dependsOn"]).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|entry| entry.get("name")).filter_map(Value::as_str)
}

/// Every Kustomization that `name` waits for, at any remove.
fn reachable<'a>(documents: &'a [Document<'_>], name: &str) -> BTreeSet<&'a str> {
    let edges: BTreeMap<&str, Vec<&str>> =
        kustomizations_of(documents).map(|document| (document.name(), depends_on(document).collect())).collect();
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = edges.get(name).cloned().unwrap_or_default();
    while let Some(next) = open.pop() {
        if found.insert(next) {
            open.extend(edges.get(next).into_iter().flatten());
        }
    }
    found
}
