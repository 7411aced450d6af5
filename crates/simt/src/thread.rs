//! What a simulated thread can ask and do. Outside of a kernel all but [`is_simulated`] panic.

use std::fmt;
use std::panic::Location;

use crate::current::{self, current, expect_current};
use crate::fault::FaultKind;
use crate::geometry::Dim3;
use crate::observe::{observe_branch, observe_dependencies};
use crate::synchronisations::SyncKind;
use crate::watch::is_watching;

/// Whether the caller is a simulated thread.
#[inline]
pub fn is_simulated() -> bool {
    current::is_simulated()
}

/// The thread's index in its block.
#[inline]
#[track_caller]
pub fn thread_idx() -> Dim3 {
    expect_current("thread::thread_idx").thread().index()
}

/// The block's index in the grid.
#[inline]
#[track_caller]
pub fn block_idx() -> Dim3 {
    expect_current("thread::block_idx").context.index()
}

/// The extent of each block, in threads.
#[inline]
#[track_caller]
pub fn block_dim() -> Dim3 {
    expect_current("thread::block_dim").context.extent.dim
}

/// The extent of the grid, in blocks.
#[inline]
#[track_caller]
pub fn grid_dim() -> Dim3 {
    expect_current("thread::grid_dim").grid().config.grid
}

/// The table `index` of those that the launch gives.
#[inline]
#[track_caller]
pub fn table(index: usize) -> u8 {
    let tables = expect_current("thread::table").grid().config.tables;
    match tables.get(index) {
        Some(&table) => table,
        None => fault(FaultKind::InvalidLaunch(missing_table(index, tables.len()))),
    }
}

/// That a kernel asks for table `index` in a launch that gives `given`.
pub fn missing_table(index: usize, given: usize) -> String {
    format!(
        "the kernel asks for table {index} and the launch gives {given}: `.tables(tables)` of its `LaunchConfig` gives them"
    )
}

/// The thread's lane in its warp, from 0 to 31.
#[inline]
#[track_caller]
pub fn lane_id() -> u32 {
    expect_current("thread::lane_id").thread().lane()
}

/// The thread's warp in its block.
#[inline]
#[track_caller]
pub fn warp_id() -> u32 {
    expect_current("thread::warp_id").thread().warp() as u32
}

/// Waits until all threads of the block have come to this barrier.
///
/// A barrier that some threads never reach, and threads at different barriers, are faults.
#[inline(always)]
#[track_caller]
pub fn sync_threads() {
    expect_current("thread::sync_threads").synchronize(SyncKind::Barrier, false, Location::caller());
}

/// Waits as [`sync_threads`] does, and gives the number of the block's threads whose `predicate` holds.
#[inline(always)]
#[track_caller]
pub fn sync_threads_count(predicate: bool) -> u32 {
    expect_current("thread::sync_threads_count").synchronize(SyncKind::CountingBarrier, predicate, Location::caller())
}

/// Waits until all threads of the grid have come to this barrier, in a cooperative launch. Any other launch, and a
/// barrier that some threads never reach, are faults.
#[track_caller]
pub fn sync_grid() {
    expect_current("thread::sync_grid").synchronize_grid(Location::caller());
}

/// Waits until the launches before have ended, as they have in the simulator: a thread that has accessed global memory
/// before, and one that does without this where others of its block do not, are faults of a checked launch.
#[inline(always)]
#[track_caller]
pub fn wait_for_dependencies() {
    if is_watching() {
        observe_dependencies(Location::caller());
    }
}

/// Ends the launch with a fault at the caller's line. The thread unwinds, so that what it owns is dropped.
#[cold]
#[track_caller]
pub fn fault(kind: FaultKind) -> ! {
    expect_current("thread::fault").raise(kind, Location::caller())
}

/// Tells that the thread comes to a branch and takes it, or not, for whoever counts; gives `is_taken`.
#[inline(always)]
#[track_caller]
pub fn branch(is_taken: bool) -> bool {
    observe_branch(is_taken, Location::caller())
}

/// Tells that nobody uses what the thread's next atomic updates find, until [`end_unused`]: they may find what nobody
/// has written. Gives `value`.
#[inline(always)]
pub fn begin_unused<T>(value: T) -> T {
    if is_watching() {
        note_unused(true);
    }
    value
}

/// Ends what [`begin_unused`] has begun, with the result that nobody uses.
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

/// Tells that the thread may be waiting for a write to global memory: now and then it lets others run. The loads and
/// updates of [`memory`](crate::memory) that can be waited with call this themselves.
///
/// Before it goes on the thread waits for its block's turn, as the [crate's documentation](crate) describes.
#[track_caller]
pub fn poll() {
    let block = expect_current("thread::poll");
    block.take_turn();
    block.poll(Location::caller());
}

/// Tells that the thread may be waiting for a write of its own block, to shared memory: now and then it lets others
/// run.
#[track_caller]
pub fn poll_block() {
    expect_current("thread::poll_block").poll(Location::caller());
}

/// Tells that what the thread does is work and no waiting, though it may have looked so: its polls so far were not in
/// vain.
pub fn note_work() {
    expect_current("thread::note_work").note_progress();
}

/// Writes a message to the simulator's output, as a whole: no other message comes in between. Messages of different
/// blocks come in the order of the blocks. A message that the output does not take is lost. Outside of a kernel it goes
/// to standard output: device code that is called from there, in a test, may print.
pub fn print(args: fmt::Arguments<'_>) {
    let Some(block) = current() else {
        std::print!("{args}");
        return;
    };
    let message = args.to_string();
    block.take_turn();
    block.grid().print(&message);
}
