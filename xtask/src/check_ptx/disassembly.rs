//! The SASS of the modules, for the architectures whose code is looked at.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use cuda_builder::Arch;

use super::code::{Seen, Table};
use super::{CheckedIn, Options};
use crate::ptxas::{Assembled, Ptxas};
use crate::sass::{self, Nvdisasm};
use crate::workspace::Workspace;

/// The architectures whose SASS is looked at: one of the baseline's PTX, and two of the newer one's.
const ARCHS: [Arch; 3] = [Arch::Sm80, Arch::Sm90, Arch::Sm100];

/// Assembles, and disassembles what is looked at.
pub(super) struct Disassembly {
    nvdisasm: Option<Nvdisasm>,
    /// For the assembled modules, while they are needed.
    folder: PathBuf,
    table: Table,
}

impl Disassembly {
    /// By the disassembler that the options name or that is found; without one only assembles.
    ///
    /// # Errors
    /// If the folder for assembled modules cannot be made.
    pub fn new(
        workspace: &Workspace,
        options: &Options,
        table: Table,
        findings: &mut Vec<String>,
    ) -> Result<Disassembly> {
        let nvdisasm = Nvdisasm::given_or_found(options.nvdisasm.as_deref(), workspace)?;
        let archs = ARCHS.map(|arch| arch.to_string()).join(", ");
        if nvdisasm.is_some() {
            println!("SASS: looked at for {archs}");
        } else {
            let remedy = sass::REMEDY;
            println!("SASS: skipped, no nvdisasm found; {remedy}");
            if options.require_ptxas {
                findings.push(format!("no nvdisasm was found, and one is required; {remedy}"));
            }
        }
        let folder = workspace.target_dir().join(format!("sass.{}", std::process::id()));
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Disassembly { nvdisasm, folder, table })
    }

    /// Assembles a module, and checks its SASS where the architecture is one that is looked at.
    ///
    /// # Errors
    /// If the assembler or the disassembler rejects it.
    pub fn assemble(&self, ptxas: &Ptxas, module: &CheckedIn, arch: Arch) -> Result<(Assembled, Seen)> {
        let nvdisasm = self.nvdisasm.as_ref().filter(|_| ARCHS.contains(&arch));
        let Some(nvdisasm) = nvdisasm else {
            return Ok((ptxas.assemble(&module.path, arch, None)?, Seen::default()));
        };
        let cubin = self.folder.join(format!("{}.{arch}.cubin", module.file));
        let assembled = ptxas.assemble(&module.path, arch, Some(&cubin))?;
        let kernels = nvdisasm.disassemble(&cubin)?;
        Ok((assembled, self.table.check_sass(&module.file, arch, &kernels)))
    }
}

impl Drop for Disassembly {
    fn drop(&mut self) {
        // What is left behind is in the folder for build results.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
