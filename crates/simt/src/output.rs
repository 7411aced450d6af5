//! Where the messages that kernels print go.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// A sink for device output.
#[derive(Clone, Default)]
pub(crate) enum Output {
    /// The process's standard output.
    #[default]
    Stdout,
    /// A writer that the user gave.
    Sink(Arc<Mutex<dyn Write + Send>>),
}

impl Output {
    /// Writes `message` as a whole: no other message comes in between. A sink that is closed or full loses it, as a
    /// kernel has no way to handle that.
    pub(crate) fn write(&self, message: &str) {
        self.with(|sink| sink.write_all(message.as_bytes()));
    }

    /// Passes on what the sink has buffered.
    pub(crate) fn flush(&self) {
        self.with(|sink| sink.flush());
    }

    fn with(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        // An error has nobody to go to; see `write`.
        let _lost = match self {
            Self::Stdout => write(&mut std::io::stdout().lock()),
            Self::Sink(sink) => write(&mut *sink.lock().unwrap_or_else(PoisonError::into_inner)),
        };
    }
}
