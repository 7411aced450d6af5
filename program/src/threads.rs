//! Starts the threads that share the work of the processor's cores.

use std::error::Error;

use anyhow::anyhow;
use rayon::ThreadPoolBuilder;

/// Starts the worker threads, unless they are running already. `RAYON_NUM_THREADS` sets their number, and otherwise
/// `count`, or else the number of cores. Commands call this before work that would panic without the threads.
///
/// # Errors
/// If the system refuses to start the threads.
pub fn start(count: Option<usize>) -> anyhow::Result<()> {
    let count = count.filter(|_| std::env::var_os("RAYON_NUM_THREADS").is_none()).unwrap_or(0);
    match ThreadPoolBuilder::new().num_threads(count).build_global() {
        // The error has a source if the system caused it. Otherwise the threads are running.
        Err(error) if error.source().is_some() => Err(anyhow!(
            "cannot start the worker threads: {error}: raise the limit of processes (ulimit -u), or end other programs"
        )),
        _ => Ok(()),
    }
}
