//! The database of KubeOpera's services: a PostgreSQL cluster. The operator makes its password and keeps it in the
//! Secret [`APP_SECRET`]; it never passes through Git.

use serde_json::json;

use super::{Component, Installation, Namespace};
use crate::{cluster::Cluster, layer::Layer, object::Object};

/// Name of the PostgreSQL cluster.
pub(super) const DATABASE: &str = "kubeopera-database";
/// Secret the operator writes: `uri`, `host`, `username`, `password` and more.
pub(super) const APP_SECRET: &str = "kubeopera-database-app";

const NAME: &str = "database";
const PURPOSE: &str = "PostgreSQL of KubeOpera's services";
const IMAGE: &str = "ghcr.io/cloudnative-pg/postgresql";
const VERSION: &str = "17.6";

pub(super) fn component(cluster: &Cluster) -> Component {
    let database = Object::namespaced("postgresql.cnpg.io/v1", "Cluster", Namespace::KUBEOPERA.name, DATABASE)
        .keeping_data()
        .with(
            "spec",
            json!({
                "imageName": format!("{}:{VERSION}", cluster.image(IMAGE)),
                "imagePullSecrets": cluster.pull_secrets(),
                "instances": cluster.replicas(),
                "bootstrap": { "initdb": { "database": "kubeopera", "owner": "kubeopera" } },
                "resources": cluster.resources(50, 256, 512),
                "storage": { "size": if cluster.several_nodes { "20Gi" } else { "5Gi" } },
            }),
        );
    Component::installed(
        NAME,
        PURPOSE,
        Installation {
            layer: Layer::Database,
            namespace: Namespace::KUBEOPERA,
            release: None,
            objects: vec![database],
        },
    )
}
