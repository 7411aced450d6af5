//! Assembles a PTX module to machine code, with NVIDIA's assembler `ptxas`.

use std::path::{Path, PathBuf};

use ptxas::Ptxas;

use crate::arch::Arch;
use crate::build_script;
use crate::error::BuildError;

/// Returns the assemblers on this machine: in PATH, in a CUDA toolkit, and in Python environments. A project may have
/// such an environment in the folder `tools` of its target folder.
pub(crate) fn assemblers() -> Vec<Ptxas> {
    let tools = build_script::target_folder().map(|folder| folder.join("tools"));
    let programs = ptxas::programs("ptxas", &Vec::from_iter(tools));
    // A program that does not run is no assembler of this machine.
    programs.iter().filter_map(|program| Ptxas::open(program).ok()).collect()
}

/// Assembles the module in the file `ptx` for `arch`, and returns the path of the machine code beside it. Returns
/// `None` if none of the assemblers knows the architecture.
pub(crate) fn assemble(ptx: &Path, arch: Arch, assemblers: &[Ptxas]) -> Result<Option<PathBuf>, BuildError> {
    let known = ptxas::by_arch(assemblers, arch.number(), arch.number());
    let Some(assembler) = known.get(&arch.number()) else { return Ok(None) };
    let cubin = ptx.with_extension("cubin");
    assembler.assemble(ptx, arch.number(), Some(&cubin))?;
    Ok(Some(cubin))
}

/// Returns the warning that there is no machine code for `arch`.
pub(crate) fn missing(arch: Arch, assemblers: &[Ptxas]) -> String {
    let found = match assemblers {
        [] => "there is no ptxas on this machine".to_owned(),
        found => {
            let names: Vec<String> = found.iter().map(Ptxas::to_string).collect();
            format!("{} does not know it", names.join(" and "))
        }
    };
    format!(
        "no machine code for {arch}, so that the driver will compile the PTX: {found}. Install one by `pip install \
        nvidia-cuda-nvcc` (before CUDA 13: `nvidia-cuda-nvcc-cu12`) and add it to PATH, or name a toolkit in CUDA_HOME"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_assembler_is_a_warning_with_a_remedy() {
        let warning = missing(Arch::Sm70, &[]);
        assert!(warning.starts_with("no machine code for sm_70") && warning.contains("pip install"), "{warning}");
        let warning = missing(Arch::Sm70, &[Ptxas::of_release(13, 5)]);
        assert!(warning.contains("ptxas 13.5 does not know it"), "{warning}");
        assert!(assemble(Path::new("k.ptx"), Arch::Sm70, &[]).unwrap().is_none());
    }
}
