//! Finds and runs NVIDIA's assembler `ptxas`, and parses its report on each kernel.
//!
//! Architectures are numbers: 90 is sm_90.

#![warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::todo, clippy::unimplemented)]

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use thiserror::Error;

/// An assembler on this machine.
#[derive(Clone, Debug)]
pub struct Ptxas {
    path: PathBuf,
    /// The major and minor number of the release.
    release: (u32, u32),
    archs: Vec<u32>,
}

/// The error of an assembler that does not run or rejects a module.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PtxasError {
    /// The program does not start.
    #[error("cannot run the assembler `{}`", path.display())]
    Start {
        /// The path of the program.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The program fails when it is asked for its version or its architectures.
    #[error("`{} {argument}` failed: {status}", path.display())]
    Query {
        /// The path of the program.
        path: PathBuf,
        /// The argument of the query.
        argument: &'static str,
        /// The exit status.
        status: ExitStatus,
    },
    /// The output of the program lacks what an assembler prints.
    #[error("`{} {argument}` names no {what}", path.display())]
    NoAssembler {
        /// The path of the program.
        path: PathBuf,
        /// The argument of the query.
        argument: &'static str,
        /// The missing part: `release` or `architecture`.
        what: &'static str,
    },
    /// The assembler rejects a module.
    #[error("ptxas rejects {} for sm_{arch}: {messages}", module.display())]
    Rejected {
        /// The path of the module.
        module: PathBuf,
        /// The architecture.
        arch: u32,
        /// The assembler's messages.
        messages: String,
    },
}

/// The resources of one function, as the assembler reports them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The function's symbol.
    pub name: String,
    /// True for a kernel. The assembler reports no registers for a device function.
    pub is_kernel: bool,
    /// The number of registers per thread.
    pub registers: u32,
    /// The static shared memory per block, in bytes.
    pub shared: u32,
    /// The local memory per thread, in bytes.
    pub stack: u32,
    /// The number of bytes that are stored to local memory because registers run out.
    pub spill_stores: u32,
    /// The number of spilled bytes that are loaded back.
    pub spill_loads: u32,
}

/// A module assembled for one architecture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assembled {
    /// The resources of the module's functions.
    pub functions: Vec<Usage>,
    /// The assembler's warnings.
    pub warnings: Vec<String>,
    /// The messages with the numbers C7500 to C7599: the assembler has serialised products of warpgroups, has inserted
    /// waits for them, or has ignored a change of the number of registers. It calls these messages information.
    pub advisories: Vec<String>,
}

impl Ptxas {
    /// Opens the assembler at `path`.
    ///
    /// # Errors
    /// If the assembler does not run, or if its output names no version or no architecture.
    pub fn open(path: &Path) -> Result<Ptxas, PtxasError> {
        let answer = |argument: &'static str| {
            let start = |source| PtxasError::Start { path: path.to_owned(), source };
            let output = Command::new(path).arg(argument).output().map_err(start)?;
            match output.status.success() {
                true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
                false => Err(PtxasError::Query { path: path.to_owned(), argument, status: output.status }),
            }
        };
        let lacks = |argument, what| PtxasError::NoAssembler { path: path.to_owned(), argument, what };
        let release = release_of(&answer("--version")?).ok_or_else(|| lacks("--version", "release"))?;
        let archs = known_archs(&answer("--help")?);
        match archs.is_empty() {
            true => Err(lacks("--help", "architecture")),
            false => Ok(Ptxas { path: path.to_owned(), release, archs }),
        }
    }

    /// Assembles a module into the file `cubin`, or discards the result if `cubin` is `None`.
    ///
    /// # Errors
    /// If the assembler rejects the module; the error has its messages.
    pub fn assemble(&self, module: &Path, arch: u32, cubin: Option<&Path>) -> Result<Assembled, PtxasError> {
        let output = Command::new(&self.path)
            .args(["-v", "-O3", &format!("-arch={}", target(module, arch)), "-o"])
            .arg(cubin.unwrap_or(Path::new(if cfg!(windows) { "NUL" } else { "/dev/null" })))
            .arg(module)
            .output()
            .map_err(|source| PtxasError::Start { path: self.path.clone(), source })?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        match output.status.success() {
            true => Ok(read_report(&said)),
            false => Err(PtxasError::Rejected { module: module.to_owned(), arch, messages: said.trim().to_owned() }),
        }
    }

    /// Returns an assembler of a release for tests. It cannot be run.
    #[doc(hidden)]
    pub fn of_release(major: u32, minor: u32) -> Ptxas {
        Ptxas { path: PathBuf::new(), release: (major, minor), archs: Vec::new() }
    }
}

impl fmt::Display for Ptxas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ptxas {}.{}", self.release.0, self.release.1)
    }
}

/// Returns the paths of the programs called `name` in PATH, in a CUDA toolkit (CUDA_HOME, CUDA_PATH or
/// /usr/local/cuda), in the active virtual environment, and in the virtual environments in the folders `environments`.
pub fn programs(name: &str, environments: &[PathBuf]) -> Vec<PathBuf> {
    let name = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        places.extend(std::env::var_os(variable).map(|folder| PathBuf::from(folder).join("bin")));
    }
    places.push(PathBuf::from("/usr/local/cuda/bin"));
    let active = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    places.extend(active.iter().chain(environments).flat_map(|environment| packages_of(environment)));
    let mut files: Vec<PathBuf> = Vec::new();
    for file in places.into_iter().filter_map(|folder| folder.join(&name).canonicalize().ok()) {
        if file.is_file() && !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Returns the newest assembler that knows each architecture from `oldest` to `newest`. An architecture that no
/// assembler knows is left out.
pub fn by_arch(assemblers: &[Ptxas], oldest: u32, newest: u32) -> BTreeMap<u32, &Ptxas> {
    let mut chosen: BTreeMap<u32, &Ptxas> = BTreeMap::new();
    for assembler in assemblers {
        for &arch in assembler.archs.iter().filter(|arch| (oldest..=newest).contains(arch)) {
            let present = chosen.entry(arch).or_insert(assembler);
            if assembler.release > present.release {
                *present = assembler;
            }
        }
    }
    chosen
}

/// Parses the release from the output of `ptxas --version`.
fn release_of(version: &str) -> Option<(u32, u32)> {
    let number = version.split_once("release ")?.1.split(',').next()?;
    let (major, minor) = number.trim().split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the program folders of NVIDIA's packages in a Python environment.
fn packages_of(environment: &Path) -> Vec<PathBuf> {
    let inside = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        paths
    };
    let mut folders = Vec::new();
    for python in inside(&environment.join("lib")) {
        for package in inside(&python.join("site-packages/nvidia")) {
            folders.push(package.join("bin"));
        }
    }
    folders
}

/// Returns the name of the architecture `arch` for which `module` can be assembled. PTX for `sm_90a` can be assembled
/// for this name alone.
fn target(module: &Path, arch: u32) -> String {
    let named = format!("sm_{arch}a");
    // A module that cannot be read is the assembler's to report.
    let text = std::fs::read_to_string(module).unwrap_or_default();
    let targets = text.lines().find_map(|line| line.strip_prefix(".target ")).unwrap_or_default();
    if targets.split(',').any(|target| target.trim() == named) { named } else { format!("sm_{arch}") }
}

/// Returns the architectures in the help of ptxas. Names that end in a letter are left out, because their code runs on
/// one architecture only.
fn known_archs(help: &str) -> Vec<u32> {
    // The values are quoted. The prose also mentions other names.
    let quoted = help.split('\'').skip(1).step_by(2).filter_map(|word| word.strip_prefix("sm_"));
    let mut archs: Vec<u32> = quoted.filter_map(|number| number.parse().ok()).collect();
    archs.sort_unstable();
    archs.dedup();
    archs
}

/// Parses the output of `ptxas -v`.
fn read_report(text: &str) -> Assembled {
    let mut report = Assembled::default();
    let mut kernel = None;
    for line in text.lines() {
        if line.contains("(C75") {
            report.advisories.push(line.trim().to_owned());
        } else if line.contains("warning") {
            report.warnings.push(line.trim().to_owned());
        } else if let Some(name) = line.split_once("Compiling entry function '").map(|(_, rest)| rest) {
            kernel = name.split('\'').next();
        } else if let Some((_, name)) = line.split_once("Function properties for ") {
            let name = name.trim();
            report.functions.push(Usage { name: name.to_owned(), is_kernel: kernel == Some(name), ..Usage::default() });
        } else if let Some(function) = report.functions.last_mut() {
            let amount = |what: &str| number_before(line, what);
            if let Some(stack) = amount(" bytes stack frame") {
                function.stack = stack;
                function.spill_stores = amount(" bytes spill stores").unwrap_or(0);
                function.spill_loads = amount(" bytes spill loads").unwrap_or(0);
            }
            if let Some(registers) = amount(" registers") {
                function.registers = registers;
                function.shared = amount(" bytes smem").unwrap_or(0);
            }
        }
    }
    report
}

/// Returns the number immediately before `what` in a line.
fn number_before(line: &str, what: &str) -> Option<u32> {
    let before = &line[..line.find(what)?];
    let start = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    before[start..].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
ptxas info    : 266 bytes gmem
ptxas info    : Compiling entry function 'step' for 'sm_90'
ptxas info    : Function properties for step
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 24 registers, used 1 barriers, 8 bytes cumulative stack size, 4224 bytes smem, 380 bytes cmem[0]
ptxas info    : Compile time = 6.542 ms
ptxas warning : Registers are spilled to local memory in function 'step'
ptxas info    : Compiling entry function 'scale' for 'sm_90'
ptxas info    : Function properties for scale
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Function properties for look
    16 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
";

    #[test]
    fn reads_the_report() {
        let report = read_report(REPORT);
        let step = Usage {
            name: "step".to_owned(),
            is_kernel: true,
            registers: 24,
            shared: 4224,
            stack: 8,
            spill_stores: 4,
            spill_loads: 12,
        };
        let scale = Usage { name: "scale".to_owned(), is_kernel: true, registers: 8, ..Usage::default() };
        let look = Usage { name: "look".to_owned(), stack: 16, ..Usage::default() };
        assert_eq!(report.functions, [step, scale, look]);
        assert_eq!(report.warnings.len(), 1);
    }

    #[test]
    fn changes_of_asynchronous_products_are_advisories() {
        let lines = [
            "ptxas info    : (C7517) wgmma.wait_group is injected in around line 34223 by compiler to allow use of \
             registers defined by GMMA in function 'step'",
            "ptxas warning : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to \
             insufficient register resources for the wgmma pipeline in the function 'step'",
        ];
        let report = read_report(&format!("{}\n{REPORT}{}\n", lines[0], lines[1]));
        assert_eq!((report.advisories, report.warnings.len()), (lines.map(str::to_owned).to_vec(), 1));
        assert_eq!(report.functions.len(), 3);
    }

    #[test]
    fn a_module_for_a_specific_architecture_is_assembled_for_it() {
        let file = std::env::temp_dir().join(format!("ptxas-target-{}.ptx", std::process::id()));
        std::fs::write(&file, ".version 8.0\n.target sm_90a\n.address_size 64\n").unwrap();
        assert_eq!([target(&file, 90), target(&file, 100)], ["sm_90a", "sm_100"]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(target(&file, 90), "sm_90");
    }

    #[test]
    fn reads_the_architectures() {
        let help =
            "Allowed values for this option: 'compute_75','sm_100','sm_100a','sm_120f','sm_75',\n 'sm_90', sm_70";
        assert_eq!(known_archs(help), [75, 90, 100]);
    }

    #[test]
    fn a_program_that_is_no_assembler_is_an_error() {
        assert!(Ptxas::open(Path::new("/nonexistent/ptxas")).is_err());
        let error = Ptxas::open(Path::new("/bin/true")).unwrap_err().to_string();
        assert!(error.contains("names no release"), "{error}");
        assert_eq!(release_of("Cuda compilation tools, release 13.5, V13.5.37\n"), Some((13, 5)));
    }

    #[test]
    fn each_architecture_has_the_newest_assembler_that_knows_it() {
        let assembler = |release, archs: &[u32]| Ptxas { path: PathBuf::new(), release, archs: archs.to_vec() };
        let assemblers = [assembler((12, 9), &[62, 70, 90]), assembler((13, 5), &[75, 90, 121])];
        let chosen: Vec<_> =
            by_arch(&assemblers, 70, 120).into_iter().map(|(arch, ptxas)| (arch, ptxas.release)).collect();
        assert_eq!(chosen, [(70, (12, 9)), (75, (13, 5)), (90, (13, 5))]);
    }
}
