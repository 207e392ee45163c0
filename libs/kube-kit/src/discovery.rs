//! What a cluster is: identity, version, nodes, provider and region.

use std::{cmp::Reverse, collections::BTreeMap};

use kube::Client;
use serde::Deserialize;
use vocabulary::{KubernetesVersion, Provider, Region, Trouble};

use crate::{
    provider_id::{provider_of, region},
    read::{View, read, read_all},
    trouble::Attempt,
};

/// What can be learnt about a cluster by looking at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovery {
    /// UID of the kube-system namespace: which cluster this is, whatever its names and addresses.
    pub uid: String,
    /// Version of the API server.
    pub version: KubernetesVersion,
    /// How many nodes there are and how many are ready.
    pub nodes: NodeCount,
    /// The provider that most nodes' provider IDs name; `unknown` if none does.
    pub provider: Provider,
    /// The region most of that provider's nodes are in; `unknown` if none tells.
    pub region: Region,
}

/// Nodes of a cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeCount {
    /// All nodes.
    pub total: u32,
    /// Nodes whose Ready condition is True.
    pub ready: u32,
}

/// Looks at a cluster as a whole. Reads three things: the kube-system namespace, the version and the nodes.
pub async fn discover(client: &Client) -> Result<Discovery, Trouble> {
    let uid = cluster_uid(client).await?;
    let version = api_server_version(client).await?;
    let nodes: Vec<Node> = read_all(client, Attempt("list the nodes"), "/api/v1/nodes", &[], View::Whole)
        .await?
        .ok_or_else(|| not_kubernetes("The server has no nodes resource"))?;
    let (provider, region) = place(&nodes);
    let ready = nodes.iter().filter(|node| node.is_ready()).count();
    Ok(Discovery {
        uid,
        version,
        nodes: NodeCount { total: count(nodes.len()), ready: count(ready) },
        provider,
        region,
    })
}

/// UID of the kube-system namespace, which exists in every cluster from its first to its last moment.
pub async fn cluster_uid(client: &Client) -> Result<String, Trouble> {
    const ATTEMPT: Attempt<'static> = Attempt("read the namespace kube-system");
    let namespace: Option<Identified> = read(client, ATTEMPT, "/api/v1/namespaces/kube-system", View::Metadata).await?;
    let uid = namespace.map(|namespace| namespace.metadata.uid);
    uid.filter(|uid| is_uid(uid)).ok_or_else(|| not_kubernetes("The server has no kube-system namespace with a UID"))
}

/// The API server's version, without its leading v.
async fn api_server_version(client: &Client) -> Result<KubernetesVersion, Trouble> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Version {
        git_version: String,
    }
    let attempt = Attempt("read the version of the API server");
    let version: Option<Version> = read(client, attempt, "/version", View::Whole).await?;
    let version = version.and_then(|version| version.git_version.trim_start_matches('v').parse().ok());
    version.ok_or_else(|| not_kubernetes("The server tells no Kubernetes version"))
}

/// The UID is stored, compared and shown, so it has to be one.
fn is_uid(text: &str) -> bool {
    (1..=63).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'-')
}

fn not_kubernetes(what: &str) -> Trouble {
    Trouble::rejected("NotKubernetes", format!("{what}, so it is not a Kubernetes API server. Check the address."))
}

/// The majority's provider, then that provider's majority's region. Nodes that name no provider have no vote; equal
/// counts are decided by name, so that the answer does not depend on the order of the list.
fn place(nodes: &[Node]) -> (Provider, Region) {
    let votes: Vec<_> = nodes
        .iter()
        .filter_map(|node| {
            let (provider, from_id) = provider_of(node.spec.provider_id.as_deref()?)?;
            Some((provider, from_id.or_else(|| node.labelled_region())))
        })
        .collect();
    let provider = majority(votes.iter().map(|(provider, _)| provider));
    let region = provider.as_ref().and_then(|winner| {
        majority(votes.iter().filter(|(provider, _)| provider == winner).filter_map(|(_, region)| region.as_ref()))
    });
    (provider.unwrap_or_else(Provider::unknown), region.unwrap_or_else(Region::unknown))
}

fn majority<'a, T: Ord + Clone + 'a>(votes: impl Iterator<Item = &'a T>) -> Option<T> {
    let mut counts: BTreeMap<&T, usize> = BTreeMap::new();
    for vote in votes {
        *counts.entry(vote).or_default() += 1;
    }
    counts.into_iter().min_by_key(|(_, count)| Reverse(*count)).map(|(winner, _)| winner.clone())
}

fn count(nodes: usize) -> u32 {
    u32::try_from(nodes).unwrap_or(u32::MAX)
}

/// The part of a node that is looked at; a whole one is a hundred times as large.
#[derive(Deserialize, Default)]
struct Node {
    #[serde(default)]
    metadata: NodeMetadata,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Deserialize, Default)]
struct NodeMetadata {
    #[serde(default)]
    labels: RegionLabels,
}

#[derive(Deserialize, Default)]
struct RegionLabels {
    #[serde(rename = "topology.kubernetes.io/region")]
    region: Option<String>,
    #[serde(rename = "failure-domain.beta.kubernetes.io/region")]
    region_of_old: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct NodeSpec {
    #[serde(rename = "providerID")]
    provider_id: Option<String>,
}

#[derive(Deserialize, Default)]
struct NodeStatus {
    #[serde(default)]
    conditions: Vec<NodeCondition>,
}

#[derive(Deserialize)]
struct NodeCondition {
    r#type: String,
    status: String,
}

#[derive(Deserialize)]
struct Identified {
    metadata: Identity,
}

#[derive(Deserialize)]
struct Identity {
    uid: String,
}

impl Node {
    fn is_ready(&self) -> bool {
        self.status.conditions.iter().any(|condition| condition.r#type == "Ready" && condition.status == "True")
    }

    fn labelled_region(&self) -> Option<Region> {
        let labels = &self.metadata.labels;
        labels.region.as_deref().or(labels.region_of_old.as_deref()).and_then(region)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn node(provider_id: Option<&str>, region: Option<&str>) -> Node {
        let mut node = json!({"metadata": {"labels": {"kubernetes.io/os": "linux"}}, "spec": {}, "status": {}});
        if let Some(id) = provider_id {
            node["spec"]["providerID"] = id.into();
        }
        if let Some(region) = region {
            node["metadata"]["labels"]["topology.kubernetes.io/region"] = region.into();
        }
        serde_json::from_value(node).unwrap()
    }

    fn placed(nodes: &[Node]) -> (String, String) {
        let (provider, region) = place(nodes);
        (provider.into(), region.into())
    }

    #[test]
    fn the_majority_of_nodes_decides_provider_and_region() {
        let nodes = [
            node(Some("hcloud://1"), Some("fsn1")),
            node(Some("aws:///eu-north-1a/i-1"), None),
            node(Some("aws:///eu-north-1b/i-2"), None),
            node(Some("aws:///eu-west-1a/i-3"), None),
            node(None, None),
            node(None, None),
            node(None, None),
        ];

        assert_eq!(placed(&nodes), ("aws".to_owned(), "eu-north-1".to_owned()));
    }

    #[test]
    fn an_even_split_gives_the_same_answer_in_any_order() {
        let mut nodes = vec![node(Some("hcloud://1"), None), node(Some("aws:///eu-north-1a/i-1"), None)];
        let forwards = placed(&nodes);
        nodes.reverse();

        assert_eq!(placed(&nodes), forwards);
    }

    #[test]
    fn the_region_label_helps_where_the_provider_id_has_no_region() {
        assert_eq!(placed(&[node(Some("azure:///subscriptions/0"), Some("westeurope"))]).1, "westeurope");
        assert_eq!(placed(&[node(Some("openstack:///1"), Some("RegionOne"))]).1, "regionone");
        assert_eq!(placed(&[node(Some("aws:///eu-north-1a/i-1"), Some("us-east-1"))]).1, "eu-north-1");
        assert_eq!(placed(&[node(Some("hcloud://1"), Some("not a region"))]).1, "unknown");
    }

    #[test]
    fn a_cluster_without_a_cloud_or_without_nodes_is_unknown() {
        let unknown = ("unknown".to_owned(), "unknown".to_owned());
        assert_eq!(placed(&[]), unknown);
        assert_eq!(placed(&[node(None, Some("eu-north-1")), node(Some("kind://docker/kind/a"), None)]), unknown);
    }

    #[test]
    fn a_node_is_ready_only_when_its_condition_says_true() {
        for (conditions, ready) in [
            (json!([{"type": "Ready", "status": "True"}]), true),
            (json!([{"type": "Ready", "status": "False"}]), false),
            (json!([{"type": "Ready", "status": "Unknown"}]), false),
            (json!([{"type": "MemoryPressure", "status": "True"}]), false),
            (json!([]), false),
        ] {
            let node: Node = serde_json::from_value(json!({"status": {"conditions": conditions}})).unwrap();
            assert_eq!(node.is_ready(), ready);
        }
    }
}
