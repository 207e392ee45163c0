//! What components ask about a cluster: its inputs, reduced to what makes a difference, so that a difference that does
//! not matter (a fifth node, a patch release) writes no commit.

use gitops_scaffolder_contract::{Origin, Present, TreeInputs};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use vocabulary::{ClusterId, ClusterName, Domain, Email, GitPath, KubernetesVersion, Provider, Region};

use crate::mirror::Mirror;

/// A cluster as the tree sees it. It is what the lock file records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Its HostCluster.
    pub id: ClusterId,
    /// UID of its kube-system namespace: whose tree it is.
    pub uid: String,
    /// Its name.
    pub name: ClusterName,
    /// Folder of the repository.
    pub path: GitPath,
    /// `aws`, `gcp`, …
    pub provider: Provider,
    /// Region.
    pub region: Region,
    /// How it came to be.
    pub origin: Origin,
    /// `1.34`.
    pub kubernetes_minor: Option<String>,
    /// More than one node, so that a second replica helps.
    pub several_nodes: bool,
    /// Without one nothing is reachable from outside.
    pub domain: Option<Domain>,
    /// Contact of the certificate issuer.
    pub admin_email: Option<Email>,
    /// Name of the pull Secret.
    pub registry_pull_secret: Option<String>,
    /// What to leave alone.
    pub present: Present,
    /// Registry that takes the place of all others.
    pub mirror: Option<Mirror>,
}

impl Cluster {
    /// Reduces a cluster's inputs to what makes a difference.
    pub fn new(inputs: &TreeInputs, mirror: Option<&Mirror>) -> Self {
        Self {
            id: inputs.cluster,
            uid: inputs.cluster_uid.clone(),
            name: inputs.name.clone(),
            path: inputs.path.clone(),
            provider: inputs.provider.clone(),
            region: inputs.region.clone(),
            origin: inputs.origin,
            kubernetes_minor: inputs.kubernetes_version.as_ref().and_then(minor),
            several_nodes: inputs.nodes > 1,
            domain: inputs.domain.clone(),
            admin_email: inputs.admin_email.clone(),
            registry_pull_secret: inputs.registry_pull_secret.clone(),
            present: inputs.present,
            mirror: mirror.cloned(),
        }
    }

    /// How many replicas a stateless part gets.
    pub(crate) const fn replicas(&self) -> u8 {
        if self.several_nodes { 2 } else { 1 }
    }

    /// The class our Ingresses name. A class that was there before is used by being the default: its name is not known.
    pub(crate) const fn ingress_class_name(&self) -> Option<&'static str> {
        if self.present.ingress_class { None } else { Some("traefik") }
    }

    /// A host below the cluster's domain.
    pub(crate) fn host(&self, label: &str) -> Option<String> {
        self.domain.as_ref().map(|domain| format!("{label}.{domain}"))
    }

    /// An image, from the mirror if there is one.
    pub(crate) fn image(&self, image: &str) -> String {
        self.mirror.as_ref().map_or_else(|| image.to_owned(), |mirror| mirror.image(image))
    }

    /// Pull Secrets as pods and most charts name them.
    pub(crate) fn pull_secrets(&self) -> Value {
        self.registry_pull_secret.iter().map(|name| json!({ "name": name })).collect()
    }

    /// Pull Secrets as charts that want bare names take them.
    pub(crate) fn pull_secret_names(&self) -> Value {
        self.registry_pull_secret.iter().map(|name| json!(name)).collect()
    }

    /// What a container asks for on a single node (thousandths of a processor, mebibytes) and the memory it may use.
    /// On several nodes it gets twice as much: there is more to look after. No limit on the processor: throttling a
    /// controller that nobody competes with only makes it late.
    pub(crate) fn resources(&self, cpu: u32, memory: u32, memory_limit: u32) -> Value {
        let factor = if self.several_nodes { 2 } else { 1 };
        json!({
            "requests": { "cpu": format!("{}m", cpu * factor), "memory": format!("{}Mi", memory * factor) },
            "limits": { "memory": format!("{}Mi", memory_limit * factor) },
        })
    }
}

/// `1.34` of `1.34.4+k3s1`.
fn minor(version: &KubernetesVersion) -> Option<String> {
    let mut numbers = version.as_str().split(['.', '-', '+']);
    Some(format!("{}.{}", numbers.next()?, numbers.next()?))
}
