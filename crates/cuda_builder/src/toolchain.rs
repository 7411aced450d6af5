//! Finds a Rust compiler that can build kernels.
//!
//! The candidates are, in order: the compiler in [`RUSTC_VARIABLE`], the `rustc` of the search path in the kernel
//! crate's folder (with rustup: the pinned or active toolchain), and the system's `/usr/bin/rustc`. A compiler is
//! usable if it knows the target and has the standard library's sources.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fmt, io};

use crate::TARGET;
use crate::arch::Arch;
use crate::command;

/// The environment variable with the path of the `rustc` to try before all others.
pub const RUSTC_VARIABLE: &str = "CUDA_BUILDER_RUSTC";
/// The environment variable with the path of the `cargo` for that `rustc`. The default is the `cargo` in the same
/// folder.
pub const CARGO_VARIABLE: &str = "CUDA_BUILDER_CARGO";

const SYSTEM_RUSTC: &str = "/usr/bin/rustc";

/// A `rustc` that can build kernels, and its `cargo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Toolchain {
    rustc: PathBuf,
    cargo: PathBuf,
    sysroot: PathBuf,
    version: String,
}

impl Toolchain {
    /// Returns the toolchain of this `rustc`, with the `cargo` in the same folder.
    ///
    /// # Errors
    /// If the compiler cannot build kernels; the error has the reason.
    pub fn new(rustc: impl AsRef<Path>) -> Result<Toolchain, Rejected> {
        Toolchain::probe(rustc.as_ref(), None, Path::new("."))
    }

    /// Returns the toolchain of this `rustc` and this `cargo`.
    ///
    /// # Errors
    /// If the compiler cannot build kernels; the error has the reason.
    pub fn with_cargo(rustc: impl AsRef<Path>, cargo: impl AsRef<Path>) -> Result<Toolchain, Rejected> {
        Toolchain::probe(rustc.as_ref(), Some(cargo.as_ref()), Path::new("."))
    }

    /// Returns the compiler's path. It is never a rustup proxy, whose choice depends on the folder.
    pub fn rustc(&self) -> &Path {
        &self.rustc
    }

    /// Returns the path of the toolchain's `cargo`.
    pub fn cargo(&self) -> &Path {
        &self.cargo
    }

    /// Returns the full version of the compiler, such as `rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8`. Two
    /// compilers with equal versions produce the same text from the same sources.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Returns true if the compiler marks every function of a GPU's target as convergent, as it does from 1.96 on.
    pub(crate) fn marks_functions_convergent(&self) -> bool {
        marks_functions_convergent(&self.version)
    }

    /// Returns the folder of the standard library's sources.
    pub(crate) fn library_source(&self) -> PathBuf {
        library_source(&self.sysroot)
    }

    /// Returns the architectures that the compiler knows, such as `sm_70`.
    pub(crate) fn architectures(&self) -> io::Result<Vec<Arch>> {
        let output = self.rustc_command().args(["--print", "target-cpus", "--target", TARGET]).output()?;
        let names = String::from_utf8_lossy(&output.stdout);
        Ok(names
            .split_whitespace()
            .filter(|word| word.starts_with("sm_"))
            .filter_map(|word| word.parse().ok())
            .collect())
    }

    fn rustc_command(&self) -> Command {
        let mut command = command::clean(&self.rustc);
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }

    fn probe(rustc: &Path, cargo: Option<&Path>, folder: &Path) -> Result<Toolchain, Rejected> {
        let rejected = |reason: String| Rejected { rustc: rustc.to_owned(), reason, remedy: None, version: None };

        // Only these commands keep rustup's variables, which determine the toolchain of a proxy.
        let ask = |arguments: &[&str]| answer(Command::new(rustc).current_dir(folder).args(arguments));
        let verbose = ask(&["-vV"]).map_err(rejected)?;
        let sysroot = PathBuf::from(ask(&["--print", "sysroot"]).map_err(rejected)?.trim());
        let version = version_of(&verbose).ok_or_else(|| rejected(format!("`rustc -vV` says\n{verbose}")))?;
        let rejected = |reason: String, remedy: Option<String>| Rejected {
            rustc: rustc.to_owned(),
            reason,
            remedy,
            version: Some(version.clone()),
        };

        let own = sysroot.join("bin").join(format!("rustc{}", std::env::consts::EXE_SUFFIX));
        let resolved = if own.is_file() { own } else { rustc.to_owned() };
        let targets =
            answer(command::clean(&resolved).args(["--print", "target-list"])).map_err(|e| rejected(e, None))?;
        if !targets.lines().any(|line| line == TARGET) {
            return Err(rejected(format!("it does not know the target {TARGET}"), None));
        }
        let source = library_source(&sysroot);
        if !source.join("core/src/lib.rs").is_file() {
            let reason = format!("the standard library's sources are not installed ({} is missing)", source.display());
            return Err(rejected(reason, source_remedy(&sysroot)));
        }
        let cargo = match cargo {
            Some(cargo) => cargo.to_owned(),
            None => cargo_beside(&resolved)
                .ok_or_else(|| rejected(format!("no cargo is in its folder; name one in {CARGO_VARIABLE}"), None))?,
        };
        answer(command::clean(&cargo).arg("--version")).map_err(|e| rejected(format!("its cargo: {e}"), None))?;

        // The option `immediate-abort` turns every panic into a trap, without the message and its formatting code.
        let mut trial = command::clean(&resolved);
        trial.env("RUSTC_BOOTSTRAP", "1");
        trial.args(["-Zunstable-options", "-Cpanic=immediate-abort", "--print", "cfg", "--target", TARGET]);
        answer(&mut trial).map_err(|e| rejected(format!("it has no `-Cpanic=immediate-abort`: {e}"), None))?;
        Ok(Toolchain { rustc: resolved, cargo, sysroot, version })
    }
}

/// Returns true if the compiler with this full version marks functions as convergent. A nightly of 1.96 may be older
/// than the change. A version that does not parse counts as old: the flag for old compilers does no harm to new ones.
fn marks_functions_convergent(version: &str) -> bool {
    let Some(number) = version.split_whitespace().nth(1) else { return false };
    let mut parts = number.split('.').map(|part| part.parse::<u32>());
    match (parts.next(), parts.next()) {
        (Some(Ok(1)), Some(Ok(96))) => !number.contains('-'),
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) > (1, 96),
        _ => false,
    }
}

/// The result of a search for toolchains that can build kernels.
#[derive(Debug)]
pub struct Search {
    /// The toolchains that can build kernels, the preferred one first.
    pub usable: Vec<Toolchain>,
    /// The toolchains that cannot build kernels.
    pub rejected: Vec<Rejected>,
}

impl Search {
    /// Tries every candidate as the toolchain for a kernel crate in `folder`.
    pub fn run(folder: &Path) -> Search {
        let mut search = Search { usable: Vec::new(), rejected: Vec::new() };
        let explicit_cargo = std::env::var_os(CARGO_VARIABLE).map(PathBuf::from);
        if let Some(explicit) = std::env::var_os(RUSTC_VARIABLE) {
            // A compiler that the user names is not replaced by another.
            search.add(Toolchain::probe(Path::new(&explicit), explicit_cargo.as_deref(), folder));
            return search;
        }
        search.add(Toolchain::probe(Path::new("rustc"), explicit_cargo.as_deref(), folder));
        let system = Path::new(SYSTEM_RUSTC);
        if system.is_file() {
            search.add(Toolchain::probe(system, explicit_cargo.as_deref(), folder));
        }
        search
    }

    fn add(&mut self, found: Result<Toolchain, Rejected>) {
        match found {
            Ok(toolchain) if !self.usable.contains(&toolchain) => self.usable.push(toolchain),
            Ok(_) => {}
            Err(rejected) => self.rejected.push(rejected),
        }
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rejected in &self.rejected {
            writeln!(f, "  {rejected}")?;
        }
        writeln!(f, "install one of these, then build again:")?;
        let mut rustup = self.rejected.iter().filter_map(|rejected| rejected.remedy.as_deref());
        writeln!(f, "  with rustup:          {}", rustup.next().unwrap_or("rustup component add rust-src"))?;
        writeln!(f, "  on Debian and Ubuntu: apt-get install rustc-web cargo-web rust-web-src")?;
        writeln!(
            f,
            "or name a rustc that has the sources in the environment variable {RUSTC_VARIABLE}, and, if its cargo"
        )?;
        write!(f, "is not in the same folder, that cargo in {CARGO_VARIABLE}")
    }
}

/// A `rustc` that cannot build kernels, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rejected {
    rustc: PathBuf,
    reason: String,
    remedy: Option<String>,
    version: Option<String>,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rustc.display())?;
        if let Some(version) = &self.version {
            write!(f, " ({version})")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for Rejected {}

/// Returns the text that a program writes to standard output, or the reason why the program failed.
fn answer(command: &mut Command) -> Result<String, String> {
    let Output { status, stdout, stderr } = command.output().map_err(|error| format!("cannot be run: {error}"))?;
    if status.success() {
        Ok(String::from_utf8_lossy(&stdout).into_owned())
    } else {
        let stderr = String::from_utf8_lossy(&stderr);
        Err(format!("{status}: {}", stderr.lines().next().unwrap_or("no message")))
    }
}

/// Returns the first line of the output of `rustc -vV`, without a vendor's remark, followed by the LLVM version.
fn version_of(verbose: &str) -> Option<String> {
    let first = verbose.lines().next()?.trim();
    let release = match first.match_indices(')').next() {
        Some((end, _)) => &first[..=end],
        None => first,
    };
    let llvm = verbose.lines().find_map(|line| line.strip_prefix("LLVM version: "))?.trim();
    release.starts_with("rustc ").then(|| format!("{release}, LLVM {llvm}"))
}

fn library_source(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib/src/rust/library")
}

/// Returns the command that installs the sources for the rustup toolchain in `…/toolchains/<channel>-<host triple>`.
fn source_remedy(sysroot: &Path) -> Option<String> {
    let toolchains = sysroot.parent().filter(|folder| folder.ends_with("toolchains"))?;
    // Uses the name by which the project pins the toolchain, if that name leads to the same folder.
    let active = std::env::var("RUSTUP_TOOLCHAIN").ok();
    let active = active.filter(|name| toolchains.join(name).canonicalize().is_ok_and(|folder| folder == sysroot));
    let name = match &active {
        Some(name) => name,
        None => sysroot.file_name()?.to_str()?,
    };
    Some(format!("rustup component add rust-src --toolchain {}", channel(name)))
}

/// Returns the name of a rustup toolchain without the host's triple.
fn channel(name: &str) -> &str {
    let starts = ["-x86_64-", "-aarch64-", "-i686-", "-powerpc64le-", "-riscv64gc-"];
    let end = starts.iter().find_map(|start| name.find(start)).unwrap_or(name.len());
    &name[..end]
}

/// Returns the `cargo` in the folder of `rustc`, or else one in the search path.
fn cargo_beside(rustc: &Path) -> Option<PathBuf> {
    let name = format!("cargo{}", std::env::consts::EXE_SUFFIX);
    let beside = rustc.parent().map(|folder| folder.join(&name)).filter(|cargo| cargo.is_file());
    beside.or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(&name)).find(|cargo| cargo.is_file())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBIAN: &str = "rustc 1.96.0 (ac68faa20 2026-05-25) (built from a source tarball)\nbinary: rustc\n\
        release: 1.96.0\nLLVM version: 22.1.8\n";

    #[test]
    fn a_version_names_the_compiler_and_its_llvm() {
        assert_eq!(version_of(DEBIAN).as_deref(), Some("rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8"));
        assert_eq!(
            version_of("rustc 1.99.0-dev\nLLVM version: 23.0\n").as_deref(),
            Some("rustc 1.99.0-dev, LLVM 23.0")
        );
        assert_eq!(version_of("gcc 12.2\n"), None);
        assert_eq!(version_of(""), None);
    }

    #[test]
    fn functions_are_convergent_from_1_96_on() {
        for version in
            ["rustc 1.96.0 (ac68faa20 2026-05-25), LLVM 22.1.8", "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"]
        {
            assert!(marks_functions_convergent(version), "{version}");
        }
        for version in
            ["rustc 1.95.0 (59807616e 2026-04-14), LLVM 22.1.2", "rustc 1.96.0-nightly (a 2026-03-01)", "gcc"]
        {
            assert!(!marks_functions_convergent(version), "{version}");
        }
    }

    #[test]
    fn the_remedy_names_the_toolchain_as_rustup_does() {
        let of = |folder: &str| source_remedy(Path::new(folder));
        assert_eq!(
            of("/root/.rustup/toolchains/1.95.0-x86_64-unknown-linux-gnu").as_deref(),
            Some("rustup component add rust-src --toolchain 1.95.0")
        );
        assert_eq!(
            of("/root/.rustup/toolchains/nightly-2026-05-01-aarch64-apple-darwin").as_deref(),
            Some("rustup component add rust-src --toolchain nightly-2026-05-01")
        );
        assert_eq!(of("/usr"), None);
    }

    #[test]
    fn a_program_that_is_no_compiler_is_rejected_with_a_reason() {
        let missing = Toolchain::new("/nonexistent/rustc").unwrap_err();
        assert!(missing.to_string().contains("cannot be run"), "{missing}");
        let other = Toolchain::new("/bin/false").unwrap_err();
        assert!(other.to_string().starts_with("/bin/false: "), "{other}");
    }

    #[test]
    fn a_search_without_success_says_what_to_install() {
        let rejected = Rejected {
            rustc: PathBuf::from("rustc"),
            reason: "the standard library's sources are not installed".to_owned(),
            remedy: source_remedy(Path::new("/r/toolchains/1.95.0-x86_64-unknown-linux-gnu")),
            version: None,
        };
        let text = Search { usable: Vec::new(), rejected: vec![rejected] }.to_string();
        assert!(text.contains("rustup component add rust-src --toolchain 1.95.0"), "{text}");
        assert!(text.contains("apt-get install rustc-web cargo-web rust-web-src"), "{text}");
        assert!(text.contains("sources are not installed"), "{text}");
        assert!(text.contains(RUSTC_VARIABLE) && text.contains(CARGO_VARIABLE), "{text}");
    }
}
