//! The issue of a product by a warp.

use super::Left;
use super::descriptor::{Matrix, UNIT, Unit};
use super::instruction::{Elements, Instruction, ROWS};
use super::warpgroup::{Factor, Part, Product, WARPS, Warp};
use crate::block::Block;
use crate::block::context::BlockContext;
use crate::bulk::agents::{Agent, Origin};
use crate::faults::FaultKind;
use crate::faults::warpgroup::{DescriptorProblem, Difference, WarpgroupFault};
use crate::lanes::{LANES, Thread};
use crate::observe::follow;
use crate::region::Space;
use crate::source::{Line, is_same_line};
use crate::watch::{Access, Touch};

/// The operands that a lane passes to a product.
#[derive(Clone, Copy)]
pub(super) struct LaneCall {
    pub(super) instruction: Instruction,
    pub(super) a: Left,
    pub(super) b: u64,
    /// True if the rows of B are contiguous.
    pub(super) is_transposed: bool,
    /// True if the product is added to the sums, and false if it replaces them.
    pub(super) adds: bool,
    /// The number of the sums, if a product has added to them before.
    pub(super) number: Option<u32>,
    /// True if a fence has followed the writes to the registers of the sums.
    pub(super) is_fenced: bool,
    /// The line at which the registers got their values.
    pub(super) written: Line,
}

impl LaneCall {
    /// Returns the difference between the operands of two lanes of one warp, if there is any.
    fn difference(&self, other: &Self) -> Option<Difference> {
        let is_same_a = match (self.a, other.a) {
            (Left::Registers(_), Left::Registers(_)) => true,
            (a, b) => a == b,
        };
        if self.instruction != other.instruction {
            Some(Difference::Instruction)
        } else if !is_same_a || (self.b, self.is_transposed) != (other.b, other.is_transposed) {
            Some(Difference::Descriptors)
        } else {
            ((self.number, self.adds) != (other.number, other.adds)).then_some(Difference::Sums)
        }
    }
}

/// Issues the product that the lanes of the current thread's warp have reached together at the line `at`.
pub(super) fn issue(block: &Block, at: Line) {
    let thread = block.thread();
    let raise = |fault: WarpgroupFault| -> ! { block.raise(FaultKind::Warpgroup(fault), at) };
    let (call, different) = block.warpgroups.with(thread, |group, warp| {
        let calls = || group.warps[warp].calls.iter().flatten();
        let first = calls().next().copied();
        let different = calls().zip(0..).find_map(|(call, lane)| Some((call.difference(first.as_ref()?)?, lane)));
        let unfenced = calls().find(|call| call.number.is_none() && !call.is_fenced);
        (unfenced.copied().or(first), different)
    });
    let Some(call) = call else { return };
    if (thread.warp() / WARPS + 1) * WARPS * LANES as usize > block.context.extent.threads as usize {
        raise(WarpgroupFault::Incomplete { instruction: call.instruction.to_string() });
    }
    if let Some((difference, lane)) = different {
        let other = block.context.extent.thread(thread.warp() as u32 * LANES + lane);
        raise(WarpgroupFault::Apart { difference, other: Box::new(at.into()), other_thread: other.index() });
    }
    if call.number.is_none() && !call.is_fenced {
        raise(WarpgroupFault::WithoutFence { written: Box::new(call.written.into()) });
    }
    let [a, b] = match factors(block, &call) {
        Ok(factors) => factors,
        Err((factor, problem)) => raise(WarpgroupFault::Descriptor { factor, problem }),
    };
    let (a, Factor::Shared(b)) = (a, b) else { return };
    let product = Product { instruction: call.instruction, a, b, thread, at, parts: Default::default() };
    let apart = block.warpgroups.with(thread, |group, warp| {
        let number = group.warps[warp].issued;
        group.product(number).and_then(|other| Some((product.difference(other)?, other.thread, other.at)))
    });
    if let Some((difference, other_thread, other)) = apart {
        let (other, other_thread) = (Box::new(other.into()), other_thread.index());
        raise(WarpgroupFault::Apart { difference, other, other_thread });
    }
    let agent = announce(block, &product);
    block.warpgroups.with(thread, |group, warp| {
        let number = group.warps[warp].issued;
        let part = group.warps[warp].issue(&call, agent, at);
        let index = (number - group.first) as usize;
        if index == group.products.len() {
            group.products.push_back(product);
        }
        group.products[index].parts[warp] = Some(part);
    });
    block.settle_products(thread);
}

impl Warp {
    /// Makes the warp's part of its next product.
    fn issue(&mut self, call: &LaneCall, agent: Agent, at: Line) -> Part {
        let instruction = call.instruction;
        let registers: Vec<[u32; 4]> = self.calls.iter().flatten().filter_map(|call| call.a.into()).collect();
        let rows = if registers.is_empty() { Vec::new() } else { instruction.rows_of_registers(&registers) };
        let sums = call.number.unwrap_or_else(|| self.take_sums(instruction, at));
        self.issue_to(sums, at);
        Part { sums, adds: call.adds, rows, agent }
    }
}

impl Product {
    /// Returns the difference between the product and the one that another warp has issued in its place.
    fn difference(&self, other: &Self) -> Option<Difference> {
        if self.instruction != other.instruction || !is_same_line(self.at, other.at) {
            Some(Difference::Instruction)
        } else {
            ((self.a, self.b) != (other.a, other.b)).then_some(Difference::Descriptors)
        }
    }

    /// Calls `see` with each unit of the matrices in shared memory.
    fn each_unit(&self, mut see: impl FnMut(Unit)) {
        if let Factor::Shared(a) = self.a {
            a.units(WARPS * ROWS, self.instruction.a).for_each(&mut see);
        }
        self.b.units(self.instruction.n, self.instruction.b).for_each(see);
    }
}

/// Returns A and B of a product.
///
/// # Errors
/// The factor whose descriptor is wrong, and the reason.
fn factors(block: &Block, call: &LaneCall) -> Result<[Factor; 2], (char, DescriptorProblem)> {
    let LaneCall { instruction, a, b, is_transposed, .. } = *call;
    let decode = |name, (descriptor, is_transposed), rows, elements: Elements| {
        if is_transposed && elements.size() != 2 {
            return Err((name, DescriptorProblem::Transposed));
        }
        let matrix = Matrix::decode(descriptor, is_transposed).map_err(|problem| (name, problem))?;
        let end = matrix.units(rows, elements).map(|unit| unit.address + UNIT).max().unwrap_or_default();
        let len = block.context.arena.len();
        if end > len {
            return Err((name, DescriptorProblem::Outside { end, len }));
        }
        Ok(Factor::Shared(matrix))
    };
    let a = match a {
        Left::Registers(_) => Factor::Registers,
        Left::Shared { descriptor, is_transposed } => {
            decode('A', (descriptor, is_transposed), WARPS * ROWS, instruction.a)?
        }
    };
    Ok([a, decode('B', (b, is_transposed), instruction.n, instruction.b)?])
}

/// Returns the threads of warp `warp` of a block.
pub(super) fn lanes_of(block: &BlockContext, warp: usize) -> [Thread; LANES as usize] {
    std::array::from_fn(|lane| block.extent.thread(warp as u32 * LANES + lane as u32))
}

/// Notifies the watcher of all reads of the warp's part of `product`. Returns the agent of this part.
fn announce(block: &Block, product: &Product) -> Agent {
    let Some(watcher) = block.watcher().filter(|_| !std::thread::panicking()) else { return Agent::default() };
    let (context, at) = (&block.context, product.at);
    watcher.product(context, &product.instruction.to_string(), at);
    let agent = watcher.begin_agent(context, Origin::Threads(&lanes_of(context, block.thread().warp())), at);
    product.each_unit(|unit| {
        let touch = Touch { space: Space::Shared, access: Access::ProductRead, address: unit.address, bytes: UNIT, at };
        follow(block, watcher, watcher.agent_access(context, context, agent, &touch), at);
    });
    agent
}
