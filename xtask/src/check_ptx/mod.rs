//! `check-ptx`: proves that `gpu/ptx` is what the present sources give, and that every GPU takes it.
//!
//! `sources.tsv` has the hash of the sources that a module was made from, and its header that of the text that they
//! gave. Where the compiler is at hand that made it, it is built again too. The kernels' code, as PTX and as the SASS
//! of some architectures, is held against what is expected of it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use cuda_builder::{Arch, Header, Search, Toolchain};

use crate::build_ptx;
use crate::kernels::{self, Kernel};
use crate::parallel;
use crate::ptx;
use crate::ptxas::{self, Assembled, Ptxas};
use crate::resources::{self, NEWEST, Table};
use crate::sources;
use crate::stamps::Stamps;
use crate::workspace::{Algorithms, GPU_MANIFEST, Workspace};

mod code;
mod disassembly;
mod report;

use code::Seen;
use disassembly::Disassembly;
use report::{Families, Report, families};

/// What `check-ptx` is told to do.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The assemblers to use; those that can be found if empty.
    pub ptxas: Vec<PathBuf>,
    /// The disassembler to use; one that can be found if `None`.
    pub nvdisasm: Option<PathBuf>,
    /// Whether it is an error that there is none of either.
    pub require_ptxas: bool,
    /// Whether to build the modules again.
    pub rebuild: Rebuild,
    /// Whether the table has a row for each instance of a generic kernel, and not one for all.
    pub all: bool,
}

/// Whether `check-ptx` builds the modules again, and compares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rebuild {
    /// Those whose compiler is at hand; a warning for the others.
    #[default]
    WherePossible,
    /// All; it is an error that a compiler is missing.
    Required,
    /// None.
    Never,
}

/// A module as it is checked in.
struct CheckedIn {
    file: String,
    path: PathBuf,
    algorithm: String,
    arch: Arch,
    text: String,
    header: Header,
    /// Whether it was made from the present sources; otherwise there is no point in building it again.
    is_current: bool,
}

impl CheckedIn {
    /// The module as the table of resources knows it; `None` if it has no hash, which is a finding of its own.
    fn of_table(&self) -> Option<resources::Module> {
        resources::Module::new(&self.file, &self.path, &self.algorithm, self.arch, &self.text)
    }
}

/// Checks `gpu/ptx`, and prints what was found.
///
/// # Errors
/// If anything is not as it should be; all findings are in the message.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let algorithms = workspace.algorithms()?;
    let mut findings = Vec::new();
    let modules = sources_agree(workspace, &algorithms, &mut findings)?;
    println!("sources: {} modules, {} findings", modules.len(), findings.len());
    let mut skipped = Vec::new();
    if options.rebuild == Rebuild::Never {
        println!("rebuild: not asked for");
    } else {
        skipped = rebuild(workspace, &modules, &mut findings);
    }
    let of_table = modules.iter().filter_map(CheckedIn::of_table).collect::<Vec<_>>();
    let kernels = kernels::all(workspace, &algorithms)?;
    let (table, mut seen) = assemble(workspace, &kernels, options, &modules, &of_table, &mut findings)?;
    let expected = code::Table::new(&kernels);
    for module in &modules {
        seen.extend(expected.check_ptx(&module.file, &ptx::Module::parse(&module.text)));
    }
    findings.extend(expected.useless(&seen));
    println!("code: {} kernels, {} findings", seen.kernels(), seen.findings.len());
    findings.extend(seen.findings);
    findings.extend(resources::check(workspace, &of_table, &table)?);
    // Last, where they are seen.
    for warning in warnings(skipped, options.rebuild, &mut findings) {
        eprintln!("WARNING: {warning}");
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("gpu/ptx is not in order:\n  {}", findings.join("\n  "))
}

/// Compares the files there are with those there should be, and their recorded hashes with the sources'.
fn sources_agree(workspace: &Workspace, algorithms: &Algorithms, findings: &mut Vec<String>) -> Result<Vec<CheckedIn>> {
    let mut modules: Vec<CheckedIn> = Vec::new();
    let stamps = Stamps::read(&workspace.ptx())?;
    let mut outdated = Vec::new();
    for (algorithm, present) in sources::hashes(workspace, algorithms)? {
        if let Some(finding) = stamps.finding(&algorithm, &present) {
            findings.push(finding);
            outdated.push(algorithm);
        }
    }
    for (file, algorithm, arch) in build_ptx::expected(algorithms) {
        let path = workspace.ptx().join(&file);
        let text = match fs::read_to_string(&path) {
            // As a checkout may have it.
            Ok(text) => text.replace("\r\n", "\n"),
            Err(error) => {
                findings.push(format!("{file} cannot be read ({error}): run `cargo xtask build-ptx`"));
                continue;
            }
        };
        let Some((header, below)) = Header::split(&text) else {
            findings.push(format!("{file} has no header, so it was not made by `cargo xtask build-ptx`"));
            continue;
        };
        let finding = header_finding(&file, &header, &algorithm, arch);
        let is_current = finding.is_none() && !outdated.contains(&algorithm);
        findings.extend(finding);
        findings.extend(text_finding(&file, &header, below));
        let earlier = modules.last().filter(|earlier| earlier.algorithm == algorithm);
        findings.extend(earlier.and_then(|earlier| sameness_finding(earlier, &file, &text)));
        modules.push(CheckedIn { file, path, algorithm, arch, text, header, is_current });
    }
    for stranger in build_ptx::strangers(&workspace.ptx(), algorithms)? {
        findings.push(format!("{stranger} is a module of no present algorithm: `cargo xtask build-ptx` removes it"));
    }
    Ok(modules)
}

/// What a module's header says that is not so.
fn header_finding(file: &str, header: &Header, algorithm: &str, arch: Arch) -> Option<String> {
    (header.arch != arch || header.features != [algorithm]).then(|| {
        let features = header.features.join(", ");
        format!("{file} says that it is {features} for {}, not {algorithm} for {arch}", header.arch)
    })
}

/// A module whose text is that of the architecture before it.
fn sameness_finding(earlier: &CheckedIn, file: &str, text: &str) -> Option<String> {
    (ptx::instructions_of(&earlier.text) == ptx::instructions_of(text)).then(|| {
        let CheckedIn { file: other, algorithm, .. } = earlier;
        format!(
            "{file} has the instructions of {other}: take {algorithm} out of [package.metadata.ptx] in {GPU_MANIFEST}"
        )
    })
}

/// What is wrong with the text `below` a module's header.
fn text_finding(file: &str, header: &Header, below: &str) -> Option<String> {
    let remedy = "run `cargo xtask build-ptx`";
    match &header.text {
        None => Some(format!("{file} does not record the hash of its text: {remedy}")),
        Some(built) if *built != sources::text_hash(below) => {
            Some(format!("{file}: the text was changed after it was built; {remedy}"))
        }
        Some(_) => None,
    }
}

/// Builds again what the compilers at hand have built before, and compares the texts. Gives what was skipped.
fn rebuild(workspace: &Workspace, modules: &[CheckedIn], findings: &mut Vec<String>) -> Vec<String> {
    let search = Search::run(&workspace.gpu());
    let mut skipped = Vec::new();
    let mut by_arch: BTreeMap<Arch, Vec<(&CheckedIn, &Toolchain)>> = BTreeMap::new();
    for module in modules.iter().filter(|module| module.is_current) {
        let made_by = &module.header.compiler;
        match search.usable.iter().find(|toolchain| toolchain.version() == made_by) {
            Some(toolchain) => by_arch.entry(module.arch).or_default().push((module, toolchain)),
            None => skipped.push(module),
        }
    }
    let rebuilt: usize = by_arch.values().map(Vec::len).sum();
    // Builds for one architecture wait for each other, as they share a folder and with it the compiled `core`.
    let groups: Vec<_> = by_arch.into_values().collect();
    let results = parallel::map(&groups, |group| {
        let finding = |&(module, toolchain): &(&CheckedIn, &Toolchain)| match build_ptx::module(
            workspace,
            toolchain,
            &module.algorithm,
            module.arch,
        ) {
            Ok(again) => difference(&module.file, &module.text, &again.ptx),
            Err(error) => Some(format!("{} cannot be built again: {error:#}", module.file)),
        };
        Ok(group.iter().filter_map(finding).collect::<Vec<_>>())
    });
    for result in results {
        match result {
            Ok(of_group) => findings.extend(of_group),
            Err(error) => findings.push(format!("{error:#}")),
        }
    }
    println!("rebuild: {rebuilt} of {} modules built again and compared", modules.len());
    let present: Vec<&str> = search.usable.iter().map(Toolchain::version).collect();
    skips(&skipped, &present)
}

/// What it would take to build the `skipped` modules again, by compiler.
fn skips(skipped: &[&CheckedIn], present: &[&str]) -> Vec<String> {
    let present = if present.is_empty() { "no compiler that builds PTX".to_owned() } else { present.join("; ") };
    let mut by_compiler: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for module in skipped {
        by_compiler.entry(&module.header.compiler).or_default().push(&module.file);
    }
    let line = |(compiler, files): (&str, Vec<&str>)| {
        format!("rebuild skipped: {} would need {compiler}, and here is {present}", files.join(", "))
    };
    by_compiler.into_iter().map(line).collect()
}

/// The `skipped` rebuilds as warnings, or as findings where rebuilding is required.
fn warnings(skipped: Vec<String>, rebuild: Rebuild, findings: &mut Vec<String>) -> Vec<String> {
    if rebuild == Rebuild::Required {
        findings.extend(skipped);
        return Vec::new();
    }
    skipped
}

/// The first line in which two texts differ.
fn difference(file: &str, checked_in: &str, built: &str) -> Option<String> {
    if checked_in == built {
        return None;
    }
    let same = checked_in.lines().zip(built.lines()).take_while(|(one, other)| one == other).count();
    let line = |text: &str| text.lines().nth(same).unwrap_or("(its end)").trim().to_owned();
    Some(format!(
        "{file} is not what its compiler makes of the present sources: line {} is `{}`, built again `{}`",
        same + 1,
        line(checked_in),
        line(built)
    ))
}

/// Assembles every module for every architecture whose GPUs run it, which are not those that run a newer one, and
/// prints what each kernel takes. Gives the columns of the table of resources for which there is an assembler, and what
/// was seen of the SASS.
fn assemble(
    workspace: &Workspace,
    kernels: &[Kernel],
    options: &Options,
    modules: &[CheckedIn],
    of_table: &[resources::Module],
    findings: &mut Vec<String>,
) -> Result<(Table, Seen)> {
    let (mut table, mut seen) = (Table::of(of_table), Seen::default());
    let assemblers = Ptxas::given_or_found(&options.ptxas, workspace)?;
    if assemblers.is_empty() {
        let remedy = ptxas::REMEDY;
        println!("assembly: skipped, no ptxas found; {remedy}");
        if options.require_ptxas {
            findings.push(format!("no ptxas was found, and one is required; {remedy}"));
        }
        return Ok((table, seen));
    }
    let by_arch = ptxas::by_arch(&assemblers, Arch::Sm70, NEWEST);
    let archs: Vec<Arch> = by_arch.keys().copied().collect();
    let mut shares: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (arch, ptxas) in &by_arch {
        shares.entry(ptxas.to_string()).or_default().push(arch.to_string());
    }
    for (ptxas, archs) in shares {
        println!("assembly: {ptxas} for {}", archs.join(", "));
    }

    let mut runs: Vec<(&CheckedIn, Arch)> = modules
        .iter()
        .flat_map(|module| archs.iter().map(move |arch| (module, *arch)))
        .filter(|(module, arch)| resources::is_run_by(of_table, &module.file, *arch))
        .collect();
    // The largest first: no core is left with one of them at the end.
    runs.sort_by_key(|(module, _)| Reverse(module.text.len()));
    let disassembly = Disassembly::new(workspace, options, code::Table::new(kernels), findings)?;
    let results = parallel::map(&runs, |(module, arch)| {
        let ptxas = by_arch.get(arch).context("no assembler for this architecture")?;
        let (assembled, of_sass) = disassembly.assemble(ptxas, module, *arch)?;
        let found = resource_findings(&module.file, &module.text, *arch, &assembled);
        Ok((assembled, of_sass, found))
    });
    let mut warnings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut report = Report::new(if options.all { Families::new() } else { families(kernels) });
    for ((module, arch), result) in runs.iter().zip(results) {
        match result {
            Ok((assembled, of_sass, found)) => {
                seen.extend(of_sass);
                for warning in &assembled.warnings {
                    warnings.entry(format!("{}: {warning}", module.file)).or_default().push(arch.to_string());
                }
                findings.extend(found);
                report.add(module, *arch, &assembled);
                if let Some(ptxas) = by_arch.get(arch) {
                    table.add(*arch, ptxas, &assembled);
                }
            }
            Err(error) => findings.push(format!("{error:#}")),
        }
    }
    println!("{}", report.table(&archs));
    for (warning, archs) in warnings {
        println!("{warning} ({})", archs.join(", "));
    }
    Ok((table, seen))
}

/// Spills and local memory. A kernel that prints keeps its arguments in local memory, where `vprintf` reads them.
fn resource_findings(file: &str, text: &str, arch: Arch, assembled: &Assembled) -> Vec<String> {
    let module = ptx::Module::parse(text);
    let prints = |name: &str| {
        let entry = module.entry(name).into_iter().flat_map(|entry| module.reachable(entry));
        entry
            .flat_map(|function| &function.instructions)
            .any(|instruction| instruction.call_target() == Some("vprintf"))
    };
    let mut findings = Vec::new();
    for function in &assembled.functions {
        let name = &function.name;
        if function.spill_stores > 0 || function.spill_loads > 0 {
            let (stores, loads) = (function.spill_stores, function.spill_loads);
            findings.push(format!("{file}, {name} for {arch}: spills {stores} bytes, and loads {loads} bytes back"));
        } else if function.stack > 0 && !prints(name) {
            findings.push(format!("{file}, {name} for {arch}: {} bytes of local memory per thread", function.stack));
        }
    }
    let kernels = assembled.functions.iter().filter(|function| function.is_kernel).count();
    if kernels != module.entries.len() {
        findings.push(format!("{file} for {arch}: {kernels} kernels assembled of {}", module.entries.len()));
    }
    findings
}

#[cfg(test)]
mod tests;
