//! Notes of checked launches: messages that are no faults.

use std::fmt;

use crate::call_path::CallPath;
use crate::geometry::{Dim3, KernelInfo};
use crate::launch_log::Log;
use crate::region::Space;
use crate::source::SourceLocation;

/// A message of a checked launch about a source site, which is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The source site.
    pub location: SourceLocation,
    /// The message.
    pub kind: NoteKind,
}

/// The kinds of note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// A function is called here that is not marked as device code, with a pointer or a slice. Its accesses were not
    /// checked.
    NotChecked {
        /// The function; for an operator, its trait.
        function: &'static str,
        /// The name of the array that is passed, if it has one.
        array: Option<&'static str>,
    },
    /// An access through a pointer or a slice outside of marked functions. It was not reported, and so not checked.
    Unseen {
        /// The memory space.
        space: Space,
        /// The array's name, if it has one, and the index of the element.
        array: Option<(&'static str, usize)>,
        /// `true` if the access writes.
        is_written: bool,
    },
    /// Whole warps of a block reach this barrier by different calls or in different loop iterations. GPUs allow it, so
    /// it is a warning, which is given unless [`Checks::warps_may_part`](crate::Checks::warps_may_part) is set.
    WarpsApart {
        /// The block.
        block: Dim3,
        /// One thread of each of two warps.
        threads: [Dim3; 2],
        /// The call path of each thread.
        paths: Box<[CallPath; 2]>,
    },
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
        }
    }
}

/// The notes of a simulator that checks launches, one per launch and source site. Without such a list, the simulator
/// prints each note to standard error.
pub type Notes = Log<Note>;
