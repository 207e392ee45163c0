//! What host-cluster-controller asks: prepares runs, starts their Jobs, and says where they are.

mod credential;
mod jobs;
mod objects;

use std::sync::Arc;

use async_trait::async_trait;
use auth_service_contract::Credentials;
use cluster_provisioner_catalogue::Catalogue;
use cluster_provisioner_contract::{ClusterProvisioner, LogPart, Provisioning, RunRequest, RunState, RunStatus};
use cluster_provisioner_terraform::{Configuration, Purpose};
use k8s_openapi::api::{batch::v1::Job, core::v1::Secret as SecretObject};
use kube::{Client, api::PostParams};
use kube_kit::{Attempt, KubeconfigOptions, trouble};
use prices::Table;
use vocabulary::{ClusterId, Secret, Trouble};

pub(crate) use objects::MANAGER;

use self::jobs::JobSeen;
use crate::{
    book::{Entry, REQUEST, RUN, RunResult, text_of},
    job::{self, Image},
    log::Log,
    names,
    order::Order,
    record::Record,
    seal::{Content, Key},
};

/// What the names of runs that delete begin with.
const DESTROY: &str = "destroy-";
/// In the place of a run in the book of a cluster that is given up.
const GIVEN_UP: &str = "given-up";

/// How runs are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// Image of the Job: KubeOpera with Terraform or `OpenTofu` and the providers.
    pub image: String,
    /// When its nodes pull it, such as `IfNotPresent`.
    pub pull_policy: String,
    /// What things cost that a run makes.
    pub prices: Arc<Table>,
    /// Where the kubeconfigs of clusters may lead.
    pub kubeconfigs: KubeconfigOptions,
}

/// cluster-provisioner.
pub struct Provisioner {
    pub(crate) client: Client,
    credentials: Arc<dyn Credentials>,
    image: Image,
    prices: Arc<Table>,
    pub(crate) kubeconfigs: KubeconfigOptions,
}

impl Provisioner {
    /// `client` is for the cluster KubeOpera itself belongs to, where the Jobs run.
    pub fn new(client: Client, credentials: Arc<dyn Credentials>, config: Config) -> Self {
        let image = Image { name: config.image, pull_policy: config.pull_policy };
        Self { client, credentials, image, prices: config.prices, kubeconfigs: config.kubeconfigs }
    }

    /// Makes a run the cluster's one run. Its Job is made last, so that whoever is killed on the way does it again.
    async fn start(&self, request: &RunRequest, run: &str, purpose: Purpose) -> Result<(), Trouble> {
        let cluster = request.cluster;
        let (access, credential) = self.access(request).await?;
        let catalogue = Catalogue::built_in();
        let catalogue = catalogue.map_err(|broken| Trouble::bug("CatalogueBroken", broken.to_string()))?;
        let Configuration { module, variables } = Configuration::of(request, &access, catalogue)?;
        // The key after the book: where there is a key and no book, the book was lost.
        self.turn_page(request, run).await?;
        let order = Order {
            cluster,
            run: run.to_owned(),
            purpose,
            module: module.to_owned(),
            variables,
            key: self.key(cluster).await?,
            credential,
            kubeconfig: if purpose == Purpose::Destroy { self.stored_kubeconfig(cluster).await? } else { None },
            cluster_uid: if purpose == Purpose::Destroy { self.cluster_uid(cluster).await? } else { None },
        };
        for (resource, object) in job::rights(cluster) {
            self.apply(resource, &object).await?;
        }
        // Anew, as the last may belong to a Job that is going, and would go with it.
        self.take_back_order(cluster).await?;
        self.apply("secrets", &job::order(cluster, &order.files())).await?;
        let made: Job = serde_json::from_value(job::job(cluster, run, &self.image, self.kubeconfigs.allowed_targets))
            .map_err(|error| Trouble::bug("JobUnusable", error.to_string()))?;
        match self.jobs().create(&PostParams::default(), &made).await {
            Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
            Err(error) => Err(trouble(Attempt("create the provisioning Job"), &error)),
            Ok(job) => self.tie_order(cluster, &job).await,
        }
    }

    /// Ends a cluster whose infrastructure is gone or given up: what there was is recorded, and everything of its runs
    /// goes.
    async fn close(
        &self,
        cluster: ClusterId,
        seen: &JobSeen,
        book: Option<&SecretObject>,
        state: RunState,
    ) -> Result<(), Trouble> {
        let shown = book.and_then(|book| self.shown(cluster, book, seen));
        self.records().write(cluster, &Record::closing(shown, state, book)).await?;
        self.tidy(cluster).await
    }

    /// Everything of a cluster's runs goes, whoever made it.
    async fn tidy(&self, cluster: ClusterId) -> Result<(), Trouble> {
        if let JobSeen::Active { uid, .. } | JobSeen::Ended { uid, .. } = self.job(cluster).await? {
            self.delete_job(cluster, &uid).await?;
        }
        self.forget(cluster).await
    }

    /// The cluster's Job, and then the book: a run writes what came of it before its Job ends.
    async fn look(&self, cluster: ClusterId) -> Result<(JobSeen, Option<SecretObject>), Trouble> {
        let seen = self.job(cluster).await?;
        Ok((seen, self.book(cluster).await?))
    }

    /// Where the run is, for whoever starts runs. The credential is taken back as soon as none needs it: another is
    /// given it anew.
    async fn settled(&self, cluster: ClusterId, status: RunStatus) -> Result<RunStatus, Trouble> {
        if !matches!(status, RunStatus::Running { .. }) {
            self.take_back_order(cluster).await?;
        }
        Ok(status)
    }

    /// Where a cluster is of which there is no book.
    async fn without_book(&self, cluster: ClusterId) -> Result<RunStatus, Trouble> {
        if self.records().read(cluster).await?.is_some() {
            return Ok(RunStatus::Destroyed);
        }
        Ok(match self.was_never_begun(cluster).await {
            Ok(()) => RunStatus::Absent,
            Err(trouble) => RunStatus::Failed { job: names::provision(cluster), trouble },
        })
    }

    /// What there is to see of a run that the book is about; none if the book cannot be read.
    fn shown(&self, cluster: ClusterId, book: &SecretObject, seen: &JobSeen) -> Option<Provisioning> {
        let request = request_of(book).ok()?;
        let Entry { ledger, remark, .. } = Entry::of(book);
        let (state, message) = match status(cluster, book, seen) {
            RunStatus::Running { progress, .. } => (RunState::Running, progress),
            RunStatus::Succeeded { .. } | RunStatus::Destroyed => {
                (RunState::Succeeded, remark.unwrap_or_else(|| "Done.".to_owned()))
            }
            RunStatus::Failed { trouble, .. } => (RunState::Failed, trouble.message),
            RunStatus::Absent | RunStatus::Vanished { .. } => {
                (RunState::Running, "Waiting for the run to start.".to_owned())
            }
        };
        Some(Provisioning {
            run: text_of(book, RUN).unwrap_or_default(),
            state,
            message,
            resources: ledger.unwrap_or_default().shown(&request, &self.prices),
            ended_at: None,
        })
    }
}

#[async_trait]
impl ClusterProvisioner for Provisioner {
    async fn ensure_run(&self, request: &RunRequest, attempt: u32) -> Result<(), Trouble> {
        let run = format!("create-{attempt}");
        match self.job(request.cluster).await? {
            JobSeen::Active { .. } => Ok(()),
            JobSeen::Ended { run: ended, .. } if ended == run => Ok(()),
            // Jobs never change: the last one has to go before the next can be made.
            JobSeen::Ended { uid, .. } => {
                self.delete_job(request.cluster, &uid).await?;
                Err(Trouble::waiting("RunBeingReplaced", "The Job of the last attempt is being removed."))
            }
            JobSeen::Absent => self.start(request, &run, Purpose::Create).await,
        }
    }

    async fn run_status(&self, cluster: ClusterId) -> Result<RunStatus, Trouble> {
        match self.look(cluster).await? {
            (_, None) => self.without_book(cluster).await,
            (seen, Some(book)) => self.settled(cluster, status(cluster, &book, &seen)).await,
        }
    }

    async fn kubeconfig(&self, cluster: ClusterId) -> Result<Secret, Trouble> {
        let missing =
            || Trouble::transient("NoKubeconfig", "The finished run has left no kubeconfig. It is run again.");
        let book = self.book(cluster).await?.ok_or_else(missing)?;
        let sealed = Entry::of(&book).kubeconfig.ok_or_else(missing)?;
        let key = Key::parse(cluster, &self.key(cluster).await?);
        let opened = key.and_then(|key| key.open(Content::Kubeconfig, &sealed)).map_err(|_| {
            Trouble::rejected(
                "KubeconfigUnreadable",
                "The kubeconfig that the run has left was altered, or its key was lost.",
            )
        })?;
        String::from_utf8(opened).map(Secret::new).map_err(|_| missing())
    }

    async fn ensure_destroyed(&self, cluster: ClusterId) -> Result<RunStatus, Trouble> {
        let job = names::provision(cluster);
        let running = |progress: &str| Ok(RunStatus::Running { job: job.clone(), progress: progress.to_owned() });
        let record = self.records().read(cluster).await?;
        let is_given_up = record.as_ref().is_some_and(|record| record.provisioning.state == RunState::GivenUp);
        let (seen, book) = self.look(cluster).await?;
        let book = match book {
            Some(book) if !is_given_up => book,
            None if record.is_none() => return self.without_book(cluster).await,
            // It was closed, and that was cut off, or a run was just being started meanwhile.
            _ => {
                self.tidy(cluster).await?;
                return Ok(RunStatus::Destroyed);
            }
        };
        let run = text_of(&book, RUN).unwrap_or_default();
        if run == GIVEN_UP {
            self.close(cluster, &seen, Some(&book), RunState::GivenUp).await?;
            return Ok(RunStatus::Destroyed);
        }
        let Some(attempt) = run.strip_prefix(DESTROY).and_then(|number| number.parse::<u32>().ok()) else {
            return match &seen {
                JobSeen::Absent => {
                    self.start(&request_of(&book)?, "destroy-1", Purpose::Destroy).await?;
                    running("Asking for the infrastructure to be deleted.")
                }
                // Terraform is let finish what it is at, and its state is kept.
                JobSeen::Active { uid, .. } | JobSeen::Ended { uid, .. } => {
                    self.delete_job(cluster, uid).await?;
                    running("Stopping the run that creates the cluster.")
                }
            };
        };
        let status = status(cluster, &book, &seen);
        match (self.settled(cluster, status).await?, &seen) {
            (RunStatus::Succeeded { .. }, _) => {
                self.close(cluster, &seen, Some(&book), RunState::Destroyed).await?;
                Ok(RunStatus::Destroyed)
            }
            // Its reason was told when it ended, and whoever asks now has waited.
            (RunStatus::Failed { .. }, JobSeen::Absent) => {
                self.start(&request_of(&book)?, &format!("{DESTROY}{}", attempt + 1), Purpose::Destroy).await?;
                running("Trying again to delete the infrastructure.")
            }
            (failed @ RunStatus::Failed { .. }, JobSeen::Active { uid, .. } | JobSeen::Ended { uid, .. }) => {
                self.delete_job(cluster, uid).await?;
                Ok(failed)
            }
            (RunStatus::Vanished { .. } | RunStatus::Absent | RunStatus::Destroyed, JobSeen::Absent) => {
                self.start(&request_of(&book)?, &run, Purpose::Destroy).await?;
                running("Asking for the infrastructure to be deleted.")
            }
            // A Job of another run is in the way.
            (
                RunStatus::Vanished { .. } | RunStatus::Absent | RunStatus::Destroyed,
                JobSeen::Active { uid, .. } | JobSeen::Ended { uid, .. },
            ) => {
                self.delete_job(cluster, uid).await?;
                running("Removing the Job of an earlier run.")
            }
            (running @ RunStatus::Running { .. }, _) => Ok(running),
        }
    }

    async fn give_up(&self, cluster: ClusterId) -> Result<(), Trouble> {
        // It might make something yet that is not noted down.
        let (seen, book) = self.look(cluster).await?;
        if let JobSeen::Active { uid, .. } = &seen {
            self.delete_job(cluster, uid).await?;
            return Err(Trouble::waiting("RunBeingStopped", "The run is being stopped first. Ask again in a minute."));
        }
        match &book {
            // The leader may be about to start a run by what it has read of the book.
            Some(book) => self.turn_last_page(cluster, book).await?,
            None if self.records().read(cluster).await?.is_some() => return Ok(()),
            None => {}
        }
        self.close(cluster, &seen, book.as_ref(), RunState::GivenUp).await
    }

    async fn provisioning(&self, cluster: ClusterId) -> Result<Option<Provisioning>, Trouble> {
        match self.look(cluster).await? {
            (seen, Some(book)) => Ok(self.shown(cluster, &book, &seen)),
            (_, None) => Ok(self.records().read(cluster).await?.map(|record| record.provisioning)),
        }
    }

    async fn log(&self, cluster: ClusterId, from: u64) -> Result<Option<LogPart>, Trouble> {
        let part = |log: Option<Vec<u8>>, is_live| {
            let log = log.and_then(|packed| Log::unpack(&packed)).unwrap_or_default();
            log.part(from, is_live)
        };
        Ok(match self.look(cluster).await? {
            (seen, Some(book)) => {
                let is_live = matches!(status(cluster, &book, &seen), RunStatus::Running { .. });
                Some(part(Entry::of(&book).log, is_live))
            }
            (_, None) => self.records().read(cluster).await?.map(|record| part(record.log, false)),
        })
    }
}

/// Where the run is that the book is about, by what is seen of the cluster's Job.
fn status(cluster: ClusterId, book: &SecretObject, seen: &JobSeen) -> RunStatus {
    let job = names::provision(cluster);
    let run = text_of(book, RUN).unwrap_or_default();
    let Entry { result, progress, .. } = Entry::of(book);
    match (result, seen) {
        (result, JobSeen::Active { run: active, waits, .. }) if *active == run || result.is_none() => {
            let told = progress.filter(|_| *active == run);
            let progress = told.or_else(|| waits.clone()).unwrap_or_else(|| "Waiting for the run to start.".to_owned());
            RunStatus::Running { job, progress }
        }
        (Some(RunResult::Succeeded), _) => RunStatus::Succeeded { job },
        (Some(RunResult::Failed(trouble)), _) => RunStatus::Failed { job, trouble },
        (None, JobSeen::Ended { run: ended, why, .. }) if *ended == run => {
            let why = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            let message = format!(
                "The run ended without saying what came of it{why}. What it had made is noted down, and the next run goes on \
                 from there."
            );
            RunStatus::Failed { job, trouble: Trouble::transient("RunLost", message) }
        }
        (None, _) => RunStatus::Vanished { job },
    }
}

fn request_of(book: &SecretObject) -> Result<RunRequest, Trouble> {
    let read = text_of(book, REQUEST).and_then(|text| serde_json::from_str(&text).ok());
    read.ok_or_else(|| {
        Trouble::rejected(
            "RequestUnreadable",
            "What was asked for when the cluster was created cannot be read any more, so that its infrastructure cannot be \
             deleted by KubeOpera. Delete it in the cloud's console; everything has the tag kubeopera.io/cluster-id.",
        )
    })
}
