//! Whether a workload runs, and if not, what its pods say.

use std::collections::BTreeMap;

use host_cluster_controller_decide::Readiness;
use kube::Client;
use kube_kit::{Attempt, View, printable, read_all, word};
use serde::Deserialize;
use vocabulary::Trouble;

use crate::adapters::object::{Condition, Metadata};

/// Characters of a remote message that are shown.
const MESSAGE: usize = 200;

/// Reason of a workload whose pods have no complaint.
const STARTING: &str = "Starting";
/// Reason of a workload whose pods do not exist yet.
const NO_PODS: &str = "NoPods";

/// The kinds of workloads, by their collections.
const KINDS: [(&str, &str); 3] = [
    ("Deployment", "/apis/apps/v1/deployments"),
    ("StatefulSet", "/apis/apps/v1/statefulsets"),
    ("DaemonSet", "/apis/apps/v1/daemonsets"),
];

/// Whether all replicas of a workload are available in their current form.
pub(super) async fn readiness(client: &Client, workload: &Workload) -> Result<Readiness, Trouble> {
    if workload.is_available() {
        return Ok(Readiness::Ready);
    }
    if let Some(refused) = workload.refused() {
        return Ok(not_ready("PodsRefused", format!("Its pods are refused: {}", sentence(&refused))));
    }
    let (reason, why) = why_pods_wait(client, workload.namespace(), &workload.spec.selector.match_labels).await?;
    Ok(not_ready(&reason, why))
}

/// A workload that is not available.
pub(super) struct Unavailable {
    /// As people name it: `Deployment traefik/traefik`.
    pub(super) object: String,
    /// What its pods say, as a sentence.
    pub(super) why: String,
    /// Nothing is wrong, they only take their time.
    pub(super) is_starting: bool,
}

/// The workload with these labels that is not available, and of several one that complains.
pub(super) async fn first_unavailable(
    client: &Client,
    labels: &[(&str, &str)],
) -> Result<Option<Unavailable>, Trouble> {
    let mut starting = None;
    for (kind, collection) in KINDS {
        let attempt = Attempt("look at the workloads of the tree");
        let found: Option<Vec<Workload>> = read_all(client, attempt, collection, labels, View::Whole).await?;
        for workload in found.unwrap_or_default() {
            let Readiness::NotReady { reason, why } = readiness(client, &workload).await? else { continue };
            let object = format!("{kind} {}/{}", word(workload.namespace()), word(workload.name()));
            let is_starting = matches!(reason.as_str(), STARTING | NO_PODS);
            let unavailable = Unavailable { object, why, is_starting };
            if !is_starting {
                return Ok(Some(unavailable));
            }
            starting.get_or_insert(unavailable);
        }
    }
    Ok(starting)
}

/// The worst that the pods with these labels have to say, as a word and a sentence.
pub(super) async fn why_pods_wait(
    client: &Client,
    namespace: &str,
    labels: &BTreeMap<String, String>,
) -> Result<(String, String), Trouble> {
    let collection = format!("/api/v1/namespaces/{}/pods", word(namespace));
    let selector: Vec<_> = labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    let pods: Option<Vec<Pod>> =
        read_all(client, Attempt("look at the pods"), &collection, &selector, View::Whole).await?;
    let pods = pods.unwrap_or_default();
    let worst = pods.iter().filter_map(Pod::complaint).max_by_key(|complaint| complaint.weight);
    Ok(match worst {
        Some(complaint) => (complaint.reason, complaint.why),
        None if pods.is_empty() => (NO_PODS.to_owned(), "Its pods have not been created yet.".to_owned()),
        None => (STARTING.to_owned(), "Its pods are starting.".to_owned()),
    })
}

pub(super) fn not_ready(reason: &str, why: String) -> Readiness {
    Readiness::NotReady { reason: reason.to_owned(), why }
}

/// A remote message as a sentence that can be shown. Go programs put what they were doing first and what went wrong
/// last, so of a long chain the end is kept.
pub(super) fn sentence(message: &str) -> String {
    let whole = printable(message, usize::MAX);
    let mut shown = whole.as_str();
    while shown.chars().count() > MESSAGE {
        let Some((_, rest)) = shown.split_once(": ") else { break };
        shown = rest;
    }
    let mut text = printable(shown, MESSAGE);
    if text.is_empty() {
        text.push_str("no reason is given");
    }
    if !text.ends_with(['.', '…', '!', '?']) {
        text.push('.');
    }
    text
}

/// What a pod complains about.
struct Complaint {
    /// The larger, the more it explains.
    weight: u8,
    reason: String,
    why: String,
}

/// A Deployment, StatefulSet or DaemonSet, as far as it is looked at.
#[derive(Debug, Deserialize)]
pub(super) struct Workload {
    metadata: Metadata,
    #[serde(default)]
    spec: Spec,
    #[serde(default)]
    status: Status,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Spec {
    replicas: Option<i64>,
    selector: Selector,
    template: Template,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Template {
    spec: TemplateSpec,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct TemplateSpec {
    containers: Vec<Container>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default)]
struct Container {
    image: String,
    args: Vec<String>,
}

#[derive(Debug, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Status {
    observed_generation: i64,
    replicas: i64,
    updated_replicas: i64,
    available_replicas: i64,
    /// DaemonSets only, like the two that follow.
    desired_number_scheduled: Option<i64>,
    updated_number_scheduled: i64,
    number_available: i64,
    conditions: Vec<Condition>,
}

impl Workload {
    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }

    pub(super) fn namespace(&self) -> &str {
        &self.metadata.namespace
    }

    pub(super) fn label(&self, key: &str) -> Option<&str> {
        self.metadata.labels.get(key).map(String::as_str)
    }

    /// The image of the first container.
    pub(super) fn image(&self) -> Option<&str> {
        self.spec.template.spec.containers.first().map(|container| container.image.as_str())
    }

    /// The arguments of all containers.
    pub(super) fn args(&self) -> impl Iterator<Item = &str> {
        self.spec.template.spec.containers.iter().flat_map(|container| &container.args).map(String::as_str)
    }

    /// A rolling update keeps pods of the old form while those of the new do not run: they do not count.
    pub(super) fn is_available(&self) -> bool {
        let status = &self.status;
        let (wanted, updated, available) = match status.desired_number_scheduled {
            Some(wanted) => (wanted, status.updated_number_scheduled, status.number_available),
            None => (self.spec.replicas.unwrap_or(1), status.updated_replicas, status.available_replicas),
        };
        let old = status.replicas - status.updated_replicas;
        status.observed_generation >= self.metadata.generation && updated >= wanted && available >= wanted && old <= 0
    }

    /// Why pods could not even be created: a quota, Pod Security, a webhook.
    fn refused(&self) -> Option<String> {
        let failure = self.status.conditions.iter().find(|condition| condition.r#type == "ReplicaFailure");
        failure.filter(|condition| condition.status == "True").map(|condition| condition.message.clone())
    }
}

#[derive(Deserialize)]
struct Pod {
    #[serde(default)]
    status: PodStatus,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct PodStatus {
    conditions: Vec<Condition>,
    init_container_statuses: Vec<ContainerStatus>,
    container_statuses: Vec<ContainerStatus>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ContainerStatus {
    image: String,
    state: ContainerState,
    last_state: ContainerState,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ContainerState {
    waiting: Option<Waiting>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Waiting {
    reason: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Terminated {
    reason: String,
    exit_code: i64,
}

impl Pod {
    fn complaint(&self) -> Option<Complaint> {
        let containers = self.status.init_container_statuses.iter().chain(&self.status.container_statuses);
        let of_containers = containers.filter_map(ContainerStatus::complaint);
        of_containers.chain(self.unschedulable()).max_by_key(|complaint| complaint.weight)
    }

    fn unschedulable(&self) -> Option<Complaint> {
        let scheduled = self.status.conditions.iter().find(|condition| condition.r#type == "PodScheduled")?;
        (scheduled.status == "False").then(|| Complaint {
            weight: 2,
            reason: word(if scheduled.reason.is_empty() { "Unschedulable" } else { &scheduled.reason }),
            why: format!("No node takes its pod: {}", sentence(&scheduled.message)),
        })
    }
}

impl ContainerStatus {
    fn complaint(&self) -> Option<Complaint> {
        let waiting = self.state.waiting.as_ref()?;
        let image = printable(&self.image, MESSAGE);
        let (weight, why) = match waiting.reason.as_str() {
            "ImagePullBackOff" | "ErrImagePull" | "ErrImageNeverPull" | "RegistryUnavailable" => {
                // While it waits before the next attempt, kubelet's message says only that it waits.
                let detail = waiting.message.strip_prefix("Back-off pulling image").map_or_else(
                    || sentence(&waiting.message),
                    |rest| rest.split_once(": ErrImagePull: ").map_or_else(String::new, |(_, why)| sentence(why)),
                );
                (5, format!("The image {image} cannot be pulled. {detail}"))
            }
            "InvalidImageName" => (5, format!("{image} is not the name of an image.")),
            "CrashLoopBackOff" => (4, self.crash()),
            "CreateContainerConfigError" | "CreateContainerError" | "RunContainerError" => {
                (4, format!("Its container cannot be started: {}", sentence(&waiting.message)))
            }
            "" | "ContainerCreating" | "PodInitializing" => return None,
            _ => (3, format!("Its container waits: {}", sentence(&waiting.message))),
        };
        Some(Complaint { weight, reason: word(&waiting.reason), why: why.trim_end().to_owned() })
    }

    fn crash(&self) -> String {
        let last = self.last_state.terminated.as_ref();
        match last {
            Some(last) if last.reason == "OOMKilled" => {
                "It is killed again and again because it needs more memory than it may use.".to_owned()
            }
            Some(last) => format!("It ends again and again, last with exit code {}. Its log says why.", last.exit_code),
            None => "It ends again and again. Its log says why.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]
    use serde_json::json;

    use super::*;

    fn complaint(status: serde_json::Value) -> Option<(String, String)> {
        let pod: Pod = serde_json::from_value(json!({"status": status})).unwrap();
        pod.complaint().map(|complaint| (complaint.reason, complaint.why))
    }

    fn waiting(reason: &str, message: &str) -> serde_json::Value {
        json!({"image": "ghcr.io/fluxcd/source-controller:v9", "state": {"waiting": {"reason": reason, "message": message}}})
    }

    #[test]
    fn a_pod_that_does_not_run_says_why_in_words_for_people() {
        let pull = "Back-off pulling image \"x\": ErrImagePull: failed to resolve reference: not found";
        for (status, reason, why) in [
            (
                json!({"containerStatuses": [waiting("ImagePullBackOff", pull)]}),
                "ImagePullBackOff",
                "The image ghcr.io/fluxcd/source-controller:v9 cannot be pulled. failed to resolve reference: not found.",
            ),
            (
                json!({"containerStatuses": [waiting("ImagePullBackOff", "Back-off pulling image \"x\"")]}),
                "ImagePullBackOff",
                "The image ghcr.io/fluxcd/source-controller:v9 cannot be pulled.",
            ),
            (
                json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                    "message": "0/1 nodes are available: 1 Insufficient cpu."}]}),
                "Unschedulable",
                "No node takes its pod: 0/1 nodes are available: 1 Insufficient cpu.",
            ),
            (
                json!({"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 3, "reason": "Error"}}}]}),
                "CrashLoopBackOff",
                "It ends again and again, last with exit code 3. Its log says why.",
            ),
            (
                json!({"containerStatuses": [{"state": {"waiting": {"reason": "CrashLoopBackOff"}},
                    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}),
                "CrashLoopBackOff",
                "It is killed again and again because it needs more memory than it may use.",
            ),
            (
                json!({"initContainerStatuses": [waiting("CreateContainerConfigError", "secret \"x\" not found")]}),
                "CreateContainerConfigError",
                "Its container cannot be started: secret \"x\" not found.",
            ),
        ] {
            assert_eq!(complaint(status), Some((reason.to_owned(), why.to_owned())));
        }
    }

    #[test]
    fn of_a_long_message_the_cause_at_its_end_is_kept() {
        let long =
            format!("failed to pull image \"{}\": failed to do request: dial tcp: connection refused", "x".repeat(200));

        assert_eq!(sentence(&long), "failed to do request: dial tcp: connection refused.");
        assert_eq!(sentence("short: and whole"), "short: and whole.");
        assert_eq!(sentence(&"x".repeat(300)).chars().count(), MESSAGE);
        assert_eq!(sentence(" \n"), "no reason is given.");
    }

    #[test]
    fn a_pod_that_is_on_its_way_has_no_complaint() {
        assert_eq!(complaint(json!({"containerStatuses": [waiting("ContainerCreating", "")]})), None);
        assert_eq!(complaint(json!({"containerStatuses": [{"state": {"running": {}}}]})), None);
        assert_eq!(complaint(json!({})), None);
    }

    #[test]
    fn a_workload_is_available_only_in_its_current_form() {
        let is_available = |status: serde_json::Value| {
            let workload = json!({"metadata": {"generation": 2}, "spec": {"replicas": 2}, "status": status});
            serde_json::from_value::<Workload>(workload).unwrap().is_available()
        };

        for (generation, updated, available, expected) in
            [(2, 2, 2, true), (1, 2, 2, false), (2, 1, 2, false), (2, 2, 1, false)]
        {
            let replicas =
                json!({"observedGeneration": generation, "updatedReplicas": updated, "availableReplicas": available});
            let on_nodes = json!({"observedGeneration": generation, "desiredNumberScheduled": 2,
                "updatedNumberScheduled": updated, "numberAvailable": available});
            assert_eq!(is_available(replicas), expected);
            assert_eq!(is_available(on_nodes), expected);
        }
        assert!(!is_available(json!({})));
        let old_pods_serve_on =
            json!({"observedGeneration": 2, "replicas": 3, "updatedReplicas": 2, "availableReplicas": 2});
        assert!(!is_available(old_pods_serve_on));
    }
}
