//! Terraform's state, from the book into the folder and back.

use std::{path::PathBuf, sync::Arc, time::SystemTime};

use serde_json::Value;
use tokio::sync::Mutex;
use vocabulary::Trouble;

use crate::{
    book::{Book, BookError},
    seal::{Content, Key},
};

/// A Secret holds 1 MiB in base64, and more than the state is in it.
const LARGEST: usize = 700 * 1024;

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
        if state.len() > LARGEST {
            return Err(Trouble::bug("StateTooLarge", "Terraform's state is too large to be kept.").into());
        }
        let sealed = self.key.seal(Content::State, &state).map_err(|_| no_room())?;
        self.book.keep_state(&sealed).await?;
        *kept = now;
        Ok(())
    }

    fn look(&self) -> Option<(SystemTime, u64)> {
        let about = std::fs::metadata(&self.file).ok()?;
        Some((about.modified().ok()?, about.len()))
    }
}

fn no_room() -> Trouble {
    Trouble::transient("NoFolder", "The Pod of the run has no room for its files. It is tried again.")
}
