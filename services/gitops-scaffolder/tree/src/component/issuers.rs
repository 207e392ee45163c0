//! Who signs this cluster's certificates: Let's Encrypt where there is a domain, else an authority of the cluster's own.
//!
//! Nothing may wait for these: registration needs the internet, and a domain's DNS is often set after the cluster.

use serde_json::{Value, json};

use super::{Component, Installation, cert_manager};
use crate::{cluster::Cluster, layer::Layer, object::Object};

const NAME: &str = "issuers";
const PURPOSE: &str = "certificate issuers";
const API: &str = "cert-manager.io/v1";
const AUTHORITY: &str = "kubeopera-ca";

pub(super) fn component(cluster: &Cluster) -> Component {
    let objects = if cluster.domain.is_some() { lets_encrypt(cluster) } else { own_authority() };
    Component::installed(
        NAME,
        PURPOSE,
        Installation { layer: Layer::Configs, namespace: cert_manager::NAMESPACE, release: None, objects },
    )
}

fn lets_encrypt(cluster: &Cluster) -> Vec<Object> {
    let issuer = |name: &str, directory: &str| {
        let ingress =
            cluster.ingress_class_name().map_or_else(|| json!({}), |class| json!({ "ingressClassName": class }));
        let mut acme = json!({
            "server": directory,
            "privateKeySecretRef": { "name": format!("{name}-account") },
            "solvers": [{ "http01": { "ingress": ingress } }],
        });
        if let (Some(email), Some(acme)) = (&cluster.admin_email, acme.as_object_mut()) {
            acme.insert("email".to_owned(), Value::from(email.as_str()));
        }
        Object::cluster_wide(API, "ClusterIssuer", name).with("spec", json!({ "acme": acme }))
    };
    vec![
        issuer(super::INGRESS_ISSUER, "https://acme-v02.api.letsencrypt.org/directory"),
        issuer("kubeopera-staging", "https://acme-staging-v02.api.letsencrypt.org/directory"),
    ]
}

/// A self-signed root, kept in the cluster, that signs everything else.
fn own_authority() -> Vec<Object> {
    let root = "kubeopera-selfsigned";
    vec![
        Object::cluster_wide(API, "ClusterIssuer", root).with("spec", json!({ "selfSigned": {} })),
        Object::namespaced(API, "Certificate", cert_manager::NAMESPACE.name, AUTHORITY).with(
            "spec",
            json!({
                "isCA": true,
                "commonName": "KubeOpera cluster authority",
                "secretName": AUTHORITY,
                "duration": "87600h",
                "renewBefore": "8760h",
                "privateKey": { "algorithm": "ECDSA", "size": 256 },
                "issuerRef": { "group": "cert-manager.io", "kind": "ClusterIssuer", "name": root },
            }),
        ),
        Object::cluster_wide(API, "ClusterIssuer", super::INGRESS_ISSUER)
            .with("spec", json!({ "ca": { "secretName": AUTHORITY } })),
    ]
}
