//! Storage for a cluster that has none: folders of the nodes, by local-path-provisioner.
//!
//! Upstream publishes its chart only inside its repository, so these are plain objects.

use gitops_scaffolder_contract::Origin;
use serde_json::{Value, json};

use super::{Component, Installation, Namespace};
use crate::{cluster::Cluster, layer::Layer, object::Object, values::sorted};

const NAME: &str = "local-path-provisioner";
const PURPOSE: &str = "storage";
const NAMESPACE: Namespace = Namespace { name: "local-path-storage", privileged: true };
const IMAGE: &str = "docker.io/rancher/local-path-provisioner";
const VERSION: &str = "v0.0.32";
const FOLDER: &str = "/opt/local-path-provisioner";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.origin != Origin::Existing {
        return Component::not_needed(NAME, PURPOSE);
    }
    if cluster.present.default_storage_class {
        return Component::left_alone(NAME, PURPOSE);
    }
    let image = format!("{}:{VERSION}", cluster.image(IMAGE));
    let mut objects = access();
    objects.push(settings(&image, &cluster.pull_secrets()));
    objects.push(deployment(cluster, &image));
    objects.push(storage_class());
    Component::installed(
        NAME,
        PURPOSE,
        Installation { layer: Layer::Controllers, namespace: NAMESPACE, release: None, objects },
    )
}

fn access() -> Vec<Object> {
    const RBAC: &str = "rbac.authorization.k8s.io/v1";
    const GROUP: &str = "rbac.authorization.k8s.io";
    let watch = ["get", "list", "watch"];
    let change = ["create", "delete", "get", "list", "patch", "update", "watch"];
    let subjects = json!([{ "kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE.name }]);
    vec![
        Object::namespaced("v1", "ServiceAccount", NAMESPACE.name, NAME),
        Object::cluster_wide(RBAC, "ClusterRole", NAME).with(
            "rules",
            json!([
                { "apiGroups": [""], "resources": ["nodes", "persistentvolumeclaims"], "verbs": watch },
                { "apiGroups": [""], "resources": ["persistentvolumes"], "verbs": change },
                { "apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"] },
                { "apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": watch },
            ]),
        ),
        Object::cluster_wide(RBAC, "ClusterRoleBinding", NAME)
            .with("roleRef", json!({ "apiGroup": GROUP, "kind": "ClusterRole", "name": NAME }))
            .with("subjects", subjects.clone()),
        Object::namespaced(RBAC, "Role", NAMESPACE.name, NAME).with(
            "rules",
            json!([
                { "apiGroups": [""], "resources": ["pods"], "verbs": change },
                { "apiGroups": [""], "resources": ["pods/log", "configmaps"], "verbs": watch },
            ]),
        ),
        Object::namespaced(RBAC, "RoleBinding", NAMESPACE.name, NAME)
            .with("roleRef", json!({ "apiGroup": GROUP, "kind": "Role", "name": NAME }))
            .with("subjects", subjects),
    ]
}

/// The provisioner runs a short pod on the volume's node to make and to remove its folder. Its own image has the shell
/// this needs, which spares the mirror a second image.
fn settings(image: &str, pull_secrets: &Value) -> Object {
    let folders = json!({ "nodePathMap": [{ "node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [FOLDER] }] });
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "helper-pod" },
        "spec": {
            "priorityClassName": "system-node-critical",
            "tolerations": [{ "key": "node.kubernetes.io/disk-pressure", "operator": "Exists", "effect": "NoSchedule" }],
            "imagePullSecrets": pull_secrets,
            "containers": [{ "name": "helper-pod", "image": image, "imagePullPolicy": "IfNotPresent" }],
        },
    });
    // Both are JSON texts: JSON is YAML, and the provisioner reads either.
    Object::namespaced("v1", "ConfigMap", NAMESPACE.name, "local-path-config").with(
        "data",
        json!({
            "config.json": sorted(folders).to_string(),
            "helperPod.yaml": sorted(pod).to_string(),
            "setup": "#!/bin/sh\nset -eu\nmkdir -m 0777 -p \"$VOL_DIR\"\n",
            "teardown": "#!/bin/sh\nset -eu\nrm -rf \"$VOL_DIR\"\n",
        }),
    )
}

fn deployment(cluster: &Cluster, image: &str) -> Object {
    let labels = json!({ "app.kubernetes.io/name": NAME });
    let container = json!({
        "name": NAME,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["local-path-provisioner", "start", "--config", "/etc/config/config.json"],
        "env": [
            { "name": "POD_NAMESPACE", "valueFrom": { "fieldRef": { "fieldPath": "metadata.namespace" } } },
            { "name": "SERVICE_ACCOUNT_NAME", "value": NAME },
            { "name": "CONFIG_MOUNT_PATH", "value": "/etc/config/" },
        ],
        "volumeMounts": [{ "name": "config", "mountPath": "/etc/config/" }],
        "resources": cluster.resources(10, 32, 128),
    });
    Object::namespaced("apps/v1", "Deployment", NAMESPACE.name, NAME).with(
        "spec",
        json!({
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": NAME,
                    "imagePullSecrets": cluster.pull_secrets(),
                    "containers": [container],
                    "volumes": [{ "name": "config", "configMap": { "name": "local-path-config" } }],
                },
            },
        }),
    )
}

fn storage_class() -> Object {
    Object::cluster_wide("storage.k8s.io/v1", "StorageClass", "local-path")
        .annotated("storageclass.kubernetes.io/is-default-class", "true")
        .with("provisioner", json!("rancher.io/local-path"))
        .with("volumeBindingMode", json!("WaitForFirstConsumer"))
        // A released volume is kept: it may be the database's last copy.
        .with("reclaimPolicy", json!("Retain"))
}
