//! A cluster's name and labels as labels of its resource, so that `kubectl get hostcluster -l env=prod` finds it.

use std::collections::BTreeMap;

use host_cluster_controller_crd::{ANNOTATION_LABELS, HostCluster, LABEL_CLUSTER_NAME};
use serde_json::{Value, json};
use vocabulary::{ClusterLabels, LabelKey};

use crate::store::clusters::Record;

/// Puts a record's labels on a resource that is about to be made.
pub(super) fn put_on(resource: &mut HostCluster, record: &Record) {
    if record.labels.is_empty() {
        return;
    }
    let metadata = &mut resource.metadata;
    let labels = metadata.labels.get_or_insert_default();
    labels.extend(record.labels.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    metadata.annotations.get_or_insert_default().insert(ANNOTATION_LABELS.to_owned(), keys(&record.labels));
}

/// The labels that people gave a cluster in KubeOpera, read back from its resource. Others that somebody put on the
/// resource are not among them.
pub(super) fn of(resource: &HostCluster) -> ClusterLabels {
    let none = BTreeMap::new();
    let labels = resource.metadata.labels.as_ref().unwrap_or(&none);
    let given = given(resource).filter_map(|key| {
        let value = labels.get(key.as_str())?.parse().ok()?;
        Some((key, value))
    });
    given.collect()
}

/// What has to change for a resource to carry its record's name and labels: a merge patch of the metadata that holds for
/// the resource as it was read, or nothing. Labels that KubeOpera did not give are left alone.
pub(super) fn change(existing: &HostCluster, record: &Record) -> Option<Value> {
    let none = BTreeMap::new();
    let has = existing.metadata.labels.as_ref().unwrap_or(&none);
    let mut labels = serde_json::Map::new();
    for key in given(existing).filter(|key| !record.labels.contains_key(key)) {
        labels.insert(key.to_string(), Value::Null);
    }
    let wanted = record.labels.iter().map(|(key, value)| (key.as_str(), value.as_str()));
    for (key, value) in wanted.chain([(LABEL_CLUSTER_NAME, record.name.as_str())]) {
        if has.get(key).map(String::as_str) != Some(value) {
            labels.insert(key.to_owned(), value.into());
        }
    }
    if labels.is_empty() {
        return None;
    }
    let given = if record.labels.is_empty() { Value::Null } else { keys(&record.labels).into() };
    Some(json!({"resourceVersion": existing.metadata.resource_version, "labels": labels,
        "annotations": {ANNOTATION_LABELS: given}}))
}

/// Keys of the labels that KubeOpera put on a resource.
fn given(resource: &HostCluster) -> impl Iterator<Item = LabelKey> {
    let annotation = resource.metadata.annotations.as_ref().and_then(|all| all.get(ANNOTATION_LABELS));
    annotation.into_iter().flat_map(|keys| keys.split(',')).filter_map(|key| key.parse().ok())
}

fn keys(labels: &ClusterLabels) -> String {
    labels.keys().map(LabelKey::as_str).collect::<Vec<_>>().join(",")
}
