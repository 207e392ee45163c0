//! Terraform's state, from the book into the folder and back.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use cluster_provisioner_terraform::resources;
use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::Mutex;
use vocabulary::{Trouble, TroubleKind};

use super::teller::Teller;
use crate::{
    book::{Book, BookError, Entry},
    ledger::Ledger,
    seal::{Content, Key},
};

/// A Secret holds 1 MiB, and ledger and log are in it, too.
const LARGEST: usize = 900 * 1024;
/// From here on no more is begun: what Terraform is at when it is asked to stop still has to have room.
const NEARLY_FULL: usize = 800 * 1024;
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(2);

pub(super) struct StateKeeper {
    file: PathBuf,
    key: Key,
    book: Arc<dyn Book>,
    teller: Arc<Teller>,
    kept: Mutex<Kept>,
}

/// What was kept last.
#[derive(Default)]
struct Kept {
    /// What the file was like.
    file: Option<(SystemTime, u64)>,
    /// How large it was, packed and sealed.
    bytes: usize,
    ledger: Ledger,
}

impl StateKeeper {
    pub(super) fn new(file: PathBuf, key: Key, book: Arc<dyn Book>, teller: Arc<Teller>, ledger: Ledger) -> Self {
        let kept = Kept { ledger, ..Kept::default() };
        Self { file, key, book, teller, kept: Mutex::new(kept) }
    }

    /// Puts the last state into the folder.
    pub(super) fn restore(&self, sealed: &[u8]) -> Result<(), Trouble> {
        let state = self.key.open(Content::State, sealed).map_err(|_| {
            Trouble::rejected(
                "StateUnreadable",
                "What is noted down of this cluster's infrastructure was altered, or its key was lost, so that nothing was \
                 done. Restore both Secrets of the run from a backup.",
            )
        })?;
        std::fs::write(&self.file, state).map_err(|_| no_room())
    }

    /// Writes down that from now on there may be something in the cloud. If that cannot be written down, nothing may be
    /// made: whoever deletes the cluster would not look for it.
    pub(super) async fn begin(&self) -> Result<(), BookError> {
        let ledger = Some(self.kept.lock().await.ledger.clone());
        self.book.write(Entry { ledger, ..Entry::default() }).await
    }

    /// Writes down what is in the cloud and was in no state, and says how much of it that is; what was seen to go does not
    /// count, as the cloud lists it for a while yet.
    pub(super) async fn add(&self, found: &[String]) -> Result<usize, BookError> {
        let mut kept = self.kept.lock().await;
        let mut ledger = kept.ledger.clone();
        let left = ledger.found(found, Timestamp::now());
        self.book.write(Entry { ledger: Some(ledger.clone()), ..Entry::default() }).await?;
        kept.ledger = ledger;
        Ok(left)
    }

    /// Keeps the state if the file is another than it was. What is not whole, as Terraform is just writing it, is kept the
    /// next time.
    pub(super) async fn keep(&self) -> Result<(), BookError> {
        let mut kept = self.kept.lock().await;
        let now = self.look();
        if now == kept.file {
            return Ok(());
        }
        let Ok(text) = std::fs::read(&self.file) else { return Ok(()) };
        let Ok(state) = serde_json::from_slice::<Value>(&text) else { return Ok(()) };
        let sealed = self.key.seal(Content::State, &text).map_err(|_| no_room())?;
        if sealed.len() > LARGEST {
            return Err(too_large().into());
        }
        let mut ledger = kept.ledger.clone();
        ledger.follow(&resources(&state), Timestamp::now());
        let bytes = sealed.len();
        self.book.write(Entry { state: Some(sealed), ledger: Some(ledger.clone()), ..Entry::default() }).await?;
        *kept = Kept { file: now, bytes, ledger };
        Ok(())
    }

    /// Keeps the state at Terraform's end, however long that takes: what is not kept goes with the Pod, and with a result
    /// that is written down without it, nobody would look for it. The end of the Pod is the only end to it.
    pub(super) async fn keep_for_certain(&self) -> Result<(), BookError> {
        loop {
            match self.keep().await {
                Err(BookError::Unavailable(trouble)) if trouble.kind != TroubleKind::Bug => {
                    let said =
                        format!("What Terraform has made cannot be noted down yet; it is tried again. {trouble}");
                    self.teller.say(&said);
                    tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                }
                other => return other,
            }
        }
    }

    /// Whether the state is about to be larger than what can be kept.
    pub(super) async fn is_nearly_full(&self) -> bool {
        self.kept.lock().await.bytes > NEARLY_FULL
    }

    fn look(&self) -> Option<(SystemTime, u64)> {
        let about = std::fs::metadata(&self.file).ok()?;
        Some((about.modified().ok()?, about.len()))
    }
}

pub(super) fn too_large() -> Trouble {
    Trouble::bug(
        "StateTooLarge",
        "Terraform's state of this cluster is about to be larger than a Secret, so that the run was stopped before it made \
         more. What it made is noted down. Delete the cluster.",
    )
}

fn no_room() -> Trouble {
    Trouble::transient("NoFolder", "The Pod of the run has no room for its files. It is tried again.")
}
