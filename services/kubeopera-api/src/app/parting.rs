//! Disconnecting and deleting: two ways to part from a cluster, which must not be mixed up.
//!
//! Both delete the HostCluster resource, by way of the outbox; host-cluster-controller does the rest, and the record goes
//! when the resource is seen to be gone.

use std::borrow::Cow;

use host_cluster_controller_crd::{
    ANNOTATION_REMOVAL, ConditionType, HostCluster, Mode, NAMESPACE, Phase, REMOVAL_DESTROY,
};
use jiff::Timestamp;
use kube_kit::{Attempt, trouble};
use serde::{Deserialize, Serialize};
use service_kit::database::begin_write;
use vocabulary::ClusterId;

use super::{Caller, Platform};
use crate::{
    error::AppError,
    resources::resources,
    store::{
        audit::{self, Action, Outcome},
        clusters::{self, Record},
        outbox::{self, Due},
    },
    view::Cluster,
};

/// What disconnecting takes away and what it leaves.
#[derive(Debug)]
pub(crate) struct Parting {
    pub(crate) goes: Vec<Thing>,
    /// As sentences.
    pub(crate) stays: Vec<String>,
}

/// An object that goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Thing {
    /// Whether it is on the cluster itself; otherwise it is where KubeOpera keeps its resources.
    pub(crate) is_on_cluster: bool,
    pub(crate) kind: Cow<'static, str>,
    pub(crate) namespace: Cow<'static, str>,
    pub(crate) name: String,
}

/// Namespace of Flux and of what KubeOpera gives it.
pub(super) const FLUX: &str = "flux-system";

impl Platform {
    /// What disconnecting would do. Nothing is done.
    pub(crate) async fn parting(&self, caller: &Caller, id: ClusterId) -> Result<Parting, AppError> {
        self.permit(caller, Action::DisconnectCluster).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        Ok(parting(&record))
    }

    /// Stops managing a cluster and leaves all that runs on it. Again is fine while it is under way.
    pub(crate) async fn disconnect(&self, caller: &Caller, id: ClusterId) -> Result<Cluster, AppError> {
        self.permit(caller, Action::DisconnectCluster).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        let part = async {
            if record.removing_since.is_none() && self.is_half_made(&record).await? {
                return Err(AppError::Busy);
            }
            if record.removing_since.is_some() && self.is_being_destroyed(id).await? {
                return Err(AppError::BeingRemoved);
            }
            self.part(caller, &record, Action::DisconnectCluster, Due::Removal).await
        };
        self.judged(caller, Action::DisconnectCluster, Some(told(&record)), part).await
    }

    /// Deletes a cluster that KubeOpera provisioned, with its infrastructure. `name` is what somebody typed to confirm it.
    pub(crate) async fn delete_cluster(&self, caller: &Caller, id: ClusterId, name: &str) -> Result<Cluster, AppError> {
        self.permit(caller, Action::DeleteCluster).await?;
        let record = clusters::by_id(&self.db, id).await?.ok_or(AppError::NoSuchCluster)?;
        let part = async {
            if record.is_host {
                return Err(AppError::HostProtected);
            }
            if record.spec.mode == Mode::ConnectExisting {
                return Err(AppError::NotProvisioned);
            }
            if record.name.as_str() != name {
                return Err(AppError::NotConfirmed);
            }
            if record.removing_since.is_some() && !self.is_being_destroyed(id).await? {
                return Err(AppError::BeingRemoved);
            }
            self.part(caller, &record, Action::DeleteCluster, Due::Destruction).await
        };
        self.judged(caller, Action::DeleteCluster, Some(told(&record)), part).await
    }

    async fn part(&self, caller: &Caller, record: &Record, action: Action, due: Due) -> Result<Cluster, AppError> {
        let tx = begin_write(&self.db).await?;
        let now = Timestamp::now();
        let begins = clusters::begin_removal(&tx, record.id, now).await?;
        if begins {
            outbox::ask_for(&tx, record.id, due, now).await?;
        }
        let outcome = if begins { Outcome::Done } else { Outcome::Unchanged };
        audit::write(&tx, caller.actor(), action, Some(told(record)), outcome).await?;
        tx.commit().await?;
        self.outbox_filled.notify_one();
        self.events.mark(record.id);
        self.look_at(record.id).await?.ok_or(AppError::NoSuchCluster)
    }

    pub(super) async fn is_being_destroyed(&self, id: ClusterId) -> Result<bool, AppError> {
        let is_marked = |resource: &HostCluster| {
            let annotations = resource.metadata.annotations.as_ref();
            annotations.and_then(|all| all.get(ANNOTATION_REMOVAL)).is_some_and(|value| value == REMOVAL_DESTROY)
        };
        if outbox::of(&self.db, &[id]).await?.iter().any(|entry| entry.due == Due::Destruction) {
            return Ok(true);
        }
        Ok(self.resource_itself(id).await?.is_some_and(|resource| is_marked(&resource)))
    }

    /// Whether KubeOpera makes the cluster, is about to, or has stopped short of it: there may be something in the cloud by
    /// then that a run goes on from and that nobody else knows of. One that failed before any run was begun has nothing.
    async fn is_half_made(&self, record: &Record) -> Result<bool, AppError> {
        if record.spec.mode == Mode::ConnectExisting {
            return Ok(false);
        }
        let is_half_made = |resource: HostCluster| {
            let status = resource.status.unwrap_or_default();
            let made = ConditionType::InfrastructureReady.as_str();
            let is_made = status.conditions.iter().any(|one| one.type_ == made && one.status == "True");
            let was_begun = status.provisioning.is_some_and(|run| run.attempt > 0 || run.job_name.is_some());
            !is_made && (was_begun || status.phase != Some(Phase::Failed))
        };
        Ok(self.resource_itself(record.id).await?.is_some_and(is_half_made))
    }

    /// The resource and not what was last seen of it, which may be a moment old.
    async fn resource_itself(&self, id: ClusterId) -> Result<Option<HostCluster>, AppError> {
        let resource = resources(&self.client).get_opt(&id.to_string()).await;
        Ok(resource.map_err(|error| trouble(Attempt("read the HostCluster resource"), &error))?)
    }
}

/// A cluster in the audit log, also when nobody knows its id any more.
pub(super) fn told(record: &Record) -> String {
    format!("{} ({})", record.id, record.name)
}

pub(super) fn parting(record: &Record) -> Parting {
    let ours =
        |kind: &'static str, name| Thing { is_on_cluster: false, kind: kind.into(), namespace: NAMESPACE.into(), name };
    let theirs = |kind: &'static str, name: &str| Thing {
        is_on_cluster: true,
        kind: kind.into(),
        namespace: FLUX.into(),
        name: name.to_owned(),
    };
    let (id, spec) = (record.id, &record.spec);
    let mut goes = vec![ours("HostCluster", id.to_string())];
    goes.extend(spec.connect_kubeconfig_secret_ref.clone().map(|name| ours("Secret", name)));
    if !record.is_host {
        goes.push(ours("Secret", id.kubeconfig_secret()));
    }
    if spec.admin_email.is_some() {
        goes.push(ours("Secret", id.admin_password_secret()));
    }
    let registry = id.registry_pull_secret();
    if spec.registry_pull_secret_ref.as_ref() == Some(&registry) {
        goes.push(ours("Secret", registry));
    }
    goes.extend([
        theirs("Kustomization", "kubeopera"),
        theirs("Kustomization", "kubeopera-*"),
        theirs("GitRepository", "kubeopera"),
        theirs("Secret", "kubeopera-git"),
    ]);
    let mut stays = vec![
        "Everything that runs on the cluster, and its data.".to_owned(),
        "Flux itself.".to_owned(),
        format!("The folder {} in the Git repository.", spec.git_ops_path),
    ];
    if let Some(registry) = &spec.registry_pull_secret_ref {
        stays.push(format!(
            "The registry credential, Secret {registry}, with which the cluster's pods pull their images."
        ));
    }
    if spec.mode != Mode::ConnectExisting {
        stays.push("The infrastructure in the cloud, with its cost.".to_owned());
    }
    Parting { goes, stays }
}
