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
use tokio::time::Instant;
use vocabulary::Provider;

use crate::call::{read, with_query};

/// Objects of a kind that are looked at.
const MOST: usize = 20_000;
const PAGE: &str = "250";
/// How long one page may take.
const PATIENCE: Duration = Duration::from_secs(15);
const GIBIBYTE: u64 = 1 << 30;

/// While they cannot be counted anew, what was counted last stays for so long.
const KEPT: Duration = Duration::from_hours(1);

/// How many load balancers of a kind.
pub(crate) type LoadBalancers = (LoadBalancer, u64);
/// Type of volumes, how many, gibibytes in all.
pub(crate) type Volumes = (String, u64, u64);

/// Load balancers and volumes of a cluster.
#[derive(Debug, Clone, Default)]
pub(crate) struct Assets {
    pub(crate) load_balancers: Counted<LoadBalancers>,
    pub(crate) volumes: Counted<Volumes>,
}

/// What was counted last, or why nothing was.
#[derive(Debug, Clone)]
pub(crate) struct Counted<T> {
    known: Result<Vec<T>, String>,
    at: Option<Instant>,
}

impl<T> Default for Counted<T> {
    fn default() -> Self {
        Self { known: Err("They were not counted yet.".to_owned()), at: None }
    }
}

impl<T: PartialEq> Counted<T> {
    /// They were counted anew, or could not be. Returns whether that changes what is known.
    fn take_over(&mut self, new: Result<Vec<T>, String>, now: Instant) -> bool {
        match &new {
            Ok(_) => self.at = Some(now),
            Err(_) if self.at.is_some_and(|at| now.duration_since(at) < KEPT) => return false,
            Err(_) => self.at = None,
        }
        let is_new = self.known != new;
        self.known = new;
        is_new
    }

    /// What is known, or why nothing is, as sentences.
    pub(crate) fn known(&self) -> Result<&[T], &str> {
        self.known.as_deref().map_err(String::as_str)
    }
}

/// What one look brings.
pub(crate) struct Look {
    load_balancers: Result<Vec<LoadBalancers>, String>,
    volumes: Result<Vec<Volumes>, String>,
}

impl Look {
    /// Everything could be counted.
    pub(crate) const fn is_complete(&self) -> bool {
        self.load_balancers.is_ok() && self.volumes.is_ok()
    }
}

impl Assets {
    /// Takes over what a look brought. Returns whether that changes what is known.
    pub(crate) fn take_over(&mut self, look: Look, now: Instant) -> bool {
        let are_new = self.load_balancers.take_over(look.load_balancers, now);
        self.volumes.take_over(look.volumes, now) || are_new
    }
}

/// Whether load balancers and volumes of this cloud are counted.
pub(crate) fn are_counted(provider: &str) -> bool {
    matches!(provider, Provider::AWS | Provider::GCP)
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
#[serde(rename_all = "kebab-case", default)]
struct Parameters {
    r#type: String,
    replication_type: String,
}

/// Counts them. What cannot be read is not known, which is not none.
pub(crate) async fn look(client: &Client, provider: &str) -> Look {
    if !are_counted(provider) {
        return Look { load_balancers: Ok(Vec::new()), volumes: Ok(Vec::new()) };
    }
    Look { load_balancers: look_for_load_balancers(client, provider).await, volumes: look_for_volumes(client).await }
}

async fn look_for_load_balancers(client: &Client, provider: &str) -> Result<Vec<LoadBalancers>, String> {
    let attempt = Attempt("read the load balancers");
    let services = all(client, attempt, "/api/v1/services", "spec.type=LoadBalancer").await?;
    let ingresses = match provider {
        Provider::AWS => all(client, attempt, "/apis/networking.k8s.io/v1/ingresses", "").await?,
        _ => Vec::new(),
    };
    Ok(load_balancers(provider, &services, &ingresses))
}

async fn look_for_volumes(client: &Client) -> Result<Vec<Volumes>, String> {
    let attempt = Attempt("read the volumes");
    let volumes = all(client, attempt, "/api/v1/persistentvolumes", "").await?;
    // What type they are, only their classes tell.
    let classes = all(client, attempt, "/apis/storage.k8s.io/v1/storageclasses", "").await?;
    Ok(sums(&volumes, &classes))
}

/// Services have one each as soon as it has an address; Ingresses of AWS share one under one host name.
fn load_balancers(provider: &str, services: &[Service], ingresses: &[Service]) -> Vec<LoadBalancers> {
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

/// Volumes of the clouds' own disks. Their type is the storage class's; without one it is the driver's usual. A disk of
/// Google's that is kept in two zones at once costs what two do, and is a type of its own.
fn sums(volumes: &[Volume], classes: &[StorageClass]) -> Vec<Volumes> {
    let classes: HashMap<_, _> =
        classes.iter().map(|class| (class.metadata.name.as_str(), &class.parameters)).collect();
    let mut sums: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for volume in volumes {
        let usual = match volume.spec.csi.driver.as_str() {
            "ebs.csi.aws.com" => "gp3",
            "pd.csi.storage.gke.io" => "pd-standard",
            _ => continue,
        };
        let class = classes.get(volume.spec.storage_class_name.as_str());
        let of_class = class.map(|class| class.r#type.as_str()).filter(|kind| !kind.is_empty());
        let is_regional = class.is_some_and(|class| class.replication_type == "regional-pd");
        let kind = kube_kit::word(of_class.unwrap_or(usual));
        let kind = if is_regional { format!("regional-{kind}") } else { kind };
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

/// All objects of a collection, or why they are not known.
async fn all<T: DeserializeOwned>(
    client: &Client,
    attempt: Attempt<'_>,
    path: &str,
    fields: &str,
) -> Result<Vec<T>, String> {
    let (mut objects, mut next) = (Vec::new(), String::new());
    // Not even empty pages come without end.
    for _ in 0..MOST {
        let path = with_query(path, &[("limit", PAGE), ("fieldSelector", fields), ("continue", &next)]);
        let answer = tokio::time::timeout(PATIENCE, read(client, attempt, &path)).await;
        let answer = answer.map_err(|_| format!("Could not {}: the API server did not answer in time.", attempt.0))?;
        let answer = answer.map_err(|refusal| refusal.trouble.message)?;
        let page: Page<T> = serde_json::from_slice(&answer.body)
            .map_err(|error| crate::call::not_kubernetes(attempt, error).trouble.message)?;
        objects.extend(page.items);
        next = page.metadata.r#continue;
        if next.is_empty() {
            return Ok(objects);
        }
        if objects.len() >= MOST {
            break;
        }
    }
    Err(format!("Could not {}: there are more than {MOST} objects, which are not counted.", attempt.0))
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

    #[test]
    fn a_disk_that_is_kept_in_two_zones_is_not_taken_for_one_that_is_kept_in_one() {
        let volume = |class: &str| json!({"spec": {"csi": {"driver": "pd.csi.storage.gke.io"}, "storageClassName": class, "capacity": {"storage": "10Gi"}}});
        let volumes = objects(json!([volume("zonal"), volume("regional"), volume("usual")]));
        let classes = objects(json!([
            {"metadata": {"name": "zonal"}, "parameters": {"type": "pd-ssd", "replication-type": "none"}},
            {"metadata": {"name": "regional"}, "parameters": {"type": "pd-ssd", "replication-type": "regional-pd"}},
            {"metadata": {"name": "usual"}, "parameters": {"replication-type": "regional-pd"}},
        ]));

        let expected = [("pd-ssd", 1, 10), ("regional-pd-ssd", 1, 10), ("regional-pd-standard", 1, 10)];
        assert_eq!(sums(&volumes, &classes), expected.map(|(kind, count, size)| (kind.to_owned(), count, size)));
    }

    #[test]
    fn what_cannot_be_counted_anew_stays_for_a_while_and_is_then_not_known() {
        let (mut counted, start) = (Counted::default(), Instant::now());
        assert_eq!(counted.known(), Err("They were not counted yet."));
        assert!(counted.take_over(Err("Forbidden.".to_owned()), start));
        assert_eq!(counted.known(), Err("Forbidden."));

        assert!(counted.take_over(Ok(vec![1]), start));
        assert!(!counted.take_over(Err("It did not answer.".to_owned()), start + KEPT / 2));
        assert_eq!(counted.known(), Ok(&[1][..]));
        assert!(counted.take_over(Err("It did not answer.".to_owned()), start + KEPT));
        assert_eq!(counted.known(), Err("It did not answer."));
        assert!(counted.take_over(Ok(Vec::new()), start + KEPT));
    }
}
