//! Builds the library of the peers from `bench/peers/peers.cu` with nvcc.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use xtask::workspace::Workspace;

/// The remedy if no nvcc is found.
pub const REMEDY: &str = "install the CUDA toolkit, and name its nvcc with --nvcc unless it is in PATH, CUDA_HOME or \
                          /usr/local/cuda";

/// The source of the library, in the workspace.
const SOURCE: &str = "bench/peers/peers.cu";

/// Builds the library that calls NVIDIA's kernels (the peers) for `arch`. Uses the compiler `nvcc`, or the first nvcc
/// found on this machine if `nvcc` is `None`. Returns `None` if this machine has no nvcc.
///
/// # Errors
/// If the named compiler does not exist, or the library does not compile.
pub fn build(workspace: &Workspace, nvcc: Option<&Path>, arch: &str) -> Result<Option<PathBuf>> {
    let nvcc = match nvcc {
        Some(path) if path.is_file() => path.to_owned(),
        Some(path) => bail!("there is no compiler {}: {REMEDY}", path.display()),
        None => match find(&places()) {
            Some(path) => path,
            None => return Ok(None),
        },
    };
    let folder = workspace.target_dir().join("bench");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let library = folder.join(format!("{}peers{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX));
    let output = Command::new(&nvcc)
        .args(["-O3", "-std=c++17", &format!("-arch={arch}"), "-shared", "-Xcompiler", "-fPIC", "-o"])
        .arg(&library)
        .arg(workspace.root().join(SOURCE))
        .args(libraries(&nvcc))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run {}", nvcc.display()))?;
    let said = [output.stdout, output.stderr].concat();
    ensure!(
        output.status.success(),
        "{} does not compile {SOURCE}:\n{}",
        nvcc.display(),
        String::from_utf8_lossy(&said).trim()
    );
    Ok(Some(library))
}

/// Returns the folders in which to look for nvcc.
fn places() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    for variable in ["CUDA_HOME", "CUDA_PATH"] {
        places.extend(std::env::var_os(variable).map(|folder| PathBuf::from(folder).join("bin")));
    }
    places.push(PathBuf::from("/usr/local/cuda/bin"));
    places
}

/// Returns the path of the first nvcc in the folders `places`.
fn find(places: &[PathBuf]) -> Option<PathBuf> {
    let name = format!("nvcc{}", std::env::consts::EXE_SUFFIX);
    places.iter().map(|folder| folder.join(&name)).find(|file| file.is_file())
}

/// Returns the arguments that link cuBLAS and cublasLt. A toolkit from PyPI has the libraries only under their full
/// names, such as `libcublas.so.13`, in a folder where the linker does not look.
fn libraries(nvcc: &Path) -> Vec<OsString> {
    let toolkit = nvcc.canonicalize().ok().and_then(|file| Some(file.parent()?.parent()?.to_owned()));
    let folders = toolkit.iter().flat_map(|toolkit| ["lib64", "lib"].map(|name| toolkit.join(name)));
    for folder in folders.filter(|folder| folder.is_dir()) {
        if folder.join("libcublas.so").exists() {
            break;
        }
        let library = |prefix: &str| {
            let entries = fs::read_dir(&folder).ok()?;
            let names = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()));
            Some(folder.join(names.filter(|name| name.starts_with(prefix)).min()?).into_os_string())
        };
        if let (Some(blas), Some(lt)) = (library("libcublas.so."), library("libcublasLt.so.")) {
            let mut search = OsString::from("-rpath=");
            search.push(&folder);
            let linker = || OsString::from("-Xlinker");
            let mut own = OsString::from("-L");
            own.push(&folder);
            return vec![own, linker(), blas, linker(), lt, linker(), search];
        }
    }
    ["-lcublas", "-lcublasLt"].map(OsString::from).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_compiler_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let [none, one, two] = ["none", "one", "two"].map(|name| folder.path().join(name));
        assert_eq!(find(std::slice::from_ref(&none)), None);
        let name = format!("nvcc{}", std::env::consts::EXE_SUFFIX);
        for place in [&one, &two] {
            fs::create_dir(place).unwrap();
            fs::write(place.join(&name), "").unwrap();
        }
        assert_eq!(find(&[none, one.clone(), two]), Some(one.join(name)));
    }

    #[test]
    fn a_library_of_pypi_is_linked_by_its_full_name() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["bin", "lib"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let nvcc = root.join("bin/nvcc");
        fs::write(&nvcc, "").unwrap();
        assert_eq!(libraries(&nvcc), ["-lcublas", "-lcublasLt"]);
        for name in ["lib/libcublas.so.13", "lib/libcublasLt.so.13"] {
            fs::write(root.join(name), "").unwrap();
        }
        let arguments = libraries(&nvcc);
        for name in ["lib/libcublas.so.13", "lib/libcublasLt.so.13"] {
            assert!(arguments.contains(&root.join(name).into_os_string()), "{arguments:?}");
        }
        fs::write(root.join("lib/libcublas.so"), "").unwrap();
        assert_eq!(libraries(&nvcc), ["-lcublas", "-lcublasLt"]);
    }
}
