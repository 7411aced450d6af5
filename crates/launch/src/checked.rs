//! Simulated devices that check kernels, and functions that run host code repeatedly on such devices. Each run uses
//! another schedule, or leaves out one synchronisation of the kernels.

use std::fmt;
use std::time::{Duration, Instant};

use simt::{Checks, OlderValue, Redundant, Schedule, Search, Simulator};

use crate::device::Device;

/// Returns simulated devices for tests. Each device checks for data races and for reads of uninitialised memory. Each
/// device runs blocks, warps and lanes in the order of another schedule of [`Schedule::HOSTILE`].
///
/// The [crate's documentation](crate#testing-a-kernel) has an example.
pub fn checked_devices() -> impl Iterator<Item = Device> {
    devices_that_check(Checks::default())
}

/// Returns simulated devices like [`checked_devices`], but with [`Checks::STRICT`]. On these devices, two accesses
/// count as ordered only if CUDA's documentation guarantees it. Shuffles and votes, for example, order no accesses.
///
/// If warps of a block reach a barrier through different calls, these devices print a warning to standard error and
/// report no fault.
pub fn checked_devices_strict() -> impl Iterator<Item = Device> {
    devices_that_check(Checks::STRICT)
}

fn devices_that_check(checks: Checks) -> impl Iterator<Item = Device> {
    let simulator = Simulator::new().with_checks(checks);
    Schedule::HOSTILE.into_iter().map(move |schedule| Device::simulated(simulator.clone().with_schedule(schedule)))
}

/// Returns the barriers, warp synchronisations and fences that `run` does not need under the schedules of
/// [`checked_devices`].
///
/// This function calls `run` once under each schedule. Then, for each synchronisation and schedule, it calls `run` with
/// that synchronisation left out, until a call fails or returns another value.
///
/// The result is a hint, not a fault: a barrier may be needed at sizes that `run` does not launch. `run` should launch
/// the kernel at the sizes that matter, and return what it computes instead of asserting it.
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
/// println!("{}", redundant[0]); // src/kernel.rs:6:5: no tried order needs this barrier: without it, …
/// # Ok::<(), launch::Error>(())
/// ```
///
/// # Errors
///
/// The first error that `run` returns while no synchronisation is left out.
pub fn redundant_synchronisations<T: PartialEq, E>(run: impl Fn(&Device) -> Result<T, E>) -> Result<Vec<Redundant>, E> {
    let simulator = Simulator::new().with_checks(Checks::default());
    simt::redundant_synchronisations(&simulator, &Schedule::HOSTILE, |simulator| run(&Device::simulated(simulator)))
}

/// The result of [`check_thoroughly`] if every call of `run` succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Thorough {
    /// The number of schedules under which `run` was called.
    pub orders: usize,
    /// True if all schedules worth trying were tried before the time ended.
    pub is_exhausted: bool,
    /// The number of those schedules that explore weak memory by choices of values.
    pub choices: usize,
    /// True if every choice of weak memory was tried: each value that an atomic read may return, and each order of the
    /// stores to a word.
    pub has_all_choices: bool,
    /// The number of further schedules that did not finish, because threads updated a value for ever while they waited.
    /// Such a schedule shows no error: under a fair schedule the kernel may finish.
    pub unfinished: usize,
}

/// Writes the numbers of schedules and of choices, and whether these are all there are. If schedules did not finish,
/// writes their number.
impl fmt::Display for Thorough {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { orders, is_exhausted, choices, has_all_choices, unfinished } = *self;
        let or_fewer = |is_all: bool| if is_all { "all" } else { "not all" };
        write!(
            f,
            "{orders} orders ({} that are worth trying), {choices} of them by choices of values ({} that there are)",
            or_fewer(is_exhausted),
            or_fewer(has_all_choices)
        )?;
        if unfinished > 0 { write!(f, "; {unfinished} further orders did not finish") } else { Ok(()) }
    }
}

/// A schedule under which `run` fails, and the error.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Failed<E> {
    /// The schedule that reproduces the error.
    pub schedule: Schedule,
    /// The number of schedules under which `run` was called, including this one.
    pub orders: usize,
    /// What was tried so far, including this schedule.
    pub tried: Thorough,
    /// The error that `run` returned.
    pub error: E,
    /// The last atomic accesses that did not see the newest write. PTX's memory model allows this, and it may be the
    /// reason of the error.
    pub older: Vec<OlderValue>,
}

impl<E: fmt::Display> fmt::Display for Failed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = self.error.to_string();
        write!(f, "in the order {}: {error}", self.schedule)?;
        match self.older.last().map(OlderValue::to_string) {
            // The message of a fault already names the access.
            Some(older) if !error.contains(&older) => write!(f, ". In this run, {older}"),
            _ => Ok(()),
        }
    }
}

/// Writes the text of `Display`, because `unwrap` prints errors by `Debug`.
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

/// Calls `run` under one schedule after another, each on a checking device. It stops when `run` fails, when `time` has
/// passed, or when no schedule worth trying is left.
///
/// This function first tries the [hostile schedules](Schedule::HOSTILE). Then it delays threads before those atomic
/// accesses by which threads communicated in earlier calls. In turn with these, it explores weak memory: which of the
/// values that PTX's memory model allows each atomic read returns. The eight hostile schedules alone find the errors
/// that occur under most schedules. Use this function for kernels whose blocks or warps wait for each other, or whose
/// last block does other work: errors in such kernels may need two or three slow threads at once.
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
/// The error of the first schedule under which `run` fails. If a launch finishes under none of the hostile schedules,
/// the error of the last of them.
pub fn check_thoroughly<E>(time: Duration, run: impl FnMut(&Device) -> Result<(), E>) -> Result<Thorough, Failed<E>> {
    check_with(Checks::default(), time, run)
}

/// Calls `run` like [`check_thoroughly`], but on devices that accept only what CUDA's documentation guarantees, like
/// those of [`checked_devices_strict`].
///
/// # Errors
///
/// The same errors as [`check_thoroughly`].
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

/// Calls `run` like [`check_thoroughly`], but on devices with the settings and checks of `simulator`.
///
/// # Errors
///
/// The same errors as [`check_thoroughly`].
#[doc(hidden)]
pub fn search<E>(
    simulator: &Simulator,
    time: Duration,
    mut run: impl FnMut(Simulator) -> Result<(), E>,
) -> Result<Thorough, Failed<E>> {
    let begun = Instant::now();
    let mut search = Search::new();
    while !search.has_tried_hostile() || begun.elapsed() < time {
        let mut run_one = |simulator: Simulator| {
            let result = run(simulator.clone());
            result.map_err(|error| (error, simulator.older_values()))
        };
        let Some((schedule, result)) = search.try_once(simulator, &mut run_one) else {
            return Ok(thorough(&search, true));
        };
        if let Some(Err((error, older))) = result {
            return Err(Failed { schedule, orders: search.tried(), tried: thorough(&search, false), error, older });
        }
    }
    Ok(thorough(&search, false))
}

fn thorough(search: &Search, is_exhausted: bool) -> Thorough {
    Thorough {
        orders: search.tried(),
        is_exhausted,
        choices: search.tried_choices(),
        has_all_choices: search.has_tried_all_choices(),
        unfinished: search.unfinished(),
    }
}
