//! What a pass has learned: the fields of the status that speak of the world, carried over where nobody looked.

use cluster_provisioner_contract::RunStatus;
use host_cluster_controller_crd::{CredentialStatus, FluxStatus, GitOpsStatus, HostClusterStatus, ProvisioningStatus};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use crate::{
    facts::{Facts, FluxSeen},
    latch,
    outcome::Outcome,
    sentence::sentence,
    step::Step,
};

/// The previous status with all that was seen and done since.
pub(crate) fn learn(facts: &Facts, step: &Step, outcome: &Outcome) -> HostClusterStatus {
    let mut status = facts.previous.clone();
    if matches!(step, Step::Suspend) {
        return status;
    }
    status.observed_generation = Some(facts.resource.generation);
    from_seen(&mut status, facts, step);
    if !matches!(outcome, Outcome::Trouble(_)) {
        from_done(&mut status, facts, step, outcome);
    }
    status
}

fn from_seen(status: &mut HostClusterStatus, facts: &Facts, step: &Step) {
    let seen = &facts.seen;
    if let Some(cluster) = seen.cluster.seen() {
        if matches!(step, Step::Identify) {
            status.cluster_uid = Some(cluster.uid.clone());
        }
        // Of another cluster than ours nothing is told.
        if status.cluster_uid.as_ref() == Some(&cluster.uid) {
            status.kubernetes_version = Some(cluster.kubernetes_version.to_string());
            status.nodes = Some(cluster.nodes);
        }
    }
    if let Some(flux) = seen.flux.seen() {
        status.flux = match flux {
            FluxSeen::Absent => None,
            FluxSeen::Present(flux) => Some(FluxStatus {
                version: flux.version.clone(),
                managed_by: Some(flux.managed_by_other.clone().unwrap_or_else(|| "kubeopera".to_owned())),
            }),
        };
    }
    if let Some(secrets) = seen.secrets.seen() {
        status.credential = secrets
            .credential
            .map(|credential| CredentialStatus { kind: credential.kind, expires_at: credential.expires_at.map(Time) });
    }
    if let (Some(sync), Some(tree)) = (seen.sync.seen(), status.git_ops.as_mut()) {
        tree.applied_revision = sync.root.as_ref().and_then(|root| root.applied_revision.clone());
    }
    if let Some(run) = seen.run.seen() {
        let known = status.provisioning.get_or_insert_with(ProvisioningStatus::default);
        match run {
            RunStatus::Absent | RunStatus::Destroyed => {}
            RunStatus::Vanished { job } => known.job_name = Some(job.clone()),
            RunStatus::Running { job, progress } => {
                known.job_name = Some(job.clone());
                known.progress = Some(sentence(progress));
            }
            RunStatus::Succeeded { job } | RunStatus::Failed { job, .. } => {
                known.job_name = Some(job.clone());
                known.progress = None;
            }
        }
    }
    for (key, version) in [
        (latch::KUBECONFIG, latch::supplied_kubeconfig(facts)),
        (latch::GIT_CREDENTIALS, latch::git_credentials(facts)),
        (latch::REGISTRY_PULL, latch::registry_pull(facts)),
        (latch::RETRY_REQUESTED, facts.resource.retry_requested.as_deref()),
        (latch::TAKE_OVER, facts.resource.take_over.as_deref()),
    ] {
        if let Some(version) = version {
            status.fingerprints.insert(key.to_owned(), version.to_owned());
        }
    }
}

fn from_done(status: &mut HostClusterStatus, facts: &Facts, step: &Step, outcome: &Outcome) {
    if let Outcome::Written(tree) = outcome {
        status.git_ops = Some(GitOpsStatus {
            branch: tree.branch.clone(),
            commit: Some(tree.commit.clone()),
            tree_hash: Some(tree.tree_hash.clone()),
            applied_revision: status.git_ops.take().and_then(|before| before.applied_revision),
        });
    }
    match step {
        Step::KeepKubeconfig { to, .. } | Step::StoreKubeconfig { to, .. } => {
            status.kubeconfig_secret = Some(to.to_string());
        }
        Step::LeaveBehind { why } => status.left_behind = Some(sentence(why)),
        Step::DeleteKubeconfigs { .. } => {
            status.kubeconfig_secret = None;
            status.credential = None;
        }
        Step::EnsureAdministrator { password, .. } => status.admin_password_secret_ref = Some(password.to_string()),
        Step::EnsureRun { request, attempt } => {
            let run = status.provisioning.get_or_insert_with(ProvisioningStatus::default);
            run.attempt = i32::try_from(*attempt).unwrap_or(i32::MAX);
            run.job_name = Some(request.cluster.provision_job());
            run.progress = None;
            if let Ok(spec) = &facts.resource.spec {
                status.fingerprints.insert(latch::RUN.to_owned(), latch::run_fingerprint(spec));
            }
        }
        _ => {}
    }
    if let (Some(milestone), Ok(spec)) = (step.concludes(), &facts.resource.spec) {
        let fingerprint = latch::fingerprint(spec, status, milestone);
        status.fingerprints.insert(milestone.condition().as_str().to_owned(), fingerprint);
    }
}
