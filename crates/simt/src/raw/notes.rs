//! Notes of checked launches: warnings that are not faults.

use std::fmt;

use crate::call_path::CallPath;
use crate::faults::race::Race;
use crate::geometry::{Dim3, KernelInfo};
use crate::launch_log::Log;
use crate::region::Space;
use crate::source::SourceLocation;

/// A note: a warning of a checked launch about a source site. A note is not a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kernel that was launched.
    pub kernel: &'static KernelInfo,
    /// The source site that the note is about.
    pub location: SourceLocation,
    /// The kind of note, with its details.
    pub kind: NoteKind,
}

/// The kinds of note that a checked launch makes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// Device code passes a pointer or a slice to a function that is not marked as device code. The checker did not
    /// check the accesses of this function.
    NotChecked {
        /// The name of the function, or of the trait if an operator is called.
        function: &'static str,
        /// The name of the array that is passed, if it has one.
        array: Option<&'static str>,
    },
    /// Code that is not marked as device code accesses memory through a pointer or a slice. The checker was not
    /// notified of the access and did not check it.
    Unseen {
        /// The memory space of the access.
        space: Space,
        /// The name of the accessed array and the index of the element, if the array has a name.
        array: Option<(&'static str, usize)>,
        /// `true` if the access writes.
        is_written: bool,
    },
    /// Warps of a block reach this barrier by different calls or in different loop iterations. GPUs allow this, so it
    /// is only a warning, which [`Checks::warps_may_part`](crate::Checks::warps_may_part) turns off.
    WarpsApart {
        /// The index of the block in the grid.
        block: Dim3,
        /// A thread of each of the two warps.
        threads: [Dim3; 2],
        /// The call path of each thread.
        paths: Box<[CallPath; 2]>,
    },
    /// Two accesses are ordered only by a fence or an atomic that another thread of the block has executed before a
    /// barrier. GPUs give this order, and PTX's memory model does not, so it is a warning, which
    /// [`Checks::barriers_pass_fences`](crate::Checks::barriers_pass_fences) turns into a fault.
    FenceOfOther(Box<Race>),
    /// The launch explored [weak memory](crate::Schedule::has_weak_memory) in part only, because it exceeds this limit.
    /// The access at the note's location had fewer values to choose from than PTX's memory model allows.
    WeakMemoryInPart(HistoryLimit),
}

/// A limit on the atomic writes that a launch keeps to explore weak memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryLimit {
    /// The maximum number of words whose writes are kept, in global memory and in the shared memory of each block.
    Words(usize),
    /// The maximum number of writes that are kept for each word.
    Writes(usize),
}

impl NoteKind {
    /// Returns true if the note is a warning of something that GPUs do and the documentation does not promise.
    pub fn is_warning(&self) -> bool {
        matches!(self, Self::WarpsApart { .. } | Self::FenceOfOther(_))
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, location, kind } = self;
        write!(f, "kernel `{}`, at {location}: ", kernel.name)?;
        match kind {
            NoteKind::NotChecked { function, array } => {
                write!(f, "not checked: the accesses of `{function}`")?;
                if let Some(array) = array {
                    write!(f, " to `{array}`")?;
                }
                f.write_str(if function.starts_with("Partial") {
                    "; compare slices directly, not inside a tuple or an `Option`, and bind the result of a call to a \
                     variable with a type first; for a type of your own, mark its `impl` with `#[cuda_std::device]`"
                } else if function.ends_with('!') {
                    "; a macro's own code cannot be marked: pass it values instead of pointers, or let it call a \
                     function that is marked with `#[cuda_std::device]`"
                } else if function.starts_with(char::is_uppercase) {
                    "; mark its `impl` with `#[cuda_std::device]`"
                } else {
                    "; mark it with `#[cuda_std::device]` or, if it is a function of the standard library, access the \
                     elements by index instead"
                })
            }
            NoteKind::Unseen { space, array, is_written } => {
                write!(f, "not checked: after this, a thread {}", if *is_written { "writes " } else { "reads " })?;
                match array {
                    Some((name, index)) => write!(f, "`{name}[{index}]`")?,
                    None => write!(f, "{space} memory")?,
                }
                f.write_str(
                    " in code that is not instrumented: in a function, a method or an operator that is not marked with \
                    `#[cuda_std::device]`, or through a reference to one element that was made before",
                )
            }
            NoteKind::WarpsApart { block, threads: [thread, other], paths } => write!(
                f,
                "warning: warps of block {block} reach this barrier by different call paths: thread {thread} {}, \
                thread {other} {}. GPUs count warps and continue, but CUDA's documentation does not guarantee it: make \
                all threads of the block reach one call of the barrier",
                paths[0], paths[1]
            ),
            NoteKind::FenceOfOther(race) => write!(
                f,
                "warning: only a fence or an atomic by another thread, before a barrier, orders two accesses. GPUs \
                keep this order. In PTX's memory model it holds within the block only: {race}"
            ),
            NoteKind::WeakMemoryInPart(limit) => {
                f.write_str("weak memory was explored in part only: ")?;
                match limit {
                    HistoryLimit::Words(words) => write!(
                        f,
                        "the launch writes more than {words} words atomically, and this access to a further word sees \
                        the newest value only"
                    ),
                    HistoryLimit::Writes(writes) => write!(
                        f,
                        "this access may see any of more than {writes} atomic writes to a word, and the earlier ones \
                        were left out"
                    ),
                }?;
                f.write_str(". Check a smaller problem to explore all values")
            }
        }
    }
}

/// The list in which a simulator collects the notes of its launches, one per launch and source site. Without such a
/// list, the simulator prints each note to standard error, except for [`NoteKind::WeakMemoryInPart`].
pub type Notes = Log<Note>;
