//! What must hold for a kernel's instructions.

use std::collections::BTreeSet;
use std::fmt;

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

/// The accesses of a function to local memory.
pub fn local_accesses(function: &Function) -> Vec<&Instruction> {
    let is_local = |instruction: &&Instruction| matches!(instruction.opcode.split_once('.'), Some(("ld" | "st", rest)) if rest.split('.').any(|part| part == "local"));
    function.instructions.iter().filter(is_local).collect()
}

/// The bytes that a load or store with this opcode accesses: 16 for `ld.global.v4.b32`. `None` where it does not say.
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

/// The calls of a function to anything but `vprintf`.
pub fn calls(function: &Function) -> Vec<&Instruction> {
    let is_call = |instruction: &&Instruction| instruction.call_target().is_some_and(|target| target != "vprintf");
    function.instructions.iter().filter(is_call).collect()
}

/// How many barriers there are, by their scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Barriers {
    /// Those of a block: `bar.sync`, `bar.red`.
    pub block: usize,
    /// Those of a warp: `bar.warp.sync`.
    pub warp: usize,
}

impl fmt::Display for Barriers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} block and {} warp barriers", self.block, self.warp)
    }
}

/// The barriers of a kernel, those of the functions that it calls included.
pub fn barriers(module: &Module, entry: &Function) -> Barriers {
    let mut barriers = Barriers::default();
    for instruction in module.reachable(entry).iter().flat_map(|function| &function.instructions) {
        let mut parts = instruction.opcode.split('.');
        if !matches!(parts.next(), Some("bar" | "barrier")) {
            continue;
        }
        match parts.next() {
            Some("warp") => barriers.warp += 1,
            Some("sync" | "red" | "cta") if !parts.any(|part| part == "arrive") => barriers.block += 1,
            _ => {}
        }
    }
    barriers
}

/// The names of the module's shared arrays that a kernel uses.
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
