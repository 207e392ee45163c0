//! KubeOpera's own services, and the way in to them.

use serde_json::json;

use super::{Chart, ChartSource, Component, INGRESS_ISSUER, Installation, Namespace, Release, database::APP_SECRET};
use crate::{cluster::Cluster, layer::Layer, object::Object, values::with};

const NAME: &str = "kubeopera";
const PURPOSE: &str = "KubeOpera's services";
const IMAGE: &str = "ghcr.io/kubeopera/kubeopera";
/// The service that serves dashboard and API.
const WEB: &str = "kubeopera-api";

pub(super) fn component(cluster: &Cluster) -> Component {
    let mut values = json!({
        "cluster": {
            "id": cluster.id.to_string(),
            "name": cluster.name.as_str(),
            "provider": cluster.provider.as_str(),
            "region": cluster.region.as_str(),
        },
        "database": { "uriSecret": { "name": APP_SECRET, "key": "uri" } },
        "imagePullSecrets": cluster.pull_secrets(),
        "replicas": cluster.replicas(),
        "resources": cluster.resources(10, 32, 256),
    });
    if let Some(domain) = &cluster.domain {
        with(&mut values, json!({ "domain": domain.as_str() }));
    }
    if let Some(mirror) = &cluster.mirror {
        with(&mut values, json!({ "image": { "repository": mirror.image(IMAGE) } }));
    }
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Apps,
            namespace: Namespace::KUBEOPERA,
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Oci("oci://ghcr.io/kubeopera/charts/kubeopera"),
                    version: env!("CARGO_PKG_VERSION"),
                },
                values,
                images: &[IMAGE],
            }),
            objects: ingress(cluster).into_iter().collect(),
        },
    )
}

fn ingress(cluster: &Cluster) -> Option<Object> {
    let host = cluster.domain.as_ref()?.as_str();
    let backend = json!({ "service": { "name": WEB, "port": { "name": "http" } } });
    let mut spec = json!({
        "rules": [{ "host": host, "http": { "paths": [{ "path": "/", "pathType": "Prefix", "backend": backend }] } }],
        "tls": [{ "hosts": [host], "secretName": "kubeopera-tls" }],
    });
    if let Some(class) = cluster.ingress_class_name() {
        with(&mut spec, json!({ "ingressClassName": class }));
    }
    let ingress = Object::namespaced("networking.k8s.io/v1", "Ingress", Namespace::KUBEOPERA.name, NAME)
        .annotated("cert-manager.io/cluster-issuer", INGRESS_ISSUER)
        .with("spec", spec);
    Some(ingress)
}
