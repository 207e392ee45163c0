//! Where everything goes: the folders and files of a tree.

use std::collections::{BTreeMap, BTreeSet};

use gitops_scaffolder_contract::TreeInputs;
use serde_json::json;

use crate::{
    cluster::Cluster,
    component::{self, Component, Installation, Namespace},
    layer::Layer,
    lock::{LOCK_PATH, Lock},
    mirror::Mirror,
    object::Object,
    readme, release,
    sync::{self, FLUX_NAMESPACE},
    tree::{Class, Tree},
    yaml::{self, Header},
};

/// What is the same for all trees of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeConfig {
    /// Registry that takes the place of all others.
    pub mirror: Option<Mirror>,
}

/// Makes the tree for these inputs. Equal inputs give the equal tree, byte for byte.
pub fn render(inputs: &TreeInputs, config: &TreeConfig) -> Tree {
    tree(&Cluster::new(inputs, config.mirror.as_ref()))
}

/// Makes the tree that this version of the generator would make of what a tree was made from.
pub fn render_again(lock: &Lock, config: &TreeConfig) -> Tree {
    tree(&Cluster { mirror: config.mirror.clone(), ..lock.inputs.clone() })
}

fn tree(cluster: &Cluster) -> Tree {
    let components = component::all(cluster);
    let mut layers = files_by_layer(cluster, &components);
    layers.entry(Layer::Overrides).or_default().push(user_values());

    let mut tree = Tree::default();
    let rendered: BTreeSet<Layer> = layers.keys().copied().collect();
    let mut root = Vec::new();
    for (layer, files) in layers {
        let (class, header) = match layer {
            Layer::Overrides => (Class::Seed, Header::Seed),
            _ => (Class::Owned, Header::Owned),
        };
        let mut resources = Vec::new();
        for (name, objects) in files {
            let objects: Vec<Object> = objects.into_iter().map(|object| marked(cluster, object)).collect();
            tree.insert(format!("{}/{name}", layer.folder()), class, yaml::objects(header, &objects));
            resources.push(name);
        }
        tree.insert(format!("{}/kustomization.yaml", layer.folder()), class, yaml::kustomization(header, &resources));

        let path = format!("sync/{}.yaml", layer.name());
        let kustomization = marked(cluster, sync::kustomization(cluster, layer, &rendered));
        tree.insert(path.clone(), Class::Owned, yaml::objects(Header::Owned, &[kustomization]));
        root.push(path);
    }
    tree.insert("kustomization.yaml", Class::Owned, yaml::kustomization(Header::Owned, &root));
    tree.insert("README.md", Class::Owned, readme::text(cluster, &components));
    let lock = Lock::new(cluster, &components, &tree);
    tree.insert(LOCK_PATH, Class::Owned, lock.text());
    tree
}

type Files = Vec<(String, Vec<Object>)>;

/// One file per component, in the layer it belongs to, and the namespaces they need in the first.
fn files_by_layer(cluster: &Cluster, components: &[Component]) -> BTreeMap<Layer, Files> {
    let mut namespaces = BTreeSet::new();
    let mut layers: BTreeMap<Layer, Files> = BTreeMap::new();
    for component in components {
        let Some(installation) = component.installation() else { continue };
        namespaces.insert(installation.namespace);
        let objects = objects(cluster, component.name, installation);
        layers.entry(installation.layer).or_default().push((format!("{}.yaml", component.name), objects));
    }
    let namespaces = namespaces.into_iter().filter_map(namespace).collect();
    layers.entry(Layer::Crds).or_default().push(("namespaces.yaml".to_owned(), namespaces));
    layers
}

fn objects(cluster: &Cluster, name: &str, installation: &Installation) -> Vec<Object> {
    let release = installation.release.as_ref();
    let mut objects = release.map_or_else(Vec::new, |found| release::objects(cluster, name, installation, found));
    objects.extend(installation.objects.iter().cloned());
    objects
}

/// A namespace is never removed by leaving Git: with it would go all that others put there.
fn namespace(namespace: Namespace) -> Option<Object> {
    if namespace == Namespace::KUBE_SYSTEM {
        return None;
    }
    let object = Object::cluster_wide("v1", "Namespace", namespace.name).kept();
    let label = "pod-security.kubernetes.io/enforce";
    Some(if namespace.privileged { object.labelled(label, "privileged") } else { object })
}

/// The start of the user's own part: values for KubeOpera's services, empty.
fn user_values() -> (String, Vec<Object>) {
    let values = Object::namespaced("v1", "ConfigMap", FLUX_NAMESPACE, "kubeopera-values")
        .labelled("reconcile.fluxcd.io/watch", "Enabled")
        .with("data", json!({ "values.yaml": "{}\n" }));
    ("values.yaml".to_owned(), vec![values])
}

/// The labels by which KubeOpera finds what is its own.
fn marked(cluster: &Cluster, object: Object) -> Object {
    object
        .labelled("app.kubernetes.io/managed-by", "kubeopera")
        .labelled("kubeopera.io/cluster-id", &cluster.id.to_string())
}
