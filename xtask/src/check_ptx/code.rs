//! Whether the code of the kernels, as PTX and as SASS, is what [`expected`](super::expected) says.

use std::collections::BTreeSet;
use std::fmt;

use cuda_builder::Arch;

use super::expected::{EXCEPTIONS, EXPECTED, Exception, Expected, Need, Rule};
use crate::pattern;
use crate::ptx::{self, Function, Module};
use crate::sass::{self, Instruction};

/// Where the table and the exceptions are.
const TABLE: &str = "xtask/src/check_ptx/expected.rs";

/// What a kernel's code is held against.
#[derive(Clone, Copy)]
pub(super) struct Table {
    expected: &'static [Expected],
    exceptions: &'static [Exception],
}

impl Default for Table {
    fn default() -> Self {
        Self { expected: EXPECTED, exceptions: EXCEPTIONS }
    }
}

/// What was seen of the kernels: the findings, and which entries of the table were of use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Seen {
    pub findings: Vec<String>,
    kernels: BTreeSet<String>,
    /// The exceptions used: their place in the table, and the rule.
    used: BTreeSet<(usize, Rule)>,
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
            self.forbid(&mut seen, &at, Rule::Bounded, unbounded.into_iter().collect());
            let opcodes: Vec<&str> =
                functions.iter().flat_map(|function| &function.instructions).map(|i| i.opcode.as_str()).collect();
            self.require(&mut seen, &at, |need| {
                opcodes.iter().any(|opcode| match need {
                    Need::Loads => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
                    Need::Stores => opcode.starts_with("st.global") && ptx::access_bytes(opcode) == Some(16),
                    // Only copies of 16 bytes may go past the first-level cache.
                    Need::Copies if has_copies(at.file) => opcode.starts_with("cp.async.cg."),
                    Need::Copies => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
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
            self.require(&mut seen, &at, |need| {
                let operation = match need {
                    Need::Loads => "LDG",
                    Need::Stores => "STG",
                    Need::Copies if has_copies(file) => "LDGSTS",
                    Need::Copies => "LDG",
                };
                kernel.instructions.iter().any(|i| i.operation() == operation && i.has_modifier("128"))
            });
        }
        seen
    }

    /// Finds what breaks `rule`, unless there is an exception.
    fn forbid(&self, seen: &mut Seen, at: &At<'_>, rule: Rule, broken_by: Vec<String>) {
        let Some(first) = broken_by.first() else { return };
        let is_about =
            |exception: &Exception| exception.rules.contains(&rule) && pattern::means(exception.kernels, at.kernel);
        if let Some(index) = self.exceptions.iter().position(is_about) {
            seen.used.insert((index, rule));
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
            Rule::Bounded => ("no launch bound", "say `#[kernel(max_threads = …)]`"),
        };
        let more = match broken_by.len() {
            1 => String::new(),
            lines => format!(" and {} more", lines - 1),
        };
        seen.findings
            .push(format!("{at}: {what}: {first}{more}; {remedy}, or add an exception with its reason to {TABLE}"));
    }

    /// Finds what the table wants of a kernel and `has` says that it does not have.
    fn require(&self, seen: &mut Seen, at: &At<'_>, has: impl Fn(Need) -> bool) {
        let meant = self.expected.iter().filter(|expected| pattern::means(expected.kernels, at.kernel));
        for need in meant.flat_map(|expected| expected.needs).filter(|need| !has(**need)) {
            let (what, ptx, sass, remedy) = match need {
                Need::Loads => ("load", "ld.global.v4.b32", "LDG.E.128", "load with `load_vec`"),
                Need::Stores => ("store", "st.global.v4.b32", "STG.E.128", "store with `store_vec`"),
                Need::Copies => ("copy to shared memory", "cp.async.cg", "LDGSTS.E.BYPASS.128", "copy by 16 bytes"),
            };
            let instruction = if at.arch.is_some() { sass } else { ptx };
            seen.findings.push(format!(
                "{at}: no {what} of 16 bytes (`{instruction}`), and {TABLE} expects it; {remedy}, or change the table"
            ));
        }
    }

    /// The entries of the table that nothing has a use for.
    pub fn useless(&self, seen: &Seen) -> Vec<String> {
        let mut findings = Vec::new();
        let is_known = |kernels: &str| seen.kernels.iter().any(|kernel| pattern::means(kernels, kernel));
        for Expected { kernels, .. } in self.expected.iter().filter(|expected| !is_known(expected.kernels)) {
            findings.push(format!(
                "{TABLE} expects something of `{kernels}`, which is no kernel: correct its name or take it out"
            ));
        }
        for (index, Exception { kernels, rules, reason }) in self.exceptions.iter().enumerate() {
            let is_decided = |rule: &&Rule| seen.has_sass || **rule != Rule::Local;
            for rule in rules.iter().filter(is_decided).filter(|rule| !seen.used.contains(&(index, **rule))) {
                findings.push(format!(
                    "{TABLE} excepts `{kernels}` from {rule:?} ({reason}), and no kernel needs that: take it out"
                ));
            }
        }
        findings
    }
}

/// Whether a module's target has asynchronous copies; before sm_80 they are loads.
fn has_copies(file: &str) -> bool {
    !file.contains(".sm_70.")
}

#[cfg(test)]
mod tests;
