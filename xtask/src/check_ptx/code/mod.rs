//! Whether the code of the kernels, as PTX and as SASS, is what their attributes say, `wide(…)` and `allow(…)`.
//!
//! # Design
//!
//! The rules for each kernel: no local memory, no generic access, a launch bound, and 16-byte accesses where the kernel
//! is written for them. Its attribute states what is expected, `wide(loads, stores)`, and what is excepted,
//! `allow(local = "why")`. A permission that nothing needs is a finding.
//!
//! A module is assembled only for the architectures that it serves. The PTX is checked always. The SASS of sm_80, sm_90
//! and sm_100 is checked where `ptxas` and `nvdisasm` are found; CI requires both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use cuda_builder::Arch;

use crate::kernels::{Kernel, Rule, Wide};
use crate::ptx::{self, Function, Module};
use crate::sass::{self, Instruction};

/// What a kernel's code is held against: the kernels by their entries.
#[derive(Clone, Default)]
pub(super) struct Table(BTreeMap<String, Kernel>);

/// The attribute that a rule was allowed in, by its file and line.
type Allowed = (PathBuf, usize, Rule);

/// What was seen of the kernels: the findings, and which permissions were of use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    pub findings: Vec<String>,
    kernels: BTreeSet<String>,
    used: BTreeSet<Allowed>,
    /// Whether there was SASS to see.
    has_sass: bool,
}

impl Seen {
    /// How many kernels there are.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    pub fn extend(&mut self, other: Seen) {
        self.findings.extend(other.findings);
        self.kernels.extend(other.kernels);
        self.used.extend(other.used);
        self.has_sass |= other.has_sass;
    }
}

/// A kernel in a file or in what an assembler makes of it.
struct At<'a> {
    file: &'a str,
    kernel: &'a str,
    /// The architecture that it was assembled for; `None` for the PTX.
    arch: Option<Arch>,
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file, self.kernel)?;
        self.arch.map_or(Ok(()), |arch| write!(f, " for {arch}"))
    }
}

impl Table {
    /// What `kernels` say of themselves.
    pub fn new(kernels: &[Kernel]) -> Table {
        Table(kernels.iter().map(|kernel| (kernel.name.clone(), kernel.clone())).collect())
    }

    /// Checks a module's PTX.
    pub fn check_ptx(&self, file: &str, module: &Module) -> Seen {
        let mut seen = Seen::default();
        for entry in &module.entries {
            let at = At { file, kernel: &entry.name, arch: None };
            seen.kernels.insert(entry.name.clone());
            let functions = module.reachable(entry);
            let lines = |found: fn(&Function) -> Vec<&ptx::Instruction>| -> Vec<String> {
                let instructions = functions.iter().flat_map(|function| found(function));
                instructions.map(|i| format!("line {}, `{} {}`", i.line, i.opcode, i.operands)).collect()
            };
            self.forbid(&mut seen, &at, Rule::LocalInPtx, lines(ptx::local_accesses));
            self.forbid(&mut seen, &at, Rule::Generic, lines(ptx::generic_accesses));
            let unbounded = entry.directive(".maxntid").is_none().then(|| "`.entry` without `.maxntid`".to_owned());
            self.forbid(&mut seen, &at, Rule::Unbounded, unbounded.into_iter().collect());
            let opcodes: Vec<&str> =
                functions.iter().flat_map(|function| &function.instructions).map(|i| i.opcode.as_str()).collect();
            self.require(&mut seen, &at, |wide| {
                opcodes.iter().any(|opcode| match wide {
                    Wide::Loads => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
                    Wide::Stores => opcode.starts_with("st.global") && ptx::access_bytes(opcode) == Some(16),
                    // Only copies of 16 bytes may go past the first-level cache.
                    Wide::Copies if has_copies(at.file) => opcode.starts_with("cp.async.cg."),
                    Wide::Copies => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
                })
            });
        }
        seen
    }

    /// Checks what an assembler made of a module.
    pub fn check_sass(&self, file: &str, arch: Arch, kernels: &[sass::Kernel]) -> Seen {
        let mut seen = Seen { has_sass: true, ..Seen::default() };
        for kernel in kernels {
            let at = At { file, kernel: &kernel.name, arch: Some(arch) };
            seen.kernels.insert(kernel.name.clone());
            let lines = |is_meant: fn(&Instruction) -> bool| -> Vec<String> {
                let found = kernel.instructions.iter().filter(|instruction| is_meant(instruction));
                found.map(|instruction| format!("/*{}*/ `{}`", instruction.offset, instruction.text)).collect()
            };
            self.forbid(&mut seen, &at, Rule::Local, lines(Instruction::is_local));
            self.forbid(&mut seen, &at, Rule::Generic, lines(Instruction::is_generic));
            self.require(&mut seen, &at, |wide| {
                let operation = match wide {
                    Wide::Loads => "LDG",
                    Wide::Stores => "STG",
                    Wide::Copies if has_copies(file) => "LDGSTS",
                    Wide::Copies => "LDG",
                };
                kernel.instructions.iter().any(|i| i.operation() == operation && i.has_modifier("128"))
            });
        }
        seen
    }

    /// Finds what breaks `rule`, unless the kernel's attribute allows it.
    fn forbid(&self, seen: &mut Seen, at: &At<'_>, rule: Rule, broken_by: Vec<String>) {
        let Some(first) = broken_by.first() else { return };
        if let Some(kernel) = self.0.get(at.kernel)
            && kernel.expected.allowed.iter().any(|(allowed, _)| *allowed == rule)
        {
            seen.used.insert((kernel.file.clone(), kernel.line, rule));
            return;
        }
        let (what, remedy) = match rule {
            Rule::LocalInPtx | Rule::Local => (
                "an access of local memory",
                "unroll the loop that indexes the array, or give the kernel more registers by its launch bounds",
            ),
            Rule::Generic => (
                "an access that names no state space",
                "pass the memory as a view of its own, whose address space is known",
            ),
            Rule::Unbounded => ("no launch bound", "say `#[kernel(max_threads = …)]`"),
        };
        let more = match broken_by.len() {
            1 => String::new(),
            lines => format!(" and {} more", lines - 1),
        };
        let rule = rule.name();
        seen.findings.push(format!(
            "{at}: {what}: {first}{more}; {remedy}, or give the reason for it in `#[kernel(allow({rule} = \"…\"))]`"
        ));
    }

    /// Finds what the kernel's attribute wants and `has` says that it does not have.
    fn require(&self, seen: &mut Seen, at: &At<'_>, has: impl Fn(Wide) -> bool) {
        let wide = self.0.get(at.kernel).map_or(&[][..], |kernel| &kernel.expected.wide);
        for wide in wide.iter().filter(|wide| !has(**wide)) {
            let (what, ptx, sass, remedy) = match wide {
                Wide::Loads => ("load", "ld.global.v4.b32", "LDG.E.128", "load with `load_vec`"),
                Wide::Stores => ("store", "st.global.v4.b32", "STG.E.128", "store with `store_vec`"),
                Wide::Copies => ("copy to shared memory", "cp.async.cg", "LDGSTS.E.BYPASS.128", "copy by 16 bytes"),
            };
            let instruction = if at.arch.is_some() { sass } else { ptx };
            seen.findings.push(format!(
                "{at}: no {what} of 16 bytes (`{instruction}`), which its `#[kernel(wide(…))]` promises; {remedy}, or change \
                 the attribute"
            ));
        }
    }

    /// What attributes allow and no kernel of theirs needs.
    pub fn useless(&self, seen: &Seen) -> Vec<String> {
        let mut allowed: BTreeMap<Allowed, (&str, &str)> = BTreeMap::new();
        for kernel in self.0.values() {
            for (rule, reason) in &kernel.expected.allowed {
                allowed.insert((kernel.file.clone(), kernel.line, *rule), (&kernel.family, reason));
            }
        }
        let is_decided = |rule: Rule| seen.has_sass || rule != Rule::Local;
        let is_useless = |allowed: &Allowed| is_decided(allowed.2) && !seen.used.contains(allowed);
        let finding = |((file, line, rule), (family, reason)): (Allowed, (&str, &str))| {
            let (file, rule) = (file.display(), rule.name());
            format!("{file}:{line}: `{family}` allows {rule} ({reason}), and no instance of it needs that: take it out")
        };
        allowed.into_iter().filter(|(allowed, _)| is_useless(allowed)).map(finding).collect()
    }
}

/// Whether a module's target has asynchronous copies; before sm_80 they are loads.
fn has_copies(file: &str) -> bool {
    !file.contains(".sm_70.")
}

#[cfg(test)]
mod tests;
