//! The cores of a host, shared among its ranks.

use std::thread::available_parallelism;

use program::ranks;

/// Gives this rank's threads their share of the host's cores: those that it may run on, over the ranks of the host that may run
/// on the same ones. Whoever says otherwise by `RAYON_NUM_THREADS` is heard. Nothing has been computed before.
///
/// # Errors
/// When a rank fails.
pub fn share() -> anyhow::Result<()> {
    let ranks = ranks::communicator();
    if ranks.size() == 1 || std::env::var_os("RAYON_NUM_THREADS").is_some() {
        return Ok(());
    }
    let file = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let status = file("/proc/self/status");
    let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list:")).unwrap_or_default();
    let own = format!("{} {allowed}", file("/proc/sys/kernel/hostname"));
    let peers = ranks.all_gather(own.as_bytes())?.iter().filter(|other| **other == own.as_bytes()).count();
    let threads = (available_parallelism().map_or(1, usize::from) / peers.max(1)).max(1);
    // It fails only where there are threads already.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    Ok(())
}
