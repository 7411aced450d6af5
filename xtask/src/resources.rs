//! `resources`: writes the registers and the shared memory of every kernel, as `ptxas` assigns them, to
//! `gpu/ptx/resources.tsv`.
//!
//! PTX has only virtual registers. With this table, the program computes the occupancy of a kernel on any GPU without
//! an assembler.
//!
//! Each architecture has a column, which describes the newest module that the architecture's GPUs can run. A cell has
//! the registers per thread and, after a `+`, the static shared memory per block in bytes. The lines above the table
//! have the releases of the assemblers and the hashes of the modules.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use cuda_builder::Arch;
use ptxas::{Assembled, Ptxas};

use crate::assemblers;
use crate::modules::{self, Module};
use crate::ptx;
use crate::workspace::Workspace;

/// The name of the table's file in `gpu/ptx`.
pub const FILE: &str = "resources.tsv";

/// The remedy if the table is missing or outdated.
const REMEDY: &str = "run `cargo xtask resources`";

/// The newest architecture for which modules are assembled.
pub const NEWEST: Arch = Arch::Sm120;

/// The resources of a kernel on one architecture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// The number of registers per thread.
    pub registers: u32,
    /// The static shared memory per block, in bytes.
    pub shared: u32,
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.registers)?;
        if self.shared > 0 { write!(f, "+{}", self.shared) } else { Ok(()) }
    }
}

/// The resources of all kernels.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Table {
    /// The hash of each module's text.
    modules: BTreeMap<String, String>,
    /// The assembler of each architecture's column.
    assemblers: BTreeMap<Arch, String>,
    kernels: BTreeMap<String, BTreeMap<Arch, Usage>>,
}

impl Table {
    /// Returns a table with the hashes of `modules` and without kernels.
    pub fn of(modules: &[Module]) -> Table {
        let hash = |module: &Module| Some((module.file.clone(), module.header.text.clone()?));
        Table { modules: modules.iter().filter_map(hash).collect(), ..Table::default() }
    }

    /// Adds the kernels of a module that `ptxas` assembled for `arch`.
    pub fn add(&mut self, arch: Arch, ptxas: &Ptxas, assembled: &Assembled) {
        self.assemblers.insert(arch, ptxas.to_string());
        for function in assembled.functions.iter().filter(|function| function.is_kernel) {
            let usage = Usage { registers: function.registers, shared: function.shared };
            self.kernels.entry(function.name.clone()).or_default().insert(arch, usage);
        }
    }

    /// Returns true if this table was written for the same modules of `algorithm` as `current` and, on `arch`, with the
    /// same assembler.
    fn holds(&self, current: &Table, algorithm: &str, arch: Arch, ptxas: &Ptxas) -> bool {
        let of_algorithm = |table: &Table| -> Vec<(String, String)> {
            let modules = table.modules.iter().filter(|(file, _)| file.split('.').next() == Some(algorithm));
            modules.map(|(file, hash)| (file.clone(), hash.clone())).collect()
        };
        self.assemblers.get(&arch) == Some(&ptxas.to_string()) && of_algorithm(self) == of_algorithm(current)
    }

    /// Adds the kernels named `kernels` from another table's column for `arch`.
    fn keep<'a>(&mut self, arch: Arch, ptxas: &Ptxas, kernels: impl Iterator<Item = &'a str>, from: &Table) {
        self.assemblers.insert(arch, ptxas.to_string());
        for kernel in kernels {
            if let Some(usage) = from.kernels.get(kernel).and_then(|row| row.get(&arch)) {
                self.kernels.entry(kernel.to_owned()).or_default().insert(arch, *usage);
            }
        }
    }

    /// Returns a finding for each column of `present` that differs in `self`, the checked-in table. A column that
    /// another release of the assembler made is skipped.
    fn differences(&self, present: &Table) -> Vec<String> {
        let mut findings = Vec::new();
        for (arch, assembler) in &present.assemblers {
            // Other releases may assign other registers.
            if self.assemblers.get(arch) != Some(assembler) {
                continue;
            }
            let cell = |table: &Table, kernel: &str| table.kernels.get(kernel)?.get(arch).map(Usage::to_string);
            let wrong = present.kernels.keys().find(|kernel| cell(self, kernel) != cell(present, kernel));
            if let Some(kernel) = wrong {
                let [there, here] = [self, present].map(|table| cell(table, kernel).unwrap_or("nothing".into()));
                findings.push(format!(
                    "{FILE} has {there} for {kernel} on {arch}, but {assembler} reports {here}: {REMEDY}"
                ));
            }
        }
        findings
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "# Per kernel: registers per thread + static shared bytes per block, by `cargo xtask resources`.")?;
        let mut by_assembler: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (arch, assembler) in &self.assemblers {
            by_assembler.entry(assembler).or_default().push(arch.to_string());
        }
        for (assembler, archs) in by_assembler {
            writeln!(f, "# {assembler}: {}", archs.join(" "))?;
        }
        for (file, hash) in &self.modules {
            writeln!(f, "# {file}: {hash}")?;
        }
        let mut line = "kernel".to_owned();
        for arch in self.assemblers.keys() {
            let _ = write!(line, "\t{arch}");
        }
        writeln!(f, "{line}")?;
        for (kernel, row) in &self.kernels {
            let mut line = kernel.clone();
            for arch in self.assemblers.keys() {
                let _ = write!(line, "\t{}", row.get(arch).map_or(String::new(), Usage::to_string));
            }
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

impl std::str::FromStr for Table {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Table> {
        let mut table = Table::default();
        let mut archs: Option<Vec<Arch>> = None;
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                match comment.split_once(": ") {
                    Some((assembler, archs)) if assembler.starts_with("ptxas ") => {
                        for arch in archs.split(' ') {
                            table.assemblers.insert(arch.parse()?, assembler.to_owned());
                        }
                    }
                    Some((file, hash)) if file.ends_with(".ptx") => {
                        table.modules.insert(file.to_owned(), hash.to_owned());
                    }
                    _ => {}
                }
                continue;
            }
            let mut cells = line.split('\t');
            let name = cells.next().unwrap_or_default();
            let Some(archs) = &archs else {
                ensure!(name == "kernel", "{FILE} has no heading");
                archs = Some(cells.map(str::parse).collect::<Result<_, _>>()?);
                continue;
            };
            let row = archs.iter().zip(cells).filter(|(_, cell)| !cell.is_empty());
            let row = row.map(|(arch, cell)| Ok((*arch, usage(cell).with_context(|| format!("`{cell}` in {FILE}"))?)));
            table.kernels.insert(name.to_owned(), row.collect::<Result<_>>()?);
        }
        Ok(table)
    }
}

fn usage(cell: &str) -> Option<Usage> {
    let (registers, shared) = cell.split_once('+').unwrap_or((cell, "0"));
    Some(Usage { registers: registers.parse().ok()?, shared: shared.parse().ok()? })
}

/// Returns the newest module of each algorithm that a GPU of `arch` can run.
fn run_by(modules: &[Module], arch: Arch) -> impl Iterator<Item = &Module> {
    modules.iter().filter(move |module| {
        let others = modules.iter().filter(|other| other.algorithm == module.algorithm && other.arch.runs_on(arch));
        module.arch.runs_on(arch) && others.map(|other| other.arch).max() == Some(module.arch)
    })
}

/// Returns the runs of assemblers: for each architecture, its assembler with each module that GPUs of this architecture
/// load. The largest modules come first, so that no core is still busy with a large module when the others have
/// finished.
pub fn assemblies<'a>(
    modules: &'a [Module],
    by_arch: &BTreeMap<Arch, &'a Ptxas>,
) -> Vec<(Arch, &'a Ptxas, &'a Module)> {
    let of_arch = |(arch, ptxas): (&Arch, &&'a Ptxas)| {
        let (arch, ptxas) = (*arch, *ptxas);
        run_by(modules, arch).map(move |module| (arch, ptxas, module))
    };
    let mut runs: Vec<_> = by_arch.iter().flat_map(of_arch).collect();
    runs.sort_by_key(|(.., module)| Reverse(module.text.len()));
    runs
}

/// Assembles each module for the architectures whose GPUs run it, and writes the table. The cells of modules that have
/// not changed since the present table was written by the same assembler are kept.
///
/// # Errors
/// If no assembler is found for an architecture of the present table, if a module is rejected, or if the table cannot
/// be written.
pub fn run(workspace: &Workspace, assemblers: &[PathBuf]) -> Result<()> {
    let assemblers = assemblers::given_or_found(assemblers, workspace)?;
    ensure!(!assemblers.is_empty(), "no ptxas found: {}", assemblers::REMEDY);
    let by_arch = assemblers::by_arch(&assemblers, Arch::Sm70, NEWEST);
    let path = workspace.ptx().join(FILE);
    let present = fs::read_to_string(&path).ok().and_then(|text| text.parse::<Table>().ok()).unwrap_or_default();
    if let Some((arch, assembler)) = present.assemblers.iter().find(|(arch, _)| !by_arch.contains_key(*arch)) {
        bail!("no ptxas found that knows {arch} ({assembler} does): name one with --ptxas; {}", assemblers::REMEDY);
    }
    let expected = modules::expected(&workspace.algorithms()?);
    let read = |(algorithm, arch): &(String, Arch)| Module::read(workspace, algorithm, *arch);
    let modules = expected.iter().map(read).collect::<Result<Vec<_>>>()?;
    let mut table = Table::of(&modules);
    let is_kept =
        |(arch, ptxas, module): &(Arch, &Ptxas, &Module)| present.holds(&table, &module.algorithm, *arch, ptxas);
    let (kept, runs): (Vec<_>, Vec<_>) = assemblies(&modules, &by_arch).into_iter().partition(is_kept);
    let results =
        crate::parallel::map(&runs, |(arch, ptxas, module)| Ok(ptxas.assemble(&module.path, arch.number(), None)?));
    for (arch, ptxas, module) in kept {
        let entries = ptx::Module::parse(&module.text).entries;
        table.keep(arch, ptxas, entries.iter().map(|entry| entry.name.as_str()), &present);
    }
    for ((arch, ptxas, _), assembled) in runs.into_iter().zip(results) {
        table.add(arch, ptxas, &assembled?);
    }
    fs::write(&path, table.to_string()).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{}: {} kernels on {} architectures", path.display(), table.kernels.len(), table.assemblers.len());
    Ok(())
}

/// Returns findings for the checked-in table. `assembled` has the columns of the installed assemblers.
///
/// # Errors
/// If the table cannot be parsed.
pub fn check(workspace: &Workspace, modules: &[Module], assembled: &Table) -> Result<Vec<String>> {
    let path = workspace.ptx().join(FILE);
    let table: Table = match fs::read_to_string(&path) {
        Ok(text) => text.replace("\r\n", "\n").parse()?,
        Err(error) => return Ok(vec![format!("{FILE} cannot be read ({error}): {REMEDY}")]),
    };
    let mut findings = Vec::new();
    if table.modules != Table::of(modules).modules {
        findings.push(format!("{FILE} was written for other modules: {REMEDY}"));
    }
    let mut kernels = modules.iter().flat_map(|module| ptx::Module::parse(&module.text).entries);
    let missing = kernels.find(|entry| !table.kernels.contains_key(&entry.name));
    findings.extend(missing.map(|entry| format!("{FILE} has no row for {}: {REMEDY}", entry.name)));
    findings.extend(table.differences(assembled));
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use cuda_builder::Header;

    use super::*;

    fn table() -> Table {
        let mut table = Table::default();
        table.modules.insert("scan.sm_70.ptx".into(), "sha256:1".into());
        for (arch, ptxas) in [(Arch::Sm70, "ptxas 12.9"), (Arch::Sm90, "ptxas 13.5")] {
            table.assemblers.insert(arch, ptxas.into());
        }
        let row = |cells: &[(Arch, u32, u32)]| {
            cells.iter().map(|&(arch, registers, shared)| (arch, Usage { registers, shared })).collect()
        };
        table.kernels.insert("scan_naive".into(), row(&[(Arch::Sm70, 16, 0), (Arch::Sm90, 18, 0)]));
        table.kernels.insert("scan_tile".into(), row(&[(Arch::Sm90, 32, 4224)]));
        table
    }

    #[test]
    fn a_table_is_read_as_it_is_written() {
        let text = table().to_string();
        assert!(text.ends_with("kernel\tsm_70\tsm_90\nscan_naive\t16\t18\nscan_tile\t\t32+4224\n"), "{text}");
        assert_eq!(text.parse::<Table>().unwrap(), table());
        assert!("scan_naive\t16\n".parse::<Table>().is_err());
        assert!(text.replace("32+4224", "32+x").parse::<Table>().is_err());
    }

    #[test]
    fn a_register_too_many_is_found_where_the_assembler_is_the_same() {
        let mut present = table();
        assert!(table().differences(&present).is_empty());
        present.kernels.get_mut("scan_tile").unwrap().get_mut(&Arch::Sm90).unwrap().registers = 33;
        let findings = table().differences(&present);
        assert!(findings.len() == 1 && findings[0].contains("32+4224 for scan_tile on sm_90"), "{findings:?}");
        present.assemblers.insert(Arch::Sm90, "ptxas 13.6".into());
        assert!(table().differences(&present).is_empty(), "another release may assign other registers");
    }

    #[test]
    fn the_cells_of_unchanged_modules_are_kept() {
        let (present, ptxas) = (table(), Ptxas::of_release(13, 5));
        let mut current = Table { modules: present.modules.clone(), ..Table::default() };
        assert!(present.holds(&current, "scan", Arch::Sm90, &ptxas));
        assert!(!present.holds(&current, "scan", Arch::Sm70, &ptxas), "another assembler");
        current.keep(Arch::Sm90, &ptxas, ["scan_naive"].into_iter(), &present);
        assert_eq!(current.kernels["scan_naive"], BTreeMap::from([(Arch::Sm90, Usage { registers: 18, shared: 0 })]));
        current.modules.insert("scan.sm_90.ptx".into(), "sha256:2".into());
        assert!(!present.holds(&current, "scan", Arch::Sm90, &ptxas), "the architecture runs another module");
    }

    #[test]
    fn an_architecture_runs_the_newest_module_that_it_can() {
        const HEADER: &str =
            "// Generated by cuda_builder. Do not edit.\n// crate: gpu\n// arch: sm_70\n// compiler: rustc\n";
        let module = |file: &str, algorithm: &str, arch| Module {
            file: file.into(),
            path: PathBuf::new(),
            algorithm: algorithm.into(),
            arch,
            text: String::new(),
            header: Header::parse(HEADER).unwrap(),
        };
        let modules = [
            module("a.sm_70.ptx", "a", Arch::Sm70),
            module("a.sm_90.ptx", "a", Arch::Sm90),
            module("b.sm_70.ptx", "b", Arch::Sm70),
        ];
        let files = |arch| run_by(&modules, arch).map(|module| module.file.as_str()).collect::<Vec<_>>();
        assert_eq!(files(Arch::Sm80), ["a.sm_70.ptx", "b.sm_70.ptx"]);
        assert_eq!(files(Arch::Sm120), ["a.sm_90.ptx", "b.sm_70.ptx"]);
        assert_eq!(files(Arch::Sm90), ["a.sm_90.ptx", "b.sm_70.ptx"]);
    }

    #[test]
    fn what_is_checked_in_has_every_kernel() {
        let workspace = Workspace::open().unwrap();
        let text = fs::read_to_string(workspace.ptx().join(FILE)).unwrap();
        let table: Table = text.parse().unwrap();
        let padded = table.kernels["transpose_padded_u32"][&Arch::Sm90];
        assert!(padded.shared == 32 * 33 * 4 && (16..=64).contains(&padded.registers), "{padded:?}");
    }

    #[test]
    fn only_kernels_are_in_the_table() {
        let usage = |name: &str, is_kernel| ptxas::Usage {
            name: name.into(),
            is_kernel,
            registers: 8,
            ..ptxas::Usage::default()
        };
        let functions = vec![usage("kernel", true), usage("helper", false)];
        let mut table = Table::default();
        table.add(Arch::Sm90, &Ptxas::of_release(13, 5), &Assembled { functions, ..Assembled::default() });
        assert_eq!(table.kernels.keys().collect::<Vec<_>>(), ["kernel"]);
        assert_eq!(table.assemblers[&Arch::Sm90], "ptxas 13.5");
    }
}
