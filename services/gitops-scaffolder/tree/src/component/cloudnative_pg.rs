//! The operator that runs PostgreSQL: CloudNativePG. The database itself is in `database.rs`.

use serde_json::json;

use super::{Chart, ChartSource, Component, Installation, Namespace, Release};
use crate::{cluster::Cluster, layer::Layer, values::with};

const NAME: &str = "cloudnative-pg";
const PURPOSE: &str = "database operator";
const IMAGE: &str = "ghcr.io/cloudnative-pg/cloudnative-pg";

pub(super) fn component(cluster: &Cluster) -> Component {
    if cluster.present.cloudnative_pg {
        return Component::left_alone(NAME, PURPOSE);
    }
    let mut values = json!({
        "crds": { "create": true },
        "imagePullSecrets": cluster.pull_secrets(),
        "replicaCount": 1,
        "resources": cluster.resources(20, 64, 256),
    });
    // The operator starts its own image in each database pod, by a name it is told in an environment variable.
    if let Some(mirror) = &cluster.mirror {
        with(&mut values, json!({ "image": { "repository": mirror.image(IMAGE) } }));
    }
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Controllers,
            namespace: Namespace { name: "cnpg-system", privileged: false },
            release: Some(Release {
                chart: Chart {
                    source: ChartSource::Oci("oci://ghcr.io/cloudnative-pg/charts/cloudnative-pg"),
                    version: "0.26.0",
                },
                values,
                images: &[IMAGE],
            }),
            objects: Vec::new(),
        },
    )
}
