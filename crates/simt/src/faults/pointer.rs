//! Faults of accesses through pointers in a kernel.

use std::fmt;

/// An invalid access through a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PointerFault {
    /// The address of the access.
    pub address: usize,
    /// The size of the access in bytes.
    pub bytes: usize,
    /// The reason why the access is invalid.
    pub problem: PointerProblem,
}

/// The reason why an access through a pointer is invalid. An access through a view cannot have these errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum PointerProblem {
    /// The pointer is null or close to null.
    Null,
    /// The access is before the buffer's first element.
    BeforeStart {
        /// The buffer's name, if it has one.
        array: Option<&'static str>,
        /// The distance, in elements, from the access to the buffer's first element.
        elements: usize,
        /// The number of elements of the buffer.
        len: usize,
    },
    /// The buffer at the address has been freed.
    Freed,
    /// The access writes memory that was passed to the kernel as read-only.
    ReadOnly {
        /// The name of the kernel's parameter.
        array: &'static str,
        /// The index of the written element in the array.
        index: usize,
    },
    /// No memory is mapped at the address.
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
                "it writes `{array}[{index}]`, which was passed to the kernel for reading; pass it as `*mut T`, \
                `&mut [T]` or `GlobalMut<T>`"
            ),
            Self::Nowhere => f.write_str("no memory is mapped there"),
        }
    }
}
