//! What must be true whatever goes wrong.

use host_cluster_controller_crd::{ANNOTATION_REMOVAL, HostClusterStatus, Phase};
use host_cluster_controller_decide::{Facts, Resource, Step, Way};

use super::{CANARY, Fault, World, is_effect};

impl World {
    /// What must be true of every step, whatever went wrong before.
    pub(super) fn check_step(&self, facts: &Facts, step: &Step) {
        let annotated = self.resource.metadata.annotations.iter().flatten().any(|(key, _)| key == ANNOTATION_REMOVAL);
        match step {
            Step::EnsureDestroyed { .. } => {
                assert!(annotated && self.way == Way::Provision, "infrastructure is destroyed without being asked");
            }
            Step::DeleteKustomizations { .. } => {
                let sync = facts.seen.sync.seen().expect("nobody deletes what they have not seen");
                assert!(sync.kustomizations().all(|one| one.is_suspended), "a Kustomization that prunes is deleted");
            }
            Step::EnsureTree { .. }
            | Step::InstallFlux { .. }
            | Step::PointFlux { .. }
            | Step::WriteGitSecret { .. }
            | Step::WritePullSecret { .. } => {
                assert!(facts.previous.cluster_uid.is_some(), "something is written before the cluster is identified");
                assert!(self.resource.metadata.deletion_timestamp.is_none(), "something is made while letting go");
            }
            _ => {}
        }
        if let Step::EnsureTree { inputs, .. } = step {
            let identified = facts.previous.cluster_uid.as_ref();
            assert_eq!(Some(&inputs.cluster_uid), identified, "a tree of another cluster than the one identified");
        }
        if is_effect(step) && !matches!(step, Step::AddFinalizer) {
            assert!(
                self.resource.metadata.finalizers.iter().flatten().next().is_some(),
                "an effect before the finalizer: {step:?}"
            );
        }
    }

    /// What must be true of every status, whatever went wrong before.
    pub(super) fn check_status(&self, status: &HostClusterStatus, fault: Fault) {
        let text = serde_json::to_string(status).unwrap();
        assert!(!text.contains(CANARY), "a secret is published: {text}");
        let phase = status.phase.expect("every status has a phase");
        let message = status.message.as_deref().unwrap_or_default();
        assert!(message.ends_with(['.', '…']), "not a sentence: {message}");
        let value = |type_: &str| {
            status.conditions.iter().find(|one| one.type_ == type_).map_or("absent", |one| one.status.as_str())
        };
        let is_staying = self.resource.metadata.deletion_timestamp.is_none();
        if is_staying {
            assert_eq!(value("Ready") == "True", phase == Phase::Ready, "{status:?}");
        }
        if phase == Phase::Ready && is_staying {
            for milestone in self.way.milestones() {
                assert_eq!(value(milestone.condition().as_str()), "True", "Ready without {milestone:?}");
            }
        }
        if phase == Phase::Ready
            && is_staying
            && fault != Fault::StaleStatus
            && self.phases.last() != Some(&Phase::Ready)
        {
            assert!(
                self.flux_ready_at.is_some() && self.git_secret.is_some() && self.workloads,
                "Ready without a platform"
            );
            assert!(!self.commits.is_empty(), "Ready without a tree");
            let wanted = Resource::of(&self.resource).spec.unwrap().administrator.is_some();
            assert_eq!(!self.administrators.is_empty(), wanted, "Ready, administrators {:?}", self.administrators);
        }
        for condition in &status.conditions {
            assert!(condition.reason.chars().all(|c| c.is_ascii_alphanumeric()), "reason {}", condition.reason);
            assert!(condition.last_transition_time.0 <= self.now, "a transition in the future");
        }
        for failed in &status.failed_attempts {
            let is_of_the_way = self.way.milestones().iter().any(|milestone| milestone.phase() == failed.phase);
            assert!(is_of_the_way && failed.count > 0 && failed.message.ends_with(['.', '…']), "{failed:?}");
            assert!(failed.last_at.0 <= self.now, "an attempt in the future");
        }
        if phase != Phase::Ready
            && is_staying
            && let Some(retry) = &status.retry
        {
            assert!(status.failed_attempts.iter().any(|failed| failed.count >= retry.attempt), "{status:?}");
        }
    }

    /// Whether the phases that were published follow the plan, but for failures in between.
    pub fn phases_follow_the_plan(&self) {
        let mut order = vec![Phase::Pending];
        order.extend(self.way.milestones().iter().map(|milestone| milestone.phase()));
        order.push(Phase::Ready);
        let came: Vec<usize> = self
            .phases
            .iter()
            .filter(|phase| **phase != Phase::Failed)
            .map(|phase| order.iter().position(|planned| planned == phase).expect("the phase is of the plan"))
            .collect();
        assert!(came.windows(2).all(|two| two[0] == two[1] || two[0] + 1 == two[1]), "{:?}", self.phases);
    }
}
