//! Terraform's state, from the book into the folder and back.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, SystemTime},
};

use serde_json::Value;
use tokio::sync::Mutex;
use vocabulary::{Trouble, TroubleKind};

use super::engine::say;
use crate::{
    book::{Book, BookError},
    seal::{Content, Key},
};

/// A Secret holds 1 MiB in base64, and more than the state is in it.
const LARGEST: u64 = 700 * 1024;
/// From here on no more is begun: what Terraform is at when it is asked to stop still has to have room.
const NEARLY_FULL: u64 = 512 * 1024;
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(2);

pub(super) struct StateKeeper {
    file: PathBuf,
    key: Key,
    book: Arc<dyn Book>,
    /// What the file was like when it was kept last.
    kept: Mutex<Option<(SystemTime, u64)>>,
}

impl StateKeeper {
    pub(super) fn new(file: PathBuf, key: Key, book: Arc<dyn Book>) -> Self {
        Self { file, key, book, kept: Mutex::default() }
    }

    /// Puts the last state into the folder; whether there was one.
    pub(super) async fn restore(&self) -> Result<bool, BookError> {
        let Some(sealed) = self.book.state().await? else { return Ok(false) };
        let state = self.key.open(Content::State, &sealed).map_err(|_| {
            Trouble::rejected(
                "StateUnreadable",
                "What is noted down of this cluster's infrastructure was altered, or its key was lost, so that nothing was \
                 done. Restore both Secrets of the run from a backup.",
            )
        })?;
        std::fs::write(&self.file, state).map_err(|_| no_room())?;
        Ok(true)
    }

    /// Keeps the state if the file is another than it was.
    pub(super) async fn keep_if_changed(&self) -> Result<(), BookError> {
        let is_kept = *self.kept.lock().await == self.look();
        if is_kept { Ok(()) } else { self.keep().await }
    }

    /// Keeps the state. What is not whole, as Terraform is just writing it, is kept the next time.
    pub(super) async fn keep(&self) -> Result<(), BookError> {
        let mut kept = self.kept.lock().await;
        let now = self.look();
        let Ok(state) = std::fs::read(&self.file) else { return Ok(()) };
        if now == *kept || serde_json::from_slice::<Value>(&state).is_err() {
            return Ok(());
        }
        if state.len() as u64 > LARGEST {
            return Err(too_large().into());
        }
        let sealed = self.key.seal(Content::State, &state).map_err(|_| no_room())?;
        self.book.keep_state(&sealed).await?;
        *kept = now;
        Ok(())
    }

    /// Keeps the state at Terraform's end, however long that takes: what is not kept goes with the Pod, and with a result
    /// that is written down without it, nobody would look for it. The end of the Pod is the only end to it.
    pub(super) async fn keep_for_certain(&self) -> Result<(), BookError> {
        loop {
            match self.keep().await {
                Err(BookError::Unavailable(trouble)) if trouble.kind != TroubleKind::Bug => {
                    say(&format!("What Terraform has made cannot be noted down yet; it is tried again. {trouble}"));
                    tokio::time::sleep(BETWEEN_ATTEMPTS).await;
                }
                other => return other,
            }
        }
    }

    /// Whether the state is about to be larger than what can be kept.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.look().is_some_and(|(_, bytes)| bytes > NEARLY_FULL)
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
