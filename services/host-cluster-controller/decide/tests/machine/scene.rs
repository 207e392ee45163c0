//! Facts for one decision, built in the words of the product.

use cluster_provisioner_contract::RunStatus;
use gitops_scaffolder_contract::{Present, TreeSeen, WrittenTree};
use host_cluster_controller_crd::{
    ANNOTATION_REMOVAL, ANNOTATION_RETRY_REQUESTED, ANNOTATION_SUSPENDED, ANNOTATION_TAKE_OVER, CredentialKind,
    FINALIZER, HostCluster, HostClusterStatus, Installation, REMOVAL_DESTROY,
};
use host_cluster_controller_decide::{
    ClusterSeen, CredentialSeen, Fact, Facts, FluxFitness, FluxInstallation, FluxSeen, GitSecretSeen,
    KustomizationSeen, Milestone, Neighbour, Next, ObjectSeen, Observations, Outcome, PullSecretSeen, Readiness,
    Report, Resource, SecretSeen, SecretsSeen, SourceSeen, Step, SyncSeen, Way, next_step, report,
};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use serde_json::json;
use vocabulary::{ClusterId, Trouble};

pub const ID: &str = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";
pub const UID: &str = "0b8d5f5e-uid-of-kube-system";
/// Another KubeOpera.
pub const OTHER_INSTALLATION: &str = "5c1f4e0a-uid-of-another-kube-system";
pub const COMMIT: &str = "4f2a9d6c1b3e5f708192a3b4c5d6e7f801234567";
pub const TREE_HASH: &str = "hash-of-the-tree";

pub fn start() -> Timestamp {
    "2026-03-01T08:00:00Z".parse().unwrap()
}

pub fn id() -> ClusterId {
    ID.parse().unwrap()
}

/// One decision to be made.
#[derive(Clone)]
pub struct Scene {
    pub resource: HostCluster,
    pub status: HostClusterStatus,
    pub seen: Observations,
    pub now: Timestamp,
    pub has_provisioner: bool,
}

/// A resource as it arrives: nothing known, nothing done.
pub fn a_cluster(way: Way) -> Scene {
    let mut resource: HostCluster = serde_json::from_value(json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": {
            "name": ID, "namespace": "kubeopera-system", "generation": 1,
            "creationTimestamp": "2026-03-01T08:00:00Z",
            "labels": {"kubeopera.io/cluster-name": "harbour"},
        },
        "spec": {
            "clusterID": ID, "mode": "connect_existing", "provider": "aws", "region": "eu-north-1",
            "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git", "gitOpsPath": "fluxcd/clusters/harbour",
            "gitCredentialsSecretRef": "gitops-iac-credentials",
        },
    }))
    .unwrap();
    match way {
        Way::Host => {}
        Way::Connect => resource.spec.connect_kubeconfig_secret_ref = Some(id().input_kubeconfig_secret()),
        Way::Provision => {
            resource.spec.mode = host_cluster_controller_crd::Mode::ProvisionEks;
            resource.spec.provisioning = serde_json::from_value(json!({
                "topology": "managed_eks", "nodeCount": 2, "instanceType": "t3.medium",
                "kubernetesVersion": "1.31.0", "credentialRef": "cloud-credential-5",
            }))
            .unwrap();
        }
    }
    Scene {
        resource,
        status: HostClusterStatus::default(),
        seen: Observations::default(),
        now: start(),
        has_provisioner: true,
    }
}

/// A cluster on its way to this milestone, with nothing looked at but the Secrets.
pub fn towards(way: Way, milestone: Milestone) -> Scene {
    let mut scene = a_cluster(way).known();
    for reached in way.milestones().iter().take_while(|reached| **reached != milestone) {
        scene = scene.after(*reached);
    }
    scene.publish(&Step::Begin(milestone), &Outcome::Done);
    scene.later(1).secrets()
}

/// A cluster that is Ready, with nothing looked at but the Secrets.
pub fn ready(way: Way) -> Scene {
    let mut scene = a_cluster(way).known();
    for milestone in way.milestones() {
        scene = scene.after(*milestone);
    }
    scene.later(60).secrets()
}

impl Scene {
    /// With our finalizer on it, and Secrets and cluster as they should be.
    pub fn known(mut self) -> Self {
        self.resource.metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        self.secrets()
    }

    /// Forgets what was seen, as each pass does.
    fn afresh(mut self) -> Self {
        self.seen = Observations::default();
        self
    }

    fn after(self, milestone: Milestone) -> Self {
        let mut scene = self.afresh().secrets().answering();
        scene.publish(&Step::Begin(milestone), &Outcome::Done);
        if scene.status.cluster_uid.is_none() && milestone != Milestone::InfrastructureReady {
            scene.publish(&Step::Identify, &Outcome::Done);
        }
        match milestone {
            Milestone::AccessValidated => scene.seen.neighbours = Fact::Seen(Vec::new()),
            Milestone::InfrastructureReady => {
                let Ok(spec) = Resource::of(&scene.resource).spec else { panic!("the spec is fine") };
                scene.seen.run = Fact::Seen(RunStatus::Absent);
                let Next::Do(start) = scene.next() else { panic!("there is nothing more to look at") };
                scene.publish(&start, &Outcome::Done);
                scene.seen.run = Fact::Seen(RunStatus::Succeeded { job: spec.id.provision_job() });
            }
            Milestone::FluxBootstrapped => scene = scene.unclaimed().flux_ready().git_secret(),
            Milestone::TreeGenerated => scene.seen.present = Fact::Seen(Present::default()),
            Milestone::PlatformInstalled => scene = scene.flux_ready().git_secret().synced(),
        }
        let Next::Do(step) = scene.next() else { panic!("{milestone:?}: there is nothing more to look at") };
        assert_eq!(step.concludes(), Some(milestone), "{step:?}");
        let outcome = if milestone == Milestone::TreeGenerated { written(COMMIT) } else { Outcome::Done };
        scene.publish(&step, &outcome);
        scene.afresh()
    }

    pub fn facts(&self) -> Facts {
        Facts {
            seen: self.seen.clone(),
            ..Facts::before_looking(
                Resource::of(&self.resource),
                self.status.clone(),
                self.now,
                0.5,
                self.has_provisioner,
            )
        }
    }

    pub fn next(&self) -> Next {
        next_step(&self.facts())
    }

    pub fn report(&self, step: &Step, outcome: &Outcome) -> Report {
        report(&self.facts(), step, outcome)
    }

    /// Publishes a step's report.
    pub fn publish(&mut self, step: &Step, outcome: &Outcome) -> Report {
        let report = self.report(step, outcome);
        self.status = report.status.clone().unwrap_or_default();
        report
    }

    /// Decides, and publishes what comes of it when the step itself goes well.
    pub fn pass(&mut self) -> (Step, Report) {
        let Next::Do(step) = self.next() else { panic!("not looked at everything: {:?}", self.next()) };
        let report = self.publish(&step, &Outcome::Done);
        (step, report)
    }

    pub fn later(mut self, seconds: i64) -> Self {
        self.now += SignedDuration::from_secs(seconds);
        self
    }

    pub fn edited(mut self, edit: impl FnOnce(&mut HostCluster)) -> Self {
        edit(&mut self.resource);
        self.resource.metadata.generation = self.resource.metadata.generation.map(|generation| generation + 1);
        self
    }

    fn annotated(mut self, key: &str, value: &str) -> Self {
        self.resource.metadata.annotations.get_or_insert_default().insert(key.to_owned(), value.to_owned());
        self
    }

    pub fn suspended(self) -> Self {
        self.annotated(ANNOTATION_SUSPENDED, "true")
    }

    pub fn retry_requested(self, value: &str) -> Self {
        self.annotated(ANNOTATION_RETRY_REQUESTED, value)
    }

    pub fn meant_to_be_destroyed(self) -> Self {
        self.annotated(ANNOTATION_REMOVAL, REMOVAL_DESTROY)
    }

    pub fn deleted(mut self) -> Self {
        self.resource.metadata.deletion_timestamp = Some(Time(self.now));
        self.edited(|_| {})
    }

    /// Being let go of, the beginning of which was published.
    pub fn going(self) -> Self {
        let mut scene = self.deleted();
        scene.publish(&Step::BeginRemoval, &Outcome::Done);
        scene.later(1)
    }

    pub fn with_administrator(self) -> Self {
        let mut scene = self;
        scene.resource.spec.admin_email = Some("admin@acme.com".to_owned());
        scene.resource.spec.admin_username = Some("captain".to_owned());
        scene
    }

    pub fn without_provisioner(mut self) -> Self {
        self.has_provisioner = false;
        self
    }

    pub fn secrets(self) -> Self {
        self.secrets_at("git-1", "kubeconfig-1")
    }

    pub fn secrets_at(mut self, git: &str, kubeconfig: &str) -> Self {
        let secret = |version: &str| match version {
            "absent" => SecretSeen::Absent,
            version => SecretSeen::Present { version: version.to_owned() },
        };
        let named = self.resource.spec.connect_kubeconfig_secret_ref.is_some();
        self.seen.secrets = Fact::Seen(SecretsSeen {
            git_credentials: secret(git),
            kubeconfig: named.then(|| secret(kubeconfig)),
            registry_pull: self.resource.spec.registry_pull_secret_ref.as_ref().map(|_| secret("pull-1")),
            credential: None,
        });
        self
    }

    /// The stored kubeconfig holds a token that was made and ends at these times, in seconds from the start.
    pub fn with_token(mut self, issued: Option<i64>, ends: i64) -> Self {
        let at = |seconds| start() + SignedDuration::from_secs(seconds);
        if let Fact::Seen(secrets) = &mut self.seen.secrets {
            let (issued_at, expires_at) = (issued.map(at), Some(at(ends)));
            secrets.credential = Some(CredentialSeen { kind: CredentialKind::Token, issued_at, expires_at });
        }
        self
    }

    /// It is so many seconds after the start.
    pub fn at(mut self, seconds: i64) -> Self {
        self.now = start() + SignedDuration::from_secs(seconds);
        self
    }

    pub fn with_registry(mut self) -> Self {
        self.resource.spec.registry_pull_secret_ref = Some(id().registry_pull_secret());
        self.secrets()
    }

    pub fn without_pull_secret(mut self) -> Self {
        if let Fact::Seen(secrets) = &mut self.seen.secrets {
            secrets.registry_pull = Some(SecretSeen::Absent);
        }
        self
    }

    /// Copies of the registry credential by namespace, each of a version or none.
    pub fn pull_secret_at(mut self, copies: &[(&str, Option<&str>)]) -> Self {
        let copies = copies.iter().map(|(name, version)| ((*name).to_owned(), version.map(str::to_owned)));
        self.seen.pull_secret = Fact::Seen(PullSecretSeen { copies: copies.collect() });
        self
    }

    pub fn answering(mut self) -> Self {
        self.seen.cluster = Fact::Seen(cluster());
        self
    }

    pub fn answering_as(mut self, uid: &str) -> Self {
        self.seen.cluster = Fact::Seen(ClusterSeen { uid: uid.to_owned(), ..cluster() });
        self
    }

    /// It answers, and has the mark of another KubeOpera.
    pub fn of_another_kubeopera(self) -> Self {
        let mut scene = self.answering();
        if let Fact::Seen(cluster) = &mut scene.seen.cluster {
            cluster.managed_by_other = Some(Installation {
                id: OTHER_INSTALLATION.to_owned(),
                url: Some("https://kubeopera.other.com".to_owned()),
            });
        }
        scene
    }

    /// Annotated to be taken over from a KubeOpera.
    pub fn taking_over(self, installation: &str) -> Self {
        self.annotated(ANNOTATION_TAKE_OVER, installation)
    }

    pub fn unreachable(mut self) -> Self {
        self.seen.cluster = Fact::CouldNotTell(unreachable());
        self
    }

    pub fn unclaimed(mut self) -> Self {
        self.seen.neighbours = Fact::Seen(Vec::new());
        self
    }

    pub fn claimed_by(mut self, other: Neighbour) -> Self {
        self.seen.neighbours = Fact::Seen(vec![other]);
        self
    }

    pub fn identified(mut self) -> Self {
        self.status.cluster_uid = Some(UID.to_owned());
        self
    }

    pub fn flux(mut self, flux: FluxSeen) -> Self {
        self.seen.flux = Fact::Seen(flux);
        self
    }

    pub fn flux_ready(self) -> Self {
        self.flux(FluxSeen::Present(flux()))
    }

    pub fn flux_starting(self) -> Self {
        let mut flux = flux();
        flux.components[0].readiness = Readiness::NotReady {
            reason: "ImagePullBackOff".to_owned(),
            why: "image ghcr.io/fluxcd/source-controller:v1.9.4 cannot be pulled.".to_owned(),
        };
        self.flux(FluxSeen::Present(flux))
    }

    pub fn git_secret(self) -> Self {
        self.git_secret_at("git-1")
    }

    pub fn git_secret_at(mut self, version: &str) -> Self {
        self.seen.git_secret = Fact::Seen(GitSecretSeen::Present { version: Some(version.to_owned()) });
        self
    }

    pub fn present(mut self) -> Self {
        self.seen.present = Fact::Seen(Present::default());
        self
    }

    pub fn tree(mut self, branch: &str, hash: Option<&str>) -> Self {
        self.seen.tree = Fact::Seen(TreeSeen { branch: branch.to_owned(), tree_hash: hash.map(str::to_owned) });
        self
    }

    pub fn run(mut self, run: RunStatus) -> Self {
        self.seen.run = Fact::Seen(run);
        self
    }

    pub fn sync(mut self, sync: SyncSeen) -> Self {
        self.seen.sync = Fact::Seen(sync);
        self
    }

    pub fn synced(self) -> Self {
        self.sync(sync())
    }

    pub fn phase(&self) -> &'static str {
        self.status.phase.map_or("-", host_cluster_controller_crd::Phase::as_str)
    }

    pub fn message(&self) -> &str {
        self.status.message.as_deref().unwrap_or_default()
    }

    pub fn condition(&self, type_: &str) -> (String, String) {
        let found = self.status.conditions.iter().find(|one| one.type_ == type_);
        found.map(|one| (one.status.clone(), one.reason.clone())).unwrap_or_default()
    }
}

pub fn unreachable() -> Trouble {
    Trouble::transient("Unreachable", "The API server at https://10.0.0.5:6443 does not answer.")
}

pub fn written(commit: &str) -> Outcome {
    Outcome::Written(WrittenTree {
        branch: "trunk".to_owned(),
        commit: commit.to_owned(),
        tree_hash: TREE_HASH.to_owned(),
        kept_edits: Vec::new(),
    })
}

pub fn cluster() -> ClusterSeen {
    ClusterSeen {
        uid: UID.to_owned(),
        kubernetes_version: "1.34.4".parse().unwrap(),
        nodes: host_cluster_controller_crd::NodeCount { total: 3, ready: 2 },
        may_administer: true,
        managed_by_other: None,
    }
}

pub fn flux() -> FluxInstallation {
    let component =
        |name: &str| ObjectSeen { object: format!("Deployment flux-system/{name}"), readiness: Readiness::Ready };
    FluxInstallation {
        managed_by_other: None,
        version: Some("v2.9.4".to_owned()),
        fitness: FluxFitness::Usable,
        components: vec![component("source-controller"), component("kustomize-controller")],
    }
}

pub fn sync() -> SyncSeen {
    let revision = Some(format!("trunk@sha1:{COMMIT}"));
    let kustomization = |name: &str, path: &str| KustomizationSeen {
        name: name.to_owned(),
        path: path.to_owned(),
        is_suspended: false,
        deletion_requested_at: None,
        readiness: Readiness::Ready,
        applied_revision: revision.clone(),
    };
    SyncSeen {
        source: Some(SourceSeen {
            url: "https://git.acme.com/gitops-iac.git".to_owned(),
            branch: Some("trunk".to_owned()),
            is_suspended: false,
            readiness: Readiness::Ready,
            revision: revision.clone(),
            requested: Some(COMMIT.to_owned()),
            handled_request: Some(COMMIT.to_owned()),
        }),
        root: Some(kustomization("kubeopera", "fluxcd/clusters/harbour")),
        children: vec![kustomization("kubeopera-apps", "fluxcd/clusters/harbour/apps")],
    }
}

pub fn neighbour(uid: &str) -> Neighbour {
    Neighbour {
        id: "11111111-2222-4333-8444-555555555555".parse().unwrap(),
        name: Some("quay".parse().unwrap()),
        cluster_uid: Some(uid.to_owned()),
        created_at: Some(start() - SignedDuration::from_hours(1)),
        is_being_deleted: false,
    }
}
