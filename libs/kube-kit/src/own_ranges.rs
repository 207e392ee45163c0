//! The addresses of the cluster that this process is a Pod of, which no kubeconfig may lead to.

use std::{
    net::IpAddr,
    sync::{PoisonError, RwLock},
    time::Duration,
};

use ipnet::IpNet;
use kube::Client;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

use crate::{
    read::{View, null_as_empty, read, read_all},
    trouble::Attempt,
};

/// Nodes come and go.
const EVERY: Duration = Duration::from_mins(1);

/// Ranges of the Pods and Services of a cluster, and addresses of its nodes, as far as its API server tells them: `podCIDRs`
/// of the nodes, which networks do not have that give Pods addresses of the cloud, and `ServiceCIDR` objects, which there
/// are since Kubernetes 1.33. Before, it is the address of the Service `kubernetes`, at which Pods reach the API server.
#[derive(Debug, Default)]
pub struct OwnRanges(RwLock<Vec<IpNet>>);

impl OwnRanges {
    /// Whether an address is one of the cluster's.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).iter().any(|range| range.contains(&address))
    }

    /// Reads them anew. What cannot be read stays as it was.
    pub async fn refresh(&self, client: &Client) -> Result<(), Trouble> {
        let ranges = of_nodes(client).await?.into_iter().chain(of_services(client).await?).collect();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = ranges;
        Ok(())
    }

    /// Reads them anew each minute until the shutdown.
    pub async fn keep_fresh(&self, client: Client, shutdown: CancellationToken) {
        let refresh = async {
            loop {
                tokio::time::sleep(EVERY).await;
                if let Err(trouble) = self.refresh(&client).await {
                    tracing::warn!("the addresses of KubeOpera's own cluster are read again later: {trouble}");
                }
            }
        };
        tokio::select! { () = refresh => {}, () = shutdown.cancelled() => {} }
    }
}

impl FromIterator<IpNet> for OwnRanges {
    fn from_iter<I: IntoIterator<Item = IpNet>>(ranges: I) -> Self {
        Self(RwLock::new(ranges.into_iter().collect()))
    }
}

async fn of_nodes(client: &Client) -> Result<Vec<IpNet>, Trouble> {
    let attempt = Attempt("read the addresses of the nodes");
    let nodes: Option<Vec<Node>> = read_all(client, attempt, "/api/v1/nodes", &[], View::Whole).await?;
    let ranges = nodes.unwrap_or_default().into_iter().flat_map(|node| {
        let pods = node.spec.pod_cidrs.into_iter().filter_map(|range| range.parse().ok());
        // A host name has no place among ranges.
        let addresses = node.status.addresses.into_iter().filter_map(|one| one.address.parse::<IpAddr>().ok());
        pods.chain(addresses.map(IpNet::from))
    });
    Ok(ranges.collect())
}

async fn of_services(client: &Client) -> Result<Vec<IpNet>, Trouble> {
    let attempt = Attempt("read the ranges of the Services");
    let path = "/apis/networking.k8s.io/v1/servicecidrs";
    let ranges: Option<Vec<ServiceCidr>> = read_all(client, attempt, path, &[], View::Whole).await?;
    if let Some(ranges) = ranges {
        return Ok(ranges.into_iter().flat_map(|one| one.spec.cidrs).filter_map(|range| range.parse().ok()).collect());
    }
    let path = "/api/v1/namespaces/default/services/kubernetes";
    let service: Option<Service> = read(client, attempt, path, View::Whole).await?;
    let addresses = service.into_iter().flat_map(|service| service.spec.cluster_ips);
    Ok(addresses.filter_map(|address| address.parse::<IpAddr>().ok()).map(IpNet::from).collect())
}

#[derive(Deserialize)]
struct Node {
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Deserialize, Default)]
struct NodeSpec {
    #[serde(default, rename = "podCIDRs", deserialize_with = "null_as_empty")]
    pod_cidrs: Vec<String>,
}

#[derive(Deserialize, Default)]
struct NodeStatus {
    #[serde(default, deserialize_with = "null_as_empty")]
    addresses: Vec<NodeAddress>,
}

#[derive(Deserialize)]
struct NodeAddress {
    address: String,
}

#[derive(Deserialize)]
struct ServiceCidr {
    spec: ServiceCidrSpec,
}

#[derive(Deserialize)]
struct ServiceCidrSpec {
    #[serde(default, deserialize_with = "null_as_empty")]
    cidrs: Vec<String>,
}

#[derive(Deserialize)]
struct Service {
    spec: ServiceSpec,
}

#[derive(Deserialize)]
struct ServiceSpec {
    #[serde(default, rename = "clusterIPs", deserialize_with = "null_as_empty")]
    cluster_ips: Vec<String>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::{Arc, Mutex};

    use http::{Request, Response};
    use kube::client::Body;
    use serde_json::{Value, json};
    use tower::{BoxError, service_fn};

    use super::*;

    const SERVICE_CIDRS: &str = "/apis/networking.k8s.io/v1/servicecidrs";

    /// What is at which path; at one with null the server fails.
    type Objects = Vec<(&'static str, Value)>;

    /// An API server that has these objects, and no others.
    fn server(objects: Objects) -> (Client, Arc<Mutex<Objects>>) {
        let objects = Arc::new(Mutex::new(objects));
        let there = Arc::clone(&objects);
        let service = service_fn(move |request: Request<Body>| {
            let found = there.lock().unwrap().iter().find(|(path, _)| *path == request.uri().path()).cloned();
            async move {
                let (status, body) = match found {
                    Some((_, Value::Null)) => {
                        (503, json!({"kind": "Status", "code": 503, "reason": "", "message": ""}))
                    }
                    Some((_, object)) => (200, object),
                    None => (404, json!({"kind": "Status", "code": 404, "reason": "NotFound", "message": ""})),
                };
                let answer = Response::builder().status(status);
                Ok::<_, BoxError>(answer.body(Body::from(body.to_string().into_bytes())).unwrap())
            }
        });
        (Client::new(service, "default"), objects)
    }

    fn node(pods: &Value, addresses: &[&str]) -> Value {
        let addresses: Vec<_> =
            addresses.iter().map(|address| json!({"type": "InternalIP", "address": address})).collect();
        json!({"metadata": {"name": "n"}, "spec": {"podCIDRs": pods}, "status": {"addresses": addresses}})
    }

    fn is_own(ranges: &OwnRanges, addresses: &[&str]) -> Vec<bool> {
        addresses.iter().map(|address| ranges.contains(address.parse().unwrap())).collect()
    }

    #[tokio::test]
    async fn pods_services_and_nodes_of_both_families_are_the_cluster_s_own_and_what_is_beside_them_is_not() {
        let nodes = [
            node(&json!(["10.244.0.0/24", "fd00:10::/64"]), &["10.7.0.4", "fd00:7::4", "node-1.acme.com"]),
            node(&Value::Null, &["10.7.0.5"]),
        ];
        let services = json!({"items": [{"spec": {"cidrs": ["10.96.0.0/16", "fd00:96::/108"]}}]});
        let (client, _) = server(vec![("/api/v1/nodes", json!({"items": nodes})), (SERVICE_CIDRS, services)]);
        let ranges = OwnRanges::default();

        ranges.refresh(&client).await.unwrap();

        let own = ["10.244.0.7", "fd00:10::7", "10.7.0.4", "fd00:7::4", "10.7.0.5", "10.96.255.1", "fd00:96::1"];
        assert_eq!(is_own(&ranges, &own), [true; 7]);
        assert_eq!(is_own(&ranges, &["10.244.1.7", "fd00:11::7", "10.7.0.6", "10.97.0.1"]), [false; 4]);
    }

    #[tokio::test]
    async fn where_there_are_no_service_cidrs_the_address_of_the_api_server_s_service_counts() {
        let service = json!({"spec": {"clusterIP": "10.96.0.1", "clusterIPs": ["10.96.0.1"]}});
        let nodes = json!({"items": [node(&json!([]), &[])]});
        let (client, _) =
            server(vec![("/api/v1/nodes", nodes), ("/api/v1/namespaces/default/services/kubernetes", service)]);
        let ranges = OwnRanges::default();

        ranges.refresh(&client).await.unwrap();

        assert_eq!(is_own(&ranges, &["10.96.0.1", "10.96.0.2"]), [true, false]);
    }

    #[tokio::test]
    async fn a_node_that_joins_is_known_by_the_next_read_and_a_read_that_fails_takes_nothing_away() {
        let first = node(&json!(["10.244.0.0/24"]), &[]);
        let second = node(&json!(["10.244.1.0/24"]), &[]);
        let (client, objects) = server(vec![("/api/v1/nodes", json!({"items": [first]})), (SERVICE_CIDRS, json!({}))]);
        let ranges = OwnRanges::default();
        let own = ["10.244.0.7", "10.244.1.7"];

        ranges.refresh(&client).await.unwrap();
        assert_eq!(is_own(&ranges, &own), [true, false]);
        objects.lock().unwrap()[0].1 = json!({"items": [first, second]});
        ranges.refresh(&client).await.unwrap();
        assert_eq!(is_own(&ranges, &own), [true, true]);
        objects.lock().unwrap()[0].1 = json!({"items": []});
        objects.lock().unwrap()[1].1 = Value::Null;
        assert!(ranges.refresh(&client).await.is_err());
        assert_eq!(is_own(&ranges, &own), [true, true]);
    }
}
