//! Finds the source lines of instructions in LLVM's intermediate code.
//!
//! LLVM aborts the compiler at an instruction that it cannot compile for a GPU, and names neither line nor function.
//! The builder then compiles the module again with source lines. The compiler writes the module's intermediate code
//! before LLVM fails again. In this code every instruction names the chain of functions through which it was inlined.

use std::collections::HashMap;
use std::fmt;

/// Something that LLVM cannot compile for a GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Uncompilable {
    /// `compiler_fence`.
    CompilerFence,
    /// A conversion between an integer of 128 bits and a float, or an operation on `f128`.
    LibraryCall,
}

impl Uncompilable {
    /// Returns the kind of operation that LLVM cannot compile, according to the compiler's messages.
    pub(crate) fn in_messages(stderr: &str) -> Option<Uncompilable> {
        if stderr.contains("LLVM ERROR: Unsupported scope \"Thread\"") {
            Some(Uncompilable::CompilerFence)
        } else if stderr.contains("LLVM ERROR: unsupported library call operation") {
            Some(Uncompilable::LibraryCall)
        } else {
            None
        }
    }

    fn is_in(self, instruction: &str) -> bool {
        let has = |word: &str| instruction.split(|c: char| !c.is_alphanumeric() && c != '_').any(|found| found == word);
        match self {
            Uncompilable::CompilerFence => instruction.contains("fence syncscope(\"singlethread\")"),
            Uncompilable::LibraryCall => {
                let is_conversion = ["uitofp", "sitofp", "fptoui", "fptosi"].iter().any(|word| has(word));
                has("fp128") || has("i128") && is_conversion
            }
        }
    }
}

/// The place of an instruction: a line of a function, and the function into which that function was inlined.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Place {
    /// The function's path, which starts with its crate: `zeroize::volatile_set`.
    pub function: String,
    pub file: String,
    pub line: String,
    /// The outermost function into which `function` was inlined, if it was inlined.
    pub inlined_into: Option<String>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let krate = self.function.split("::").next().unwrap_or_default();
        write!(f, "{}:{}: in the function `{}` of the crate `{krate}`", self.file, self.line, self.function)?;
        match &self.inlined_into {
            Some(outermost) => write!(f, ", which `{outermost}` calls"),
            None => Ok(()),
        }
    }
}

/// Returns the places of the instructions in `ir` that LLVM cannot compile, each once. A place is the innermost line
/// that is not in `core`.
pub(crate) fn places(ir: &str, of: Uncompilable) -> Vec<Place> {
    let nodes: HashMap<&str, &str> = ir.lines().filter(|line| line.starts_with('!')).filter_map(node).collect();
    let debug = Debug(nodes);
    let instructions = ir.lines().filter(|line| line.starts_with(' ') && of.is_in(line));
    let mut places: Vec<Place> = instructions.filter_map(|line| debug.place(reference(line, "!dbg ")?)).collect();
    places.sort();
    places.dedup();
    places
}

/// Splits `!7 = !DILocation(…)` into the node's number and its text.
fn node(line: &str) -> Option<(&str, &str)> {
    line.split_once(" = ")
}

/// Returns the number of the node that `field` refers to, such as `!7` in `scope: !7`.
fn reference<'t>(text: &'t str, field: &str) -> Option<&'t str> {
    value(text, field).filter(|value| value.starts_with('!'))
}

/// Returns the value that follows `field`, without the quotes of a string.
fn value<'t>(text: &'t str, field: &str) -> Option<&'t str> {
    let rest = &text[text.find(field)? + field.len()..];
    match rest.strip_prefix('"') {
        Some(string) => string.split('"').next(),
        None => rest.split([',', ')', ' ']).next(),
    }
}

/// The nodes of a module's debugging information, by their numbers.
struct Debug<'t>(HashMap<&'t str, &'t str>);

/// One function of an inlined chain, with the line that is executed in it.
struct Frame {
    function: String,
    file: String,
    line: String,
}

impl<'t> Debug<'t> {
    fn follow(&self, text: &str, field: &str) -> Option<&'t str> {
        self.0.get(reference(text, field)?).copied()
    }

    /// Returns the place of an instruction with this location.
    fn place(&self, location: &str) -> Option<Place> {
        let mut frames = Vec::new();
        let mut next = self.0.get(location).copied();
        while let Some(location) = next {
            frames.push(self.frame(location)?);
            next = self.follow(location, "inlinedAt: ");
        }
        let outermost = frames.last()?.function.clone();
        let is_core = |frame: &&Frame| frame.function.starts_with("core::");
        let Frame { function, file, line } = frames.iter().find(|frame| !is_core(frame)).or(frames.first())?;
        Some(Place {
            function: function.clone(),
            file: file.clone(),
            line: line.clone(),
            inlined_into: Some(outermost).filter(|outermost| outermost != function),
        })
    }

    fn frame(&self, location: &str) -> Option<Frame> {
        let mut scope = self.follow(location, "scope: ")?;
        let file = self.follow(scope, "file: ")?;
        while !scope.contains("!DISubprogram(") {
            scope = self.follow(scope, "scope: ")?;
        }
        let mut names = vec![value(scope, "name: ")?];
        while let Some(around) = self.follow(scope, "scope: ") {
            names.extend(value(around, "name: "));
            scope = around;
        }
        names.reverse();
        let (folder, name) = (value(file, "directory: ").unwrap_or_default(), value(file, "filename: ")?);
        let file =
            if folder.is_empty() || name.starts_with('/') { name.to_owned() } else { format!("{folder}/{name}") };
        Some(Frame { function: names.join("::"), file, line: value(location, "line: ")?.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IR: &str = r#"
define void @wipe(i128 %0) {
  fence syncscope("singlethread") seq_cst, !dbg !22
  fence seq_cst, !dbg !28
  %1 = uitofp nneg i128 %0 to double, !dbg !28
  %2 = uitofp i64 %3 to double, !dbg !28
  fence syncscope("singlethread") acquire, !dbg !22
}
!16 = distinct !DISubprogram(name: "set", linkageName: "_RNv", scope: !18, file: !17, line: 10, type: !19)
!17 = !DIFile(filename: "src/lib.rs", directory: "/cargo/zeroize-1.8.1", checksumkind: CSK_MD5, checksum: "7")
!18 = !DINamespace(name: "zeroize", scope: null)
!22 = !DILocation(line: 4465, column: 24, scope: !23, inlinedAt: !28)
!23 = distinct !DISubprogram(name: "compiler_fence", linkageName: "_RNv", scope: !27, file: !24, line: 4461)
!24 = !DIFile(filename: "/rust/library/core/src/sync/atomic.rs", directory: "", checksumkind: CSK_MD5)
!27 = !DINamespace(name: "core", scope: null)
!28 = distinct !DILocation(line: 12, column: 5, scope: !29, inlinedAt: !30)
!29 = distinct !DILexicalBlock(scope: !16, file: !17, line: 11, column: 5)
!30 = distinct !DILocation(line: 3, column: 5, scope: !31)
!31 = distinct !DISubprogram(name: "wipe", scope: !32, file: !33, line: 2)
!32 = !DINamespace(name: "kernels", scope: null)
!33 = !DIFile(filename: "src/lib.rs", directory: "/mine")
"#;

    #[test]
    fn an_instruction_has_the_line_that_called_core() {
        let found = places(IR, Uncompilable::CompilerFence);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0].to_string(),
            "/cargo/zeroize-1.8.1/src/lib.rs:12: in the function `zeroize::set` of the crate `zeroize`, which \
            `kernels::wipe` calls"
        );
        assert_eq!(places(IR, Uncompilable::LibraryCall), found);
        assert!(places("", Uncompilable::LibraryCall).is_empty());
        assert!(places("  %1 = uitofp i128 %0 to float, !dbg !5\n", Uncompilable::LibraryCall).is_empty());
    }

    #[test]
    fn other_errors_of_llvm_are_not_explained() {
        let of = |text: &str| Uncompilable::in_messages(&format!("rustc-LLVM ERROR: {text}\nerror: could not compile"));
        assert_eq!(of("Unsupported scope \"Thread\" for seq_cst fence."), Some(Uncompilable::CompilerFence));
        assert_eq!(of("unsupported library call operation"), Some(Uncompilable::LibraryCall));
        assert_eq!(of("Cannot select: f"), None);
    }
}
