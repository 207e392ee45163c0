//! For each promise of the linter, a tree that breaks it.

use super::*;
use crate::{Cluster, TreeConfig, render};

fn sound() -> Tree {
    let inputs = serde_json::from_value(serde_json::json!({
        "cluster": "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11", "clusterUID": "0b8d5f5e-2c0d-4f57-8a5e-6d1c9b7e3f02",
        "name": "prod", "path": "fluxcd/clusters/prod",
        "provider": "aws", "region": "eu-north-1", "origin": "kubeadm", "kubernetesVersion": "1.34.4", "nodes": 3,
        "domain": "prod.acme.com", "adminEmail": "admin@acme.com", "registryPullSecret": null, "present": {},
    }));
    render(&inputs.unwrap(), &TreeConfig::default())
}

/// The findings after one text of one file was replaced, without those about the lock file, which notices any change.
fn after(path: &str, old: &str, new: &str) -> Vec<String> {
    let mut tree = sound();
    let file = tree.get(path).unwrap_or_else(|| panic!("{path} is not in the tree")).clone();
    assert!(file.text.contains(old), "{path} does not contain {old}:\n{}", file.text);
    tree.insert(path, file.class, file.text.replacen(old, new, 1));
    let about_lock = "is not what the lock file says";
    lint(&tree).iter().map(ToString::to_string).filter(|finding| !finding.contains(about_lock)).collect()
}

#[test]
fn a_rendered_tree_has_nothing_wrong_with_it() {
    assert_eq!(lint(&sound()), []);
}

#[test]
fn each_kind_of_damage_is_found() {
    let controllers = "infrastructure/controllers";
    for (path, old, new, expected) in [
        ("kustomization.yaml", "- sync/apps.yaml\n", "", "sync/apps.yaml: is listed by no kustomization.yaml"),
        ("kustomization.yaml", "sync/apps.yaml", "sync/app.yaml", "lists sync/app.yaml, which is not there"),
        ("sync/apps.yaml", "name: kubeopera-database", "name: kubeopera-data", "waits for kubeopera-data"),
        ("sync/database.yaml", "name: kubeopera-configs", "name: kubeopera-apps", "waits for itself"),
        ("sync/apps.yaml", "apps/kubeopera", "../../somewhere", "does not apply its own layer"),
        ("sync/apps.yaml", "  wait: true", "  wait: true\n  targetNamespace: x", "sets targetNamespace"),
        ("sync/apps.yaml", "  wait: true", "  wait: true\n  postBuild: {}", "sets postBuild"),
        ("sync/apps.yaml", "deletionPolicy: Orphan", "deletionPolicy: Delete", "would remove what it applied"),
        ("sync/configs.yaml", "name: kubeopera-controllers", "name: kubeopera-crds", "is applied before cert-manager"),
        (&format!("{controllers}/traefik.yaml"), "41.3.0", "41.x", "is not an exact version"),
        (&format!("{controllers}/metrics-server.yaml"), "3.13.0", "3.x.0", "is not an exact version"),
        (&format!("{controllers}/traefik.yaml"), "    name: traefik\n", "    name: trafik\n", "which is not there"),
        (&format!("{controllers}/traefik.yaml"), "optional: true", "optional: false", "needs values that are not"),
        (&format!("{controllers}/traefik.yaml"), "name: RetryOnFailure", "name: RemediateOnFailure", "gives up"),
        ("infrastructure/crds/namespaces.yaml", "prune: disabled", "prune: enabled", "Namespace would be removed"),
        ("infrastructure/database/database.yaml", "force: disabled", "force: enabled", "its data lost"),
        ("infrastructure/database/database.yaml", "namespace: kubeopera", "namespace: other", "which nobody makes"),
        ("infrastructure/database/database.yaml", ":17.6", ":latest", "has no exact tag"),
        (
            "apps/kubeopera/kubeopera.yaml",
            "host: prod.acme.com",
            "host: prod.acme.org",
            "not below this cluster's domain",
        ),
        ("apps/kubeopera/kubeopera.yaml", "host: prod.acme.com", "host: xprod.acme.com", "not below this cluster's"),
        (
            "infrastructure/monitoring/kube-prometheus-stack.yaml",
            "adminPassword: \"\"",
            "adminPassword: x",
            "no secret",
        ),
        ("apps/kubeopera/kubeopera.yaml", "kind: Ingress", "kind: [", "is not YAML"),
        ("README.md", "\n", "\r\n", "line ends of another system"),
    ] {
        let findings = after(path, old, new);
        assert!(findings.iter().any(|found| found.contains(expected)), "{path}, {new}: {findings:#?}");
    }
}

#[test]
fn a_secret_in_the_tree_is_found() {
    let secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: x, namespace: kubeopera}\n---\n";

    let findings = after("apps/kubeopera/kubeopera.yaml", "---\n", secret);

    assert!(findings.iter().any(|found| found.contains("holds a Secret")), "{findings:#?}");
}

#[test]
fn with_a_mirror_nothing_may_come_from_elsewhere() {
    let inputs = serde_json::from_str::<Lock>(&sound().get(LOCK_PATH).unwrap().text).unwrap().inputs;
    let mirrored = Cluster { mirror: Some(crate::Mirror::new("r.acme.com", false).unwrap()), ..inputs };
    let (tree, mut findings) = (sound(), Findings::default());

    content::registries(&documents(&tree, &mut Findings::default()), &mirrored, &mut findings);

    let files: Vec<&str> = findings.0.iter().map(|finding| finding.file.as_str()).collect();
    assert!(files.contains(&"infrastructure/controllers/metrics-server.yaml"), "{files:?}");
    assert!(files.contains(&"infrastructure/database/database.yaml"), "{files:?}");
}
