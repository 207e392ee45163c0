//! A tiny world to live in: a cluster, a Git repository, a provisioner and a clock, all in memory. It does what steps ask
//! of it, and nothing that Flux or Terraform would not do.

mod invariants;
mod sight;

use std::collections::BTreeMap;

use cluster_provisioner_contract::RunStatus;
use gitops_scaffolder_contract::WrittenTree;
use host_cluster_controller_crd::{ANNOTATION_REMOVAL, HostCluster, HostClusterStatus, Phase, REMOVAL_DESTROY};
use host_cluster_controller_decide::{
    Event, Facts, Next, Outcome, Report, Requeue, Resource, Step, Way, next_step, report,
};
use jiff::{SignedDuration, Timestamp};
use vocabulary::{Trouble, TroubleKind};

use crate::scene::{a_cluster, start};

/// What a fault is planted with, and must never be seen again.
pub const CANARY: &str = "CANARY-5f3a";

/// Something that goes wrong in one pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// The first look of the pass fails.
    Look(TroubleKind),
    /// The effect fails, and is not done.
    Act(TroubleKind),
    /// The effect is done, but its answer is lost.
    AnswerLost,
    /// The controller is killed before the effect.
    KilledBefore,
    /// The controller is killed after the effect, before the status is written.
    KilledAfter,
    /// The effect is done twice.
    Twice,
    /// The status of one write before is read, as from a cache that lags behind.
    StaleStatus,
}

/// A Kustomization.
#[derive(Debug, Clone, Default)]
struct Kustomization {
    suspended: bool,
    deleting: Option<Timestamp>,
}

/// KubeOpera's Flux objects.
#[derive(Debug, Clone)]
struct Sync {
    url: String,
    branch: String,
    path: String,
    requested: String,
    fetched_at: Timestamp,
}

pub struct World {
    pub way: Way,
    pub resource: HostCluster,
    pub is_gone: bool,
    pub status: HostClusterStatus,
    status_before: HostClusterStatus,
    pub now: Timestamp,
    pub seed: u64,

    pub git_version: u32,
    /// Of the registry credential, which a resource may name.
    pub pull_version: u32,
    pub kubeconfig_version: u32,
    pub has_supplied_kubeconfig: bool,
    pub has_stored_kubeconfig: bool,
    pub administrators: Vec<String>,

    pub answers: bool,
    pub controllers_run: bool,
    flux_ready_at: Option<Timestamp>,
    git_secret: Option<String>,
    /// Copies of the registry credential on the cluster: namespaces, each with the version.
    pub pull_secrets: BTreeMap<String, String>,
    source: Option<Sync>,
    root: Option<Kustomization>,
    child: Option<Kustomization>,
    /// Whether the tree's workloads run.
    pub workloads: bool,
    /// Whether Flux ever removed them.
    pub was_pruned: bool,

    pub commits: Vec<String>,
    /// What the tree in Git was made from, and by which version of KubeOpera.
    pub tree: Option<(String, u32)>,
    /// Version of KubeOpera.
    pub generator: u32,
    /// How many runs fail before one succeeds.
    pub runs_to_fail: u32,
    run: Option<(u32, Timestamp, bool)>,
    pub runs: u32,
    pub infrastructure: bool,
    pub was_destroyed: bool,

    pub phases: Vec<Phase>,
    pub events: Vec<Event>,
    pub steps: Vec<String>,
    pub writes: u32,
}

impl World {
    pub fn new(way: Way, administrator: bool) -> Self {
        let mut scene = a_cluster(way);
        if administrator {
            scene = scene.with_administrator();
        }
        Self {
            way,
            resource: scene.resource,
            is_gone: false,
            status: HostClusterStatus::default(),
            status_before: HostClusterStatus::default(),
            now: start(),
            seed: 7,
            git_version: 1,
            pull_version: 1,
            kubeconfig_version: 1,
            has_supplied_kubeconfig: way == Way::Connect,
            has_stored_kubeconfig: false,
            administrators: Vec::new(),
            answers: true,
            controllers_run: true,
            flux_ready_at: None,
            git_secret: None,
            pull_secrets: BTreeMap::new(),
            source: None,
            root: None,
            child: None,
            workloads: false,
            was_pruned: false,
            commits: Vec::new(),
            tree: None,
            generator: 1,
            runs_to_fail: 0,
            run: None,
            runs: 0,
            infrastructure: way != Way::Provision,
            was_destroyed: false,
            phases: Vec::new(),
            events: Vec::new(),
            steps: Vec::new(),
            writes: 0,
        }
    }

    /// One pass of the controller with one thing going wrong; returns when the next one is due.
    pub fn pass(&mut self, fault: Fault) -> SignedDuration {
        self.time_passes();
        let previous = if fault == Fault::StaleStatus { self.status_before.clone() } else { self.status.clone() };
        let mut facts = Facts::before_looking(Resource::of(&self.resource), previous, self.now, self.chance(), true);
        let mut looks = 0;
        let step = loop {
            match next_step(&facts) {
                Next::Look(thing) => {
                    self.look(&mut facts.seen, &thing, if looks == 0 { fault } else { Fault::None });
                    looks += 1;
                    assert!(looks <= 8, "no fact is asked for twice: {facts:?}");
                }
                Next::Do(step) => break step,
            }
        };
        self.steps.push(format!("{step:?}").split([' ', '{', '(']).next().unwrap().to_owned());
        self.check_step(&facts, &step);
        let second = SignedDuration::from_secs(1);
        let outcome = match fault {
            Fault::KilledBefore => return second,
            Fault::KilledAfter => {
                self.act(&step);
                return second;
            }
            Fault::Act(kind) if is_effect(&step) => Outcome::Trouble(trouble(kind)),
            Fault::AnswerLost if is_effect(&step) => {
                self.act(&step);
                Outcome::Trouble(trouble(TroubleKind::Transient))
            }
            Fault::Twice => {
                self.act(&step);
                self.act(&step)
            }
            _ => self.act(&step),
        };
        let Report { status, requeue, events } = report(&facts, &step, &outcome);
        assert!(!format!("{events:?}").contains(CANARY), "a secret is told: {events:?}");
        self.events.extend(events);
        if let Some(status) = status {
            self.check_status(&status, fault);
            if status != self.status {
                self.writes += 1;
                self.status_before = std::mem::replace(&mut self.status, status);
            }
            let phase = self.status.phase.unwrap();
            if self.phases.last() != Some(&phase) {
                self.phases.push(phase);
            }
        }
        match requeue {
            Requeue::AtOnce => SignedDuration::from_millis(100),
            Requeue::After(after) => after,
            Requeue::AwaitChange => SignedDuration::from_mins(10),
        }
    }

    /// Passes without faults until it is `done`.
    pub fn run_until(&mut self, done: impl Fn(&Self) -> bool) {
        for _ in 0..400 {
            if done(self) {
                return;
            }
            let pause = self.pass(Fault::None);
            // It is done when it is done, and not when the next look is due.
            if done(self) {
                return;
            }
            self.now += pause;
        }
        panic!("never done; {:?}: {:?}, last steps {:?}", self.status.phase, self.status.message, self.last_steps());
    }

    pub fn last_steps(&self) -> &[String] {
        &self.steps[self.steps.len().saturating_sub(12)..]
    }

    pub fn is_ready(&self) -> bool {
        self.status.phase == Some(Phase::Ready) && self.status.flux_healthy == Some(true)
    }

    pub fn delete(&mut self, destroy: bool) {
        if destroy {
            let annotations = self.resource.metadata.annotations.get_or_insert_default();
            annotations.insert(ANNOTATION_REMOVAL.to_owned(), REMOVAL_DESTROY.to_owned());
        }
        self.resource.metadata.deletion_timestamp =
            Some(k8s_openapi::apimachinery::pkg::apis::meta::v1::Time(self.now));
        self.edit(|_| {});
        // Without a finalizer nothing keeps it.
        self.is_gone = self.resource.metadata.finalizers.iter().flatten().next().is_none();
    }

    pub fn edit(&mut self, edit: impl FnOnce(&mut HostCluster)) {
        edit(&mut self.resource);
        self.resource.metadata.generation = self.resource.metadata.generation.map(|generation| generation + 1);
    }

    /// Somebody uninstalls Flux, and with it all that belongs to it.
    pub fn lose_flux(&mut self) {
        (self.flux_ready_at, self.git_secret, self.source) = (None, None, None);
        (self.root, self.child) = (None, None);
    }

    pub fn lose_sync(&mut self) {
        (self.source, self.root, self.child) = (None, None, None);
    }

    /// Somebody deletes the repository and makes an empty one in its place.
    pub fn lose_repository(&mut self) {
        self.tree = None;
    }

    pub fn has_traces(&self) -> bool {
        self.source.is_some() || self.root.is_some() || self.child.is_some() || self.git_secret.is_some()
    }

    fn chance(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(self.seed >> 33).unwrap()) / f64::from(u32::MAX >> 1)
    }

    /// What Flux does by itself.
    fn time_passes(&mut self) {
        let fetched = self.source.as_ref().is_some_and(|source| self.now >= source.fetched_at);
        if !(self.controllers_run && self.flux_ready_at.is_some_and(|ready| self.now >= ready)) {
            return;
        }
        for kustomization in [&mut self.child, &mut self.root] {
            if let Some(Kustomization { suspended, deleting: Some(_) }) = kustomization {
                if !*suspended && self.workloads {
                    (self.workloads, self.was_pruned) = (false, true);
                }
                *kustomization = None;
            }
        }
        if fetched && self.root.as_ref().is_some_and(|root| !root.suspended) && self.child.is_none() {
            (self.child, self.workloads) = (Some(Kustomization::default()), true);
        }
    }

    fn act(&mut self, step: &Step) -> Outcome {
        match step {
            Step::AddFinalizer => {
                self.resource.metadata.finalizers = Some(vec![host_cluster_controller_crd::FINALIZER.to_owned()]);
            }
            Step::ReleaseFinalizer => {
                self.resource.metadata.finalizers = None;
                self.is_gone = true;
            }
            Step::KeepKubeconfig { .. } => self.has_stored_kubeconfig = true,
            Step::StoreKubeconfig { .. } => {
                assert!(
                    matches!(self.run_status(), RunStatus::Succeeded { .. }),
                    "a kubeconfig comes of a finished run"
                );
                self.has_stored_kubeconfig = true;
            }
            Step::EnsureRun { attempt, .. } => self.ensure_run(*attempt),
            Step::EnsureTree { inputs, .. } => {
                let tree = Some((format!("{:?}/{:?}", inputs.domain, inputs.admin_email), self.generator));
                if self.tree != tree {
                    self.commits.push(format!("{:040x}", self.commits.len() + 1));
                    self.tree = tree;
                }
                return Outcome::Written(WrittenTree {
                    branch: "trunk".to_owned(),
                    commit: self.commits.last().unwrap().clone(),
                    tree_hash: self.tree_hash().unwrap(),
                    kept_edits: Vec::new(),
                });
            }
            Step::EnsureAdministrator { administrator, .. } => {
                let username = administrator.username.to_string();
                if !self.administrators.contains(&username) {
                    self.administrators.push(username);
                }
            }
            Step::InstallFlux { .. } => {
                self.flux_ready_at.get_or_insert(self.now + SignedDuration::from_secs(20));
            }
            Step::WriteGitSecret { version, .. } => self.git_secret = Some(version.clone()),
            Step::WritePullSecret { version, .. } => {
                let namespaces = [Some("flux-system"), self.child.is_some().then_some("kubeopera")];
                self.pull_secrets =
                    namespaces.into_iter().flatten().map(|name| (name.to_owned(), version.clone())).collect();
            }
            Step::PointFlux { wanted, .. } => {
                self.source = Some(Sync {
                    url: wanted.url.to_string(),
                    branch: wanted.branch.clone(),
                    path: wanted.path.to_string(),
                    requested: wanted.request.clone(),
                    fetched_at: self.now + SignedDuration::from_secs(4),
                });
                self.root.get_or_insert_default();
            }
            Step::SuspendKustomizations { .. } => {
                for one in self.root.iter_mut().chain(&mut self.child) {
                    one.suspended = true;
                }
            }
            Step::DeleteKustomizations { .. } => {
                let now = self.now;
                for one in self.root.iter_mut().chain(&mut self.child).filter(|one| one.suspended) {
                    one.deleting.get_or_insert(now);
                }
            }
            Step::FreeKustomizations { .. } => {
                for one in [&mut self.root, &mut self.child] {
                    if one.as_ref().is_some_and(|one| one.suspended && one.deleting.is_some()) {
                        *one = None;
                    }
                }
            }
            Step::DeleteSource { .. } => self.source = None,
            Step::DeleteGitSecret { .. } => self.git_secret = None,
            Step::EnsureDestroyed { .. } => {
                let last = self.run.map_or(0, |(attempt, ..)| attempt);
                if self.was_destroyed && self.run.is_none_or(|(_, ends, _)| self.now >= ends) {
                    (self.run, self.infrastructure) = (None, false);
                } else if !self.was_destroyed {
                    self.was_destroyed = true;
                    self.run = Some((last, self.now + SignedDuration::from_mins(3), true));
                }
                return match self.run_status() {
                    RunStatus::Absent | RunStatus::Destroyed => Outcome::Done,
                    _ => Outcome::Trouble(Trouble::waiting("DestroyInProgress", "Deleting the VPC.")),
                };
            }
            Step::DeleteKubeconfigs { .. } => {
                (self.has_supplied_kubeconfig, self.has_stored_kubeconfig) = (false, false);
            }
            Step::Rest
            | Step::Suspend
            | Step::Refuse
            | Step::Begin(_)
            | Step::Identify
            | Step::Settle(_)
            | Step::Hold { .. }
            | Step::KeepWatch
            | Step::BeginRemoval
            | Step::LeaveBehind { .. } => {}
        }
        Outcome::Done
    }

    fn ensure_run(&mut self, attempt: u32) {
        let last = self.run.map_or(0, |(attempt, ..)| attempt);
        if attempt <= last {
            return;
        }
        assert!(
            matches!(self.run_status(), RunStatus::Absent | RunStatus::Failed { .. }),
            "attempt {attempt} is asked for while attempt {last} has not failed"
        );
        let succeeds = self.runs >= self.runs_to_fail;
        self.runs += 1;
        self.run = Some((attempt, self.now + SignedDuration::from_mins(12), succeeds));
        self.infrastructure |= succeeds;
    }
}

/// Whether a step changes the world.
fn is_effect(step: &Step) -> bool {
    !matches!(
        step,
        Step::Rest
            | Step::Suspend
            | Step::Refuse
            | Step::Begin(_)
            | Step::Identify
            | Step::Settle(_)
            | Step::Hold { .. }
            | Step::KeepWatch
            | Step::BeginRemoval
            | Step::LeaveBehind { .. }
    )
}

fn trouble(kind: TroubleKind) -> Trouble {
    Trouble {
        kind,
        reason: format!("Fault{kind:?}"),
        message: format!("Something did not work at https://user:{CANARY}@git.acme.com/x.\n\u{1b}[0m Look\tthere"),
    }
}

/// What it started from: enough to live the same life again.
impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?}, seed {}, {} runs to fail, {:?}",
            self.way, self.seed, self.runs_to_fail, self.resource.spec.admin_email
        )
    }
}
