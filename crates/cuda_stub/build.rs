//! Checks that the files which `cust_raw` needs exist. If not, prints how to make them, because the build of `cust_raw`
//! would fail later without a remedy.

use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const VARIABLE: &str = "CUDA_LIBRARY_PATH";
const TOOLKITS: [&str; 2] = ["/usr/local/cuda", "/opt/cuda"];

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    if env::var_os("CARGO_FEATURE_LINKING").is_none() {
        return ExitCode::SUCCESS;
    }
    let target = |name| env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let has_cust = target("OS") == "linux" && ["x86_64", "aarch64"].contains(&target("ARCH").as_str());
    if !has_cust || env::var_os("DOCS_RS").is_some() {
        return ExitCode::SUCCESS;
    }
    let named = env::var(VARIABLE).ok();
    let named = named.iter().flat_map(|paths| paths.split(':')).map(PathBuf::from);
    if named.chain(toolkits()).any(|folder| is_found(&folder)) {
        return ExitCode::SUCCESS;
    }
    eprintln!("{}", message());
    ExitCode::FAILURE
}

/// Returns the toolkit folders that `cust_raw` searches by default.
fn toolkits() -> impl Iterator<Item = PathBuf> {
    let versions = Path::new("/usr/local").read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let of_cuda = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("cuda-"));
    TOOLKITS.into_iter().map(PathBuf::from).chain(versions.filter(of_cuda))
}

/// Returns true if `cust_raw` accepts `folder` as a toolkit.
fn is_found(folder: &Path) -> bool {
    folder.join("lib64").is_dir() || folder.join("targets/x86_64-linux/include/cuda.h").is_file()
}

fn message() -> String {
    let wrong = match env::var(VARIABLE) {
        Ok(path) => format!("{VARIABLE} is '{path}', which has no folder lib64"),
        Err(_) => format!("{VARIABLE} is not set"),
    };
    format!(
        "{wrong}, and there is no CUDA toolkit in {}.

The crate `cust`, which the feature `cust` of `launch` uses, needs one of them to find libcuda. Without that feature
nothing is needed. With it, no toolkit has to be installed: an empty archive is enough, because the driver is loaded when
the program runs. In the folder of your project's Cargo.toml:

    mkdir -p .cargo/cuda/lib64
    printf '!<arch>\\n' > .cargo/cuda/lib64/libcuda.a
    printf '[env]\\n{VARIABLE} = {{ value = \".cargo/cuda\", relative = true, force = true }}\\n' >> .cargo/config.toml

Cargo looks for .cargo/config.toml from the folder in which it is started, and not from that of --manifest-path.",
        TOOLKITS.join(" or ")
    )
}
