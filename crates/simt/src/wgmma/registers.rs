//! The registers of warps (`setmaxnreg`).
//!
//! # Design
//!
//! At the launch, each thread has 65,536 ÷ (the kernel's maximum of threads × its minimum of blocks) registers, down to
//! a multiple of 8. All registers of the block belong to a warp or to the block's pool. A warp that takes registers
//! waits until the pool has enough. The registers of warps that have exited do not return to the pool.

use std::panic::Location;

use super::gather;
use super::warpgroup::{Change, WARPS, Warpgroup};
use crate::block::Block;
use crate::current::expect_current;
use crate::faults::FaultKind;
use crate::faults::warpgroup::{Difference, RegisterCount, WarpgroupFault};
use crate::lanes::{LANES, Thread, bits};
use crate::source::{Line, is_same_line};

/// The number of registers of a multiprocessor.
const ALL: u32 = 1 << 16;
/// The maximum number of registers of a thread.
const MAX: u32 = 256;

/// Raises the number of registers of each thread of the warpgroup to `count`, and waits until the block's pool has
/// enough.
#[track_caller]
pub fn take_registers(count: u32) {
    let (block, at) = (expect_current("wgmma::take_registers"), Location::caller());
    change(block, Change { count, takes: true, thread: block.thread(), at });
}

/// Lowers the number of registers of each thread of the warpgroup to `count`.
#[track_caller]
pub fn release_registers(count: u32) {
    let (block, at) = (expect_current("wgmma::release_registers"), Location::caller());
    change(block, Change { count, takes: false, thread: block.thread(), at });
}

/// Makes the current thread's warp change its registers, together with the other lanes.
fn change(block: &Block, change: Change) {
    let (thread, at) = (block.thread(), change.at);
    let name = if change.takes { "setmaxnreg.inc" } else { "setmaxnreg.dec" };
    let Some(is_first) = gather(block, name, at) else { return };
    let raise = |fault: WarpgroupFault| -> ! { block.raise(FaultKind::Warpgroup(fault), at) };
    if is_first {
        let Some(start) = block.registers_at_launch() else { raise(WarpgroupFault::NoLaunchBounds) };
        if (thread.warp() / WARPS + 1) * WARPS * LANES as usize > block.context.extent.threads as usize {
            raise(WarpgroupFault::Incomplete { instruction: name.to_owned() });
        }
        if let Err(fault) = block.warpgroups.with(thread, |group, warp| group.change_registers(warp, change, start)) {
            raise(fault);
        }
        block.settle_registers(start);
    }
    let must_wait = || {
        block.warpgroups.with(thread, |group, warp| {
            let warp = &mut group.warps[warp];
            let must_wait = warp.wanted.is_some();
            warp.waiting_for_registers |= if must_wait { thread.bit() } else { 0 };
            must_wait
        })
    };
    while must_wait() {
        block.note_seen(at);
        let warp = block.run_queue.warp_of(thread);
        warp.at_operation.set(warp.at_operation.get() | thread.bit());
        block.suspend();
    }
}

impl Warpgroup {
    /// Begins a change of the registers of warp `warp`.
    ///
    /// # Errors
    /// If another warp has made another change in its place, or if the number is on the wrong side of the present one.
    fn change_registers(&mut self, warp: usize, change: Change, start: u32) -> Result<(), WarpgroupFault> {
        let state = &mut self.warps[warp];
        match self.changes.get(state.changes) {
            Some(other)
                if (other.count, other.takes) != (change.count, change.takes) || !is_same_line(other.at, change.at) =>
            {
                let (other, other_thread) = (Box::new(other.at.into()), other.thread.index());
                return Err(WarpgroupFault::Apart { difference: Difference::Registers, other, other_thread });
            }
            Some(_) => {}
            None => self.changes.push(change),
        }
        state.changes += 1;
        let present = state.registers_per_thread.unwrap_or(start);
        if (change.takes && change.count < present) || (!change.takes && change.count > present) {
            return Err(WarpgroupFault::WrongCount { present, wanted: change.count, takes: change.takes });
        }
        state.wanted = Some(change.count);
        Ok(())
    }
}

impl Block {
    /// Returns the number of registers of a thread at the launch. Returns `None` if the kernel does not determine it.
    fn registers_at_launch(&self) -> Option<u32> {
        let kernel = self.grid().kernel;
        let threads = kernel.max_threads?.checked_mul(kernel.min_blocks?)?;
        Some((ALL.checked_div(threads)? / 8 * 8).min(MAX))
    }

    /// Returns the number of registers of each warp of the block per thread, and the registers of the block's pool,
    /// also per thread of a warp. At the launch, a thread has `start` registers.
    fn registers(&self, start: u32) -> (Vec<RegisterCount>, i64) {
        let warps = self.context.extent.threads / LANES;
        let mut counts: Vec<RegisterCount> =
            (0..warps).map(|warp| RegisterCount { warp, registers: start, wanted: None }).collect();
        self.warpgroups.each(|index, group| {
            for (warp, state) in group.warps.iter().enumerate() {
                if let Some(count) = counts.get_mut(index * WARPS + warp) {
                    count.registers = state.registers_per_thread.unwrap_or(start);
                    count.wanted = state.wanted;
                }
            }
        });
        let used: u32 = counts.iter().map(|count| count.registers).sum();
        (counts, i64::from(start * warps) - i64::from(used))
    }

    /// Lets the warps change their registers for which the pool has enough.
    fn settle_registers(&self, start: u32) {
        loop {
            let (counts, free) = self.registers(start);
            let fits = |count: &&RegisterCount| {
                count.wanted.is_some_and(|wanted| i64::from(wanted) - i64::from(count.registers) <= free)
            };
            let Some(count) = counts.iter().find(fits) else { return };
            let lanes = self.warpgroups.with(self.context.extent.thread(count.warp * LANES), |group, warp| {
                let warp = &mut group.warps[warp];
                warp.registers_per_thread = warp.wanted.take();
                std::mem::take(&mut warp.waiting_for_registers)
            });
            self.note_progress();
            let state = &self.run_queue.warps()[count.warp as usize];
            state.at_operation.set(state.at_operation.get() & !lanes);
            self.run_queue.wake(count.warp as usize, lanes);
        }
    }

    /// Returns true if `thread` waits for registers.
    pub(crate) fn waits_for_registers(&self, thread: Thread) -> bool {
        self.warpgroups.find(|(index, group)| {
            let warp = group.warps.get(thread.warp().checked_sub(index * WARPS)?)?;
            Some(warp.waiting_for_registers & thread.bit() != 0)
        }) == Some(true)
    }

    /// Returns a thread that waits for registers which the block's pool never has, with its line and the kind of this
    /// fault.
    pub(crate) fn waiting_for_registers(&self) -> Option<(Thread, Line, FaultKind)> {
        let (thread, at) = self.warpgroups.find(|(index, group)| {
            let (warp, state) = group.warps.iter().enumerate().find(|(_, warp)| warp.waiting_for_registers != 0)?;
            let lane = bits(state.waiting_for_registers).next()? as u32;
            let at = group.changes.get(state.changes.checked_sub(1)?)?.at;
            Some((self.context.extent.thread((index * WARPS + warp) as u32 * LANES + lane), at))
        })?;
        let start = self.registers_at_launch()?;
        let (warps, free) = self.registers(start);
        let free = u32::try_from(free).unwrap_or_default();
        Some((thread, at, FaultKind::Warpgroup(WarpgroupFault::NoRegisters { start, free, warps })))
    }

    /// Returns the last change of registers that some warps of a warpgroup have made and others have not, with a thread
    /// that has made it and the number of a warp that has not.
    pub(super) fn missing_change(&self) -> Option<(Thread, Line, usize)> {
        self.warpgroups.find(|(index, group)| {
            let change = group.changes.last()?;
            let warp = group.warps.iter().position(|warp| warp.changes < group.changes.len())?;
            Some((change.thread, change.at, index * WARPS + warp))
        })
    }
}
