//! The HostCluster resource: what a cluster should be, and where it is.
//!
//! The CustomResourceDefinition in `deploy/crds/` is generated from these types; their doc comments are what
//! `kubectl explain hostcluster` prints.

#![allow(unreachable_pub, reason = "the KubeSchema derive repeats each struct inside a function")]
#![allow(clippy::doc_markdown, reason = "kubectl explain prints the doc comments, and backticks with them")]

mod conditions;
mod hostcluster;
mod marks;
mod status;
mod validated;
mod way;

pub use conditions::{ConditionType, CredentialState, condition};
pub use hostcluster::{HostCluster, HostClusterSpec, Mode, ProvisioningSpec, TopologyName};
pub use marks::{
    ANNOTATION_INSTALLATION_URL, Installation, KUBEOPERA, LABEL_CLUSTER_ID, LABEL_INSTALLATION, LABEL_MANAGED_BY,
    is_marked, marked_for, marks,
};
pub use status::{
    CredentialKind, CredentialStatus, FailedAttempts, FluxStatus, GitOpsStatus, HostClusterStatus, NodeCount, Phase,
    ProvisioningStatus, RetryKind, RetryStatus,
};
pub use validated::{Administrator, ModeSpec, ProvisionedCluster, SpecProblem, ValidSpec};

/// The CustomResourceDefinition as YAML.
pub fn crd_yaml() -> Result<String, serde_saphyr::ser::Error> {
    serde_saphyr::to_string(&<HostCluster as kube::CustomResourceExt>::crd())
}

/// Namespace of HostClusters and of the Secrets they name.
pub const NAMESPACE: &str = "kubeopera-system";
/// Secret in [`NAMESPACE`] with the credentials of the repository that KubeOpera serves itself. A HostCluster that names
/// it has its tree there, whatever address the repository has at the moment.
pub const BUILT_IN_GIT_CREDENTIALS: &str = "kubeopera-git-credentials";
/// Namespace of the provisioning Jobs.
pub const PROVISIONING_NAMESPACE: &str = "kubeopera-provisioning";
/// API group of HostCluster and prefix of all labels and annotations of KubeOpera.
pub const GROUP: &str = "kubeopera.io";

/// Label: the name people gave the cluster.
pub const LABEL_CLUSTER_NAME: &str = "kubeopera.io/cluster-name";
/// Label: this is the cluster KubeOpera runs on (`true`). There is only ever one.
pub const LABEL_HOST: &str = "kubeopera.io/host";
/// Annotation on a Secret with Git credentials: URL of the repository they are for. They are sent nowhere else, so that
/// whoever may write HostClusters but not read Secrets cannot have them sent to a server of their own.
pub const ANNOTATION_GIT_REPOSITORY: &str = "kubeopera.io/git-repository";
/// Annotation: `true` makes the controller leave the resource alone until it is removed.
pub const ANNOTATION_SUSPENDED: &str = "kubeopera.io/suspended";
/// Annotation that kubeopera-api sets before deleting: [`REMOVAL_DESTROY`] destroys provisioned infrastructure. Absent or
/// anything else means disconnect, so that a bare `kubectl delete` never destroys anything.
pub const ANNOTATION_REMOVAL: &str = "kubeopera.io/removal";
/// Value of [`ANNOTATION_REMOVAL`] that destroys.
pub const REMOVAL_DESTROY: &str = "destroy";
/// Annotation: the [`Installation::id`] of another KubeOpera that manages the cluster and is to manage it no more. Without it
/// such a cluster is left alone.
pub const ANNOTATION_TAKE_OVER: &str = "kubeopera.io/take-over";
/// Annotation: a new value asks for another attempt at once.
pub const ANNOTATION_RETRY_REQUESTED: &str = "kubeopera.io/retry-requested-at";
/// Annotation: keys of the labels that people gave the cluster in KubeOpera, separated by commas. Other labels of the
/// resource are somebody else's, and left alone.
pub const ANNOTATION_LABELS: &str = "kubeopera.io/labels";
/// Finalizer that gives the controller the time to let go of a cluster.
pub const FINALIZER: &str = "kubeopera.io/host-cluster";
