//! What can go wrong with a pointer in a kernel.

use std::fmt;

/// An access through a pointer that leads where it must not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PointerFault {
    /// The address.
    pub address: usize,
    /// The size of the access in bytes.
    pub bytes: usize,
    /// What is there.
    pub problem: PointerProblem,
}

/// Why an access through a pointer is wrong, beyond what an access through a view can get wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PointerProblem {
    /// The pointer is null, or nearly.
    Null,
    /// It goes to elements before the buffer's first.
    BeforeStart {
        /// The buffer, where it has a name.
        array: Option<&'static str>,
        /// How many elements before the first.
        elements: usize,
        /// How many the buffer has.
        len: usize,
    },
    /// The buffer has been freed.
    Freed,
    /// It writes what the kernel was given to read.
    ReadOnly {
        /// The parameter.
        array: &'static str,
        /// The index of the element.
        index: usize,
    },
    /// There is no memory at all.
    Nowhere,
}

impl fmt::Display for PointerProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("the pointer is null"),
            Self::BeforeStart { array: Some(array), elements, len } => {
                write!(f, "{elements} before the first of the {len} elements of `{array}`")
            }
            Self::BeforeStart { array: None, elements, .. } => {
                write!(f, "{elements} bytes before the beginning of a buffer")
            }
            Self::Freed => f.write_str("the buffer there has been freed"),
            Self::ReadOnly { array, index } => write!(
                f,
                "it writes `{array}[{index}]`, which the kernel was given to read; pass it as `*mut T`, `&mut [T]` or \
                 `GlobalMut<T>`"
            ),
            Self::Nowhere => f.write_str("there is no memory"),
        }
    }
}
