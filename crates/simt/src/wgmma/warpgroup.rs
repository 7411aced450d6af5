//! The products of each warpgroup of a block, and the sums that they change.

use std::cell::RefCell;
use std::collections::VecDeque;

use super::Left;
use super::descriptor::{Matrix, UNIT};
use super::instruction::{Elements, Instruction, ROWS};
use super::issue::LaneCall;
use crate::block::arena::Arena;
use crate::bulk::agents::Agent;
use crate::lanes::{LANES, Thread};
use crate::raw::guard;
use crate::source::Line;

/// The number of warps of a warpgroup.
pub(super) const WARPS: usize = 4;

/// The warpgroups of a block that have executed an instruction.
#[derive(Default)]
pub(crate) struct Warpgroups(RefCell<Vec<Warpgroup>>);

/// The products of four warps.
#[derive(Default)]
pub(super) struct Warpgroup {
    pub(super) warps: [Warp; WARPS],
    /// The products that some warp has issued and some warp has not waited for, in order.
    pub(super) products: VecDeque<Product>,
    /// The number of the first of these products.
    pub(super) first: u64,
    /// The number of products that have taken effect.
    computed: u64,
}

/// The state of a warp.
#[derive(Default)]
pub(super) struct Warp {
    /// The lanes that have not yet continued after the last instruction.
    unreceived: u32,
    /// The operands that each lane passes to an instruction.
    pub(super) calls: Vec<Option<LaneCall>>,
    /// The sums in the registers of each lane.
    pub(super) registers: Vec<Vec<u32>>,
    /// The sums of the last product.
    pub(super) issued_to: Option<u32>,
    /// The number of fences that the warp has executed.
    pub(super) fences: u64,
    /// The number of products that the warp has issued.
    pub(super) issued: u64,
    /// The number of products that the warp has put into groups.
    pub(super) committed: u64,
    /// The ends of the groups for which the warp has not waited.
    groups: VecDeque<u64>,
    /// The number of products for which the warp has waited.
    pub(super) waited: u64,
    /// The number of products for which the warp has begun to wait.
    pub(super) until: u64,
    /// The lanes that are suspended until the wait ends.
    pub(super) waiting: u32,
    sums: Vec<Option<SumsOfWarp>>,
}

/// The sums of a warp, one row after the other.
struct SumsOfWarp {
    instruction: Instruction,
    rows: Vec<u32>,
    /// The number of products of the warp up to the last one that adds to these sums.
    last: u64,
    at: Line,
    /// The lanes that have read their sums.
    read: u32,
}

/// A product that a warp has issued.
pub(super) struct Product {
    pub(super) instruction: Instruction,
    pub(super) a: Factor,
    pub(super) b: Matrix,
    /// The thread that has issued the product first, and its line.
    pub(super) thread: Thread,
    pub(super) at: Line,
    pub(super) parts: [Option<Part>; WARPS],
}

/// The matrix A of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    Shared(Matrix),
    Registers,
}

/// A warp's part of a product.
pub(super) struct Part {
    /// The number of the warp's sums.
    pub(super) sums: u32,
    /// True if the product is added to the sums, and false if it replaces them.
    pub(super) adds: bool,
    /// The rows of A, if they were in registers.
    pub(super) rows: Vec<u32>,
    pub(super) agent: Agent,
}

impl Warpgroups {
    /// Resets the state for another block.
    pub(crate) fn begin(&self) {
        let mut all = self.0.borrow_mut();
        if !all.is_empty() {
            all.clear();
        }
    }

    /// Calls `f` with the warpgroup of `thread` and the number of its warp in this group.
    pub(super) fn with<R>(&self, thread: Thread, f: impl FnOnce(&mut Warpgroup, usize) -> R) -> R {
        let mut all = self.0.borrow_mut();
        let index = thread.warp() / WARPS;
        if all.len() <= index {
            all.resize_with(index + 1, Warpgroup::default);
        }
        f(&mut all[index], thread.warp() % WARPS)
    }

    /// Calls `f` with each warpgroup and its number, until `f` returns a value.
    pub(super) fn find<R>(&self, f: impl FnMut((usize, &Warpgroup)) -> Option<R>) -> Option<R> {
        self.0.borrow().iter().enumerate().find_map(f)
    }

    /// Stores the operands of `thread` for the product that its warp is about to execute.
    pub(super) fn pass(&self, thread: Thread, call: LaneCall, registers: &[u32]) {
        self.with(thread, |group, warp| {
            let (warp, lane) = (&mut group.warps[warp], thread.lane() as usize);
            if warp.calls.is_empty() {
                warp.calls.resize_with(LANES as usize, || None);
                warp.registers.resize_with(LANES as usize, Vec::new);
            }
            if call.number.is_none() {
                warp.registers[lane].clear();
                warp.registers[lane].extend_from_slice(registers);
            }
            warp.calls[lane] = Some(call);
        });
    }
}

impl Warp {
    /// Notes that `thread` continues after an instruction of its warp. Returns true for the first lane.
    pub(super) fn receive(&mut self, thread: Thread) -> bool {
        let is_first = self.unreceived == 0;
        self.unreceived = if is_first { u32::MAX } else { self.unreceived } & !thread.bit();
        is_first
    }

    /// Puts the products since the last call into a group.
    pub(super) fn commit(&mut self) {
        self.committed = self.issued;
        self.groups.push_back(self.issued);
    }

    /// Begins to wait until at most the last `allowed` groups are in progress.
    pub(super) fn begin_wait(&mut self, allowed: usize) {
        while self.groups.len() > allowed {
            self.until = self.groups.pop_front().unwrap_or(self.until);
        }
    }

    /// Takes the sums from the registers of the lanes. Returns their number.
    pub(super) fn take_sums(&mut self, instruction: Instruction, at: Line) -> u32 {
        let mut rows = vec![0; ROWS * instruction.n];
        for (lane, registers) in self.registers.iter().enumerate() {
            instruction.write_sums(&mut rows, lane, registers);
        }
        let sums = Some(SumsOfWarp { instruction, rows, last: 0, at, read: 0 });
        match self.sums.iter().position(Option::is_none) {
            Some(free) => {
                self.sums[free] = sums;
                free as u32
            }
            None => {
                self.sums.push(sums);
                self.sums.len() as u32 - 1
            }
        }
    }

    /// Notes that the warp's next product, at the line `at`, adds to the sums `number`.
    pub(super) fn issue_to(&mut self, number: u32, at: Line) {
        self.issued += 1;
        self.issued_to = Some(number);
        if let Some(Some(sums)) = self.sums.get_mut(number as usize) {
            (sums.last, sums.at) = (self.issued, at);
        }
    }

    /// Writes the sums `number` of `thread` to its registers.
    ///
    /// # Errors
    /// If a product may still change the sums: its line, and true if it is in a group.
    pub(super) fn read_sums(&mut self, number: u32, thread: Thread, registers: &mut [u32]) -> Result<(), (Line, bool)> {
        let Some(place) = self.sums.get_mut(number as usize) else { return Ok(()) };
        let Some(sums) = place else { return Ok(()) };
        if sums.last > self.waited {
            return Err((sums.at, sums.last <= self.committed));
        }
        sums.instruction.read_sums(&sums.rows, thread.lane() as usize, registers);
        sums.read |= thread.bit();
        if sums.read == u32::MAX {
            *place = None;
        }
        Ok(())
    }
}

impl Warpgroup {
    /// Returns the number of products that all warps have issued.
    pub(super) fn issued_by_all(&self) -> u64 {
        self.warps.iter().map(|warp| warp.issued).min().unwrap_or_default()
    }

    /// Returns the product `number`, if some warp has issued it and some warp has not waited for it.
    pub(super) fn product(&self, number: u64) -> Option<&Product> {
        self.products.get(number.checked_sub(self.first)? as usize)
    }

    /// Lets the products before number `end` take effect. All warps must have issued them.
    pub(super) fn compute(&mut self, end: u64, arena: &Arena) {
        while self.computed < end {
            let Self { warps, products, first, computed } = self;
            let Some(product) = products.get_mut((*computed - *first) as usize) else { return };
            product.compute(warps, arena);
            *computed += 1;
        }
    }
}

impl Product {
    fn compute(&mut self, warps: &mut [Warp; WARPS], arena: &Arena) {
        let Self { instruction, a, b, parts, .. } = self;
        let b = read(arena, *b, instruction.n, instruction.b);
        let rows = match *a {
            Factor::Shared(a) => read(arena, a, WARPS * ROWS, instruction.a),
            Factor::Registers => Vec::new(),
        };
        let len = ROWS * instruction.k();
        for (index, (part, warp)) in parts.iter().zip(warps).enumerate() {
            let Some(part) = part else { continue };
            let Some(Some(sums)) = warp.sums.get_mut(part.sums as usize) else { continue };
            let rows = if rows.is_empty() { &part.rows } else { &rows[index * len..(index + 1) * len] };
            if !part.adds {
                sums.rows.fill(0);
            }
            instruction.multiply_add(rows, &b, &mut sums.rows);
        }
    }
}

/// Returns the elements of a matrix in shared memory, one row after the other.
fn read(arena: &Arena, matrix: Matrix, rows: usize, elements: Elements) -> Vec<u32> {
    let k = 32 / elements.size();
    let mut values = vec![0; rows * k];
    for unit in matrix.units(rows, elements) {
        let mut bytes = [0_u8; UNIT];
        if unit.address + UNIT > arena.len() {
            continue;
        }
        // SAFETY: the unit is in the arena, which only this OS thread accesses.
        guard::exempt(|| unsafe {
            bytes.as_mut_ptr().copy_from_nonoverlapping(arena.base().add(unit.address), UNIT);
        });
        let (start, step) = (unit.row * k + unit.column, if matrix.is_transposed() { k } else { 1 });
        elements.each(&bytes, |i, value| values[start + i * step] = value);
    }
    values
}

impl From<Left> for Option<[u32; 4]> {
    fn from(left: Left) -> Self {
        match left {
            Left::Shared { .. } => None,
            Left::Registers(registers) => Some(registers),
        }
    }
}
