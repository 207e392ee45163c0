//! The ports in memory: one small world that counts who asked for what.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use auth_service_contract::{ActiveSession, Auth, AuthError, Session};
use gitops_scaffolder_contract::{
    Destination, GitCredential, GitOpsScaffolder, Present, RepositoryCheck, TreeInputs, TreeSeen, WrittenTree,
};
use host_cluster_controller_crd::{FINALIZER, HostCluster, HostClusterStatus, NodeCount, Phase};
use host_cluster_controller_decide::{
    ClusterSeen, CredentialSeen, Event, FluxFitness, FluxInstallation, FluxSeen, GitSecretSeen, KustomizationSeen,
    Neighbour, PullSecretSeen, Readiness, SecretSeen, SourceSeen, SyncSeen, SyncWanted, Target,
};
use serde_json::json;
use vocabulary::{AdminUsername, ClusterId, Email, GitPath, GitUrl, Secret, SecretName, Trouble};

use crate::{
    World,
    ports::{Flux, GitCredentials, HostClusters, Secrets, SyncPart, TargetCluster},
};

pub(super) const ID: &str = "7e9d3a1b-5c1f-4e0a-9b63-0d2f6f1f7a11";
const UID: &str = "uid-of-kube-system";
pub(super) const PULL_SECRET: &str = "hostcluster-7e9d3a1b-registry-pull";
pub(super) const CANARY: &str = "CANARY-9c41";

#[derive(Default)]
pub(super) struct State {
    pub(super) resource: Option<HostCluster>,
    pub(super) statuses: Vec<HostClusterStatus>,
    pub(super) events: Vec<String>,
    /// Every call of a port, in order.
    pub(super) calls: Vec<String>,
    /// The next call of this name fails so.
    pub(super) failing: Option<(&'static str, Trouble)>,
    pub(super) password: Option<String>,
    pub(super) administrator: Option<(String, String)>,
    pub(super) commits: Vec<String>,
    /// Version of the Secrets on the management cluster.
    pub(super) secret_version: u32,
    flux: bool,
    pub(super) git_secret: Option<String>,
    /// Copies of the registry credential: namespaces, each with the version.
    pub(super) pull_secrets: BTreeMap<String, String>,
    sync: Option<SyncWanted>,
    suspended: bool,
    kustomizations: bool,
}

/// A handle on the world.
#[derive(Clone, Default)]
pub(super) struct Memory(pub(super) Arc<Mutex<State>>);

impl Memory {
    /// A world in which a cluster was just registered.
    pub(super) fn with(resource: serde_json::Value) -> Self {
        let memory = Self::default();
        memory.state().resource = Some(serde_json::from_value(resource).unwrap());
        memory
    }

    pub(super) fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    pub(super) fn world(&self) -> World {
        let this = Arc::new(self.clone());
        World {
            host_clusters: this.clone(),
            clusters: this.clone(),
            flux: this.clone(),
            secrets: this.clone(),
            scaffolder: this.clone(),
            provisioner: None,
            auth: this,
            leadership: kube_kit::Leadership::unshared(),
            published: crate::published::Published::default(),
        }
    }

    pub(super) fn phase(&self) -> Option<Phase> {
        self.state().statuses.last().and_then(|status| status.phase)
    }

    pub(super) fn message(&self) -> String {
        self.state().statuses.last().and_then(|status| status.message.clone()).unwrap_or_default()
    }

    /// Forgets the calls so far and tells those since.
    pub(super) fn calls(&self) -> Vec<String> {
        std::mem::take(&mut self.state().calls)
    }

    fn called(&self, call: &'static str) -> Result<(), Trouble> {
        let mut state = self.state();
        state.calls.push(call.to_owned());
        match state.failing.take() {
            Some((failing, trouble)) if failing == call => Err(trouble),
            other => {
                state.failing = other;
                Ok(())
            }
        }
    }
}

pub(super) fn host_cluster() -> serde_json::Value {
    json!({
        "apiVersion": "kubeopera.io/v1alpha1", "kind": "HostCluster",
        "metadata": {
            "name": ID, "namespace": "kubeopera-system", "generation": 1, "uid": "uid-of-the-resource",
            "resourceVersion": "41", "labels": {"kubeopera.io/cluster-name": "harbour"},
        },
        "spec": {
            "clusterID": ID, "mode": "connect_existing", "provider": "unknown", "region": "unknown",
            "gitOpsRepoURL": "https://git.acme.com/gitops-iac.git", "gitOpsPath": "fluxcd/clusters/harbour",
            "gitCredentialsSecretRef": "gitops-iac-credentials",
        },
    })
}

fn credential() -> GitCredential {
    GitCredential::Basic { username: "captain".to_owned(), password: Secret::new(CANARY), certificate_authority: None }
}

#[async_trait]
impl HostClusters for Memory {
    async fn get(&self, _: &str) -> Result<Option<HostCluster>, Trouble> {
        self.called("get")?;
        Ok(self.state().resource.clone())
    }

    async fn neighbours(&self, _: ClusterId) -> Result<Vec<Neighbour>, Trouble> {
        self.called("neighbours").map(|()| Vec::new())
    }

    async fn add_finalizer(&self, _: &HostCluster) -> Result<(), Trouble> {
        self.called("add_finalizer")?;
        self.state().resource.as_mut().unwrap().metadata.finalizers = Some(vec![FINALIZER.to_owned()]);
        Ok(())
    }

    async fn release_finalizer(&self, _: &HostCluster) -> Result<(), Trouble> {
        self.called("release_finalizer")?;
        self.state().resource = None;
        Ok(())
    }

    async fn write_status(&self, _: &HostCluster, status: &HostClusterStatus) -> Result<(), Trouble> {
        self.called("write_status")?;
        let mut state = self.state();
        // As over the API: what cannot be serialised and read back is not published.
        let published: HostClusterStatus = serde_json::from_value(serde_json::to_value(status).unwrap()).unwrap();
        assert_eq!(published, *status, "a status reads back as it was written");
        state.resource.as_mut().unwrap().status = Some(published.clone());
        state.statuses.push(published);
        Ok(())
    }

    async fn tell(&self, _: &HostCluster, event: &Event) {
        self.state().events.push(format!("{} {}", event.reason, event.note));
    }
}

#[async_trait]
impl TargetCluster for Memory {
    async fn look(&self, _: &Target) -> Result<ClusterSeen, Trouble> {
        self.called("look at cluster")?;
        Ok(ClusterSeen {
            uid: UID.to_owned(),
            kubernetes_version: "1.34.4".parse().unwrap(),
            nodes: NodeCount { total: 1, ready: 1 },
            may_administer: true,
            managed_by_other: None,
        })
    }

    async fn present(&self, _: &Target) -> Result<Present, Trouble> {
        self.called("look at present").map(|()| Present::default())
    }
}

#[async_trait]
impl Flux for Memory {
    async fn look(&self, _: &Target) -> Result<FluxSeen, Trouble> {
        self.called("look at flux")?;
        if !self.state().flux {
            return Ok(FluxSeen::Absent);
        }
        Ok(FluxSeen::Present(FluxInstallation {
            managed_by_other: None,
            version: Some("v2.9.4".to_owned()),
            fitness: FluxFitness::Usable,
            components: Vec::new(),
        }))
    }

    async fn install(&self, _: &Target) -> Result<(), Trouble> {
        self.called("install flux")?;
        self.state().flux = true;
        Ok(())
    }

    async fn git_secret(&self, _: &Target) -> Result<GitSecretSeen, Trouble> {
        self.called("look at git secret")?;
        let version = self.state().git_secret.clone();
        Ok(version.map_or(GitSecretSeen::Absent, |version| GitSecretSeen::Present { version: Some(version) }))
    }

    async fn write_git_secret(&self, _: &Target, _: &GitCredential, version: &str) -> Result<(), Trouble> {
        self.called("write git secret")?;
        self.state().git_secret = Some(version.to_owned());
        Ok(())
    }

    async fn pull_secret(&self, _: &Target, name: &SecretName) -> Result<PullSecretSeen, Trouble> {
        self.called("look at pull secret")?;
        assert_eq!(name.as_str(), PULL_SECRET);
        let state = self.state();
        let of_tree = state.sync.is_some().then_some("kubeopera");
        let namespaces = ["flux-system"].into_iter().chain(of_tree);
        let copies = namespaces.map(|name| (name.to_owned(), state.pull_secrets.get(name).cloned()));
        Ok(PullSecretSeen { copies: copies.collect() })
    }

    async fn write_pull_secret(
        &self,
        _: &Target,
        _: &SecretName,
        credential: &Secret,
        version: &str,
    ) -> Result<(), Trouble> {
        self.called("write pull secret")?;
        assert!(credential.reveal().contains(CANARY));
        let mut state = self.state();
        let namespaces = [Some("flux-system"), state.sync.is_some().then_some("kubeopera")];
        state.pull_secrets =
            namespaces.into_iter().flatten().map(|name| (name.to_owned(), version.to_owned())).collect();
        Ok(())
    }

    async fn sync(&self, _: &Target) -> Result<SyncSeen, Trouble> {
        self.called("look at sync")?;
        let state = self.state();
        let Some(wanted) = &state.sync else { return Ok(SyncSeen::default()) };
        let revision = Some(format!("{}@sha1:{}", wanted.branch, wanted.request));
        Ok(SyncSeen {
            source: Some(SourceSeen {
                url: wanted.url.to_string(),
                branch: Some(wanted.branch.clone()),
                is_suspended: false,
                readiness: Readiness::Ready,
                revision: revision.clone(),
                requested: Some(wanted.request.clone()),
                handled_request: Some(wanted.request.clone()),
            }),
            root: state.kustomizations.then(|| KustomizationSeen {
                name: "kubeopera".to_owned(),
                path: wanted.path.to_string(),
                is_suspended: state.suspended,
                deletion_requested_at: None,
                readiness: Readiness::Ready,
                applied_revision: revision,
            }),
            children: Vec::new(),
        })
    }

    async fn point(&self, _: &Target, wanted: &SyncWanted) -> Result<(), Trouble> {
        self.called("point flux")?;
        let mut state = self.state();
        state.sync = Some(wanted.clone());
        state.kustomizations = true;
        Ok(())
    }

    async fn suspend_kustomizations(&self, _: &Target) -> Result<(), Trouble> {
        self.called("suspend kustomizations")?;
        self.state().suspended = true;
        Ok(())
    }

    async fn remove(&self, _: &Target, part: SyncPart) -> Result<(), Trouble> {
        self.called(match part {
            SyncPart::Kustomizations => "remove kustomizations",
            SyncPart::KustomizationFinalizers => "remove kustomization finalizers",
            SyncPart::Source => "remove source",
            SyncPart::GitSecret => "remove git secret",
        })?;
        let mut state = self.state();
        match part {
            SyncPart::Kustomizations | SyncPart::KustomizationFinalizers => state.kustomizations = false,
            SyncPart::Source => state.sync = None,
            SyncPart::GitSecret => state.git_secret = None,
        }
        Ok(())
    }
}

#[async_trait]
impl Secrets for Memory {
    async fn look(&self, _: &SecretName) -> Result<SecretSeen, Trouble> {
        self.called("look at secret")?;
        Ok(SecretSeen::Present { version: self.state().secret_version.to_string() })
    }

    async fn credential(&self, _: ClusterId, _: &SecretName) -> Result<Option<CredentialSeen>, Trouble> {
        self.called("look at credential")?;
        Ok(None)
    }

    async fn git_credentials(&self, _: &SecretName, _: &GitUrl) -> Result<GitCredentials, Trouble> {
        self.called("read git credentials")?;
        Ok(GitCredentials { write: credential(), read: credential() })
    }

    async fn registry_credential(&self, _: ClusterId, _: &SecretName) -> Result<Secret, Trouble> {
        self.called("read registry credential")?;
        Ok(Secret::new(CANARY))
    }

    async fn keep_kubeconfig(&self, _: ClusterId, _: &SecretName, _: &SecretName) -> Result<(), Trouble> {
        self.called("keep kubeconfig")
    }

    async fn store_kubeconfig(&self, _: ClusterId, _: &SecretName, _: &Secret) -> Result<(), Trouble> {
        self.called("store kubeconfig")
    }

    async fn ensure_password(&self, _: ClusterId, _: &SecretName) -> Result<Secret, Trouble> {
        self.called("ensure password")?;
        let mut state = self.state();
        let made = state.calls.len();
        Ok(Secret::new(state.password.get_or_insert_with(|| format!("{CANARY}-{made}")).clone()))
    }

    async fn delete_kubeconfigs(&self, _: ClusterId) -> Result<(), Trouble> {
        self.called("delete kubeconfigs")
    }
}

#[async_trait]
impl GitOpsScaffolder for Memory {
    async fn look(&self, cluster_uid: &str, _: &GitPath, _: &Destination) -> Result<TreeSeen, Trouble> {
        self.called("look at tree")?;
        assert_eq!(cluster_uid, UID);
        Ok(TreeSeen { branch: "trunk".to_owned(), tree_hash: self.state().commits.last().cloned() })
    }

    async fn ensure_tree(&self, inputs: &TreeInputs, _: &Destination) -> Result<WrittenTree, Trouble> {
        self.called("ensure tree")?;
        let hash = format!("{:x}", serde_json::to_string(inputs).unwrap().len());
        let mut state = self.state();
        if !state.commits.contains(&hash) {
            state.commits.push(hash.clone());
        }
        Ok(WrittenTree {
            branch: "trunk".to_owned(),
            commit: format!("{hash:0>40}"),
            tree_hash: hash,
            kept_edits: Vec::new(),
        })
    }

    async fn check(&self, _: &Destination) -> Result<RepositoryCheck, Trouble> {
        panic!("the controller tries no repositories")
    }
}

#[async_trait]
impl Auth for Memory {
    async fn log_in(&self, _: &str, _: &Secret, _: &str) -> Result<Session, AuthError> {
        Err(AuthError::Unavailable)
    }

    async fn session(&self, _: &Secret) -> Result<ActiveSession, AuthError> {
        Err(AuthError::NoSession)
    }

    async fn log_out(&self, _: &Secret, _: &str) -> Result<(), AuthError> {
        Ok(())
    }

    async fn ensure_administrator(
        &self,
        _: ClusterId,
        _: &Email,
        username: &AdminUsername,
        password: &Secret,
    ) -> Result<(), AuthError> {
        self.called("ensure administrator").map_err(|_| AuthError::Unavailable)?;
        let mut state = self.state();
        state.administrator.get_or_insert_with(|| (username.to_string(), password.reveal().to_owned()));
        Ok(())
    }
}
