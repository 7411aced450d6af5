//! Disassembles the modules for the architectures whose SASS is checked.

use anyhow::{Context, Result};
use cuda_builder::Arch;
use ptxas::{Assembled, Ptxas};
use tempfile::TempDir;

use super::Options;
use super::code::{CodeFindings, Table};
use crate::modules::Module;
use crate::ptx;
use crate::sass::{self, Nvdisasm};
use crate::workspace::Workspace;

/// The architectures whose SASS is checked: one that runs the baseline's PTX, and two that run the newer PTX.
const ARCHS: [Arch; 3] = [Arch::Sm80, Arch::Sm90, Arch::Sm100];

/// Assembles modules and checks their SASS.
pub(super) struct Disassembler {
    nvdisasm: Option<Nvdisasm>,
    /// The folder for assembled modules.
    folder: TempDir,
    table: Table,
}

impl Disassembler {
    /// Returns a `Disassembler` that uses the nvdisasm of the options, or else the first one found. Without nvdisasm it
    /// only assembles modules.
    ///
    /// # Errors
    /// If the folder for assembled modules cannot be created.
    pub fn new(
        workspace: &Workspace,
        options: &Options,
        table: Table,
        findings: &mut Vec<String>,
    ) -> Result<Disassembler> {
        let nvdisasm = Nvdisasm::given_or_found(options.nvdisasm.as_deref(), workspace);
        if nvdisasm.is_some() {
            println!("SASS: checked for {}", ARCHS.map(|arch| arch.to_string()).join(", "));
        } else {
            let remedy = sass::REMEDY;
            println!("SASS: skipped, no nvdisasm found; {remedy}");
            if options.require_ptxas {
                findings.push(format!("--require-ptxas: no nvdisasm found; {remedy}"));
            }
        }
        let folder = tempfile::tempdir_in(workspace.target_dir()).context("cannot create a folder for SASS")?;
        Ok(Disassembler { nvdisasm, folder, table })
    }

    /// Assembles a module, and checks its SASS if `arch` is one of the checked architectures.
    ///
    /// # Errors
    /// If the assembler or the disassembler rejects the module.
    pub fn assemble(&self, ptxas: &Ptxas, module: &Module, arch: Arch) -> Result<(Assembled, CodeFindings)> {
        let nvdisasm = self.nvdisasm.as_ref().filter(|_| ARCHS.contains(&arch));
        let Some(nvdisasm) = nvdisasm else {
            return Ok((ptxas.assemble(&module.path, arch.number(), None)?, CodeFindings::default()));
        };
        let cubin = self.folder.path().join(format!("{}.{arch}.cubin", module.file));
        let assembled = ptxas.assemble(&module.path, arch.number(), Some(&cubin))?;
        let mut kernels = nvdisasm.disassemble(&cubin)?;
        let text = ptx::Module::parse(&module.text);
        kernels.retain(|kernel| !text.entry(&kernel.name).is_some_and(|entry| text.lacks_instructions(entry)));
        Ok((assembled, self.table.check_sass(&module.file, arch, &kernels)))
    }
}
