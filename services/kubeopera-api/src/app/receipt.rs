//! The receipt: what went and what stayed when KubeOpera let go of a cluster.

use host_cluster_controller_crd::{ANNOTATION_REMOVAL, HostCluster, LABEL_CLUSTER_ID, REMOVAL_DESTROY};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use vocabulary::ClusterId;

use super::{
    Caller, Platform,
    parting::{FLUX, Parting, Thing, parting},
};
use crate::{
    error::AppError,
    store::{audit::Action, clusters::Record, receipts},
};

/// What became of a cluster that was let go of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Receipt {
    pub(crate) cluster: ClusterId,
    /// The name it had.
    pub(crate) name: String,
    pub(crate) ended_at: Timestamp,
    /// Whether the cluster itself was deleted, with its infrastructure.
    pub(crate) is_destroyed: bool,
    pub(crate) gone: Vec<Thing>,
    /// Objects of KubeOpera on the cluster that could not be removed.
    pub(crate) left: Vec<Thing>,
    /// Why not, as sentences.
    pub(crate) left_because: Option<String>,
    /// What removes them, with the cluster's own kubeconfig; the workloads stay.
    pub(crate) commands: Vec<String>,
    /// What stays by intent, as sentences.
    pub(crate) stays: Vec<String>,
}

impl Receipt {
    /// `resource` is the HostCluster as it was last seen before it went; nobody saw it go if there is none.
    pub(super) fn of(record: &Record, resource: Option<&HostCluster>, ended_at: Timestamp) -> Self {
        let annotations = resource.and_then(|resource| resource.metadata.annotations.as_ref());
        let is_destroyed =
            annotations.and_then(|all| all.get(ANNOTATION_REMOVAL)).is_some_and(|value| value == REMOVAL_DESTROY);
        let left_because = match resource {
            Some(resource) => resource.status.as_ref().and_then(|status| status.left_behind.clone()),
            None => Some(
                "kubeopera-api did not see the end of it, so it is not known whether everything on the cluster could be \
                 removed."
                    .to_owned(),
            ),
        };
        let Parting { goes, mut stays } = parting(record);
        let (left, gone): (Vec<_>, Vec<_>) =
            goes.into_iter().partition(|thing| thing.is_on_cluster && left_because.is_some() && !is_destroyed);
        if is_destroyed {
            stays = vec![format!("The folder {} in the Git repository.", record.spec.git_ops_path)];
        }
        let commands = if left.is_empty() { Vec::new() } else { commands(record.id) };
        Self {
            cluster: record.id,
            name: record.name.to_string(),
            ended_at,
            is_destroyed,
            gone,
            left_because: left_because.filter(|_| !left.is_empty()),
            left,
            commands,
            stays,
        }
    }
}

/// Flux prunes what a Kustomization has applied unless it is suspended before it is deleted.
fn commands(cluster: ClusterId) -> Vec<String> {
    let of_cluster = format!("-n {FLUX} -l {LABEL_CLUSTER_ID}={cluster}");
    vec![
        format!(
            "kubectl get kustomizations.kustomize.toolkit.fluxcd.io {of_cluster} -o name | xargs -r kubectl patch -n {FLUX} \
             --type merge -p '{{\"spec\":{{\"suspend\":true,\"deletionPolicy\":\"Orphan\"}}}}'"
        ),
        format!(
            "kubectl delete {of_cluster} kustomizations.kustomize.toolkit.fluxcd.io,gitrepositories.source.toolkit.fluxcd.io"
        ),
        // The Git credentials, and not the registry credential, which pods go on pulling with.
        format!("kubectl delete {of_cluster},reconcile.fluxcd.io/watch=Enabled secrets"),
    ]
}

impl Platform {
    /// The receipt for a cluster that was let go of.
    pub(crate) async fn receipt(&self, caller: &Caller, cluster: ClusterId) -> Result<Receipt, AppError> {
        self.permit(caller, Action::DisconnectCluster).await?;
        receipts::of(&self.db, cluster).await?.ok_or(AppError::NoSuchCluster)
    }
}
