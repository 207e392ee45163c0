//! What a cluster has of its cloud besides nodes: load balancers and volumes, as far as the cluster itself tells.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use k8s_monitor_health::bytes;
use kube::Client;
use kube_kit::{Attempt, null_as_empty};
use prices::LoadBalancer;
use serde::{Deserialize, de::DeserializeOwned};
use vocabulary::Provider;

use crate::call::{Refusal, read, with_query};

/// Objects of a kind that are looked at.
const MOST: usize = 20_000;
const PAGE: &str = "250";
/// How long one page may take.
const PATIENCE: Duration = Duration::from_secs(15);
const GIBIBYTE: u64 = 1 << 30;

/// Load balancers and volumes of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Assets {
    /// By kind, how many.
    pub(crate) load_balancers: Vec<(LoadBalancer, u64)>,
    /// Type, how many, gibibytes in all.
    pub(crate) volumes: Vec<(String, u64, u64)>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Service {
    metadata: Metadata,
    spec: ServiceSpec,
    status: Status,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Metadata {
    name: String,
    annotations: Annotations,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Annotations {
    #[serde(rename = "service.beta.kubernetes.io/aws-load-balancer-type")]
    aws_type: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ServiceSpec {
    load_balancer_class: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Status {
    load_balancer: Ingresses,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Ingresses {
    #[serde(deserialize_with = "null_as_empty")]
    ingress: Vec<Ingress>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Ingress {
    hostname: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Volume {
    spec: VolumeSpec,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct VolumeSpec {
    capacity: Capacity,
    storage_class_name: String,
    csi: Csi,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Capacity {
    storage: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Csi {
    driver: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct StorageClass {
    metadata: Metadata,
    parameters: Parameters,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Parameters {
    r#type: String,
}

/// Reads them; what may not be read is not among them.
pub(crate) async fn look(client: &Client, provider: &str) -> Assets {
    if !matches!(provider, Provider::AWS | Provider::GCP) {
        return Assets::default();
    }
    let services = all(client, "/api/v1/services", "spec.type=LoadBalancer").await.unwrap_or_default();
    let ingresses = all(client, "/apis/networking.k8s.io/v1/ingresses", "").await.unwrap_or_default();
    let volumes = all(client, "/api/v1/persistentvolumes", "").await.unwrap_or_default();
    let classes = all(client, "/apis/storage.k8s.io/v1/storageclasses", "").await.unwrap_or_default();
    Assets { load_balancers: load_balancers(provider, &services, &ingresses), volumes: sums(&volumes, &classes) }
}

/// Services have one each as soon as it has an address; Ingresses of AWS share one under one host name.
fn load_balancers(provider: &str, services: &[Service], ingresses: &[Service]) -> Vec<(LoadBalancer, u64)> {
    let mut counts = [(LoadBalancer::Network, 0), (LoadBalancer::Classic, 0), (LoadBalancer::ForwardingRule, 0)];
    let [(_, network), (_, classic), (_, rules)] = &mut counts;
    for service in services.iter().filter(|service| !service.status.load_balancer.ingress.is_empty()) {
        let is_network = !service.metadata.annotations.aws_type.is_empty()
            || service.spec.load_balancer_class == "service.k8s.aws/nlb";
        *match (provider, is_network) {
            (Provider::AWS, true) => &mut *network,
            (Provider::AWS, false) => &mut *classic,
            _ => &mut *rules,
        } += 1;
    }
    let names = ingresses.iter().flat_map(|ingress| &ingress.status.load_balancer.ingress);
    let names: BTreeSet<_> =
        names.map(|ingress| ingress.hostname.as_str()).filter(|name| name.ends_with(".elb.amazonaws.com")).collect();
    let application = [(LoadBalancer::Application, names.len() as u64)];
    counts.into_iter().chain(application).filter(|(_, count)| *count > 0).collect()
}

/// Volumes of the clouds' own disks. Their type is the storage class's; without one it is the driver's usual.
fn sums(volumes: &[Volume], classes: &[StorageClass]) -> Vec<(String, u64, u64)> {
    let classes: HashMap<_, _> =
        classes.iter().map(|class| (class.metadata.name.as_str(), class.parameters.r#type.as_str())).collect();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for volume in volumes {
        let usual = match volume.spec.csi.driver.as_str() {
            "ebs.csi.aws.com" => "gp3",
            "pd.csi.storage.gke.io" => "pd-standard",
            _ => continue,
        };
        let of_class = classes.get(volume.spec.storage_class_name.as_str()).copied().unwrap_or_default();
        let kind = kube_kit::word(if of_class.is_empty() { usual } else { of_class });
        let gibibytes = bytes(&volume.spec.capacity.storage).unwrap_or_default().div_ceil(GIBIBYTE);
        let (count, size) = sums.entry(kind).or_default();
        *count += 1;
        *size = size.saturating_add(gibibytes);
    }
    sums.into_iter().map(|(kind, (count, size))| (kind, count, size)).collect()
}

#[derive(Deserialize)]
#[serde(bound = "T: DeserializeOwned")]
struct Page<T> {
    #[serde(default)]
    metadata: PageMetadata,
    #[serde(default = "Vec::new", deserialize_with = "null_as_empty")]
    items: Vec<T>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PageMetadata {
    r#continue: String,
}

/// The objects of a collection, up to [`MOST`].
async fn all<T: DeserializeOwned>(client: &Client, path: &str, fields: &str) -> Result<Vec<T>, Refusal> {
    let attempt = Attempt("read load balancers and volumes");
    let (mut objects, mut next) = (Vec::new(), String::new());
    // Not even empty pages come without end.
    for _ in 0..MOST {
        let path = with_query(path, &[("limit", PAGE), ("fieldSelector", fields), ("continue", &next)]);
        let Ok(answer) = tokio::time::timeout(PATIENCE, read(client, attempt, &path)).await else { break };
        let page: Page<T> =
            serde_json::from_slice(&answer?.body).map_err(|error| crate::call::not_kubernetes(attempt, error))?;
        objects.extend(page.items);
        next = page.metadata.r#continue;
        if next.is_empty() || objects.len() >= MOST {
            break;
        }
    }
    Ok(objects)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    fn objects<T: DeserializeOwned>(objects: serde_json::Value) -> Vec<T> {
        serde_json::from_value(objects).unwrap()
    }

    #[test]
    fn load_balancers_are_counted_by_kind_once_they_have_an_address() {
        let ingress = json!({"loadBalancer": {"ingress": [{"hostname": "a.eu-north-1.elb.amazonaws.com"}]}});
        let services = objects(json!([
            {"status": ingress},
            {"status": ingress, "metadata": {"annotations": {"service.beta.kubernetes.io/aws-load-balancer-type": "nlb"}}},
            {"status": ingress, "spec": {"loadBalancerClass": "service.k8s.aws/nlb"}},
            {"status": {"loadBalancer": {}}},
        ]));
        let ingresses = objects(json!([{"status": ingress}, {"status": ingress}, {"status": {}}]));

        let aws = load_balancers("aws", &services, &ingresses);
        assert_eq!(aws, [(LoadBalancer::Network, 2), (LoadBalancer::Classic, 1), (LoadBalancer::Application, 1)]);
        assert_eq!(load_balancers("gcp", &services, &[]), [(LoadBalancer::ForwardingRule, 3)]);
    }

    #[test]
    fn volumes_are_summed_by_the_type_of_their_class() {
        let volume = |driver: &str, class: &str, size: &str| json!({"spec": {"csi": {"driver": driver}, "storageClassName": class, "capacity": {"storage": size}}});
        let volumes = objects(json!([
            volume("ebs.csi.aws.com", "fast", "10Gi"),
            volume("ebs.csi.aws.com", "fast", "1"),
            volume("ebs.csi.aws.com", "gone", "20Gi"),
            volume("rancher.io/local-path", "local", "50Gi"),
            json!({"spec": {"hostPath": {}, "capacity": {"storage": "NaN"}}}),
        ]));
        let classes = objects(json!([{"metadata": {"name": "fast"}, "parameters": {"type": "io2"}}]));

        assert_eq!(sums(&volumes, &classes), [("gp3".to_owned(), 1, 20), ("io2".to_owned(), 2, 11)]);
    }
}
