//! The Job of a run and its Pod.

use host_cluster_controller_crd::{LABEL_CLUSTER_ID, PROVISIONING_NAMESPACE};
use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use kube::{
    Api,
    api::{DeleteParams, ListParams, Preconditions},
};
use kube_kit::{Attempt, trouble, unless_gone};
use vocabulary::{ClusterId, Trouble};

use super::Provisioner;
use crate::{job::LABEL_RUN, names};

/// Where a Job is.
pub(super) enum JobSeen {
    Absent,
    /// It works, or waits for a node: as a sentence.
    Active {
        run: String,
        uid: String,
        waits: Option<String>,
    },
    Ended {
        run: String,
        uid: String,
        why: Option<String>,
    },
}

impl Provisioner {
    pub(super) fn jobs(&self) -> Api<Job> {
        Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE)
    }

    pub(super) async fn job(&self, cluster: ClusterId) -> Result<JobSeen, Trouble> {
        let attempt = Attempt("read the provisioning Job");
        let found = self.jobs().get_opt(&names::provision(cluster)).await.map_err(|error| trouble(attempt, &error))?;
        let Some(job) = found else { return Ok(JobSeen::Absent) };
        let uid = job.metadata.uid.unwrap_or_default();
        let run = job.metadata.labels.as_ref().and_then(|labels| labels.get(LABEL_RUN)).cloned().unwrap_or_default();
        let conditions = job.status.and_then(|status| status.conditions).unwrap_or_default();
        let ended =
            conditions.iter().find(|one| one.status == "True" && matches!(one.type_.as_str(), "Complete" | "Failed"));
        let pod = self.pod(cluster).await?;
        if let Some(ended) = ended {
            let why = pod.as_ref().and_then(why_ended).or_else(|| match ended.reason.as_deref() {
                Some("DeadlineExceeded") => Some("it took longer than two hours".to_owned()),
                _ => None,
            });
            return Ok(JobSeen::Ended { run, uid, why });
        }
        Ok(JobSeen::Active { run, uid, waits: pod.as_ref().and_then(why_waiting) })
    }

    /// The Job's Pod, the newest if there are several.
    async fn pod(&self, cluster: ClusterId) -> Result<Option<Pod>, Trouble> {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), PROVISIONING_NAMESPACE);
        let of_cluster = ListParams::default().labels(&format!("{LABEL_CLUSTER_ID}={cluster}"));
        let all = api.list(&of_cluster).await.map_err(|error| trouble(Attempt("list the Pods of the run"), &error))?;
        Ok(all.items.into_iter().max_by_key(|pod| pod.metadata.creation_timestamp.clone()))
    }

    /// Deletes the Job that was seen, and no other that has taken its name since.
    pub(super) async fn delete_job(&self, cluster: ClusterId, uid: &str) -> Result<(), Trouble> {
        let seen =
            Preconditions { uid: Some(uid.to_owned()).filter(|uid| !uid.is_empty()), ..Preconditions::default() };
        let how = DeleteParams { preconditions: Some(seen), ..DeleteParams::foreground() };
        match self.jobs().delete(&names::provision(cluster), &how).await {
            Err(kube::Error::Api(status)) if status.is_conflict() => Ok(()),
            deleted => unless_gone(deleted, Attempt("delete the provisioning Job")),
        }
    }
}

/// Why a Pod is not running yet, if there is more to say than that.
fn why_waiting(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let waiting = status.container_statuses.iter().flatten().find_map(|one| one.state.as_ref()?.waiting.as_ref());
    if let Some(reason) = waiting.and_then(|waiting| waiting.reason.as_deref())
        && ["ErrImagePull", "ImagePullBackOff", "InvalidImageName", "CreateContainerConfigError"].contains(&reason)
    {
        return Some(format!("The Pod of the run cannot start ({reason}). Check its image with kubectl describe."));
    }
    let unschedulable = status.conditions.iter().flatten().any(|one| one.reason.as_deref() == Some("Unschedulable"));
    unschedulable.then(|| "The Pod of the run waits for a node with room for it (1.5 GiB of memory).".to_owned())
}

/// Why a Pod ended, if it did not end by itself.
fn why_ended(pod: &Pod) -> Option<String> {
    let status = pod.status.as_ref()?;
    let reason = status
        .container_statuses
        .iter()
        .flatten()
        .find_map(|one| one.state.as_ref()?.terminated.as_ref()?.reason.clone());
    match (status.reason.as_deref(), reason.as_deref()) {
        (Some("Evicted"), _) => Some("its node had no room left, and it was evicted".to_owned()),
        (_, Some("OOMKilled")) => Some("it needed more than 1.5 GiB of memory".to_owned()),
        _ => None,
    }
}
