//! What is known when a decision is made: the resource, its previous status, and one fact for each thing looked at.
//!
//! Failing to observe is knowledge, not an exception. Nothing here holds a secret: Secrets are known by version only.

use std::collections::BTreeMap;

use cluster_provisioner_contract::RunStatus;
use gitops_scaffolder_contract::{Present, TreeSeen};
use host_cluster_controller_crd::{
    ANNOTATION_REMOVAL, ANNOTATION_RETRY_REQUESTED, ANNOTATION_SUSPENDED, ANNOTATION_TAKE_OVER, CredentialKind,
    FINALIZER, HostCluster, HostClusterStatus, Installation, Mode, NodeCount, REMOVAL_DESTROY, SpecProblem, ValidSpec,
};
use jiff::{SignedDuration, Timestamp};
use vocabulary::{ClusterId, ClusterName, KubernetesVersion, SecretName, Trouble};

use crate::obstacle::Obstacle;

/// One thing in the world, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Fact<T> {
    /// Nobody has looked in this pass.
    #[default]
    NotLooked,
    /// Somebody looked and could not tell, and why. Never taken for absence.
    CouldNotTell(Trouble),
    /// What was seen.
    Seen(T),
}

impl<T> Fact<T> {
    /// What was seen; otherwise what stands in the way of knowing: `thing` has to be looked at, or the trouble of
    /// looking.
    pub fn or_look(&self, thing: impl FnOnce() -> Thing) -> Result<&T, Obstacle> {
        match self {
            Self::NotLooked => Err(Obstacle::NotLooked(thing())),
            Self::CouldNotTell(trouble) => Err(Obstacle::Trouble(trouble.clone())),
            Self::Seen(seen) => Ok(seen),
        }
    }

    /// What was seen, if anything was.
    pub const fn seen(&self) -> Option<&T> {
        match self {
            Self::Seen(seen) => Some(seen),
            Self::NotLooked | Self::CouldNotTell(_) => None,
        }
    }
}

impl<T> From<Result<T, Trouble>> for Fact<T> {
    fn from(looked: Result<T, Trouble>) -> Self {
        match looked {
            Ok(seen) => Self::Seen(seen),
            Err(trouble) => Self::CouldNotTell(trouble),
        }
    }
}

/// Everything one decision is made from.
#[derive(Debug, Clone)]
pub struct Facts {
    /// What somebody wants.
    pub resource: Resource,
    /// The status as it was published last.
    pub previous: HostClusterStatus,
    /// Now.
    pub now: Timestamp,
    /// Random, from 0 to 1: spreads attempts that would otherwise come at the same moment.
    pub jitter: f64,
    /// Whether this KubeOpera has a cluster-provisioner.
    pub has_provisioner: bool,
    /// What was looked at in this pass.
    pub seen: Observations,
}

/// One fact for each thing. All start as [`Fact::NotLooked`].
#[derive(Debug, Clone, Default)]
pub struct Observations {
    /// The Secrets the resource names.
    pub secrets: Fact<SecretsSeen>,
    /// The other `HostCluster`s.
    pub neighbours: Fact<Vec<Neighbour>>,
    /// The cluster's API server.
    pub cluster: Fact<ClusterSeen>,
    /// The run that creates or destroys the cluster.
    pub run: Fact<RunStatus>,
    /// Flux on the cluster.
    pub flux: Fact<FluxSeen>,
    /// The Git credentials on the cluster.
    pub git_secret: Fact<GitSecretSeen>,
    /// The registry credential on the cluster.
    pub pull_secret: Fact<PullSecretSeen>,
    /// What already runs on the cluster and must be left alone.
    pub present: Fact<Present>,
    /// KubeOpera's own Flux objects on the cluster.
    pub sync: Fact<SyncSeen>,
    /// The cluster's tree in Git.
    pub tree: Fact<TreeSeen>,
}

/// A thing to look at, with all that looking needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thing {
    /// The Secrets the resource names: [`Observations::secrets`].
    Secrets,
    /// The other `HostCluster`s: [`Observations::neighbours`].
    Neighbours,
    /// The API server: [`Observations::cluster`].
    Cluster(Target),
    /// The provisioner's run: [`Observations::run`].
    Run,
    /// Flux: [`Observations::flux`].
    Flux(Target),
    /// The Git credentials on the cluster: [`Observations::git_secret`].
    GitSecret(Target),
    /// The registry credential on the cluster: [`Observations::pull_secret`].
    PullSecret {
        /// Where.
        at: Target,
        /// Name of its Secret, here and there.
        name: SecretName,
    },
    /// What already runs: [`Observations::present`].
    Present(Target),
    /// KubeOpera's Flux objects: [`Observations::sync`].
    Sync(Target),
    /// The tree in Git: [`Observations::tree`].
    Tree,
}

/// A cluster and the way to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// Which cluster.
    pub cluster: ClusterId,
    /// The way to it.
    pub reach: Reach,
}

/// A way to a cluster's API server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reach {
    /// KubeOpera's own service account: the cluster it runs on.
    OwnServiceAccount,
    /// The kubeconfig in this Secret (namespace of the `HostCluster`s, key `kubeconfig`).
    Kubeconfig(SecretName),
}

/// The resource as decisions see it.
#[derive(Debug, Clone)]
pub struct Resource {
    /// Identity; none if the name is not an id, which the CRD refuses.
    pub id: Option<ClusterId>,
    /// How the cluster joins, as the resource spells it.
    pub mode: Mode,
    /// Generation of the spec.
    pub generation: i64,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// When its deletion was asked for.
    pub deletion_requested_at: Option<Timestamp>,
    /// What its deletion means.
    pub removal: Removal,
    /// Whether it is to be left alone.
    pub is_suspended: bool,
    /// Whether our finalizer is on it.
    pub has_finalizer: bool,
    /// The value of the annotation that asks for an attempt at once.
    pub retry_requested: Option<String>,
    /// The KubeOpera whose cluster this may be taken over from, by its id.
    pub take_over: Option<String>,
    /// The spec, if it is acceptable.
    pub spec: Result<ValidSpec, Vec<SpecProblem>>,
}

/// What the deletion of a resource means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Removal {
    /// Stop managing the cluster and leave everything on it running.
    Disconnect,
    /// Tear down the infrastructure as well: for clusters KubeOpera created, and on an explicit annotation only.
    Destroy,
}

impl Resource {
    /// Reads a resource. Destroying takes the annotation *and* a cluster that KubeOpera created.
    pub fn of(resource: &HostCluster) -> Self {
        let annotation = |key: &str| resource.metadata.annotations.as_ref().and_then(|all| all.get(key));
        let asks_to_destroy = annotation(ANNOTATION_REMOVAL).is_some_and(|value| value == REMOVAL_DESTROY);
        let is_provisioned = resource.spec.mode != Mode::ConnectExisting;
        Self {
            id: resource.metadata.name.as_deref().and_then(|name| name.parse().ok()),
            mode: resource.spec.mode,
            generation: resource.metadata.generation.unwrap_or_default(),
            created_at: resource.metadata.creation_timestamp.as_ref().map(|time| time.0),
            deletion_requested_at: resource.metadata.deletion_timestamp.as_ref().map(|time| time.0),
            removal: if asks_to_destroy && is_provisioned { Removal::Destroy } else { Removal::Disconnect },
            is_suspended: annotation(ANNOTATION_SUSPENDED).is_some_and(|value| value == "true"),
            has_finalizer: resource.metadata.finalizers.iter().flatten().any(|finalizer| finalizer == FINALIZER),
            retry_requested: annotation(ANNOTATION_RETRY_REQUESTED).cloned(),
            take_over: annotation(ANNOTATION_TAKE_OVER).cloned(),
            spec: ValidSpec::of(resource),
        }
    }
}

/// The Secrets that a resource names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretsSeen {
    /// `spec.gitCredentialsSecretRef`.
    pub git_credentials: SecretSeen,
    /// `spec.connectKubeconfigSecretRef`; none where the resource names none.
    pub kubeconfig: Option<SecretSeen>,
    /// `spec.registryPullSecretRef`; none where the resource names none.
    pub registry_pull: Option<SecretSeen>,
    /// The credential in the stored kubeconfig; none where there is no such kubeconfig, or none that may be used.
    pub credential: Option<CredentialSeen>,
}

/// The credential in a kubeconfig, known by what it tells of itself alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CredentialSeen {
    /// What it is.
    pub kind: CredentialKind,
    /// When it was made, where it tells.
    pub issued_at: Option<Timestamp>,
    /// When it ends, where it tells.
    pub expires_at: Option<Timestamp>,
}

/// A Secret, known by its version alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSeen {
    /// There is none of that name.
    Absent,
    /// It is there.
    Present {
        /// Changes whenever the Secret does (made from uid and resourceVersion): nothing of the content is in it.
        version: String,
    },
}

/// Another HostCluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Its identity.
    pub id: ClusterId,
    /// Its name.
    pub name: Option<ClusterName>,
    /// The cluster it speaks of, once known.
    pub cluster_uid: Option<String>,
    /// When it was created.
    pub created_at: Option<Timestamp>,
    /// Whether it is being deleted.
    pub is_being_deleted: bool,
}

/// A cluster whose API server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSeen {
    /// UID of its kube-system namespace: which cluster it is.
    pub uid: String,
    /// Version of the API server.
    pub kubernetes_version: KubernetesVersion,
    /// Its nodes.
    pub nodes: NodeCount,
    /// Whether we may do everything (a `SelfSubjectAccessReview` for `*` on `*`).
    pub may_administer: bool,
    /// The other KubeOpera whose mark the cluster has, made safe for display.
    pub managed_by_other: Option<Installation>,
}

/// Whether an object does its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// It does, for its current generation.
    Ready,
    /// It is on its way, or tries again by itself.
    NotReady {
        /// One CamelCase word.
        reason: String,
        /// What is missing, as one sentence with a full stop, made safe for display: bounded, one line, no credentials.
        why: String,
    },
    /// It gave up until somebody changes something.
    Stalled {
        /// One CamelCase word.
        reason: String,
        /// As in [`Readiness::NotReady`].
        why: String,
    },
}

impl Readiness {
    /// Whether the object does its work.
    pub const fn is_ready(&self) -> bool {
        matches!(self, Self::Ready)
    }
}

/// An object on a cluster and whether it does its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectSeen {
    /// As people read it: `Deployment flux-system/source-controller`.
    pub object: String,
    /// Whether it does its work.
    pub readiness: Readiness,
}

/// Flux on a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FluxSeen {
    /// None: its CRDs are not there.
    Absent,
    /// There is one.
    Present(FluxInstallation),
}

/// An installation of Flux.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FluxInstallation {
    /// Whose it is: none means KubeOpera's; otherwise what manages it, such as `Helm` or `flux bootstrap`.
    pub managed_by_other: Option<String>,
    /// Its version, such as `v2.9.4`, where it can be told.
    pub version: Option<String>,
    /// Whether it can be used.
    pub fitness: FluxFitness,
    /// Its CRDs that are not established yet and its Deployments, in a stable order.
    pub components: Vec<ObjectSeen>,
}

/// Whether an installation of Flux can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FluxFitness {
    /// As it is.
    Usable,
    /// It is KubeOpera's and differs from what would be installed today (version, an object missing): install again.
    ToBeInstalledAgain,
    /// It is somebody else's and must not be touched, but is too old or incomplete. A sentence that says what to do.
    Unusable {
        /// What is wrong and what to do.
        why: String,
    },
}

/// The Git credentials on a cluster (Secret `flux-system/kubeopera-git`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitSecretSeen {
    /// There are none that carry the cluster's label.
    Absent,
    /// They were written from a Secret of KubeOpera's.
    Present {
        /// [`SecretSeen::Present::version`] of the Secret they were written from; none if that cannot be told.
        version: Option<String>,
    },
}

/// The registry credential on a cluster: a Secret of one name in every namespace that pulls with it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PullSecretSeen {
    /// For each of these namespaces, [`SecretSeen::Present::version`] of the Secret its copy was written from; none if there
    /// is no copy, or it was changed since. A namespace in which somebody else has a Secret of that name is left out.
    pub copies: BTreeMap<String, Option<String>>,
}

/// KubeOpera's Flux objects on a cluster. What carries another cluster's label is another KubeOpera's.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SyncSeen {
    /// `GitRepository` `flux-system/kubeopera`, if it carries the cluster's label.
    pub source: Option<SourceSeen>,
    /// Root Kustomization `flux-system/kubeopera`.
    pub root: Option<KustomizationSeen>,
    /// All other Kustomizations that carry the cluster's label, or none and read from our source, sorted by name.
    pub children: Vec<KustomizationSeen>,
}

impl SyncSeen {
    /// The root, then its children.
    pub fn kustomizations(&self) -> impl Iterator<Item = &KustomizationSeen> {
        self.root.iter().chain(&self.children)
    }
}

/// The `GitRepository`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceSeen {
    /// `spec.url`.
    pub url: String,
    /// `spec.ref.branch`.
    pub branch: Option<String>,
    /// `spec.suspend`.
    pub is_suspended: bool,
    /// Whether it fetches.
    pub readiness: Readiness,
    /// `status.artifact.revision`: `<branch>@sha1:<commit>`.
    pub revision: Option<String>,
    /// Annotation `reconcile.fluxcd.io/requestedAt`: the last [`SyncWanted::request`](crate::SyncWanted) asked of it.
    pub requested: Option<String>,
    /// `status.lastHandledReconcileAt`: the last request it acted on.
    pub handled_request: Option<String>,
}

/// A Kustomization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KustomizationSeen {
    /// Name in namespace `flux-system`.
    pub name: String,
    /// `spec.path` without a leading `./`.
    pub path: String,
    /// `spec.suspend`.
    pub is_suspended: bool,
    /// `metadata.deletionTimestamp`.
    pub deletion_requested_at: Option<Timestamp>,
    /// Whether it has applied what it should, health checks included.
    pub readiness: Readiness,
    /// `status.lastAppliedRevision`.
    pub applied_revision: Option<String>,
}

impl Facts {
    /// Facts before anybody has looked at anything.
    pub fn before_looking(
        resource: Resource,
        previous: HostClusterStatus,
        now: Timestamp,
        jitter: f64,
        has_provisioner: bool,
    ) -> Self {
        Self { resource, previous, now, jitter, has_provisioner, seen: Observations::default() }
    }

    /// Time since the deletion was asked for; zero if it was not.
    pub fn time_since_deletion(&self) -> SignedDuration {
        self.resource.deletion_requested_at.map_or(SignedDuration::ZERO, |at| self.now.duration_since(at))
    }
}
