//! `check-ptx`: checks that `gpu/ptx` was built from the present sources, and that every GPU can run it.
//!
//! `sources.tsv` records a hash of the sources for each module. The module's header records a hash of the module's
//! text. If the compiler that built a module is installed, the task builds the module again and compares the texts. It
//! also compares the kernels' PTX, and their SASS for some architectures, with the requirements that the kernels'
//! attributes declare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use cuda_builder::{Arch, Header, Search, Toolchain};
use ptxas::Assembled;

use crate::assemblers;
use crate::build_ptx;
use crate::kernels::{self, Kernel};
use crate::modules::{self, Module};
use crate::parallel;
use crate::ptx;
use crate::repository;
use crate::resources::{self, NEWEST, Table};
use crate::sources;
use crate::stamps::{self, Stamps};
use crate::workspace::{Algorithms, GPU_MANIFEST, Workspace};

mod code;
mod disassembly;
mod report;

use code::CodeFindings;
use disassembly::Disassembler;
use report::{Report, families};

/// The options of `check-ptx`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// The path of NVIDIA's assembler ptxas; give several for different releases. The default is every ptxas in PATH,
    /// under CUDA_HOME and in target/tools. For each architecture the newest release that knows it is used.
    #[arg(long, value_name = "PATH")]
    pub ptxas: Vec<PathBuf>,
    /// The path of NVIDIA's disassembler nvdisasm. The default is the first in PATH, under CUDA_HOME or in
    /// target/tools.
    #[arg(long, value_name = "PATH")]
    pub nvdisasm: Option<PathBuf>,
    /// Fail if no ptxas or no nvdisasm is found.
    #[arg(long)]
    pub require_ptxas: bool,
    /// Fail if the compiler that built the files is not installed, so that they cannot be built again and compared.
    #[arg(long)]
    pub require_rebuild: bool,
    /// Do not build the files again, even if their compiler is installed.
    #[arg(long, conflicts_with = "require_rebuild")]
    pub no_rebuild: bool,
    /// Build only those files again whose sources have changed in the HOURS before the last commit. All are built again
    /// if git knows no commit from before.
    #[arg(long, value_name = "HOURS", conflicts_with = "no_rebuild")]
    pub rebuild_recent: Option<u32>,
    /// Show each instance of a generic kernel in a separate row.
    #[arg(long)]
    pub all: bool,
}

/// Checks `gpu/ptx` and prints the results.
///
/// # Errors
/// If a check fails; the message has all findings.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let algorithms = workspace.algorithms()?;
    let mut findings = Vec::new();
    let (modules, outdated) = check_sources(workspace, &algorithms, &mut findings)?;
    println!("sources: {} modules, {} findings", modules.len(), findings.len());
    let mut skipped = Vec::new();
    if options.no_rebuild {
        println!("rebuild: skipped because of --no-rebuild");
    } else {
        let earlier =
            options.rebuild_recent.map(|hours| stamps_before(workspace.root(), hours)).transpose()?.unwrap_or_default();
        let recorded = Stamps::read(&workspace.ptx())?;
        let is_recent = |module: &&Module| earlier.0.get(&module.algorithm) != recorded.0.get(&module.algorithm);
        let current = modules.iter().filter(|module| !outdated.contains(&module.file));
        let current: Vec<&Module> = current.filter(is_recent).collect();
        skipped = rebuild(workspace, &current, modules.len(), &mut findings);
    }
    let kernels = kernels::all(workspace, &algorithms)?;
    let (table, mut code) = assemble(workspace, &kernels, options, &modules, &mut findings)?;
    let expected = code::Table::new(&kernels);
    for module in &modules {
        code.extend(expected.check_ptx(&module.file, &ptx::Module::parse(&module.text)));
    }
    findings.extend(expected.useless(&code));
    println!("code: {} kernels, {} findings", code.kernels(), code.findings.len());
    findings.extend(code.findings);
    findings.extend(resources::check(workspace, &modules, &table)?);
    // Warnings are printed last, where a user sees them.
    for warning in warnings(skipped, options.require_rebuild, &mut findings) {
        eprintln!("WARNING: {warning}");
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("gpu/ptx is not in order:\n  {}", findings.join("\n  "))
}

/// Returns the stamps of the repository `root` at least `hours` before the last commit, or none if git knows no commit
/// from before.
fn stamps_before(root: &Path, hours: u32) -> Result<Stamps> {
    let Some(commit) = repository::commit_before(root, hours)? else { return Ok(Stamps::default()) };
    let files = repository::of_commit(root, &commit, &[&format!("/{}", stamps::FILE)])?;
    Ok(files.values().next().map(|text| Stamps::parse(text)).unwrap_or_default())
}

/// Reads the modules, and compares the hashes of the sources and texts with the recorded hashes. Returns the modules,
/// and the files of the modules that were not built from the present sources.
fn check_sources(
    workspace: &Workspace,
    algorithms: &Algorithms,
    findings: &mut Vec<String>,
) -> Result<(Vec<Module>, BTreeSet<String>)> {
    let (mut modules, mut outdated): (Vec<Module>, _) = (Vec::new(), BTreeSet::new());
    let stamps = Stamps::read(&workspace.ptx())?;
    let present = sources::hashes(workspace, algorithms)?;
    for (algorithm, hash) in &present {
        findings.extend(stamps.finding(algorithm, hash));
    }
    for (algorithm, arch) in modules::expected(algorithms) {
        let module = match Module::read(workspace, &algorithm, arch) {
            Ok(module) => module,
            Err(error) => {
                findings.push(format!("{error:#}"));
                continue;
            }
        };
        let wrong_header = header_finding(&module);
        if wrong_header.is_some() || stamps.0.get(&algorithm) != present.get(&algorithm) {
            outdated.insert(module.file.clone());
        }
        findings.extend(wrong_header);
        findings.extend(text_finding(&module));
        let earlier = modules.last().filter(|earlier| earlier.algorithm == algorithm);
        findings.extend(earlier.and_then(|earlier| sameness_finding(earlier, &module)));
        modules.push(module);
    }
    for file in modules::unexpected(&workspace.ptx(), algorithms)? {
        findings.push(format!("{file} belongs to no present algorithm: `cargo xtask build-ptx` removes it"));
    }
    Ok((modules, outdated))
}

/// Returns a finding if a module's header contradicts its name.
fn header_finding(Module { file, algorithm, arch, header, .. }: &Module) -> Option<String> {
    (header.arch != *arch || header.features != [algorithm.as_str()]).then(|| {
        let features = header.features.join(", ");
        format!("the header of {file} names {features} for {}, not {algorithm} for {arch}", header.arch)
    })
}

/// Returns a finding if a module has the same instructions as `earlier`, the algorithm's module for the next older
/// architecture.
fn sameness_finding(earlier: &Module, module: &Module) -> Option<String> {
    (ptx::instructions_of(&earlier.text) == ptx::instructions_of(&module.text)).then(|| {
        format!(
            "{} has the same instructions as {}: remove {} from [package.metadata.ptx] in {GPU_MANIFEST}",
            module.file, earlier.file, module.algorithm
        )
    })
}

/// Returns a finding if the text below a module's header does not have the recorded hash.
fn text_finding(Module { file, text, header, .. }: &Module) -> Option<String> {
    let remedy = "run `cargo xtask build-ptx`";
    let (_, below) = Header::split(text)?;
    match &header.text {
        None => Some(format!("{file} does not record the hash of its text: {remedy}")),
        Some(built) if *built != sources::text_hash(below) => {
            Some(format!("{file}: the text was changed after the build; {remedy}"))
        }
        Some(_) => None,
    }
}

/// Builds each of the `current` modules again if its compiler is installed, and compares the texts. Returns a line for
/// each missing compiler.
fn rebuild(workspace: &Workspace, current: &[&Module], all: usize, findings: &mut Vec<String>) -> Vec<String> {
    let search = Search::run(&workspace.gpu());
    let mut skipped = Vec::new();
    let mut by_arch: BTreeMap<Arch, Vec<(&Module, &Toolchain)>> = BTreeMap::new();
    for &module in current {
        let compiler = &module.header.compiler;
        match search.usable.iter().find(|toolchain| toolchain.version() == compiler) {
            Some(toolchain) => by_arch.entry(module.arch).or_default().push((module, toolchain)),
            None => skipped.push(module),
        }
    }
    let rebuilt: usize = by_arch.values().map(Vec::len).sum();
    // Builds for one architecture share a folder and wait for each other, so only architectures are built in parallel.
    let groups: Vec<_> = by_arch.into_values().collect();
    let results = parallel::map(&groups, |group| {
        let finding = |(module, toolchain): &(&Module, &Toolchain)| match build_ptx::build(
            workspace,
            toolchain,
            &module.algorithm,
            module.arch,
        ) {
            Ok(again) => difference(&module.file, &module.text, &again),
            Err(error) => Some(format!("{} cannot be built again: {error:#}", module.file)),
        };
        Ok(group.iter().filter_map(finding).collect::<Vec<_>>())
    });
    findings.extend(results.into_iter().flatten().flatten());
    println!("rebuild: {rebuilt} of {all} modules built again and compared");
    let present: Vec<&str> = search.usable.iter().map(Toolchain::version).collect();
    skips(&skipped, &present)
}

/// Returns a line for each compiler that would be needed to build the `skipped` modules again.
fn skips(skipped: &[&Module], present: &[&str]) -> Vec<String> {
    let present = if present.is_empty() { "no compiler that builds PTX".to_owned() } else { present.join("; ") };
    let mut by_compiler: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for module in skipped {
        by_compiler.entry(&module.header.compiler).or_default().push(&module.file);
    }
    let line = |(compiler, files): (&str, Vec<&str>)| {
        format!("rebuild skipped: {} would need {compiler}; this machine has {present}", files.join(", "))
    };
    by_compiler.into_iter().map(line).collect()
}

/// Returns the lines of `skipped` as warnings. If `is_required` is true, adds them to `findings` instead.
fn warnings(skipped: Vec<String>, is_required: bool, findings: &mut Vec<String>) -> Vec<String> {
    if !is_required {
        return skipped;
    }
    findings.extend(skipped);
    Vec::new()
}

/// Returns a finding with the first line in which the checked-in and the built text differ.
fn difference(file: &str, checked_in: &str, built: &str) -> Option<String> {
    if checked_in == built {
        return None;
    }
    let same = checked_in.lines().zip(built.lines()).take_while(|(one, other)| one == other).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(end of the file)").trim().to_owned();
    Some(format!(
        "{file} differs from a new build of the present sources: line {} is `{}`, and `{}` in the new build",
        same + 1,
        line(checked_in),
        line(built)
    ))
}

/// Assembles each module for the architectures whose GPUs run it, and prints the registers and shared memory of each
/// kernel. Returns the table of resources and the findings in the SASS.
fn assemble(
    workspace: &Workspace,
    kernels: &[Kernel],
    options: &Options,
    modules: &[Module],
    findings: &mut Vec<String>,
) -> Result<(Table, CodeFindings)> {
    let (mut table, mut code) = (Table::of(modules), CodeFindings::default());
    let assemblers = assemblers::given_or_found(&options.ptxas, workspace)?;
    if assemblers.is_empty() {
        let remedy = assemblers::REMEDY;
        println!("assembly: skipped, no ptxas found; {remedy}");
        if options.require_ptxas {
            findings.push(format!("--require-ptxas: no ptxas found; {remedy}"));
        }
        return Ok((table, code));
    }
    let by_arch = assemblers::by_arch(&assemblers, Arch::Sm70, NEWEST);
    let mut shares: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (arch, ptxas) in &by_arch {
        shares.entry(ptxas.to_string()).or_default().push(arch.to_string());
    }
    for (ptxas, archs) in shares {
        println!("assembly: {ptxas} for {}", archs.join(", "));
    }

    let runs = resources::assemblies(modules, &by_arch);
    let disassembler = Disassembler::new(workspace, options, code::Table::new(kernels), findings)?;
    let results = parallel::map(&runs, |(arch, ptxas, module)| disassembler.assemble(ptxas, module, *arch));
    let mut warnings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // A module is parsed once, and not for each architecture.
    let mut parsed: BTreeMap<&str, ptx::Module> = BTreeMap::new();
    let mut report = Report::new(if options.all { BTreeMap::new() } else { families(kernels) });
    for ((arch, ptxas, module), result) in runs.into_iter().zip(results) {
        match result {
            Ok((assembled, of_sass)) => {
                code.extend(of_sass);
                for warning in &assembled.warnings {
                    warnings.entry(format!("{}: {warning}", module.file)).or_default().push(arch.to_string());
                }
                let parsed = parsed.entry(&module.file).or_insert_with(|| ptx::Module::parse(&module.text));
                findings.extend(resource_findings(&module.file, parsed, arch, &assembled));
                report.add(module.arch, arch, &assembled);
                table.add(arch, ptxas, &assembled);
            }
            Err(error) => findings.push(format!("{error:#}")),
        }
    }
    println!("{}", report.table(&by_arch.keys().copied().collect::<Vec<_>>()));
    for (warning, archs) in warnings {
        println!("{warning} ({})", archs.join(", "));
    }
    Ok((table, code))
}

/// The local memory in bytes that ptxas takes for copies of boxes on sm_120, and only writes.
const OF_BOXES: u32 = 8;

/// Returns findings for spills and local memory, and for products of warpgroups that the assembler has changed. A
/// kernel that prints may use local memory, because `vprintf` reads its arguments there.
fn resource_findings(file: &str, module: &ptx::Module, arch: Arch, assembled: &Assembled) -> Vec<String> {
    let prints = |name: &str| {
        let entry = module.entry(name).into_iter().flat_map(|entry| module.reachable(entry));
        entry
            .flat_map(|function| &function.instructions)
            .any(|instruction| instruction.call_target() == Some("vprintf"))
    };
    let copies_boxes = |name: &str| {
        let entry = module.entry(name).into_iter().flat_map(|entry| module.reachable(entry));
        let mut opcodes = entry.flat_map(|function| &function.instructions).map(|instruction| &instruction.opcode);
        opcodes.any(|opcode| opcode.starts_with("cp.async.bulk.tensor"))
    };
    let mut findings: Vec<String> =
        assembled.advisories.iter().map(|message| format!("{file} for {arch}: {message}")).collect();
    for function in &assembled.functions {
        let name = &function.name;
        if function.spill_stores > 0 || function.spill_loads > 0 {
            let (stores, loads) = (function.spill_stores, function.spill_loads);
            findings.push(format!("{file}, {name} for {arch}: spills {stores} bytes and reloads {loads} bytes"));
        } else if function.stack > 0 && !prints(name) && !(function.stack == OF_BOXES && copies_boxes(name)) {
            findings.push(format!("{file}, {name} for {arch}: {} bytes of local memory per thread", function.stack));
        }
    }
    let kernels = assembled.functions.iter().filter(|function| function.is_kernel).count();
    if kernels != module.entries.len() {
        findings.push(format!("{file} for {arch}: {kernels} of {} kernels assembled", module.entries.len()));
    }
    findings
}

#[cfg(test)]
mod tests;
