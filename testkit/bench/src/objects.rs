//! Nodes and pods of the size they have in earnest.

use serde_json::{Value, json};

/// Stands for a pod's or node's number in a template.
const NUMBER: &str = "000000000777";

/// The JSON of an object in parts, between which its number goes.
#[derive(Debug, Clone)]
pub struct Template(Vec<String>);

impl Template {
    fn of(object: &Value) -> Self {
        Self(object.to_string().split(NUMBER).map(str::to_owned).collect())
    }

    /// The object of this number as JSON.
    pub fn object(&self, number: u32) -> String {
        self.0.join(&format!("{number:012}"))
    }

    /// The same as a line of a watch.
    pub fn line(&self, number: u32) -> String {
        format!("{{\"type\":\"ADDED\",\"object\":{}}}\n", self.object(number))
    }

    /// A pod of about 9 KB, as it runs: two containers with probes and variables, written by two managers.
    pub fn pod() -> Self {
        Self::of(&pod(NUMBER))
    }

    /// What a node uses, as the metrics API tells it.
    pub fn node_metrics() -> Self {
        Self::of(&json!({"metadata": {"name": format!("node-{NUMBER}")}, "window": "15s",
            "usage": {"cpu": "965123456n", "memory": "3670016Ki"}}))
    }

    /// A node of about 9 KB with its images.
    pub fn node(is_ready: bool) -> Self {
        Self::of(&node(NUMBER, is_ready))
    }
}

fn container(name: &str) -> Value {
    let variables: Vec<_> = (0..12)
        .map(|at| json!({"name": format!("SETTING_{at}"), "value": format!("http://service-{at}.shop.svc.cluster.local:8080")}))
        .collect();
    let probe = json!({"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "initialDelaySeconds": 5,
        "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3});
    json!({
        "name": name, "image": format!("registry.acme.com/shop/{name}:1.2.3"), "args": ["--listen", ":8080", "--log", "json"],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}], "env": variables,
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"cpu": "1", "memory": "256Mi"}},
        "livenessProbe": probe, "readinessProbe": probe, "imagePullPolicy": "IfNotPresent",
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": true}],
        "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": true, "capabilities": {"drop": ["ALL"]}},
    })
}

fn pod(number: &str) -> Value {
    let fields: Value = (0..60)
        .map(|at| (format!("f:field-{at}"), json!({".": {}, "f:name": {}})))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let status = |name: &str| {
        json!({
            "name": name, "state": {"running": {"startedAt": "2026-11-01T10:00:00Z"}}, "lastState": {}, "ready": true,
            "restartCount": 0, "image": format!("registry.acme.com/shop/{name}:1.2.3"), "started": true,
            "imageID": "registry.acme.com/shop/app@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1",
            "containerID": "containerd://4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1",
        })
    };
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": "2026-11-01T10:00:00Z"});
    json!({
        "metadata": {
            "name": format!("app-6d4b75cb6d-{number}"), "generateName": "app-6d4b75cb6d-", "namespace": "shop",
            "uid": format!("7e9d3a1b-5c1f-4e0a-9b63-{number}"), "resourceVersion": "1234567",
            "creationTimestamp": "2026-11-01T10:00:00Z",
            "labels": {"app.kubernetes.io/name": "app", "app.kubernetes.io/instance": "shop", "pod-template-hash": "6d4b75cb6d"},
            "annotations": {"checksum/config": "4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1"},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app-6d4b75cb6d",
                "uid": "7e9d3a1b-5c1f-4e0a-9b63-000000000001", "controller": true, "blockOwnerDeletion": true}],
            "managedFields": [
                {"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1", "time": "2026-11-01T10:00:00Z",
                    "fieldsType": "FieldsV1", "fieldsV1": fields},
                {"manager": "kubelet", "operation": "Update", "apiVersion": "v1", "time": "2026-11-01T10:00:05Z",
                    "fieldsType": "FieldsV1", "fieldsV1": {"f:status": fields}, "subresource": "status"},
            ],
        },
        "spec": {
            "nodeName": "node-000000000001", "containers": [container("app"), container("proxy")],
            "volumes": [{"name": "config", "configMap": {"name": "app", "defaultMode": 420}}],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default", "schedulerName": "default-scheduler", "enableServiceLinks": true,
            "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}],
        },
        "status": {
            "phase": "Running", "hostIP": "10.0.0.1", "podIP": "10.1.0.1", "podIPs": [{"ip": "10.1.0.1"}],
            "startTime": "2026-11-01T10:00:00Z", "qosClass": "Burstable",
            "conditions": [condition("Initialized"), condition("Ready"), condition("ContainersReady"), condition("PodScheduled")],
            "containerStatuses": [status("app"), status("proxy")],
        },
    })
}

fn node(number: &str, is_ready: bool) -> Value {
    let images: Vec<_> = (0..40)
        .map(|at| json!({"names": [format!("registry.acme.com/shop/app-{at}@sha256:4bcff63911fcb4448bd4fdacec207030997caf25e9bea4045fa6c8c44de311d1"),
            format!("registry.acme.com/shop/app-{at}:1.2.3")], "sizeBytes": 123_456_789}))
        .collect();
    let condition = |kind: &str, status: &str| {
        json!({"type": kind, "status": status, "reason": "KubeletSays", "message": "kubelet says so",
        "lastHeartbeatTime": "2026-11-01T10:00:00Z", "lastTransitionTime": "2026-11-01T10:00:00Z"})
    };
    json!({
        "metadata": {"name": format!("node-{number}"), "uid": format!("7e9d3a1b-5c1f-4e0a-9b64-{number}"), "resourceVersion": "1234567",
            "creationTimestamp": "2026-11-01T10:00:00Z",
            "labels": {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "node.kubernetes.io/instance-type": "m6i.large",
                "topology.kubernetes.io/region": "eu-north-1", "topology.kubernetes.io/zone": "eu-north-1a"}},
        "spec": {"providerID": format!("aws:///eu-north-1a/i-{number}")},
        "status": {
            "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110"}, "allocatable": {"cpu": "1930m", "memory": "7Gi", "pods": "110"},
            "conditions": [condition("MemoryPressure", "False"), condition("DiskPressure", "False"), condition("PIDPressure", "False"),
                condition("Ready", if is_ready { "True" } else { "False" })],
            "nodeInfo": {"kubeletVersion": "v1.34.4", "osImage": "Debian GNU/Linux 12", "architecture": "amd64"},
            "images": images,
        },
    })
}
