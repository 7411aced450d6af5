//! Runs of a kernel on many devices that check: which of its synchronisations it can do without.

use simt::{Checks, Redundant, Schedule, Simulator};

use crate::device::Device;

/// The barriers, warp synchronisations and fences that `run` can do without, as far as the orders of
/// [`checked_devices`](crate::checked_devices) say: `run` is called for each order, and then once more for each
/// synchronisation and order with that one left out, until it fails or gives something else.
///
/// What is listed is a hint and no fault: a barrier may be needed at sizes that `run` does not have. So `run` has to launch
/// the kernel at sizes that matter, and to return what it has computed, not to assert it.
///
/// ```
/// use launch::{LaunchConfig, redundant_synchronisations};
/// # use cuda_std::{GlobalMut, kernel, thread};
/// # #[kernel]
/// # pub fn twice(y: GlobalMut<u32>) {
/// #     let i = thread::thread_idx_x() as usize;
/// #     let before = y.load(i);
/// #     thread::sync_threads(); // nothing needs it
/// #     y.store(i, 2 * before);
/// # }
/// let redundant = redundant_synchronisations(|device| {
///     let mut y = device.upload(&[1; 64])?;
///     device.launch(LaunchConfig::new(1, 64), twice(y.view_mut()))?;
///     y.download()
/// })?;
/// assert_eq!(redundant.len(), 1);
/// println!("{}", redundant[0]); // src/kernel.rs:6:5: no order tried notices where this barrier is left out: …
/// # Ok::<(), launch::Error>(())
/// ```
///
/// # Errors
///
/// The first of `run`, with all synchronisations in their places.
pub fn redundant_synchronisations<T: PartialEq, E>(run: impl Fn(&Device) -> Result<T, E>) -> Result<Vec<Redundant>, E> {
    let simulator = Simulator::new().with_checks(Checks::default());
    simt::redundant_synchronisations(&simulator, &Schedule::HOSTILE, |simulator| run(&Device::simulated(simulator)))
}
