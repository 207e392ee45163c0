//! What the Job runs: Terraform, from the last known state to the end, with all of it written down on the way.
//!
//! Terraform's state is in a folder of the Pod, where it is written after each resource. It is sealed and put into the book
//! at once, again and again while Terraform works, so that whatever ends the Pod costs next to nothing.

mod access;
mod engine;
mod leftovers;
mod outputs;
mod state;
mod teller;
mod within;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use cluster_provisioner_terraform::{Diagnostic, MODULES, Progress, Purpose, Said, VARIABLES_FILE, trouble};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use vocabulary::Trouble;

use crate::{
    book::{Book, BookError, Entry, RunResult},
    ledger::Ledger,
    order::{AWS_CREDENTIALS, GOOGLE_CREDENTIALS, Order},
    seal::{Content, Key},
};

pub use access::{Access, ServiceAccountAccess};
pub(crate) use access::{is_own_account, renewed};
pub use engine::Engine;
pub use outputs::Outputs;

use engine::{Ended, Heard};
use state::{StateKeeper, too_large};
use teller::Teller;

/// How often to look whether the state has changed: what was made since the last look would be lost with the Pod.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often the book is told how far the run is and what it said.
const TELL_EVERY: Duration = Duration::from_secs(3);
/// How often destroying is tried: what others still use may be free a little later.
const ROUNDS: u32 = 3;
const BETWEEN_ROUNDS: Duration = Duration::from_secs(30);
/// Machines of a vanilla control plane boot one after the other, each for a few minutes.
const BOOTS_WITHIN: Duration = Duration::from_mins(45);
const BETWEEN_LOOKS: Duration = Duration::from_secs(10);

/// A run ended without a result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another run has taken over, so nothing more is done or written.
    #[error(transparent)]
    Book(#[from] BookError),
}

/// A run.
pub struct Runner {
    order: Order,
    /// Where the files of the order are, the credential among them.
    order_folder: PathBuf,
    engine: Engine,
    teller: Arc<Teller>,
    /// Where modules and state are, for as long as the run takes.
    folder: PathBuf,
    book: Arc<dyn Book>,
    access: Arc<dyn Access>,
    /// Once cancelled, Terraform finishes what it is at and stops.
    stop: CancellationToken,
}

/// What a run leaves that did what it was to do.
#[derive(Debug, Clone, Default)]
struct Done {
    /// Sealed, of a run that made a cluster.
    kubeconfig: Option<Vec<u8>>,
    /// What may be left of one that was deleted, as sentences; none where the cloud says that nothing is.
    remark: Option<String>,
}

/// What a step comes to if it does not succeed.
enum Stopped {
    /// For this reason.
    Trouble(Trouble),
    /// Another run has taken over.
    Book(BookError),
}

impl From<Trouble> for Stopped {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<BookError> for Stopped {
    fn from(error: BookError) -> Self {
        match error {
            BookError::TakenOver => Self::Book(error),
            BookError::Unavailable(trouble) => Self::Trouble(trouble),
        }
    }
}

impl Runner {
    /// Prepares the run whose order is in `order_folder`. `folder` is empty and nobody else's.
    pub fn new(
        order: Order,
        order_folder: PathBuf,
        engine: Engine,
        folder: PathBuf,
        book: Arc<dyn Book>,
        access: Arc<dyn Access>,
        stop: CancellationToken,
    ) -> Self {
        let teller = Arc::new(Teller::of(&order));
        Self { order, order_folder, engine, teller, folder, book, access, stop }
    }

    /// Does it, and writes down what came of it.
    pub async fn run(self) -> Result<RunResult, RunError> {
        let (result, done) = match self.attempt().await {
            Ok(done) => (RunResult::Succeeded, done),
            Err(Stopped::Trouble(trouble)) => (RunResult::Failed(trouble), Done::default()),
            Err(Stopped::Book(error)) => return Err(error.into()),
        };
        match &result {
            RunResult::Succeeded => self.teller.say("Done."),
            RunResult::Failed(trouble) => self.teller.say(&trouble.message),
        }
        self.finish(&result, done).await?;
        Ok(result)
    }

    /// A result that cannot be written down is one nobody knows of, so it is tried for long.
    async fn finish(&self, result: &RunResult, done: Done) -> Result<(), RunError> {
        let deadline = Instant::now() + Duration::from_mins(10);
        loop {
            let (result, Done { kubeconfig, remark }) = (Some(result.clone()), done.clone());
            let last = Entry { result, remark, kubeconfig, log: self.teller.take_news(), ..Entry::default() };
            match self.book.write(last).await {
                Err(BookError::Unavailable(trouble)) if Instant::now() < deadline => {
                    self.teller.say(&format!("What came of the run cannot be written down yet. {trouble}"));
                    tokio::time::sleep(Duration::from_secs(2)).await;
                }
                other => return Ok(other?),
            }
        }
    }

    async fn attempt(&self) -> Result<Done, Stopped> {
        let key = Key::parse(self.order.cluster, &self.order.key).map_err(|_| broken("KeyUnusable"))?;
        let left = self.book.read().await?;
        self.teller.go_on(left.log.as_deref());
        self.teller.say(&format!("Run {} begins.", self.order.run));
        let module = self.prepare()?;
        let has_no_state_to_destroy = self.order.purpose == Purpose::Destroy && left.state.is_none();
        // From the moment on from which there may be something there is a ledger.
        if has_no_state_to_destroy && left.ledger.is_none() {
            return Ok(Done::default());
        }
        let (book, teller) = (Arc::clone(&self.book), Arc::clone(&self.teller));
        let ledger = left.ledger.unwrap_or_else(Ledger::default);
        let state = StateKeeper::new(module.join("terraform.tfstate"), key, book, teller, ledger);
        if has_no_state_to_destroy {
            return self.destroy_without_state(&state).await.map(|()| Done::default());
        }
        if let Some(sealed) = &left.state {
            state.restore(sealed)?;
        }
        self.tell("Preparing Terraform.").await?;
        self.terraform(&module, &state, &["init", "-input=false", "-no-color"], None).await?;
        match self.order.purpose {
            Purpose::Create => Ok(Done { kubeconfig: Some(self.create(&module, &state).await?), remark: None }),
            Purpose::Destroy => {
                let not_let_go = self.clear(&module, &state).await?;
                // Where the cloud says that nothing is left, that outweighs what the cluster did not say.
                let not_known = self.destroy(&module, &state).await?;
                let remark = not_known.map(|not_known| {
                    let sentences: Vec<_> = [not_known].into_iter().chain(not_let_go).collect();
                    sentences.join(" ")
                });
                Ok(Done { kubeconfig: None, remark })
            }
        }
    }

    /// Writes modules and values, and returns the folder that Terraform works in.
    fn prepare(&self) -> Result<PathBuf, Trouble> {
        let written = || -> std::io::Result<PathBuf> {
            for file in MODULES {
                let path = self.folder.join(file.path);
                std::fs::create_dir_all(path.parent().unwrap_or(&self.folder))?;
                std::fs::write(path, file.text)?;
            }
            let module = self.folder.join(&self.order.module);
            for folder in [&module, &self.folder.join(leftovers::MODULE)] {
                std::fs::write(folder.join(VARIABLES_FILE), format!("{:#}", self.order.variables))?;
            }
            Ok(module)
        };
        written().map_err(|error| {
            tracing::error!("the folder of the run cannot be written: {error}");
            Trouble::transient("NoFolder", "The Pod of the run has no room for its files. It is tried again.")
        })
    }

    async fn create(&self, module: &Path, state: &StateKeeper) -> Result<Vec<u8>, Stopped> {
        let mut progress = Progress::new(Purpose::Create);
        self.tell("Comparing what is wanted with what is there.").await?;
        let plan = ["plan", "-input=false", "-no-color", "-json", "-lock-timeout=30s", "-out=plan"];
        self.terraform(module, state, &plan, Some(&mut progress)).await?;
        if let Some(kind) = progress.would_lose() {
            return Err(would_lose(kind).into());
        }
        state.begin().await?;
        let apply = ["apply", "-input=false", "-no-color", "-json", "plan"];
        self.terraform(module, state, &apply, Some(&mut progress)).await?;
        let outputs = self.booted(module, state).await?;
        self.tell("Asking the new cluster for a token of KubeOpera's own.").await?;
        let kubeconfig = self.access.kubeconfig(&outputs).await?;
        let key = Key::parse(self.order.cluster, &self.order.key).map_err(|_| broken("KeyUnusable"))?;
        Ok(key.seal(Content::Kubeconfig, kubeconfig.reveal().as_bytes()).map_err(|_| broken("KeyUnusable"))?)
    }

    /// Has the cluster take away what it made in the cloud itself, and says what it may not have let go of. One that is dead
    /// is deleted all the same.
    async fn clear(&self, module: &Path, state: &StateKeeper) -> Result<Option<String>, Stopped> {
        let Some((kubeconfig, uid)) = self.order.kubeconfig.as_ref().zip(self.order.cluster_uid.as_deref()) else {
            return Ok(None);
        };
        // What runs on the cluster and its data are lost from here on. That is not to be for a credential with which nothing
        // can be deleted afterwards.
        self.tell("Asking the cloud what there is to delete.").await?;
        let plan = ["plan", "-destroy", "-input=false", "-no-color", "-json", "-lock-timeout=30s"];
        self.terraform(module, state, &plan, None).await?;
        self.tell("Deleting load balancers and disks from within the cluster.").await?;
        tokio::select! {
            cleared = self.access.clear(kubeconfig, uid) => Ok(cleared.err().map(|trouble| {
                self.teller.say(&format!("The infrastructure is deleted all the same. {trouble}"));
                format!("Load balancers and disks that were made from within the cluster may be left. {}", trouble.message)
            })),
            () = self.stop.cancelled() => Err(stopped_from_outside().into()),
        }
    }

    /// Says what nobody could make sure of, if there is something.
    async fn destroy(&self, module: &Path, state: &StateKeeper) -> Result<Option<String>, Stopped> {
        let destroy = ["destroy", "-input=false", "-no-color", "-json", "-auto-approve", "-lock-timeout=30s"];
        let mut round = 1;
        loop {
            let mut progress = Progress::new(Purpose::Destroy);
            match self.terraform(module, state, &destroy, Some(&mut progress)).await {
                Err(Stopped::Trouble(trouble)) if round < ROUNDS && trouble.reason == "StillInUse" => {
                    self.tell("Waiting for what still uses the network to be gone.").await?;
                    tokio::select! {
                        () = tokio::time::sleep(BETWEEN_ROUNDS) => {}
                        () = self.stop.cancelled() => return Err(trouble.into()),
                    }
                    round += 1;
                }
                Ok(()) => return self.verify(state).await,
                Err(stopped) => return Err(stopped),
            }
        }
    }

    /// What the cluster is reached by, once its machines have booted.
    async fn booted(&self, module: &Path, state: &StateKeeper) -> Result<Outputs, Stopped> {
        let deadline = Instant::now() + BOOTS_WITHIN;
        loop {
            let status = match self.outputs(module, state).await? {
                Outputs::Booting { status } => status,
                outputs => return Ok(outputs),
            };
            let sentence = outputs::sentence(&status);
            if Instant::now() > deadline {
                return Err(never_booted(sentence.as_deref()).into());
            }
            self.tell(sentence.as_deref().unwrap_or("Waiting for the control plane to boot.")).await?;
            tokio::select! {
                () = tokio::time::sleep(BETWEEN_LOOKS) => {}
                () = self.stop.cancelled() => return Err(stopped_from_outside().into()),
            }
        }
    }

    /// What the cluster is reached by at this moment.
    async fn outputs(&self, module: &Path, state: &StateKeeper) -> Result<Outputs, Stopped> {
        // Tokens among them end soon: asked for anew, as the last run may have been long ago.
        let refresh = ["apply", "-refresh-only", "-input=false", "-no-color", "-json", "-auto-approve"];
        self.terraform(module, state, &refresh, None).await?;
        let text = self.engine.output(module, &self.environment()).await?;
        Ok(Outputs::read(&text)?)
    }

    /// Where the credential is. Everything else that a provider needs is in the environment of the run.
    fn environment(&self) -> Vec<(&'static str, String)> {
        let path = |file: &str| self.order_folder.join(file).display().to_string();
        let has = |file: &str| self.order.credential.contains_key(file);
        let mut environment = vec![("TF_IN_AUTOMATION", "1".to_owned()), ("CHECKPOINT_DISABLE", "1".to_owned())];
        if has(AWS_CREDENTIALS) {
            environment.push(("AWS_SHARED_CREDENTIALS_FILE", path(AWS_CREDENTIALS)));
        }
        if has(GOOGLE_CREDENTIALS) {
            environment.push(("GOOGLE_APPLICATION_CREDENTIALS", path(GOOGLE_CREDENTIALS)));
        }
        environment
    }

    /// Runs Terraform to its end, telling how far it is and keeping its state on the way.
    async fn terraform(
        &self,
        module: &Path,
        state: &StateKeeper,
        arguments: &[&str],
        mut progress: Option<&mut Progress>,
    ) -> Result<(), Stopped> {
        let (started, mut told_at, mut told) = (Instant::now(), Instant::now(), String::new());
        let mut said = Vec::new();
        let mut running = self.engine.start(module, arguments, &self.environment())?;
        let mut stopping: Option<Trouble> = None;
        // Outside of the loop: however much Terraform says, it is looked at.
        let mut looks = tokio::time::interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let line = tokio::select! {
                line = running.line() => line,
                _ = looks.tick() => {
                    match state.keep().await {
                        // Nothing is lost yet: it is tried again in a moment.
                        Ok(()) | Err(BookError::Unavailable(_)) => {}
                        Err(error) => {
                            running.stop();
                            running.ended().await;
                            return Err(error.into());
                        }
                    }
                    if stopping.is_none() && self.order.purpose == Purpose::Create && state.is_nearly_full().await {
                        self.teller.say("Terraform's state is about to be too large: Terraform finishes what it is at.");
                        stopping = Some(too_large());
                        running.stop();
                    }
                    Heard::Nothing
                }
                () = self.stop.cancelled(), if stopping.is_none() => {
                    stopping = Some(stopped_from_outside());
                    self.teller.say("Asked to stop: Terraform finishes what it is at.");
                    running.stop();
                    Heard::Nothing
                }
            };
            match line {
                Heard::Line(line) => {
                    let heard = Said::of(&line);
                    self.teller.pass_on(&line);
                    if let Some(progress) = progress.as_deref_mut() {
                        progress.hear(&heard, started.elapsed());
                    }
                    if let Said::Diagnostic(diagnostic) = heard {
                        said.push(diagnostic);
                    }
                }
                Heard::End => break,
                Heard::Nothing => {}
            }
            if told_at.elapsed() >= TELL_EVERY {
                told_at = Instant::now();
                let sentence = progress.as_deref().map(|progress| progress.sentence(started.elapsed()));
                let news = sentence.filter(|sentence| *sentence != told);
                if self.note(news.clone()).await.is_ok() {
                    told = news.unwrap_or(told);
                }
            }
        }
        let ended = running.ended().await;
        state.keep_for_certain().await?;
        match (ended, stopping) {
            (Ended::Well, _) => Ok(()),
            (Ended::Badly, Some(why)) => Err(why.into()),
            (Ended::Badly, None) => {
                running.last_words().lines().for_each(|line| self.teller.say(line));
                Err(failure(&said, &running.last_words()).into())
            }
        }
    }

    async fn tell(&self, progress: &str) -> Result<(), Stopped> {
        self.teller.say(progress);
        match self.note(Some(progress.to_owned())).await {
            Err(BookError::TakenOver) => Err(BookError::TakenOver.into()),
            // It is only told.
            Ok(()) | Err(BookError::Unavailable(_)) => Ok(()),
        }
    }

    /// Writes down how far the run is, if that is another than before, and what was said since the last time.
    async fn note(&self, progress: Option<String>) -> Result<(), BookError> {
        let log = self.teller.take_news();
        if progress.is_none() && log.is_none() {
            return Ok(());
        }
        let written = self.book.write(Entry { progress, log, ..Entry::default() }).await;
        if written.is_err() {
            self.teller.was_not_kept();
        }
        written
    }
}

fn failure(said: &[Diagnostic], last_words: &str) -> Trouble {
    if said.iter().any(|one| one.is_error) {
        return trouble(said);
    }
    // `init` speaks no JSON.
    let spoken = Diagnostic {
        is_error: !last_words.is_empty(),
        summary: last_words.to_owned(),
        detail: String::new(),
        kind: None,
    };
    trouble(&[spoken])
}

fn would_lose(kind: &str) -> Trouble {
    Trouble::rejected(
        "WouldBeLost",
        format!(
            "To go on, Terraform would delete {} and make it anew, which nobody asked for. Nothing was changed. Delete the \
             cluster and create it again.",
            cluster_provisioner_terraform::words_of(kind)
        ),
    )
}

fn never_booted(sentence: Option<&str>) -> Trouble {
    let said = sentence.unwrap_or("No machine of the control plane has said anything.");
    Trouble::transient(
        "ControlPlaneNotReady",
        format!(
            "The machines are there, but the control plane has not come up within 45 minutes. {said} The next attempt waits \
             on; Session Manager shows the machines' journals (unit kubeopera-node)."
        ),
    )
}

fn stopped_from_outside() -> Trouble {
    Trouble::transient(
        "RunStopped",
        "The run was stopped from outside. What exists already is kept, and the next goes on.",
    )
}

fn broken(reason: &str) -> Trouble {
    Trouble::bug(reason, "The key or the kubeconfig of the run cannot be used.")
}
