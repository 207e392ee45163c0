//! How a chart becomes Flux objects: its source and its HelmRelease.

use gitops_scaffolder_contract::Origin;
use serde_json::{Value, json};

use crate::{
    cluster::Cluster,
    component::{ChartSource, Installation, Release},
    object::Object,
    sync::FLUX_NAMESPACE,
    values::with,
};

const SOURCE_API: &str = "source.toolkit.fluxcd.io/v1";
/// A chart's version is exact and its content does not change, so asking twice a day is plenty.
const SOURCE_INTERVAL: &str = "12h";

/// The source and the HelmRelease of a component's chart. Both are named after the component.
pub(crate) fn objects(cluster: &Cluster, name: &str, installation: &Installation, release: &Release) -> Vec<Object> {
    let (source, reference) = source(cluster, name, release);
    let spec = helm_release(cluster, name, installation, release, reference);
    vec![
        source,
        Object::namespaced("helm.toolkit.fluxcd.io/v2", "HelmRelease", FLUX_NAMESPACE, name).with("spec", spec),
    ]
}

fn source(cluster: &Cluster, name: &str, release: &Release) -> (Object, Value) {
    let version = release.chart.version;
    let oci_url = match (&cluster.mirror, release.chart.source) {
        (Some(mirror), source) => mirror.chart(source),
        (None, ChartSource::Oci(url)) => url.to_owned(),
        (None, ChartSource::Repository { url, chart }) => {
            let repository = Object::namespaced(SOURCE_API, "HelmRepository", FLUX_NAMESPACE, name)
                .with("spec", json!({ "interval": SOURCE_INTERVAL, "url": url }));
            let reference = json!({ "chart": { "spec": {
                "chart": chart,
                "version": version,
                "interval": SOURCE_INTERVAL,
                "sourceRef": { "kind": "HelmRepository", "name": name },
            } } });
            return (repository, reference);
        }
    };
    let mut spec = json!({
        "interval": SOURCE_INTERVAL,
        "url": oci_url,
        "ref": { "tag": version },
        "layerSelector": {
            "mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip",
            "operation": "copy",
        },
    });
    if let Some(mirror) = &cluster.mirror {
        if mirror.plain_http() {
            with(&mut spec, json!({ "insecure": true }));
        }
        // One's own registry is what one's own credential is for; upstream's charts are public.
        if let Some(secret) = &cluster.registry_pull_secret {
            with(&mut spec, json!({ "secretRef": { "name": secret } }));
        }
    }
    let reference = json!({ "chartRef": { "kind": "OCIRepository", "name": name } });
    (Object::namespaced(SOURCE_API, "OCIRepository", FLUX_NAMESPACE, name).with("spec", spec), reference)
}

fn helm_release(cluster: &Cluster, name: &str, installation: &Installation, release: &Release, chart: Value) -> Value {
    let namespace = installation.namespace.name;
    // Tries for ever: a release that gives up after some attempts would need a person even when its cause is gone.
    let strategy = json!({ "name": "RetryOnFailure", "retryInterval": "1m" });
    let mut spec = json!({
        "interval": "1h",
        "timeout": "5m",
        "releaseName": name,
        "targetNamespace": namespace,
        "storageNamespace": namespace,
        "driftDetection": { "mode": "warn" },
        "install": { "strategy": strategy },
        "upgrade": { "crds": "CreateReplace", "strategy": strategy },
        "values": release.values,
        "valuesFrom": [{ "kind": "ConfigMap", "name": format!("{name}-values"), "optional": true }],
    });
    with(&mut spec, chart);
    // On a cluster that was there before, what has the name of ours may be somebody's.
    if cluster.origin == Origin::Existing {
        let hands_off = json!({ "disableTakeOwnership": true });
        with(&mut spec, json!({ "install": hands_off, "upgrade": hands_off }));
    }
    if let Some(mirror) = &cluster.mirror {
        let image = |name: &&str| json!({ "name": name, "newName": mirror.image(name) });
        let images: Vec<Value> = release.images.iter().map(image).collect();
        with(&mut spec, json!({ "postRenderers": [{ "kustomize": { "images": images } }] }));
    }
    spec
}
