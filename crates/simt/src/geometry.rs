//! The shape of a launch and the identity of a kernel.

use std::fmt;

/// An extent or an index in up to three dimensions. Unused dimensions of an extent are 1, of an index 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dim3 {
    /// The fastest-varying dimension.
    pub x: u32,
    /// The second dimension.
    pub y: u32,
    /// The slowest-varying dimension.
    pub z: u32,
}

impl Dim3 {
    /// The extent or index `(x, y, z)`.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// How many elements an extent has: `x·y·z`. Cannot overflow for extents that CUDA allows.
    pub const fn count(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }

    /// The index at position `linear` of this extent, `x` fastest. `linear` must be below [`Dim3::count`].
    pub const fn index(self, linear: u64) -> Self {
        let (x, y) = (self.x as u64, self.y as u64);
        Self { x: (linear % x) as u32, y: (linear / x % y) as u32, z: (linear / x / y) as u32 }
    }
}

impl From<u32> for Dim3 {
    fn from(x: u32) -> Self {
        Self::new(x, 1, 1)
    }
}

impl From<(u32, u32)> for Dim3 {
    fn from((x, y): (u32, u32)) -> Self {
        Self::new(x, y, 1)
    }
}

impl From<(u32, u32, u32)> for Dim3 {
    fn from((x, y, z): (u32, u32, u32)) -> Self {
        Self::new(x, y, z)
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// How many blocks of how many threads, and the dynamic shared memory of each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// Blocks in the grid.
    pub grid: Dim3,
    /// Threads per block; at most 1024 in all.
    pub block: Dim3,
    /// Dynamic shared memory, in bytes per block.
    pub shared_bytes: u32,
    /// Whether all blocks run at the same time, as a barrier of the whole grid needs.
    pub is_cooperative: bool,
    /// The tables of the kernel's `lop3_given`, in order.
    pub tables: &'static [u8],
}

impl LaunchConfig {
    /// A launch of `grid` blocks of `block` threads without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self { grid: grid.into(), block: block.into(), shared_bytes: 0, is_cooperative: false, tables: &[] }
    }

    /// The same launch with `bytes` of dynamic shared memory per block.
    pub const fn shared_bytes(mut self, bytes: u32) -> Self {
        self.shared_bytes = bytes;
        self
    }

    /// The same launch with all blocks at the same time, so that they may meet at a barrier of the grid. There may be no more
    /// of them than the device holds at once.
    pub const fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }

    /// The same launch with `tables` for the kernel's `lop3_given`, in order. The kernel is compiled for them when they are first
    /// given.
    pub const fn tables(mut self, tables: &'static [u8]) -> Self {
        self.tables = tables;
        self
    }
}

/// What is known of a kernel before it is launched. `#[kernel]` writes one for each entry in the PTX.
///
/// [`KernelInfo::new`] takes what every kernel has; each method of the same name as a field adds one of the other facts.
/// ```
/// # use simt::KernelInfo;
/// static SUM: KernelInfo = KernelInfo::new("sum_f32", module_path!(), file!(), line!()).family("sum").max_threads(256);
/// assert_eq!((SUM.name, SUM.family, SUM.max_threads, SUM.min_blocks), ("sum_f32", "sum", Some(256), None));
/// ```
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    /// The entry's name in the PTX.
    pub name: &'static str,
    /// The name of the Rust function, which the instances of a generic kernel share; the entry's own where nothing else
    /// is said.
    pub family: &'static str,
    /// The first paragraph of its documentation, as one line. May be empty.
    pub summary: &'static str,
    /// The Rust module that the kernel stands in, as `module_path!()` gives it.
    pub module: &'static str,
    /// The generic arguments that the entry is built for, as its name has them: `["f32", "sum"]`.
    pub arguments: &'static [&'static str],
    /// Elements of the input that a thread takes at a time, where the kernel says so.
    pub items_per_thread: Option<usize>,
    /// The most elements that the kernel takes, where it does not take any number.
    pub max_elements: Option<usize>,
    /// The source file.
    pub file: &'static str,
    /// The line of the kernel's definition.
    pub line: u32,
    /// Launch bound: the most threads a block may have (`.maxntid`).
    pub max_threads: Option<u32>,
    /// Launch bound: the fewest blocks that must fit an SM at once (`.minnctapersm`).
    pub min_blocks: Option<u32>,
}

impl KernelInfo {
    /// The kernel whose entry in the PTX is `name`, and where its source stands: the Rust module, the file and the line,
    /// as `module_path!()`, `file!()` and `line!()` give them.
    pub const fn new(name: &'static str, module: &'static str, file: &'static str, line: u32) -> Self {
        Self {
            name,
            family: name,
            summary: "",
            module,
            arguments: &[],
            items_per_thread: None,
            max_elements: None,
            file,
            line,
            max_threads: None,
            min_blocks: None,
        }
    }

    /// Says the name of the Rust function, where it differs from the entry's.
    pub const fn family(mut self, family: &'static str) -> Self {
        self.family = family;
        self
    }

    /// Adds the first paragraph of the kernel's documentation, as one line.
    pub const fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }

    /// Adds the generic arguments that the entry is built for, as its name has them.
    pub const fn arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    /// Adds how many elements of the input a thread takes at a time.
    pub const fn items_per_thread(mut self, items: usize) -> Self {
        self.items_per_thread = Some(items);
        self
    }

    /// Adds the most elements that the kernel takes.
    pub const fn max_elements(mut self, elements: usize) -> Self {
        self.max_elements = Some(elements);
        self
    }

    /// Adds the launch bound `.maxntid`: the most threads a block may have.
    pub const fn max_threads(mut self, threads: u32) -> Self {
        self.max_threads = Some(threads);
        self
    }

    /// Adds the launch bound `.minnctapersm`: the fewest blocks that must fit an SM at once.
    pub const fn min_blocks(mut self, blocks: u32) -> Self {
        self.min_blocks = Some(blocks);
        self
    }
}
