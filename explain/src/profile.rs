//! The figures of the kernels that a closure launches, and budgets for tests.

use std::fmt;

use launch::Device;
use serde::Serialize;
use units::{Bytes, grouped, number};

use crate::explainer::Explainer;
use crate::figures::KernelFigures;
use crate::gpus::Gpu;
use crate::sites::{AccessSite, Memory};
use crate::summary::Summary;
use crate::text;

/// The number of bytes that a warp accesses by one request of 16 bytes per lane.
const REQUEST_BYTES: u64 = 32 * 16;
/// The width of the text, in columns.
const COLUMNS: usize = 120;

/// Calls `run` with a simulated device that counts, and returns the figures of the kernels that `run` launches, for the
/// GPU [`Gpu::DEFAULT`]. It is for tests that hold a kernel to a budget:
///
/// ```
/// use cuda_std::{Global, GlobalMut, kernel, thread};
/// use launch::LaunchConfig;
///
/// /// `y[i] = x[i]` for every `i`; any grid.
/// #[kernel]
/// pub fn copy(x: Global<f32>, y: GlobalMut<f32>) {
///     for i in thread::grid_stride(y.len()) {
///         y.store(i, x.load(i));
///     }
/// }
///
/// # fn main() -> Result<(), launch::Error> {
/// let profile = explain::profile(|device| {
///     let (x, mut y) = (device.zeroed::<f32>(4096)?, device.alloc::<f32>(4096)?);
///     device.launch(LaunchConfig::new(16, 256), copy(x.view(), y.view_mut()))
/// })?;
/// profile.assert_moves(1.1, 2 * 4096 * 4); // at most 1.1 × the bytes that must move: each element in and out
/// profile.assert_no_bank_conflicts();
/// profile.assert_barriers(0);
/// # Ok(())
/// # }
/// ```
///
/// For another GPU, or with registers and spills, use an [`Explainer`] and [`Profile::new`].
///
/// # Errors
/// The error that `run` returns.
pub fn profile<E>(run: impl FnOnce(&Device) -> Result<(), E>) -> Result<Profile, E> {
    let gpu = Gpu::default_gpu();
    let ((), kernels) = Explainer::new(gpu).profile(run)?;
    Ok(Profile::new(gpu, kernels))
}

/// The figures of the kernels that a closure launched. `Display` writes them as text, line by line.
///
/// The methods that begin with `assert_` panic if a budget is exceeded. The message names the source lines that exceed
/// it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Profile {
    /// The GPU for which the figures are computed.
    pub gpu: &'static Gpu,
    /// The figures, summed over the kernels.
    pub summary: Summary,
    /// The figures of each kernel, in the order of their first launches.
    pub kernels: Vec<KernelFigures>,
}

impl Profile {
    /// Returns the profile of `kernels`, the figures that [`Explainer::profile`] returned.
    pub fn new(gpu: &'static Gpu, kernels: Vec<KernelFigures>) -> Self {
        Self { gpu, summary: Summary::of(&kernels, 1, gpu), kernels }
    }

    /// Returns the number of bytes of global memory that the kernels move: whole sectors of 32 bytes, counted anew for
    /// each request of a warp, as if there were no caches.
    pub fn moved_bytes(&self) -> u64 {
        self.summary.moved_bytes
    }

    /// Returns the moved bytes divided by `useful_bytes`, the number of bytes that any solution must move.
    pub fn moved_per_useful(&self, useful_bytes: u64) -> f64 {
        self.moved_bytes() as f64 / useful_bytes.max(1) as f64
    }

    /// Returns the number of passes over the banks of shared memory that bank conflicts add.
    pub fn bank_conflicts(&self) -> u64 {
        self.kernels.iter().map(|kernel| kernel.totals.shared.all().bank_conflicts).sum()
    }

    /// Returns the number of barriers that a block reaches, for the kernel and the launch with the most.
    pub fn barriers_per_block(&self) -> f64 {
        self.kernels.iter().map(KernelFigures::barriers_per_block).fold(0.0, f64::max)
    }

    /// Asserts that the kernels move at most `factor` times `useful_bytes` bytes of global memory. See
    /// [`moved_bytes`](Self::moved_bytes).
    ///
    /// # Panics
    /// If they move more.
    #[track_caller]
    pub fn assert_moves(&self, factor: f64, useful_bytes: u64) {
        assert_kept(self.check_moves(factor, useful_bytes));
    }

    /// Checks like [`assert_moves`](Self::assert_moves).
    ///
    /// # Errors
    /// The message of that assertion.
    pub fn check_moves(&self, factor: f64, useful_bytes: u64) -> Result<(), String> {
        let found = self.moved_per_useful(useful_bytes);
        if found <= factor {
            return Ok(());
        }
        let copies = self.kernels.iter().flat_map(|kernel| &kernel.bulk_copies).map(|site| {
            let place = &site.place;
            format!("  {}:{}: {}: {}\n", place.file, place.line, site.what(), site.meaning())
        });
        Err(format!(
            "the kernels move {}, {} × the useful {}: at most {} × are allowed\n{}{}",
            Bytes(self.moved_bytes()),
            number(found),
            Bytes(useful_bytes),
            number(factor),
            self.lines(|site| site.memory == Memory::Global, |site| site.bytes_moved, |site| site.meaning.clone()),
            copies.collect::<String>()
        ))
    }

    /// Checks that the kernels make at most `factor` times the requests to global memory that `useful_bytes` need if
    /// each lane of a warp accesses 16 bytes at once.
    ///
    /// # Errors
    /// A message that names the lines with accesses of fewer bytes.
    pub fn check_requests(&self, factor: f64, useful_bytes: u64) -> Result<(), String> {
        let least = useful_bytes.div_ceil(REQUEST_BYTES).max(1);
        let found = self.summary.global_requests;
        if found as f64 <= factor * least as f64 {
            return Ok(());
        }
        let narrow = |site: &AccessSite| site.memory == Memory::Global && site.bytes_per_lane < 16;
        let meaning = |site: &AccessSite| format!("{} bytes per lane, where 16 would do", site.bytes_per_lane);
        Err(format!(
            "the kernels make {} requests to global memory, {} × the {} that suffice with 16 bytes per lane: at most \
             {} × are allowed\n{}",
            grouped(found),
            number(found as f64 / least as f64),
            grouped(least),
            number(factor),
            self.lines(narrow, |site| site.traffic.requests, meaning)
        ))
    }

    /// Asserts that no access to shared memory has a bank conflict.
    ///
    /// # Panics
    /// If one has.
    #[track_caller]
    pub fn assert_no_bank_conflicts(&self) {
        assert_kept(self.check_no_bank_conflicts());
    }

    /// Checks like [`assert_no_bank_conflicts`](Self::assert_no_bank_conflicts).
    ///
    /// # Errors
    /// The message of that assertion.
    pub fn check_no_bank_conflicts(&self) -> Result<(), String> {
        let found = self.bank_conflicts();
        if found == 0 {
            return Ok(());
        }
        let conflicts = |site: &AccessSite| site.traffic.bank_conflicts;
        Err(format!(
            "bank conflicts add {} passes over shared memory, and none are allowed\n{}",
            grouped(found),
            self.lines(|site| site.traffic.bank_conflicts > 0, conflicts, |site| site.meaning.clone())
        ))
    }

    /// Asserts that each block reaches at most `max` barriers.
    ///
    /// # Panics
    /// If a block reaches more.
    #[track_caller]
    pub fn assert_barriers(&self, max: u32) {
        assert_kept(self.check_barriers(max));
    }

    /// Checks like [`assert_barriers`](Self::assert_barriers).
    ///
    /// # Errors
    /// The message of that assertion.
    pub fn check_barriers(&self, max: u32) -> Result<(), String> {
        let most = |a: &&KernelFigures, b: &&KernelFigures| a.barriers_per_block().total_cmp(&b.barriers_per_block());
        let Some(kernel) = self.kernels.iter().max_by(most) else { return Ok(()) };
        let (found, family) = (kernel.barriers_per_block(), kernel.family);
        if found <= f64::from(max) {
            return Ok(());
        }
        let mut text = format!("a block of `{family}` reaches {} barriers: at most {max} are allowed\n", number(found));
        let blocks = kernel.launches.iter().map(|launches| launches.launches * launches.blocks()).sum::<u64>().max(1);
        for (at, count) in &kernel.barrier_sites {
            let each = number(*count as f64 / blocks as f64);
            text += &format!("  {}:{}: {each} per block\n", at.file, at.line);
        }
        Err(text)
    }

    /// Checks that the warps of a block make at most `max` requests to shared memory, on average over the blocks of all
    /// launches. A warp without an active lane makes none.
    ///
    /// # Errors
    /// A message with the number of requests of the kernel with the most, and the lines that make them.
    pub fn check_shared_requests(&self, max: u32) -> Result<(), String> {
        let found = self.kernels.iter().map(KernelFigures::shared_requests_per_block).fold(0.0, f64::max);
        if found <= f64::from(max) {
            return Ok(());
        }
        Err(format!(
            "the warps of a block make {} requests to shared memory: at most {max} are allowed\n{}",
            number(found),
            self.lines(|site| site.memory == Memory::Shared, |site| site.traffic.requests, |site| site.meaning.clone())
        ))
    }

    /// Returns a line for each of the chosen sites, the one with the most of `weight` first. Each ends with `meaning`.
    fn lines(
        &self,
        is_chosen: impl Fn(&AccessSite) -> bool,
        weight: impl Fn(&AccessSite) -> u64,
        meaning: impl Fn(&AccessSite) -> String,
    ) -> String {
        let sites = self.kernels.iter().flat_map(|kernel| &kernel.sites);
        let mut sites: Vec<&AccessSite> = sites.filter(|site| is_chosen(site)).collect();
        sites.sort_by_key(|site| std::cmp::Reverse(weight(site)));
        let line = |site: &&AccessSite| {
            let place = &site.place;
            format!("  {}:{}: {}: {}\n", place.file, place.line, site.what(), meaning(site))
        };
        sites.iter().map(line).collect()
    }
}

/// Panics with the text of a budget that is exceeded.
#[track_caller]
fn assert_kept(checked: Result<(), String>) {
    assert!(checked.is_ok(), "{}", checked.err().unwrap_or_default());
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}\n", self.gpu);
        text::add_figures(&mut text, &self.summary, &self.kernels, self.gpu, COLUMNS);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use cuda_std::{GlobalMut, kernel, shared_array, thread};
    use launch::LaunchConfig;

    use super::*;

    /// Each thread stores to its own sector, through one bank of shared memory and three barriers.
    #[kernel]
    fn wasteful(y: GlobalMut<u32>) {
        let tile = shared_array![u32; 1024];
        let i = thread::thread_idx_x() as usize;
        tile.store(32 * i, i as u32);
        thread::sync_threads();
        thread::sync_threads();
        thread::sync_threads();
        y.store(8 * i, tile.load(32 * i));
    }

    fn profiled() -> Profile {
        profile(|device| {
            let mut y = device.zeroed::<u32>(256)?;
            device.launch(LaunchConfig::new(1, 32), wasteful(y.view_mut()))
        })
        .map_err(|error: launch::Error| error)
        .unwrap()
    }

    fn message(assertion: fn(&Profile)) -> String {
        let profile = profiled();
        *catch_unwind(move || assertion(&profile)).unwrap_err().downcast::<String>().unwrap()
    }

    #[test]
    fn a_budget_that_is_kept_is_silent() {
        let profile = profiled();
        assert_eq!((profile.moved_bytes(), profile.bank_conflicts(), profile.barriers_per_block()), (1024, 62, 3.0));
        profile.assert_moves(8.0, 32 * 4);
        profile.assert_barriers(3);
        assert!(profile.to_string().contains("3 barriers (one per block)"), "{profile}");
    }

    #[test]
    fn a_budget_that_is_exceeded_names_the_lines() {
        let text = message(|profile| profile.assert_moves(1.1, 32 * 4));
        for part in ["move 1 KiB, 8 × the useful 128 B: at most 1.1 ×", "profile.rs:", "global store y", "32 sectors"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        let text = message(Profile::assert_no_bank_conflicts);
        assert!(text.contains("add 62 passes") && text.contains("32-way") && !text.contains("global"), "{text}");
        let text = profiled().check_requests(0.9, 512).unwrap_err();
        for part in ["make 1 requests to global memory, 1 × the 1", "at most 0.9 ×", "global store y: 4 bytes per lane"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(profiled().check_requests(1.0, 512), Ok(()));
        let text = message(|profile| profile.assert_barriers(2));
        assert!(text.starts_with("a block of `wasteful` reaches 3 barriers: at most 2 are allowed\n"), "{text}");
        assert_eq!((text.matches("profile.rs:").count(), text.matches(": 1 per block\n").count()), (3, 3), "{text}");
        assert_eq!(profiled().check_shared_requests(2), Ok(()));
        let text = profiled().check_shared_requests(1).unwrap_err();
        assert!(
            text.starts_with("the warps of a block make 2 requests") && text.contains("shared store tile"),
            "{text}"
        );
    }
}
