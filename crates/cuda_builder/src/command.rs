//! Runs `cargo` and `rustc` from a program that itself runs under `cargo`.
//!
//! A build script or build task runs under an outer `cargo`, whose settings (compiler, flags, target, profile) reach
//! child processes as environment variables. The inner build ignores these variables, so that its result does not
//! depend on the outer build. Variables that configure registries or the form of the output are passed through.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variables that the inner build sees although their prefix is in [`CLEARED_PREFIXES`].
const KEPT: &[&str] = &["CARGO_HOME", "CARGO_BUILD_JOBS", "CARGO_MAKEFLAGS", "RUSTUP_HOME"];
/// Prefixes of variables that the inner build sees. They configure registries or the form of the output.
const KEPT_PREFIXES: &[&str] =
    &["CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_TERM_", "CARGO_CREDENTIAL_"];
/// Prefixes of variables that an outer `cargo`, `rustup` or CUDA installation sets.
const CLEARED_PREFIXES: &[&str] = &["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_", "CLIPPY_", "CUDA_", "DEP_"];
const CLEARED: &[&str] = &[
    "RUSTFLAGS",
    "RUST_TARGET_PATH",
    "OUT_DIR",
    "TARGET",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "PROFILE",
    "DEBUG",
    "RUST_RECURSION_COUNT",
    // A date or a build id must not appear in a text that is compared byte by byte.
    "SOURCE_DATE_EPOCH",
];

/// Returns true if the inner build must not see this variable.
fn is_cleared(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    if KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return false;
    }
    CLEARED.contains(&name) || CLEARED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Makes a command without the environment variables of the outer build, as if a user's shell ran it.
pub(crate) fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if is_cleared(&name) {
            command.env_remove(&name);
        }
    }
    for variable in ["LD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH"] {
        if let Some(value) = std::env::var_os(variable) {
            match library_path_without_toolchains(&value) {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
    }
    command
}

/// Removes from a library search path the folders that `cargo run` and `cargo test` put first: the folders of their
/// toolchain and of their build. From such a folder, a `rustc` of another version would load the wrong LLVM.
fn library_path_without_toolchains(value: &OsStr) -> Option<OsString> {
    let build = build_folder();
    let kept: Vec<PathBuf> = std::env::split_paths(value)
        .filter(|entry| {
            let of_a_toolchain = entry.components().any(|part| part.as_os_str() == "toolchains")
                || entry.components().any(|part| part.as_os_str() == "rustlib");
            let of_this_build = build.as_deref().is_some_and(|build| entry.starts_with(build));
            !of_a_toolchain && !of_this_build
        })
        .collect();
    if kept.is_empty() { None } else { std::env::join_paths(kept).ok() }
}

/// Returns the folder of the outer build's profile, such as `target/debug`. This program is in that folder, or one
/// level below.
fn build_folder() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    if folder.ends_with("deps") { folder.parent().map(Path::to_owned) } else { Some(folder.to_owned()) }
}

/// Returns the command as a line that a user can type.
pub(crate) fn display(command: &Command) -> String {
    let quoted = |part: &OsStr| {
        let part = part.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
        if part.chars().all(plain) && !part.is_empty() { part.into_owned() } else { format!("'{part}'") }
    };
    let mut line = quoted(command.get_program());
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&quoted(argument));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clears_what_an_outer_build_sets_and_keeps_what_a_user_sets() {
        for name in [
            "CARGO",
            "CARGO_TARGET_DIR",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_RELEASE_LTO",
            "RUSTC",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTFLAGS",
            "RUSTUP_TOOLCHAIN",
            "CUDA_LIBRARY_PATH",
            "OUT_DIR",
        ] {
            assert!(is_cleared(OsStr::new(name)), "{name} is kept");
        }
        for name in ["PATH", "HOME", "CARGO_HOME", "CARGO_NET_OFFLINE", "CARGO_HTTP_PROXY", "CARGO_MAKEFLAGS", "CC"] {
            assert!(!is_cleared(OsStr::new(name)), "{name} is cleared");
        }
    }

    #[test]
    fn drops_the_folders_of_toolchains_from_the_library_path() {
        let path = std::env::join_paths(["/r/toolchains/1.95.0/lib", "/opt/lib", "/x/lib/rustlib/x86/lib"]).unwrap();
        assert_eq!(library_path_without_toolchains(&path), Some(OsString::from("/opt/lib")));
        let path = std::env::join_paths(["/r/toolchains/1.95.0/lib"]).unwrap();
        assert_eq!(library_path_without_toolchains(&path), None);
    }

    #[test]
    fn quotes_only_what_needs_it() {
        let mut command = Command::new("/usr/bin/cargo");
        command.args(["rustc", "--config", "profile.ptx.lto=\"fat\""]);
        assert_eq!(display(&command), "/usr/bin/cargo rustc --config 'profile.ptx.lto=\"fat\"'");
    }
}
