//! A cluster's book in memory, and the words to run runs with it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cluster_provisioner::{
    Key, Ledger, Order,
    book::{Book, BookError, Entry, RunResult},
    runner::{Access, Engine, Outputs, RunError, Runner},
};
use cluster_provisioner_catalogue::Catalogue;
use cluster_provisioner_contract::{RunRequest, Topology};
use cluster_provisioner_terraform::{Access as CloudAccess, Configuration, Purpose};
use testkit_terraform::Terraform;
use tokio_util::sync::CancellationToken;
use vocabulary::{ClusterId, Secret, Trouble};

/// What a book holds, whoever writes it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Page {
    pub(crate) run: String,
    pub(crate) state: Option<Vec<u8>>,
    pub(crate) ledger: Option<Ledger>,
    pub(crate) log: Option<Vec<u8>>,
    pub(crate) told: Vec<String>,
    pub(crate) result: Option<RunResult>,
    pub(crate) remark: Option<String>,
    pub(crate) kubeconfig: Option<Vec<u8>>,
    /// How often it is away yet when a state is to be kept.
    pub(crate) away: u32,
}

struct MemoryBook {
    page: Arc<Mutex<Page>>,
    run: String,
}

impl MemoryBook {
    fn ours(&self) -> Result<std::sync::MutexGuard<'_, Page>, BookError> {
        let page = self.page.lock().unwrap();
        if page.run == self.run { Ok(page) } else { Err(BookError::TakenOver) }
    }
}

#[async_trait]
impl Book for MemoryBook {
    async fn read(&self) -> Result<Entry, BookError> {
        let page = self.ours()?;
        let Page { state, ledger, log, kubeconfig, .. } = page.clone();
        Ok(Entry { state, ledger, log, kubeconfig, ..Entry::default() })
    }
    async fn write(&self, entry: Entry) -> Result<(), BookError> {
        let mut page = self.ours()?;
        if entry.state.is_some()
            && let Some(left) = page.away.checked_sub(1)
        {
            page.away = left;
            return Err(Trouble::transient("Unreachable", "The API server is away.").into());
        }
        let Entry { state, ledger, progress, log, result, remark, kubeconfig } = entry;
        page.state = state.or(page.state.take());
        page.ledger = ledger.or(page.ledger.take());
        page.told.extend(progress);
        page.log = log.or(page.log.take());
        page.result = result.or(page.result.take());
        page.remark = remark.or(page.remark.take());
        page.kubeconfig = kubeconfig.or(page.kubeconfig.take());
        Ok(())
    }
}

/// Stands for the new cluster, of which there is none: what came out of Terraform is the kubeconfig.
struct SayWhatCame {
    clears: Arc<Mutex<u32>>,
}

#[async_trait]
impl Access for SayWhatCame {
    async fn kubeconfig(&self, outputs: &Outputs) -> Result<Secret, Trouble> {
        match outputs {
            Outputs::Managed { endpoint, certificate_authority, token } => {
                Ok(Secret::new(format!("{endpoint}|{certificate_authority}|{}", token.reveal())))
            }
            Outputs::Published(kubeconfig) => Ok(kubeconfig.clone()),
            Outputs::Booting { .. } => panic!("asked too early"),
        }
    }
    async fn clear(&self, kubeconfig: &Secret, uid: &str) -> Result<(), Trouble> {
        assert_eq!(uid, "uid-of-north");
        *self.clears.lock().unwrap() += 1;
        Err(Trouble::transient("Unreachable", format!("{} does not answer.", kubeconfig.reveal())))
    }
}

/// A cluster with its book.
pub(crate) struct World {
    pub(crate) request: RunRequest,
    pub(crate) page: Arc<Mutex<Page>>,
    /// How often the cluster was to let go of what it made.
    pub(crate) clears: Arc<Mutex<u32>>,
    access: CloudAccess,
    credential: BTreeMap<&'static str, Secret>,
    key: Secret,
    terraform: Terraform,
    environment: Vec<(String, String)>,
    /// A shell script that is run in Terraform's place.
    pub(crate) in_place_of_terraform: Option<&'static str>,
}

impl World {
    pub(crate) fn new(
        topology: Topology,
        (region, instance_type): (&str, &str),
        access: CloudAccess,
        credential: (&'static str, &str),
        environment: Vec<(String, String)>,
    ) -> Self {
        let terraform = Terraform::find().unwrap();
        let cloud = if topology == Topology::ManagedGke { "gcp" } else { "aws" };
        let request = RunRequest {
            cluster: ClusterId::random(),
            name: "north".parse().unwrap(),
            provider: cloud.parse().unwrap(),
            region: region.parse().unwrap(),
            topology,
            nodes: 2,
            instance_type: instance_type.to_owned(),
            kubernetes_version: match topology {
                Topology::VanillaKubeadm { .. } => "1.36.4".parse().unwrap(),
                Topology::ManagedEks | Topology::ManagedGke => "1.35".parse().unwrap(),
            },
            credential: "c1".to_owned(),
        };
        let credential = BTreeMap::from([(credential.0, Secret::new(credential.1))]);
        let environment = environment.into_iter().chain(terraform.environment()).collect();
        let key = Key::random().unwrap();
        Self {
            request,
            page: Arc::default(),
            clears: Arc::default(),
            access,
            credential,
            key,
            terraform,
            environment,
            in_place_of_terraform: None,
        }
    }

    fn order(&self, run: &str, purpose: Purpose) -> Order {
        let catalogue = Catalogue::built_in().unwrap();
        let Configuration { module, variables } = Configuration::of(&self.request, &self.access, catalogue).unwrap();
        Order {
            cluster: self.request.cluster,
            run: run.to_owned(),
            purpose,
            module: module.to_owned(),
            variables,
            key: self.key.clone(),
            credential: self.credential.clone(),
            kubeconfig: (purpose == Purpose::Destroy).then(|| Secret::new("a cluster that is dead")),
            cluster_uid: Some("uid-of-north".to_owned()),
        }
    }

    /// A run as the Job would do it, in a folder of its own that is gone afterwards, as a Pod's is.
    pub(crate) async fn run(
        &self,
        run: &str,
        purpose: Purpose,
        stop: CancellationToken,
    ) -> Result<RunResult, RunError> {
        run.clone_into(&mut self.page.lock().unwrap().run);
        // By way of files, as it comes to the Job.
        let mounted = tempfile::tempdir().unwrap();
        for (file, text) in self.order(run, purpose).files() {
            std::fs::write(mounted.path().join(file), text.reveal()).unwrap();
        }
        let order = Order::read(mounted.path()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let book = MemoryBook { page: Arc::clone(&self.page), run: run.to_owned() };
        // Terraform inherits the environment of the run, which is for all tests of this process one and the same.
        let program = folder.path().join("terraform");
        let settings: Vec<_> =
            self.environment.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
        let terraform = format!("exec '{}' \"$@\"\n", self.terraform.program.display());
        let script =
            format!("#!/bin/sh\n{}{}", settings.concat(), self.in_place_of_terraform.unwrap_or(terraform.as_str()));
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let work = folder.path().join("work");
        let runner = Runner::new(
            order,
            mounted.path().to_owned(),
            Engine::new(program),
            work,
            Arc::new(book),
            Arc::new(SayWhatCame { clears: Arc::clone(&self.clears) }),
            stop,
        );
        runner.run().await
    }

    pub(crate) async fn create(&self, attempt: u32) -> RunResult {
        self.run(&format!("create-{attempt}"), Purpose::Create, CancellationToken::new()).await.unwrap()
    }

    pub(crate) async fn destroy(&self, attempt: u32) -> RunResult {
        self.run(&format!("destroy-{attempt}"), Purpose::Destroy, CancellationToken::new()).await.unwrap()
    }

    pub(crate) fn page(&self) -> Page {
        self.page.lock().unwrap().clone()
    }

    /// What the ledger has that is not gone.
    pub(crate) fn left(&self) -> Vec<String> {
        let ledger = serde_json::to_value(self.page().ledger.unwrap()).unwrap();
        let lines = ledger.as_array().unwrap().iter().filter(|line| line.get("gone_at").is_none());
        lines.map(|line| line["id"].as_str().unwrap().to_owned()).collect()
    }

    fn opened(&self, content: cluster_provisioner::Content, sealed: &[u8]) -> String {
        let key = Key::parse(self.request.cluster, &self.key).unwrap();
        String::from_utf8(key.open(content, sealed).unwrap()).unwrap()
    }

    pub(crate) fn kubeconfig(&self) -> String {
        self.opened(cluster_provisioner::Content::Kubeconfig, &self.page().kubeconfig.unwrap())
    }

    pub(crate) fn state(&self) -> serde_json::Value {
        let state = self.opened(cluster_provisioner::Content::State, &self.page().state.unwrap());
        serde_json::from_str(&state).unwrap()
    }

    /// Alters the state behind the back of the runs.
    pub(crate) fn change_state(&self, change: impl FnOnce(&mut serde_json::Value)) {
        let mut state = self.state();
        change(&mut state);
        let key = Key::parse(self.request.cluster, &self.key).unwrap();
        let sealed = key.seal(cluster_provisioner::Content::State, state.to_string().as_bytes()).unwrap();
        self.page.lock().unwrap().state = Some(sealed);
    }

    /// How many resources the state knows of.
    pub(crate) fn known(&self) -> usize {
        let state = self.state();
        let managed = state["resources"].as_array().unwrap().iter().filter(|one| one["mode"] == "managed");
        managed.map(|one| one["instances"].as_array().unwrap().len()).sum()
    }
}
