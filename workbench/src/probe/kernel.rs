//! The names and descriptions of the bandwidth kernels.

use std::fmt;

/// A kernel that measures the bandwidth of global memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BandwidthKernel {
    /// Reads one array.
    Read,
    /// Writes one array.
    Write,
    /// Reads one array and writes another, with several loads and then as many stores.
    Copy,
    /// Reads two arrays and writes a third.
    Copy2,
    /// Reads one array and writes another. Each element is stored before the next is loaded.
    CopyAlternating,
}

impl BandwidthKernel {
    /// All bandwidth kernels.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Copy, Self::Copy2, Self::CopyAlternating];

    /// Returns the kernel's name on the command line.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns a description of the kernel, in a line.
    pub const fn idea(self) -> &'static str {
        self.facts().1
    }

    /// Returns the number of arrays that the kernel reads or writes.
    pub const fn arrays(self) -> u64 {
        self.facts().2
    }

    /// Returns the names of the kernel's functions.
    pub const fn families(self) -> &'static [&'static str] {
        self.facts().3
    }

    /// Returns the kernel's name, description, number of arrays and function names.
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

    /// Returns the number of blocks to launch for data that needs `needed` blocks. The GPU can run `at_once` blocks of
    /// the kernel concurrently.
    ///
    /// A kernel that only reads gets at most `at_once` blocks, whose threads combine many elements each. A kernel that
    /// writes gets `needed` blocks, because it is faster with `needed` blocks than with fewer.
    pub fn grid(self, needed: usize, at_once: u32) -> u32 {
        let needed = u32::try_from(needed).unwrap_or(LARGEST_GRID).clamp(1, LARGEST_GRID);
        if self == Self::Read { needed.min(at_once) } else { needed }
    }

    /// Describes in words how [`grid`](Self::grid) chooses the number of blocks.
    pub fn grid_in_words(self) -> &'static str {
        if self == Self::Read { "as many blocks as the GPU holds at once" } else { "as many blocks as the data needs" }
    }
}

impl fmt::Display for BandwidthKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The largest number of blocks along x that CUDA allows.
const LARGEST_GRID: u32 = i32::MAX as u32;
