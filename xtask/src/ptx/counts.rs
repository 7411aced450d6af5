//! Finds the calls, barriers and shared arrays of a kernel, for comparison with its source.

use std::collections::BTreeSet;
use std::fmt;

use super::{Function, Instruction, Module};

/// Returns the calls of a function, except those of `vprintf`.
pub fn calls(function: &Function) -> Vec<&Instruction> {
    let is_call = |instruction: &&Instruction| instruction.call_target().is_some_and(|target| target != "vprintf");
    function.instructions.iter().filter(is_call).collect()
}

/// The numbers of block barriers and warp barriers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Barriers {
    /// The number of barriers of the block, `bar.sync` and `bar.red`, and of the cluster, `barrier.cluster.wait`.
    pub block: usize,
    /// The number of warp barriers: `bar.warp.sync`.
    pub warp: usize,
}

impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block and {} warp barriers", self.block, self.warp)
    }
}

/// Returns the numbers of barriers in a kernel and in the functions that it calls.
pub fn barriers(module: &Module, entry: &Function) -> Barriers {
    let mut barriers = Barriers::default();
    for instruction in module.reachable(entry).iter().flat_map(|function| &function.instructions) {
        let mut parts = instruction.opcode.split('.');
        if !matches!(parts.next(), Some("bar" | "barrier")) {
            continue;
        }
        match parts.next() {
            Some("warp") => barriers.warp += 1,
            Some("cluster") if parts.any(|part| part == "wait") => barriers.block += 1,
            Some("sync" | "red" | "cta") if !parts.any(|part| part == "arrive") => barriers.block += 1,
            _ => {}
        }
    }
    barriers
}

/// Returns the names of the module's shared arrays that a kernel uses.
pub fn shared_arrays<'m>(module: &'m Module, entry: &Function) -> BTreeSet<&'m str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let mut used = BTreeSet::new();
    for instruction in module.reachable(entry).iter().flat_map(|function| &function.instructions) {
        for word in instruction.operands.split(|c| !is_name(c)) {
            used.extend(module.shared.get_key_value(word).map(|(name, _)| name.as_str()));
        }
    }
    used
}
