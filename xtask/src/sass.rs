//! Parses SASS, a GPU's machine code, from the output of NVIDIA's disassembler.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::assemblers;
use crate::workspace::Workspace;

/// The remedy if no disassembler is found.
pub const REMEDY: &str = "`ci/install-tools.sh` installs PyPI's `nvidia-cuda-nvdisasm`";

/// A disassembler on this machine.
#[derive(Clone, Debug)]
pub struct Nvdisasm {
    path: PathBuf,
}

/// The machine code of a kernel.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernel {
    /// The symbol of the kernel.
    pub name: String,
    /// The instructions of the kernel.
    pub instructions: Vec<Instruction>,
}

/// A SASS instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// The hexadecimal offset of the instruction in the kernel, such as `01b0`.
    pub offset: String,
    /// The text of the instruction, such as `@!P0 LDG.E.128 R4, desc[UR6][R4.64]`.
    pub text: String,
}

impl Nvdisasm {
    /// Returns the disassembler at `path`, or else the first one that [`assemblers::programs`] finds.
    pub fn given_or_found(path: Option<&Path>, workspace: &Workspace) -> Option<Nvdisasm> {
        let found = || assemblers::programs("nvdisasm", workspace).into_iter().next();
        path.map(Path::to_owned).or_else(found).map(|path| Nvdisasm { path })
    }

    /// Returns the kernels of an assembled module.
    ///
    /// # Errors
    /// If the disassembler does not run or does not know the architecture; the error has its messages.
    pub fn disassemble(&self, cubin: &Path) -> Result<Vec<Kernel>> {
        let output = Command::new(&self.path)
            .arg("-c")
            .arg(cubin)
            .output()
            .with_context(|| format!("cannot run the disassembler `{}`", self.path.display()))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "nvdisasm rejects {}: {}", cubin.display(), said.trim());
        let kernels = parse(&String::from_utf8_lossy(&output.stdout));
        ensure!(!kernels.is_empty(), "nvdisasm finds no kernel in {}", cubin.display());
        Ok(kernels)
    }
}

/// Parses the kernels in the output of the disassembler.
pub(crate) fn parse(text: &str) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            kernels.push(Kernel { name: name.to_owned(), instructions: Vec::new() });
        } else if let (Some(kernel), Some(instruction)) = (kernels.last_mut(), instruction(line)) {
            kernel.instructions.push(instruction);
        }
    }
    kernels
}

/// Parses a line such as `/*01b0*/ LDG.E.128 R4, desc[UR6][R4.64] ;`.
fn instruction(line: &str) -> Option<Instruction> {
    let (offset, text) = line.trim().strip_prefix("/*")?.split_once("*/")?;
    let text = text.trim().trim_end_matches(';').trim_end();
    (!text.is_empty()).then(|| Instruction { offset: offset.to_owned(), text: text.to_owned() })
}

impl Instruction {
    /// Returns the operation with its modifiers, such as `LDG.E.128`, without the predicate.
    fn opcode(&self) -> &str {
        let mut words = self.text.split_whitespace();
        let first = words.next().unwrap_or_default();
        if first.starts_with('@') { words.next().unwrap_or_default() } else { first }
    }

    /// Returns the operation without modifiers, such as `LDG`.
    pub fn operation(&self) -> &str {
        self.opcode().split('.').next().unwrap_or_default()
    }

    /// Returns true if the operation has the modifier, as `LDG.E.128` has `128`.
    pub fn has_modifier(&self, modifier: &str) -> bool {
        self.opcode().split('.').skip(1).any(|part| part == modifier)
    }

    /// Returns true if the instruction accesses local memory.
    pub fn is_local(&self) -> bool {
        matches!(self.operation(), "LDL" | "STL")
    }

    /// Returns true if the instruction accesses memory by a generic address. `RED` always accesses global memory.
    pub fn is_generic(&self) -> bool {
        matches!(self.operation(), "LD" | "ST" | "ATOM")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
\t.headerflags\t@\"EF_CUDA_SM90\"
//--------------------- .text.step --------------------------
\t.section\t.text.step,\"ax\",@progbits
.text.step:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR6][R4.64] ;
        /*0020*/                   STL.64 [R1], R2 ;
        /*0030*/               @P1 LD.E R0, [R2.64] ;
        /*0040*/                   RED.E.ADD.STRONG.GPU [R2.64], R5 ;
        /*0050*/                   LDGSTS.E.BYPASS.128 [R7], desc[UR4][R2.64] ;
.L_x_1:
//--------------------- .text.scale --------------------------
.text.scale:
        /*0000*/                   EXIT ;
";

    #[test]
    fn kernels_and_their_instructions_are_read() {
        let kernels = parse(TEXT);
        let names: Vec<_> = kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.instructions.len())).collect();
        assert_eq!(names, [("step", 6), ("scale", 1)]);
        let [_, wide, local, generic, red, copy] = &kernels[0].instructions[..] else { panic!("{kernels:?}") };
        assert_eq!((wide.offset.as_str(), wide.operation()), ("0010", "LDG"));
        assert_eq!(wide.text, "@!P0 LDG.E.128 R4, desc[UR6][R4.64]");
        assert!(wide.has_modifier("128") && !wide.has_modifier("64") && !wide.is_local() && !wide.is_generic());
        assert!(local.is_local() && !local.is_generic());
        assert!(generic.is_generic() && !generic.is_local());
        assert!(!red.is_generic());
        assert!(copy.operation() == "LDGSTS" && copy.has_modifier("128"));
        assert!(parse("no code").is_empty());
    }

    #[test]
    fn a_program_that_is_no_disassembler_is_an_error() {
        let error = |path: &str| Nvdisasm { path: path.into() }.disassemble(Path::new("a.cubin")).unwrap_err();
        assert!(error("/nonexistent/nvdisasm").to_string().contains("cannot run the disassembler"));
        assert!(error("/bin/true").to_string().contains("finds no kernel in a.cubin"));
        assert!(error("/bin/false").to_string().contains("nvdisasm rejects a.cubin"));
    }
}
