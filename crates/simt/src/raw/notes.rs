//! Messages of checked launches that are no faults.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::call_path::CallPath;
use crate::geometry::{Dim3, KernelInfo};
use crate::region::Space;
use crate::source::SourceLocation;

/// What a checked launch has to say of a place in the source, and what is no fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Note {
    /// The kernel.
    pub kernel: &'static KernelInfo,
    /// The place.
    pub location: SourceLocation,
    /// What is said of it.
    pub kind: NoteKind,
}

/// The kinds of note.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoteKind {
    /// What a function does that is called here, is handed a pointer or a slice, and is not marked as device code, was not
    /// checked.
    NotChecked {
        /// The function; of an operator, its trait.
        function: &'static str,
        /// What it is handed, where that has a name.
        array: Option<&'static str>,
    },
    /// An access by a pointer or a slice that no marked function makes, and that was not checked, as nothing was told of it.
    Unseen {
        /// Where.
        space: Space,
        /// The array, where it has a name, and the element.
        array: Option<(&'static str, usize)>,
        /// Whether it writes.
        is_written: bool,
    },
    /// Whole warps of a block come to this barrier by different calls, or in different iterations of a loop. GPUs allow it,
    /// so that it is a warning, given where [`Checks::warps_may_part`](crate::Checks::warps_may_part) is off.
    WarpsApart {
        /// The block.
        block: Dim3,
        /// A thread of each of two warps.
        threads: [Dim3; 2],
        /// The way of each.
        ways: Box<[CallPath; 2]>,
    },
}

/// Functions of the standard library, which nobody can mark.
const OF_CORE: &[&str] = &[
    "read",
    "write",
    "copy",
    "copy_nonoverlapping",
    "replace",
    "as_chunks",
    "as_chunks_mut",
    "array_windows",
    "sort_by",
    "sort_by_key",
    "sort_unstable_by",
    "split",
    "try_into",
    "to_owned",
    "from",
    "map",
    "zip",
    "chain",
    "iter",
    "iter_mut",
    "first",
    "last",
    "first_mut",
    "last_mut",
    "split_first",
    "split_last",
    "split_first_mut",
    "split_last_mut",
    "first_chunk",
    "last_chunk",
    "as_ref",
    "as_mut",
    "as_array",
    "as_slice",
    "get",
    "get_mut",
    "get_unchecked",
    "get_unchecked_mut",
    "fill",
    "fill_with",
    "swap",
    "copy_from_slice",
    "clone_from_slice",
    "copy_within",
    "contains",
    "starts_with",
    "ends_with",
    "binary_search",
    "to_vec",
    "reverse",
    "sort",
    "sort_unstable",
    "sort_unstable_by",
    "sort_unstable_by_key",
    "split_inclusive",
    "partition_point",
    "binary_search_by",
    "binary_search_by_key",
    "select_nth_unstable",
    "rotate_left",
    "rotate_right",
    "remainder",
    "try_from",
    "enumerate",
    "filter",
    "rev",
    "skip",
    "take",
    "step_by",
];

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kernel, location, kind } = self;
        write!(f, "kernel `{}`, at {location}: ", kernel.name)?;
        match kind {
            NoteKind::NotChecked { function, array } => {
                write!(f, "not checked: what `{function}` accesses")?;
                if let Some(array) = array {
                    write!(f, " of `{array}`")?;
                }
                f.write_str(if OF_CORE.contains(function) {
                    "; of a slice or a pointer, access the elements by indices instead; a function of your own is marked with \
                     `#[cuda_std::device]`"
                } else if function.starts_with("Partial") {
                    "; compare slices by themselves, not in a tuple or an `Option`, what a call gives from a variable with a \
                     type; of a type of your own, mark its `impl` with `#[cuda_std::device]`"
                } else if function.starts_with(char::is_uppercase) {
                    "; mark its `impl` with `#[cuda_std::device]`"
                } else {
                    "; mark it with `#[cuda_std::device]`"
                })
            }
            NoteKind::Unseen { space, array, is_written } => {
                write!(f, "not checked: after this, a thread {}", if *is_written { "writes " } else { "reads " })?;
                match array {
                    Some((name, index)) => write!(f, "`{name}[{index}]`")?,
                    None => write!(f, "{space} memory")?,
                }
                f.write_str(
                    " where nothing tells of it: in a function, a method or an operator that is not marked with \
                     `#[cuda_std::device]`, or through a reference to one element that was made before",
                )
            }
            NoteKind::WarpsApart { block, threads: [thread, other], ways } => write!(
                f,
                "warning: warps of block {block} come to this barrier by different ways: thread {thread} {}, thread {other} {}. \
                 GPUs count warps and go on, CUDA's documentation does not promise it: have all threads of the block reach one \
                 call of the barrier",
                ways[0], ways[1]
            ),
        }
    }
}

/// Where a simulator that checks launches notes what is no fault: once per launch and place in the source. Without
/// one it prints each note to the standard error.
#[derive(Clone, Debug, Default)]
pub struct Notes(Arc<Mutex<Vec<Note>>>);

impl Notes {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes all notes so far.
    pub fn take(&self) -> Vec<Note> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn push(&self, note: Note) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(note);
    }
}
