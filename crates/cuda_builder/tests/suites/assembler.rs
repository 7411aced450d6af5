//! Runs NVIDIA's assembler `ptxas` on PTX files.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use cuda_builder::Arch;

/// Returns the assemblers that `ci/install-tools.sh` has installed in `target`, and those in the `PATH`.
pub fn found() -> Vec<PathBuf> {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/lib");
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let installed = below(tools).flat_map(|python| below(python.join("site-packages/nvidia")));
    let in_path = env::var_os("PATH").into_iter().flat_map(|path| env::split_paths(&path).collect::<Vec<_>>());
    let all = installed.map(|package| package.join("bin/ptxas")).chain(in_path.map(|folder| folder.join("ptxas")));
    all.filter(|file| file.is_file()).collect()
}

/// Assembles `file` for `arch`, if this machine has an assembler that knows the architecture.
///
/// # Panics
/// If the assembler refuses the file.
pub fn assemble(file: &Path, arch: Arch) {
    for ptxas in found() {
        let mut command = Command::new(ptxas);
        let output =
            command.arg(format!("-arch={arch}")).arg(file).arg("-o").arg(file.with_extension("cubin")).output();
        let output = output.unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        // The newest assembler no longer supports the oldest GPUs.
        if !message.contains("is not defined for option 'gpu-name'") {
            assert!(output.status.success(), "{}: {message}", file.display());
            return;
        }
    }
    println!("{} is not assembled: no ptxas on this machine that knows {arch}", file.display());
}
