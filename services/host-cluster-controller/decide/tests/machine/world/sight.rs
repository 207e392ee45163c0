//! What can be seen of the world.

use std::collections::BTreeMap;

use cluster_provisioner_contract::RunStatus;
use gitops_scaffolder_contract::{Present, TreeSeen};
use host_cluster_controller_decide::{
    Fact, FluxSeen, GitSecretSeen, KustomizationSeen, Observations, PullSecretSeen, Reach, Readiness, SecretSeen,
    SecretsSeen, SourceSeen, SyncSeen, Thing, Way,
};
use vocabulary::{Trouble, TroubleKind};

use super::{Fault, Kustomization, World, trouble};
use crate::scene::{cluster, flux, id};

impl World {
    pub(super) fn look(&mut self, seen: &mut Observations, thing: &Thing, fault: Fault) {
        let failed = if let Fault::Look(kind) = fault { Some(trouble(kind)) } else { None };
        let unreachable = match thing {
            Thing::Cluster(at)
            | Thing::Flux(at)
            | Thing::GitSecret(at)
            | Thing::PullSecret { at, .. }
            | Thing::Present(at)
            | Thing::Sync(at) => {
                let has_way = match &at.reach {
                    Reach::OwnServiceAccount => self.way == Way::Host,
                    Reach::Kubeconfig(name) if *name.as_str() == id().kubeconfig_secret() => self.has_stored_kubeconfig,
                    Reach::Kubeconfig(_) => self.has_supplied_kubeconfig,
                };
                let is_there = self.answers && self.infrastructure && has_way;
                (!is_there).then(|| trouble(TroubleKind::Transient))
            }
            Thing::Secrets | Thing::Neighbours | Thing::Run | Thing::Tree => None,
        };
        let failed = failed.or(unreachable);
        macro_rules! tell {
            ($field:ident, $value:expr) => {
                seen.$field = match failed {
                    Some(trouble) => Fact::CouldNotTell(trouble),
                    None => Fact::Seen($value),
                }
            };
        }
        match thing {
            Thing::Secrets => tell!(
                secrets,
                SecretsSeen {
                    git_credentials: SecretSeen::Present { version: format!("git-{}", self.git_version) },
                    kubeconfig: (self.way == Way::Connect).then(|| if self.has_supplied_kubeconfig {
                        SecretSeen::Present { version: format!("kubeconfig-{}", self.kubeconfig_version) }
                    } else {
                        SecretSeen::Absent
                    }),
                    registry_pull: self
                        .resource
                        .spec
                        .registry_pull_secret_ref
                        .as_ref()
                        .map(|_| SecretSeen::Present { version: format!("pull-{}", self.pull_version) }),
                    credential: None,
                }
            ),
            Thing::Neighbours => tell!(neighbours, Vec::new()),
            Thing::Cluster(_) => tell!(cluster, cluster()),
            Thing::Run => tell!(run, self.run_status()),
            Thing::Flux(_) => tell!(flux, self.flux()),
            Thing::GitSecret(_) => tell!(
                git_secret,
                match &self.git_secret {
                    Some(version) => GitSecretSeen::Present { version: Some(version.clone()) },
                    None => GitSecretSeen::Absent,
                }
            ),
            Thing::PullSecret { .. } => tell!(pull_secret, PullSecretSeen { copies: self.pull_copies() }),
            Thing::Present(_) => tell!(present, Present::default()),
            Thing::Sync(_) => tell!(sync, self.sync()),
            Thing::Tree => tell!(tree, TreeSeen { branch: "trunk".to_owned(), tree_hash: self.tree_hash() }),
        }
    }

    /// Flux's namespace, and one that the tree brings.
    fn pull_copies(&self) -> BTreeMap<String, Option<String>> {
        let of_tree = self.child.is_some().then_some("kubeopera");
        ["flux-system"]
            .into_iter()
            .chain(of_tree)
            .map(|name| (name.to_owned(), self.pull_secrets.get(name).cloned()))
            .collect()
    }

    /// The hash of what this version of KubeOpera makes of what the tree in Git was made from.
    pub(super) fn tree_hash(&self) -> Option<String> {
        self.tree.as_ref().map(|(inputs, _)| format!("{inputs} by {}", self.generator))
    }

    pub(super) fn run_status(&self) -> RunStatus {
        let job = "provision-x".to_owned();
        match self.run {
            None if self.was_destroyed => RunStatus::Destroyed,
            None => RunStatus::Absent,
            Some((_, ends, _)) if self.now < ends => {
                RunStatus::Running { job, progress: "Creating the VPC.".to_owned() }
            }
            Some((_, _, true)) => RunStatus::Succeeded { job },
            Some((_, _, false)) => RunStatus::Failed {
                job,
                trouble: Trouble::rejected("QuotaExceeded", "AWS allows no more VPCs. Ask for a higher quota."),
            },
        }
    }

    fn flux(&self) -> FluxSeen {
        let Some(ready_at) = self.flux_ready_at else { return FluxSeen::Absent };
        let mut seen = flux();
        if self.now < ready_at || !self.controllers_run {
            let why = "it is starting.".to_owned();
            seen.components[0].readiness = Readiness::NotReady { reason: "Progressing".to_owned(), why };
        }
        FluxSeen::Present(seen)
    }

    fn sync(&self) -> SyncSeen {
        let revision = self
            .source
            .as_ref()
            .filter(|source| self.now >= source.fetched_at)
            .map(|source| format!("{}@sha1:{}", source.branch, self.commits.last().unwrap_or(&source.requested)));
        let see = |name: &str, kustomization: &Kustomization| KustomizationSeen {
            name: name.to_owned(),
            path: self.source.as_ref().map(|source| source.path.clone()).unwrap_or_default(),
            is_suspended: kustomization.suspended,
            deletion_requested_at: kustomization.deleting,
            readiness: if self.child.is_some() {
                Readiness::Ready
            } else {
                Readiness::NotReady { reason: "Progressing".to_owned(), why: "it is being applied.".to_owned() }
            },
            applied_revision: revision.clone(),
        };
        SyncSeen {
            source: self.source.as_ref().map(|source| SourceSeen {
                url: source.url.clone(),
                branch: Some(source.branch.clone()),
                is_suspended: false,
                readiness: if self.tree.is_some() {
                    Readiness::Ready
                } else {
                    let why = "couldn't find remote ref refs/heads/trunk.".to_owned();
                    Readiness::NotReady { reason: "GitOperationFailed".to_owned(), why }
                },
                revision: revision.clone(),
                requested: Some(source.requested.clone()),
                handled_request: (self.now >= source.fetched_at).then(|| source.requested.clone()),
            }),
            root: self.root.as_ref().map(|root| see("kubeopera", root)),
            children: self.child.iter().map(|child| see("kubeopera-apps", child)).collect(),
        }
    }
}
