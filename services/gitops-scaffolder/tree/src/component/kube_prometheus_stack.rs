//! Monitoring: Prometheus, its operator, Grafana and the exporters.

use gitops_scaffolder_contract::Origin;
use serde_json::{Value, json};

use super::{Chart, ChartSource, Component, INGRESS_ISSUER, Installation, Namespace, Release, monitors};
use crate::{cluster::Cluster, layer::Layer, mirror::Mirror, values::with};

const NAME: &str = "kube-prometheus-stack";
const PURPOSE: &str = "monitoring";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.present.prometheus_operator {
        return Component::left_alone(NAME, PURPOSE);
    }
    let mut values = values(cluster);
    if let Some(mirror) = &cluster.mirror {
        with(&mut values, mirrored(mirror));
    }
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Monitoring,
            namespace: Namespace::MONITORING,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Oci("oci://ghcr.io/prometheus-community/charts/kube-prometheus-stack"),
                    version: "88.5.3",
                },
                values,
                images: &[
                    "docker.io/grafana/grafana",
                    "quay.io/kiwigrid/k8s-sidecar",
                    "quay.io/prometheus-operator/prometheus-config-reloader",
                    "quay.io/prometheus-operator/prometheus-operator",
                    "quay.io/prometheus/node-exporter",
                    "quay.io/prometheus/prometheus",
                    "registry.k8s.io/kube-state-metrics/kube-state-metrics",
                ],
            }),
            objects: Vec::new(),
        },
    )
}

fn values(cluster: &Cluster) -> Value {
    let (retention, disk) = if cluster.several_nodes { ("15d", "50Gi") } else { ("7d", "10Gi") };
    // A managed control plane shows none of its parts, so alerts about them would never be right.
    let own_control_plane = matches!(cluster.origin, Origin::Kubeadm);
    let scraped = json!({ "enabled": own_control_plane });
    let claim = json!({
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": disk } } }
    });
    json!({
        "alertmanager": { "enabled": false },
        "crds": { "enabled": true },
        "global": { "imagePullSecrets": cluster.pull_secrets() },
        // An empty password makes the chart draw a random one and keep it in a Secret of the cluster.
        "grafana": {
            "adminPassword": "",
            "ingress": grafana_ingress(cluster),
            "resources": cluster.resources(20, 96, 256),
        },
        "kube-state-metrics": { "resources": cluster.resources(10, 32, 128) },
        "kubeControllerManager": scraped,
        "kubeEtcd": scraped,
        "kubeProxy": scraped,
        "kubeScheduler": scraped,
        "prometheus": {
            "additionalPodMonitors": [monitors::of_database_as_values()],
            "prometheusSpec": {
                "replicas": 1,
                "retention": retention,
                "resources": cluster.resources(100, 256, 1024),
                "storageSpec": { "volumeClaimTemplate": claim },
                // Every monitor of the cluster counts, not only those of this release.
                "podMonitorSelectorNilUsesHelmValues": false,
                "ruleSelectorNilUsesHelmValues": false,
                "serviceMonitorSelectorNilUsesHelmValues": false,
            },
        },
        "prometheus-node-exporter": { "resources": cluster.resources(10, 24, 64) },
        "prometheusOperator": {
            // Its certificates come from two Jobs with an image of their own; a small platform does without.
            "admissionWebhooks": { "enabled": false },
            "resources": cluster.resources(10, 48, 192),
            "tls": { "enabled": false },
        },
    })
}

fn grafana_ingress(cluster: &Cluster) -> Value {
    let Some(host) = cluster.host("grafana") else { return json!({ "enabled": false }) };
    let mut ingress = json!({
        "enabled": true,
        "annotations": { "cert-manager.io/cluster-issuer": INGRESS_ISSUER },
        "hosts": [host],
        "tls": [{ "hosts": [host], "secretName": "grafana-tls" }],
    });
    if let Some(class) = cluster.ingress_class_name() {
        with(&mut ingress, json!({ "ingressClassName": class }));
    }
    ingress
}

/// Images that resources and arguments name, where no rewriting of pods reaches them.
fn mirrored(mirror: &Mirror) -> Value {
    let quay = json!({ "registry": mirror.registry("quay.io") });
    json!({
        "prometheus": { "prometheusSpec": { "image": quay } },
        "prometheusOperator": { "prometheusConfigReloader": { "image": quay } },
    })
}
