//! The destination of the messages that kernels print.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The destination of messages that kernels print.
#[derive(Clone, Default)]
pub(crate) enum Output {
    /// Messages go to the process's standard output.
    #[default]
    Stdout,
    /// Messages go to a writer that the user of the simulator has set.
    Sink(Arc<Mutex<dyn Write + Send>>),
    /// Messages are lost.
    Nothing,
}

impl Output {
    /// Writes `message` as a whole, without other messages in between. If the sink is closed or full, the message is
    /// lost, because a kernel cannot handle the error.
    pub(crate) fn write(&self, message: &str) {
        self.with(|sink| sink.write_all(message.as_bytes()));
    }

    /// Flushes the sink's buffer.
    pub(crate) fn flush(&self) {
        self.with(|sink| sink.flush());
    }

    fn with(&self, write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) {
        // The error is ignored, as `write` explains.
        let _lost = match self {
            Self::Stdout => write(&mut std::io::stdout().lock()),
            Self::Nothing => Ok(()),
            Self::Sink(sink) => write(&mut *sink.lock().unwrap_or_else(PoisonError::into_inner)),
        };
    }
}
