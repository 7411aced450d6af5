//! Finds the memory accesses of a kernel.

use super::{Function, Instruction};

/// The names of PTX's state spaces.
const SPACES: [&str; 5] = ["global", "shared", "param", "local", "const"];
/// The operations that access memory.
const ACCESSES: [&str; 4] = ["ld", "st", "atom", "red"];

/// Returns the accesses of a function that name no state space. Their generic addresses are slower.
pub fn generic_accesses(function: &Function) -> Vec<&Instruction> {
    let is_generic = |instruction: &&Instruction| {
        let mut parts = instruction.opcode.split('.');
        let is_access = parts.next().is_some_and(|operation| ACCESSES.contains(&operation));
        // `shared::cta` also names a space.
        is_access && !parts.any(|part| SPACES.contains(&part.split("::").next().unwrap_or_default()))
    };
    function.instructions.iter().filter(is_generic).collect()
}

/// Returns the accesses of a function to local memory.
pub fn local_accesses(function: &Function) -> Vec<&Instruction> {
    let is_local = |instruction: &&Instruction| {
        let mut parts = instruction.opcode.split('.');
        matches!(parts.next(), Some("ld" | "st")) && parts.any(|part| part == "local")
    };
    function.instructions.iter().filter(is_local).collect()
}

/// Returns the number of bytes that a load or store accesses: 16 for `ld.global.v4.b32`. Returns `None` if the opcode
/// has no size.
pub fn access_bytes(opcode: &str) -> Option<u32> {
    let mut parts = opcode.split('.').rev();
    let bits: u32 = parts.next()?.trim_start_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
    let elements = match parts.next()? {
        "v2" => 2,
        "v4" => 4,
        "v8" => 8,
        _ => 1,
    };
    Some(elements * bits / 8)
}
