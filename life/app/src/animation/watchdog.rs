//! A signal ends the animation even where the animation does not hear of it: while the device computes a generation of
//! many seconds, or when the terminal has hung up, from which reading never returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, process, thread};

use super::terminal;
use program::report;
use program::signals::{self, StopRequests};

/// How often it looks for a signal.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time that the animation has to end by itself.
const GRACE: Duration = Duration::from_secs(1);

/// Watches as long as it lives.
pub struct Watchdog {
    over: Arc<AtomicBool>,
}

impl Watchdog {
    /// Begins to watch.
    ///
    /// # Errors
    /// When there can be no more threads.
    pub fn start(stop: &StopRequests) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let (watched, stop) = (Arc::clone(&over), stop.clone());
        thread::Builder::new().name("watchdog".into()).spawn(move || {
            while !watched.load(Ordering::Relaxed) {
                thread::sleep(INTERVAL);
                let Some(signal) = stop.received() else { continue };
                thread::sleep(GRACE);
                if !watched.load(Ordering::Relaxed) {
                    terminal::restore();
                    report::note(&format!("error: stopped by {}", signals::name(signal)));
                    process::exit(128 + signal);
                }
            }
        })?;
        Ok(Self { over })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
    }
}
