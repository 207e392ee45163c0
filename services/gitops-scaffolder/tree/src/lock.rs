//! The lock file: what a tree was made from and what each of its files was, so that the next version of the tree can
//! tell a user's edit from its own last word.

use std::collections::BTreeMap;

use gitops_scaffolder_contract::Present;
use serde::{Deserialize, Serialize};

use crate::{
    cluster::Cluster,
    component::{Component, Fate},
    tree::{Class, File, Tree, git_blob, sha256},
};

/// Where the lock file is in the tree.
pub const LOCK_PATH: &str = ".kubeopera/lock.json";

/// The only form of the file so far.
const SCHEMA: u32 = 1;

/// The lock file of a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lock {
    /// Form of this file.
    pub schema: u32,
    /// Version of the generator.
    pub generator: String,
    /// What the tree was made from.
    pub inputs: Cluster,
    /// SHA-256 of `inputs` as JSON.
    pub inputs_hash: String,
    /// What became of each component.
    pub components: BTreeMap<String, LockedComponent>,
    /// Every file but this one.
    pub files: BTreeMap<String, LockedFile>,
}

/// What became of a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LockedComponent {
    /// Installed, left alone or not needed.
    pub fate: LockedFate,
    /// Version of its chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chart_version: Option<String>,
}

/// [`Fate`] without its contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LockedFate {
    /// KubeOpera installs it.
    Installed,
    /// It was there, is used, and is not managed.
    PresentNotManaged,
    /// The provider brings it, or nothing needs it.
    NotNeeded,
}

/// A file as the generator wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedFile {
    /// Whose it is.
    pub class: Class,
    /// SHA-256 of what the generator wrote.
    pub sha256: String,
    /// Id of that text as a Git blob, by which a repository hands it out when a later tree has to be merged with an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

impl LockedFile {
    fn new(file: &File) -> Self {
        // A seed is never merged.
        let blob = (file.class == Class::Owned).then(|| git_blob(&file.text));
        Self { class: file.class, sha256: sha256(&file.text), blob }
    }
}

/// The lock file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockUnreadable {
    /// It is not the JSON a lock file is.
    Malformed,
    /// It is of a newer version of KubeOpera.
    Newer,
}

impl Lock {
    pub(crate) fn new(cluster: &Cluster, components: &[Component], tree: &Tree) -> Self {
        let components = components.iter().map(|component| (component.name.to_owned(), locked(component))).collect();
        let files = tree.files().map(|(path, file)| (path.to_owned(), LockedFile::new(file))).collect();
        Self {
            schema: SCHEMA,
            generator: env!("CARGO_PKG_VERSION").to_owned(),
            inputs: cluster.clone(),
            inputs_hash: sha256(&json(cluster)),
            components,
            files,
        }
    }

    /// Reads a lock file.
    pub fn parse(text: &str) -> Result<Self, LockUnreadable> {
        #[derive(Deserialize)]
        struct Schema {
            schema: u32,
        }
        let Schema { schema } = serde_json::from_str(text).map_err(|_| LockUnreadable::Malformed)?;
        if schema > SCHEMA {
            return Err(LockUnreadable::Newer);
        }
        serde_json::from_str(text).map_err(|_| LockUnreadable::Malformed)
    }

    /// Whether a text is what the generator last wrote to this path.
    pub fn wrote(&self, path: &str, text: &str) -> bool {
        self.files.get(path).is_some_and(|file| file.sha256 == sha256(text))
    }

    /// What was there before KubeOpera, given what is there now. A component that this tree installs is found on the
    /// cluster from then on; it does not thereby become somebody else's.
    pub fn present_before(&self, now: Present) -> Present {
        let ours = |name: &str| self.components.get(name).is_some_and(|found| found.fate == LockedFate::Installed);
        Present {
            ingress_class: now.ingress_class && !ours("traefik"),
            cert_manager: now.cert_manager && !ours("cert-manager"),
            default_storage_class: now.default_storage_class && !ours("local-path-provisioner"),
            cloudnative_pg: now.cloudnative_pg && !ours("cloudnative-pg"),
            prometheus_operator: now.prometheus_operator && !ours("kube-prometheus-stack"),
            metrics_api: now.metrics_api && !ours("metrics-server"),
        }
    }

    pub(crate) fn text(&self) -> String {
        json(self) + "\n"
    }
}

fn locked(component: &Component) -> LockedComponent {
    let fate = match component.fate {
        Fate::Installed(_) => LockedFate::Installed,
        Fate::LeftAlone => LockedFate::PresentNotManaged,
        Fate::NotNeeded => LockedFate::NotNeeded,
    };
    let release = component.installation().and_then(|installation| installation.release.as_ref());
    LockedComponent { fate, chart_version: release.map(|release| release.chart.version.to_owned()) }
}

#[expect(clippy::expect_used, reason = "structs with text keys always have a JSON form")]
fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("a lock is structs, maps with text keys and scalars")
}
