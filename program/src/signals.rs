//! Records requests to stop from outside: Ctrl-C, `kill`, or a closed terminal.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

#[cfg(unix)]
const STOPPING: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP, signal_hook::consts::SIGQUIT];
#[cfg(not(unix))]
const STOPPING: &[i32] = &[SIGINT, SIGTERM];

/// Records the first signal that asks the process to stop, so that a run can end between two batches of work.
///
/// A second signal ends the process at once, because a batch may take many seconds.
#[derive(Clone, Debug)]
pub struct StopRequests {
    signal: Arc<AtomicUsize>,
}

impl StopRequests {
    /// Installs the handlers, which stay until the process ends.
    ///
    /// # Errors
    /// If the system refuses the handlers.
    pub fn watch() -> io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        let was_requested = Arc::new(AtomicBool::new(false));
        for &number in STOPPING {
            // The order matters: the first signal finds the flag unset, and then sets it.
            signal_hook::flag::register_conditional_shutdown(number, 128 + number, Arc::clone(&was_requested))?;
            signal_hook::flag::register(number, Arc::clone(&was_requested))?;
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number as usize)?;
        }
        Ok(Self { signal })
    }

    /// Returns the signal that was received, if any.
    pub fn received(&self) -> Option<i32> {
        i32::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|&signal| signal != 0)
    }
}

/// Returns the name of a signal for messages.
pub fn name(signal: i32) -> String {
    match signal {
        SIGINT => "Ctrl-C".into(),
        SIGTERM => "SIGTERM".into(),
        #[cfg(unix)]
        signal_hook::consts::SIGHUP => "SIGHUP".into(),
        #[cfg(unix)]
        signal_hook::consts::SIGQUIT => "SIGQUIT".into(),
        other => format!("signal {other}"),
    }
}
