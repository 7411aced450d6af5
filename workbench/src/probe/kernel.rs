//! The bandwidth kernels by name.

use std::fmt;

/// A bandwidth kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BandwidthKernel {
    /// Read one array.
    Read,
    /// Write one array.
    Write,
    /// Read one array and write another: several loads, then as many stores.
    Copy,
    /// Read two arrays and write a third.
    Copy2,
    /// Read one array and write another, each element stored before the next is loaded.
    CopyAlternating,
}

impl BandwidthKernel {
    /// All kernels.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Copy, Self::Copy2, Self::CopyAlternating];

    /// Returns its name on the command line.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns its description, in a line.
    pub const fn idea(self) -> &'static str {
        self.facts().1
    }

    /// Returns the number of arrays that are read or written.
    pub const fn arrays(self) -> u64 {
        self.facts().2
    }

    /// Returns the names of its functions.
    pub const fn families(self) -> &'static [&'static str] {
        self.facts().3
    }

    /// Returns name, idea, arrays and families.
    const fn facts(self) -> (&'static str, &'static str, u64, &'static [&'static str]) {
        const COPY: &str = "Read one array and write another: several loads, then as many stores.";
        const ALTERNATING: &str = "Read one array and write another, each element stored before the next is loaded.";
        match self {
            Self::Read => ("read", "Read one array.", 1, &["global_read"]),
            Self::Write => ("write", "Write one array.", 1, &["global_write"]),
            Self::Copy => ("copy", COPY, 2, &["global_copy"]),
            Self::Copy2 => ("copy2", "Read two arrays and write a third.", 3, &["global_copy2"]),
            Self::CopyAlternating => ("copy_alternating", ALTERNATING, 2, &["global_copy_alternating"]),
        }
    }

    /// Returns the number of blocks to launch for data of `needed` blocks, on a GPU that holds `at_once` blocks.
    ///
    /// A kernel that only reads runs in resident blocks whose threads combine many elements each. A kernel that writes
    /// is faster with one block per block of data.
    pub fn grid(self, needed: usize, at_once: u32) -> u32 {
        let needed = u32::try_from(needed).unwrap_or(LARGEST_GRID).clamp(1, LARGEST_GRID);
        if self == Self::Read { needed.min(at_once) } else { needed }
    }

    /// Returns a description of [`grid`](Self::grid).
    pub fn grid_in_words(self) -> &'static str {
        if self == Self::Read {
            "as many blocks as the GPU holds at once"
        } else {
            "as many blocks as the data asks for"
        }
    }
}

impl fmt::Display for BandwidthKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// CUDA's largest grid of blocks along x.
const LARGEST_GRID: u32 = i32::MAX as u32;
