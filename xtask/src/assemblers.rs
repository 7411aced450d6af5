//! Finds the assemblers and disassemblers for the tasks, also in the virtual environment of `ci/install-tools.sh`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use cuda_builder::Arch;
use ptxas::Ptxas;

use crate::workspace::Workspace;

/// The remedy if no assembler is found.
pub const REMEDY: &str = "`python3 -m venv target/tools && target/tools/bin/pip install nvidia-cuda-nvcc` installs one";

/// Opens the assemblers at `paths`. If there are no paths, opens all assemblers that [`programs`] finds.
///
/// # Errors
/// If an assembler does not run.
pub fn given_or_found(paths: &[PathBuf], workspace: &Workspace) -> Result<Vec<Ptxas>> {
    let found = if paths.is_empty() { &programs("ptxas", workspace)[..] } else { paths };
    Ok(found.iter().map(|path| Ptxas::open(path)).collect::<Result<_, _>>()?)
}

/// Returns the paths of the programs called `name` that [`ptxas::programs`] finds, also in the virtual environment that
/// `ci/install-tools.sh` creates.
pub fn programs(name: &str, workspace: &Workspace) -> Vec<PathBuf> {
    ptxas::programs(name, &[workspace.root().join("target/tools"), workspace.target_dir().join("tools")])
}

/// Returns the newest assembler that knows each architecture from `oldest` to `newest`. An architecture that no
/// assembler knows is left out.
pub fn by_arch(assemblers: &[Ptxas], oldest: Arch, newest: Arch) -> BTreeMap<Arch, &Ptxas> {
    let by_number = ptxas::by_arch(assemblers, oldest.number(), newest.number());
    by_number.into_iter().map(|(arch, ptxas)| (Arch::sm(arch), ptxas)).collect()
}
