//! What a test process logs at its most talkative, kept to be searched for what must not be in it.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use tracing::subscriber::SetGlobalDefaultError;
use tracing_subscriber::{EnvFilter, fmt::MakeWriter};

/// Everything that was logged so far.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Keeps all that is logged from now on by the whole process, at every level: by the other tests as well, whose secrets
    /// are canaries too.
    ///
    /// # Errors
    /// Only one test of a process can do this.
    pub fn of_this_process() -> Result<Self, SetGlobalDefaultError> {
        let log = Self::default();
        let everything =
            tracing_subscriber::fmt().with_env_filter(EnvFilter::new("trace")).with_writer(log.clone()).finish();
        tracing::subscriber::set_global_default(everything)?;
        Ok(log)
    }

    /// The lines.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;
    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
