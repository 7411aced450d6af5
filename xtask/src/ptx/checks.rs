//! What must hold for a kernel's instructions.

use super::{Function, Instruction, Module};

/// The state spaces that an access can name.
const SPACES: [&str; 5] = ["global", "shared", "param", "local", "const"];
/// The operations that access memory at an address.
const ACCESSES: [&str; 4] = ["ld", "st", "atom", "red"];

/// The accesses of a function that name no state space: their addresses are generic, and slower.
pub fn generic_accesses(function: &Function) -> Vec<&Instruction> {
    let is_generic = |instruction: &&Instruction| {
        let mut parts = instruction.opcode.split('.');
        let is_access = parts.next().is_some_and(|operation| ACCESSES.contains(&operation));
        // `shared::cta` names a space too.
        is_access && !parts.any(|part| SPACES.contains(&part.split("::").next().unwrap_or_default()))
    };
    function.instructions.iter().filter(is_generic).collect()
}

/// The calls of a function to anything but `vprintf`.
pub fn calls(function: &Function) -> Vec<&Instruction> {
    let is_call = |instruction: &&Instruction| instruction.call_target().is_some_and(|target| target != "vprintf");
    function.instructions.iter().filter(is_call).collect()
}

/// The block barriers of a kernel, those of the functions that it calls included.
pub fn barriers(module: &Module, entry: &Function) -> usize {
    let is_barrier = |instruction: &&Instruction| {
        let mut parts = instruction.opcode.split('.');
        let is_block_wide = match (parts.next(), parts.next()) {
            (Some("bar"), Some(kind)) => matches!(kind, "sync" | "red" | "cta"),
            (Some("barrier"), Some(kind)) => matches!(kind, "sync" | "red" | "cta"),
            _ => false,
        };
        is_block_wide && !parts.any(|part| part == "arrive")
    };
    module.reachable(entry).iter().flat_map(|function| function.instructions.iter().filter(is_barrier)).count()
}
