//! Fallbacks for instructions that an architecture lacks.

use std::fmt;

use super::INLINE;
use crate::arch::Arch;

/// The start of the comment for a fallback: `// cuda_std fallback <part> <architecture>`, followed by `missing` if
/// there is no other code.
const FALLBACK: &str = "// cuda_std fallback ";

/// A part of `cuda_std` that a module uses and for which its architecture has no instructions. Unless
/// [`is_missing`](Fallback::is_missing), the module has other code for this part, with the same results, but slower and
/// not asynchronous.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub struct Fallback {
    /// The name of the type in `cuda_std`, such as `AsyncCopies`.
    pub part: String,
    /// The first architecture that has the instructions.
    pub arch: Arch,
    /// True if the module has no other code: a kernel that uses the part ends with an error.
    pub is_missing: bool,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` has instructions from {} on", self.part, self.arch)
    }
}

/// Returns `ptx` without the comments for fallbacks, and the fallbacks that the comments name, each once.
pub fn take(ptx: &str) -> (String, Vec<Fallback>) {
    let (mut text, mut fallbacks) = (String::with_capacity(ptx.len()), Vec::new());
    let mut lines = ptx.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        // The comment for a fallback is alone between the comments that enclose inline assembly.
        let is_opened = line.trim() == INLINE[0];
        let note = if is_opened { lines.peek().copied().unwrap_or_default() } else { line };
        match note.trim().strip_prefix(FALLBACK).and_then(fallback) {
            Some(found) => {
                if is_opened {
                    lines.next();
                    lines.next_if(|line| line.trim() == INLINE[1]);
                }
                fallbacks.push(found);
            }
            None => text.push_str(line),
        }
    }
    fallbacks.sort();
    fallbacks.dedup();
    (text, fallbacks)
}

fn fallback(note: &str) -> Option<Fallback> {
    let (part, arch) = note.split_once(' ')?;
    let missing = arch.strip_suffix(" missing");
    Some(Fallback { part: part.to_owned(), arch: missing.unwrap_or(arch).parse().ok()?, is_missing: missing.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_taken_out_and_listed_once() {
        let note = "\t// begin inline asm\n\t// cuda_std fallback AsyncCopies 80\n\t// end inline asm\n";
        let load = "\t// begin inline asm\n\tld.global.u32 %r1, [%rd1];\n\t// end inline asm\n";
        let (text, fallbacks) = take(&format!("{load}{note}\tadd.s32 %r1, %r1, 1;\n{note}\tret;\n"));
        assert_eq!(text, format!("{load}\tadd.s32 %r1, %r1, 1;\n\tret;\n"));
        assert_eq!(fallbacks, [Fallback { part: "AsyncCopies".to_owned(), arch: Arch::Sm80, is_missing: false }]);
        let (text, missing) = take("// cuda_std fallback AtomicRef<u128> 90 missing\n");
        assert_eq!(text, "");
        assert_eq!(missing, [Fallback { part: "AtomicRef<u128>".to_owned(), arch: Arch::Sm90, is_missing: true }]);
        assert_eq!(take(load), (load.to_owned(), vec![]));
    }
}
