//! Functions that a simulated thread calls in a kernel. Outside of a kernel, most of them panic.

use std::fmt;
use std::panic::Location;

use crate::current::{self, current, expect_current};
use crate::faults::FaultKind;
use crate::geometry::Dim3;
use crate::observe::{observe_branch, observe_dependencies};
use crate::synchronisations::SyncKind;
use crate::watch::is_watching;

/// Returns `true` if the caller is a simulated thread.
#[inline]
pub fn is_simulated() -> bool {
    current::is_simulated()
}

/// Declares functions that return a property of the current thread's block.
macro_rules! queries {
    ($($(#[$doc:meta])* fn $name:ident() -> $Value:ty = |$block:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        #[inline]
        #[track_caller]
        pub fn $name() -> $Value {
            let $block = expect_current(concat!("thread::", stringify!($name)));
            $value
        }
    )*};
}

queries! {
    /// Returns the thread's index in its block.
    fn thread_idx() -> Dim3 = |block| block.thread().index();
    /// Returns the block's index in the grid.
    fn block_idx() -> Dim3 = |block| block.context.index();
    /// Returns the extent of each block, in threads.
    fn block_dim() -> Dim3 = |block| block.context.extent.dim;
    /// Returns the extent of the grid, in blocks.
    fn grid_dim() -> Dim3 = |block| block.grid().config.grid;
    /// Returns the number of the thread's lane in its warp, from 0 to 31.
    fn lane_id() -> u32 = |block| block.thread().lane();
    /// Returns the number of the thread's warp in its block.
    fn warp_id() -> u32 = |block| block.thread().warp() as u32;
}

/// Returns the truth table number `index` of the launch's configuration.
#[inline]
#[track_caller]
pub fn table(index: usize) -> u8 {
    let tables = expect_current("thread::table").grid().config.tables;
    match tables.get(index) {
        Some(&table) => table,
        None => fault(FaultKind::InvalidLaunch(missing_table(index, tables.len()))),
    }
}

/// Returns the error message for a kernel that needs the truth table number `index` in a launch with only `given`
/// tables.
pub fn missing_table(index: usize, given: usize) -> String {
    format!("the kernel needs table {index}, but the launch has {given} tables: pass them with `LaunchConfig::tables`")
}

/// Waits until all threads of the block have reached this barrier.
///
/// It is a fault if some threads of the block never reach this barrier, or if threads wait at different barriers.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    expect_current("thread::sync_threads").synchronize(SyncKind::Barrier, false, Location::caller());
}

/// Waits like [`sync_threads`], and returns the number of the block's threads whose `predicate` is true.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    expect_current("thread::sync_threads_count").synchronize(SyncKind::CountingBarrier, predicate, Location::caller())
}

/// Waits at the named barrier `id` (1 to 15) until `threads` threads of the block have reached it or
/// [arrived](arrive_named). `threads` is a multiple of 32.
///
/// It is a fault if `id` or `threads` is out of range, or if threads of one phase give different numbers.
#[track_caller]
pub fn sync_named(id: u32, threads: u32) {
    expect_current("thread::sync_named").meet_named(id, threads, true, Location::caller());
}

/// Arrives at the named barrier `id` like [`sync_named`], but does not wait.
#[track_caller]
pub fn arrive_named(id: u32, threads: u32) {
    expect_current("thread::arrive_named").meet_named(id, threads, false, Location::caller());
}

/// Waits until all threads of the grid have reached this barrier. It is a fault if the launch is not cooperative, or if
/// some threads never reach the barrier.
#[track_caller]
pub fn sync_grid() {
    expect_current("thread::sync_grid").synchronize_grid(Location::caller());
}

/// Waits until the previous launches have ended. In the simulator, the previous launches have always ended, so this
/// call returns at once.
///
/// In a checked launch it is a fault if the thread has accessed global memory before this call. It is also a fault if a
/// thread accesses global memory without this call, although another thread of its block has made the call.
#[inline(always)]
#[track_caller]
pub fn wait_for_dependencies() {
    if is_watching() {
        observe_dependencies(Location::caller());
    }
}

/// Ends the launch with a fault at the caller's line. The thread unwinds, so that its values are dropped.
#[cold]
#[track_caller]
pub fn fault(kind: FaultKind) -> ! {
    expect_current("thread::fault").raise(kind, Location::caller())
}

/// Reports to the watcher whether the thread takes a branch, and returns `is_taken`.
#[inline(always)]
#[track_caller]
pub fn branch(is_taken: bool) -> bool {
    observe_branch(is_taken, Location::caller())
}

/// Marks the thread's atomic updates from now until [`end_unused`] as updates whose results the kernel ignores. Such
/// updates may read uninitialised memory. Returns `value`.
#[inline(always)]
pub fn begin_unused<T>(value: T) -> T {
    if is_watching() {
        note_unused(true);
    }
    value
}

/// Ends the marking of atomic updates that [`begin_unused`] began. `_unused` is the ignored result.
#[inline(always)]
pub fn end_unused<T>(_unused: T) {
    if is_watching() {
        note_unused(false);
    }
}

#[cold]
#[inline(never)]
fn note_unused(is_unused: bool) {
    if let Some(block) = current() {
        block.context.unused.note(block.thread(), is_unused);
    }
}

/// Notes that the thread may be waiting for a write to global memory. After some calls, this function lets other
/// threads run. The atomic loads and updates of [`memory`](crate::memory) do this automatically.
///
/// The thread also waits for its block's turn, as the [crate's documentation](crate) describes.
#[track_caller]
pub fn poll() {
    let block = expect_current("thread::poll");
    block.take_turn();
    block.poll(Location::caller());
}

/// Notes that the thread makes progress. The polls that the thread has made so far then do not count as waiting.
pub fn note_work() {
    expect_current("thread::note_work").note_progress();
}

/// Writes a message as a whole to the simulator's output. Messages of different blocks appear in the order of the
/// blocks. If the output fails, the message is lost. Outside of a kernel, the message goes to standard output, so that
/// tests on the host can call device code that prints.
pub fn print(args: fmt::Arguments<'_>) {
    let Some(block) = current() else {
        std::print!("{args}");
        return;
    };
    let message = args.to_string();
    block.take_turn();
    block.grid().print(&message);
}
