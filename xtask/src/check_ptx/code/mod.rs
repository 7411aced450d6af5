//! Compares the kernels' PTX and SASS with the requirements that their attributes declare: `wide(…)` and `allow(…)`.
//!
//! # Design
//!
//! A kernel must have no local memory, no generic access, and a launch bound. Its attribute declares the 16-byte
//! accesses that it must have, as in `wide(loads, stores)`, and exceptions from the rules, as in `allow(local =
//! "why")`. An exception that no instance needs is reported. Where an architecture lacks a kernel's instructions, its
//! code only prints an error, and none of this holds.
//!
//! A module is assembled only for the architectures whose GPUs run it. The PTX is always checked. The SASS for sm_80,
//! sm_90 and sm_100 is checked if `ptxas` and `nvdisasm` are found; CI requires both.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use cuda_builder::Arch;

use crate::kernels::{Kernel, Rule, Wide};
use crate::ptx::{self, Function, Module};
use crate::sass::{self, Instruction};

/// The kernels that the sources declare, by the names of their entries.
#[derive(Clone, Default)]
pub(super) struct Table(BTreeMap<String, Kernel>);

/// An exception: the file and line of a kernel's attribute, and the rule that the attribute allows the kernel to break.
type Allowed = (PathBuf, usize, Rule);

/// The findings in some kernels' code, and the exceptions that the kernels needed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct CodeFindings {
    pub findings: Vec<String>,
    kernels: BTreeSet<String>,
    used: BTreeSet<Allowed>,
    /// True if SASS was checked.
    has_sass: bool,
}

impl CodeFindings {
    /// Returns the number of kernels that were checked.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    pub fn extend(&mut self, other: CodeFindings) {
        self.findings.extend(other.findings);
        self.kernels.extend(other.kernels);
        self.used.extend(other.used);
        self.has_sass |= other.has_sass;
    }
}

/// A kernel in a PTX file, or in the SASS of that file.
struct CodeSite<'a> {
    file: &'a str,
    kernel: &'a str,
    /// The architecture of the SASS; `None` for PTX.
    arch: Option<Arch>,
}

impl fmt::Display for CodeSite<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file, self.kernel)?;
        self.arch.map_or(Ok(()), |arch| write!(f, " for {arch}"))
    }
}

impl Table {
    /// Returns the table of `kernels`.
    pub fn new(kernels: &[Kernel]) -> Table {
        Table(kernels.iter().map(|kernel| (kernel.name.clone(), kernel.clone())).collect())
    }

    /// Returns the findings in a module's PTX.
    pub fn check_ptx(&self, file: &str, module: &Module) -> CodeFindings {
        let mut seen = CodeFindings::default();
        for entry in &module.entries {
            let at = CodeSite { file, kernel: &entry.name, arch: None };
            seen.kernels.insert(entry.name.clone());
            let functions = module.reachable(entry);
            let lines = |found: fn(&Function) -> Vec<&ptx::Instruction>| -> Vec<String> {
                let instructions = functions.iter().flat_map(|function| found(function));
                instructions.map(|i| format!("line {}, `{} {}`", i.line, i.opcode, i.operands)).collect()
            };
            let unbounded = entry.directive(".maxntid").is_none().then(|| "`.entry` without `.maxntid`".to_owned());
            self.forbid(&mut seen, &at, Rule::Unbounded, unbounded.into_iter().collect());
            if module.lacks_instructions(entry) {
                continue;
            }
            self.forbid(&mut seen, &at, Rule::LocalInPtx, lines(ptx::local_accesses));
            self.forbid(&mut seen, &at, Rule::Generic, lines(ptx::generic_accesses));
            let opcodes: Vec<&str> =
                functions.iter().flat_map(|function| &function.instructions).map(|i| i.opcode.as_str()).collect();
            self.require(&mut seen, &at, |wide| {
                opcodes.iter().any(|opcode| match wide {
                    Wide::Loads => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
                    Wide::Stores => opcode.starts_with("st.global") && ptx::access_bytes(opcode) == Some(16),
                    // Only 16-byte copies can bypass the L1 cache.
                    Wide::Copies if has_copies(at.file) => opcode.starts_with("cp.async.cg."),
                    Wide::Copies => opcode.starts_with("ld.global") && ptx::access_bytes(opcode) == Some(16),
                })
            });
        }
        seen
    }

    /// Returns the findings in a module's SASS for `arch`.
    pub fn check_sass(&self, file: &str, arch: Arch, kernels: &[sass::Kernel]) -> CodeFindings {
        let mut seen = CodeFindings { has_sass: true, ..CodeFindings::default() };
        for kernel in kernels {
            let at = CodeSite { file, kernel: &kernel.name, arch: Some(arch) };
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

    /// Adds a finding if `broken_by` lists code that breaks `rule`, unless the kernel's attribute allows it.
    fn forbid(&self, seen: &mut CodeFindings, at: &CodeSite<'_>, rule: Rule, broken_by: Vec<String>) {
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
                "an access without a state space",
                "pass the memory as a separate view, so that the compiler knows its address space",
            ),
            Rule::Unbounded => ("no launch bound", "write `#[kernel(max_threads = …)]`"),
        };
        let more = match broken_by.len() {
            1 => String::new(),
            lines => format!(" and {} more", lines - 1),
        };
        let rule = rule.name();
        seen.findings.push(format!(
            "{at}: {what}: {first}{more}; {remedy}, or state the reason in `#[kernel(allow({rule} = \"…\"))]`"
        ));
    }

    /// Adds a finding for each access that the kernel's attribute declares and for which `has` returns false.
    fn require(&self, seen: &mut CodeFindings, at: &CodeSite<'_>, has: impl Fn(Wide) -> bool) {
        let wide = self.0.get(at.kernel).map_or(&[][..], |kernel| &kernel.expected.wide);
        for wide in wide.iter().filter(|wide| !has(**wide)) {
            let (what, ptx, sass, remedy) = match wide {
                Wide::Loads => ("load", "ld.global.v4.b32", "LDG.E.128", "load with `load_vec`"),
                Wide::Stores => ("store", "st.global.v4.b32", "STG.E.128", "store with `store_vec`"),
                Wide::Copies => ("copy to shared memory", "cp.async.cg", "LDGSTS.E.BYPASS.128", "copy by 16 bytes"),
            };
            let instruction = if at.arch.is_some() { sass } else { ptx };
            seen.findings.push(format!(
                "{at}: `#[kernel(wide(…))]` declares a {what} of 16 bytes (`{instruction}`), but the code has none; \
                 {remedy}, or change the attribute"
            ));
        }
    }

    /// Returns a finding for each exception that no instance of its kernel needs.
    pub fn useless(&self, seen: &CodeFindings) -> Vec<String> {
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
            format!("{file}:{line}: `{family}` allows {rule} ({reason}), but no instance needs that: remove it")
        };
        allowed.into_iter().filter(|(allowed, _)| is_useless(allowed)).map(finding).collect()
    }
}

/// Returns true if the module in `file` is for a target with asynchronous copies. Targets before sm_80 use loads
/// instead.
fn has_copies(file: &str) -> bool {
    !file.contains(".sm_70.")
}

#[cfg(test)]
mod tests;
