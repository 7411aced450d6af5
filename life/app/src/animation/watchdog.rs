//! Ends the process after a signal if the animation cannot react to the signal. The animation cannot react while the
//! device computes for many seconds. The animation also cannot react after the terminal has hung up, if a read from the
//! terminal never returns.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{io, process, thread};

use super::terminal;
use program::report;
use program::signals::{self, StopRequests};

/// The interval between two checks for a signal.
const INTERVAL: Duration = Duration::from_millis(100);

/// The time that the animation has after a signal to end by itself, before the watchdog ends the process.
const GRACE: Duration = Duration::from_secs(1);

/// A thread that ends the process after a signal. When the watchdog is dropped, the thread ends.
pub struct Watchdog {
    over: Arc<AtomicBool>,
}

impl Watchdog {
    /// Starts the watchdog's thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
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
