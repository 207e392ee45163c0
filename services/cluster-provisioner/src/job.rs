//! The objects of a run in Kubernetes.

use std::{collections::BTreeMap, fmt::Display};

use base64::{Engine, engine::general_purpose::STANDARD};
use host_cluster_controller_crd::{PROVISIONING_NAMESPACE, marks};
use serde_json::{Value, json};
use vocabulary::{ClusterId, Secret};

use crate::names;

/// Label: which run a Job is.
pub(crate) const LABEL_RUN: &str = "kubeopera.io/run";
/// Where the order is mounted.
const ORDER_FOLDER: &str = "/run/kubeopera/order";
const WORK_FOLDER: &str = "/work";
/// The longest that a run may take: an EKS control plane alone has an hour.
const DEADLINE_SECONDS: u32 = 2 * 60 * 60;
/// Terraform is let finish what it is at, which may be the making of a control plane.
const GRACE_SECONDS: u32 = 20 * 60;

/// What runs the Job.
#[derive(Debug, Clone)]
pub(crate) struct Image {
    pub(crate) name: String,
    pub(crate) pull_policy: String,
}

fn metadata(name: &str, cluster: ClusterId) -> Value {
    json!({
        "name": name,
        "namespace": PROVISIONING_NAMESPACE,
        "labels": marks(cluster),
    })
}

/// The Secret with what a run is given.
pub(crate) fn order(cluster: ClusterId, files: &BTreeMap<&'static str, Secret>) -> Value {
    let data: BTreeMap<_, _> = files.iter().map(|(name, text)| (name, STANDARD.encode(text.reveal()))).collect();
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": metadata(&names::order(cluster), cluster),
        "data": data,
    })
}

/// The account of a run, and the one right it has: its own book.
pub(crate) fn rights(cluster: ClusterId) -> [(&'static str, Value); 3] {
    let name = names::provision(cluster);
    let metadata = metadata(&name, cluster);
    let group = "rbac.authorization.k8s.io";
    [
        ("serviceaccounts", json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata })),
        (
            "roles",
            json!({
                "apiVersion": format!("{group}/v1"), "kind": "Role", "metadata": metadata,
                "rules": [{ "apiGroups": [""], "resources": ["secrets"], "resourceNames": [name], "verbs": ["get", "patch"] }],
            }),
        ),
        (
            "rolebindings",
            json!({
                "apiVersion": format!("{group}/v1"), "kind": "RoleBinding", "metadata": metadata,
                "roleRef": { "apiGroup": group, "kind": "Role", "name": name },
                "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": PROVISIONING_NAMESPACE }],
            }),
        ),
    ]
}

/// The Job. It is never tried again by itself: whether and when that makes sense is for the controller to say.
/// The cluster it makes has to be in one of the ranges, if there are any.
pub(crate) fn job(cluster: ClusterId, run: &str, image: &Image, allowed_targets: &[impl Display]) -> Value {
    let name = names::provision(cluster);
    let mut args: Vec<_> = ["provision", "--order", ORDER_FOLDER, "--folder", WORK_FOLDER].map(str::to_owned).into();
    args.extend(allowed_targets.iter().map(|range| format!("--allowed-target-cidr={range}")));
    let mut metadata = metadata(&name, cluster);
    if let Some(labels) = metadata.get_mut("labels").and_then(Value::as_object_mut) {
        labels.insert(LABEL_RUN.to_owned(), json!(run));
    }
    let labels = metadata.get("labels").cloned();
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": DEADLINE_SECONDS,
            // Never two Pods of one run at once, though the first takes its time to end.
            "podReplacementPolicy": "Failed",
            "template": {
                "metadata": {
                    "labels": labels,
                    "annotations": { "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" },
                },
                "spec": {
                    "restartPolicy": "Never",
                    "terminationGracePeriodSeconds": GRACE_SECONDS,
                    "serviceAccountName": name,
                    "securityContext": {
                        "runAsNonRoot": true, "runAsUser": 65532, "runAsGroup": 65532, "fsGroup": 65532,
                        "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "containers": [{
                        "name": "provision",
                        "image": image.name,
                        "imagePullPolicy": image.pull_policy,
                        "args": args,
                        "env": [{ "name": "HOME", "value": WORK_FOLDER }, { "name": "TMPDIR", "value": WORK_FOLDER }],
                        "resources": {
                            "requests": { "cpu": "250m", "memory": "1536Mi" },
                            "limits": { "memory": "1536Mi" },
                        },
                        "securityContext": {
                            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
                            "capabilities": { "drop": ["ALL"] },
                        },
                        "volumeMounts": [
                            { "name": "order", "mountPath": ORDER_FOLDER, "readOnly": true },
                            { "name": "work", "mountPath": WORK_FOLDER },
                        ],
                    }],
                    "volumes": [
                        { "name": "order", "secret": { "secretName": names::order(cluster), "defaultMode": 0o440 } },
                        { "name": "work", "emptyDir": { "sizeLimit": "2Gi" } },
                    ],
                },
            },
        },
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing)]

    use super::*;

    #[test]
    fn the_cluster_that_a_run_makes_has_to_be_where_clusters_may_be() {
        let image = Image { name: "kubeopera".to_owned(), pull_policy: "Never".to_owned() };
        let args = |allowed: &[&str]| {
            let job = job(ClusterId::random(), "create-1", &image, allowed);
            job["spec"]["template"]["spec"]["containers"][0]["args"].clone()
        };
        let anywhere = json!(["provision", "--order", ORDER_FOLDER, "--folder", WORK_FOLDER]);
        assert_eq!(args(&[]), anywhere);

        let within = args(&["10.0.0.0/8", "fd00::/8"]);

        let ranges = within.as_array().and_then(|args| args.get(5..));
        assert_eq!(
            ranges,
            Some(&[json!("--allowed-target-cidr=10.0.0.0/8"), json!("--allowed-target-cidr=fd00::/8")][..])
        );
    }
}
