//! Runs of a kernel on many devices that check: in more orders than the hostile ones, and without each of its
//! synchronisations.

use std::fmt;
use std::time::{Duration, Instant};

use simt::{Checks, Redundant, Schedule, Search, Simulator};

use crate::device::Device;

/// The barriers, warp synchronisations and fences that `run` can do without, as far as the orders of
/// [`checked_devices`](crate::checked_devices) say: `run` is called for each order, and then once more for each
/// synchronisation and order with that one left out, until it fails or gives something else.
///
/// What is listed is a hint and no fault: a barrier may be needed at sizes that `run` does not have. So `run` has to
/// launch the kernel at sizes that matter, and to return what it has computed, not to assert it.
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

/// What [`check_thoroughly`] has done without finding anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thorough {
    /// How many orders were tried.
    pub orders: usize,
    /// Whether the search came to its end before the time did.
    pub is_exhausted: bool,
}

/// An order in which something fails, and how.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed<E> {
    /// The order, which does the same again.
    pub schedule: Schedule,
    /// How many orders were tried, this one among them.
    pub orders: usize,
    /// What failed.
    pub error: E,
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in the order {}: {}", self.schedule, self.error)
    }
}

/// The same text, which `unwrap` shows.
impl<E: fmt::Display> fmt::Debug for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<E: std::error::Error + 'static> std::error::Error for Failed<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// Has `run` try order after order, each on a device that checks, until it fails, or for `time`, or until there is no
/// other order worth trying: first the [hostile ones](Schedule::HOSTILE), then those in which threads wait before
/// atomic accesses by which they were seen to communicate.
///
/// Eight orders find what every order shows, or many. This is for kernels whose blocks or warps wait for each other, or
/// where the last one does something else: what goes wrong there may need two or three of them to be slow at once.
///
/// ```
/// use std::time::Duration;
/// use launch::{LaunchConfig, check_thoroughly};
/// # use cuda_std::{GlobalMut, kernel};
/// # #[kernel]
/// # pub fn count(y: GlobalMut<u32>) {
/// #     y.atomic_add(0, 1);
/// # }
/// let checked = check_thoroughly(Duration::from_millis(100), |device| {
///     let mut y = device.zeroed::<u32>(1)?;
///     device.launch(LaunchConfig::new(3, 32), count(y.view_mut()))?;
///     assert_eq!(y.download()?, [96], "{}", device.summary()); // which says the order
///     Ok::<(), launch::Error>(())
/// })?;
/// assert!(checked.orders >= 8);
/// # Ok::<(), launch::Failed<launch::Error>>(())
/// ```
///
/// # Errors
///
/// The first order in which `run` fails.
pub fn check_thoroughly<E>(time: Duration, run: impl FnMut(&Device) -> Result<(), E>) -> Result<Thorough, Failed<E>> {
    check_with(Checks::default(), time, run)
}

/// As [`check_thoroughly`], on devices for which nothing counts but what CUDA's documentation promises, as those of
/// [`checked_devices_strict`](crate::checked_devices_strict).
///
/// # Errors
///
/// As for [`check_thoroughly`].
pub fn check_thoroughly_strict<E>(
    time: Duration,
    run: impl FnMut(&Device) -> Result<(), E>,
) -> Result<Thorough, Failed<E>> {
    check_with(Checks::STRICT, time, run)
}

fn check_with<E>(
    checks: Checks,
    time: Duration,
    mut run: impl FnMut(&Device) -> Result<(), E>,
) -> Result<Thorough, Failed<E>> {
    search(&Simulator::new().with_checks(checks), time, |simulator| run(&Device::simulated(simulator)))
}

/// As [`check_thoroughly`], in `simulator`, whose checks it keeps.
///
/// # Errors
///
/// As for [`check_thoroughly`].
#[doc(hidden)]
pub fn search<E>(
    simulator: &Simulator,
    time: Duration,
    mut run: impl FnMut(Simulator) -> Result<(), E>,
) -> Result<Thorough, Failed<E>> {
    let begun = Instant::now();
    let mut search = Search::new();
    while search.tried() < Schedule::HOSTILE.len() || begun.elapsed() < time {
        let Some((schedule, result)) = search.try_next(simulator, &mut run) else {
            return Ok(Thorough { orders: search.tried(), is_exhausted: true });
        };
        if let Err(error) = result {
            return Err(Failed { schedule, orders: search.tried(), error });
        }
    }
    Ok(Thorough { orders: search.tried(), is_exhausted: false })
}
