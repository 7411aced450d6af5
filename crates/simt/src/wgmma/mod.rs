//! Products of a warpgroup (`wgmma`): four warps multiply matrices in shared memory while their threads do other work.
//! All functions here panic outside of a kernel.
//!
//! # Design
//!
//! The four warps need not execute a product at the same time, so each warp issues it for itself. The products of a
//! warpgroup have numbers, and the product that a warp issues must be the one that the other warps have issued under
//! its number. A product takes effect as a whole: in some schedules when the last warp issues it, and in the others
//! when a warp waits for it. A wait therefore lasts until all four warps have issued the product.
//!
//! A warp's part of a product is an agent of its own for the checker. It begins after what the lanes of that warp knew,
//! because an instruction of another warp orders nothing. It reads both matrices, and a thread that waits for the
//! product knows the end of all four parts.
//!
//! The sums are in the state of the block while products may change them. [`InFlight`] stands for a thread's sums.

mod descriptor;
mod instruction;
mod issue;
mod registers;
mod waiting;
mod warpgroup;

use std::panic::Location;

pub use self::instruction::{Elements, Instruction, Sums};
use self::issue::{LaneCall, issue};
pub use self::registers::{release_registers, take_registers};
pub(crate) use self::warpgroup::Warpgroups;
use crate::block::Block;
use crate::current::expect_current;
use crate::faults::FaultKind;
use crate::faults::warpgroup::WarpgroupFault;
use crate::source::Line;
use crate::synchronisations::SyncKind;

/// The matrix A of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// A matrix in shared memory, by its descriptor. Its columns are contiguous if `is_transposed` is true.
    Shared {
        /// The descriptor.
        descriptor: u64,
        /// True if the elements of a column are contiguous.
        is_transposed: bool,
    },
    /// The thread's registers.
    Registers([u32; 4]),
}

/// The sums of a thread, while products may change them.
#[derive(Debug)]
pub struct InFlight {
    /// The number of the warp's sums. `None` before the first product, while they are in the thread's registers.
    number: Option<u32>,
    /// True if a fence has ordered the writes to the registers before the products.
    is_fenced: bool,
    /// The line at which the registers got their values.
    written: Line,
}

impl InFlight {
    /// Notes that the thread has written its sums to registers.
    #[track_caller]
    pub fn begin() -> Self {
        Self { number: None, is_fenced: false, written: Location::caller() }
    }

    /// Orders the thread's writes to the registers of the sums before later products (`wgmma.fence`).
    ///
    /// In PTX, a fence orders all registers. Here it orders those of these sums alone, because a compiler may move
    /// writes to other registers across it.
    #[track_caller]
    pub fn fence(&mut self) {
        let (block, at) = (expect_current("wgmma::InFlight::fence"), Location::caller());
        if !block.leaves_out(SyncKind::ProductFence, at) {
            self.is_fenced |= gather(block, "wgmma.fence", at).is_some();
        }
    }

    /// Begins to add the product of A and B to the sums, or to replace them by it if `adds` is false. `registers` has
    /// the sums before the first product. `b` is the descriptor of B, whose rows are contiguous if `is_transposed` is
    /// true.
    #[track_caller]
    pub fn multiply(
        &mut self,
        instruction: Instruction,
        registers: &[u32],
        a: Left,
        (b, is_transposed): (u64, bool),
        adds: bool,
    ) {
        let (block, at) = (expect_current("wgmma::InFlight::multiply"), Location::caller());
        let Self { number, is_fenced, written } = *self;
        let call = LaneCall { instruction, a, b, is_transposed, adds, number, is_fenced, written };
        block.warpgroups.pass(block.thread(), call, registers);
        if let Some(is_first) = gather(block, "wgmma.mma_async", at) {
            if is_first {
                issue(block, at);
            }
            self.number = block.warpgroups.with(block.thread(), |group, warp| group.warps[warp].issued_to);
        }
    }

    /// Writes the sums to `registers`. It is a fault if the thread has not waited for all products.
    #[track_caller]
    pub fn read(self, registers: &mut [u32]) {
        let (block, at) = (expect_current("wgmma::InFlight::read"), Location::caller());
        let Some(number) = self.number else { return };
        if block.is_unwinding() {
            return;
        }
        let read = block
            .warpgroups
            .with(block.thread(), |group, warp| group.warps[warp].read_sums(number, block.thread(), registers));
        if let Err((product, is_committed)) = read {
            let product = Box::new(product.into());
            block.raise(FaultKind::Warpgroup(WarpgroupFault::InProgress { product, is_committed }), at);
        }
    }
}

/// Makes the current lane wait until all 32 lanes of its warp have reached the instruction `name` at the line `at`.
/// Returns true for the first lane that continues. Returns `None` if the thread unwinds.
fn gather(block: &Block, name: &'static str, at: Line) -> Option<bool> {
    if block.is_unwinding() {
        return None;
    }
    block.meet_whole(name, at);
    let thread = block.thread();
    Some(block.warpgroups.with(thread, |group, warp| group.warps[warp].receive(thread)))
}

/// Puts the products that the thread has issued since the last call into one group (`wgmma.commit_group`).
#[track_caller]
pub fn commit() {
    let (block, at) = (expect_current("wgmma::commit"), Location::caller());
    if !block.leaves_out(SyncKind::ProductCommit, at) && gather(block, "wgmma.commit_group", at) == Some(true) {
        block.warpgroups.with(block.thread(), |group, warp| group.warps[warp].commit());
    }
}

/// Waits until at most the last `allowed` groups of the calling thread are in progress (`wgmma.wait_group`).
#[track_caller]
pub fn wait(allowed: usize) {
    let (block, at) = (expect_current("wgmma::wait"), Location::caller());
    if block.leaves_out(SyncKind::ProductWait, at) {
        return;
    }
    if let Some(is_first) = gather(block, "wgmma.wait_group", at) {
        block.wait_for_products(allowed, is_first, at);
    }
}
