//! The configuration of a launch, and the description of a kernel.

use std::fmt;

use crate::argument::{ArgumentId, GenericArgument};

/// An extent or an index in up to three dimensions. Unused dimensions are 1 in an extent and 0 in an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Dim3 {
    /// The size or position in the fastest-varying dimension.
    pub x: u32,
    /// The size or position in the second dimension.
    pub y: u32,
    /// The size or position in the slowest-varying dimension.
    pub z: u32,
}

impl Dim3 {
    /// Makes an extent or an index from its three components.
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }

    /// Returns the number of elements of an extent, `x·y·z`. The result cannot overflow for extents that CUDA allows.
    pub const fn count(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }

    /// Returns the index at position `linear` of this extent, with `x` varying fastest. `linear` must be below
    /// [`Dim3::count`].
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

/// The configuration of a launch: the numbers of blocks and threads, and the dynamic shared memory per block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchConfig {
    /// The number of blocks in each dimension of the grid.
    pub grid: Dim3,
    /// The number of threads in each dimension of a block, at most 1024 in total.
    pub block: Dim3,
    /// The dynamic shared memory per block in bytes.
    pub shared_bytes: u32,
    /// True if all blocks run at the same time. A barrier of the whole grid requires this.
    pub is_cooperative: bool,
    /// The number of blocks in each dimension of a cluster. With `(1, 1, 1)` the launch has no clusters, unless the
    /// kernel has a fixed cluster size.
    pub cluster: Dim3,
    /// The truth tables for the kernel's calls of `lop3_given`, in order.
    pub tables: &'static [u8],
}

impl LaunchConfig {
    /// Makes the configuration of a launch of `grid` blocks of `block` threads without dynamic shared memory.
    pub fn new(grid: impl Into<Dim3>, block: impl Into<Dim3>) -> Self {
        Self {
            grid: grid.into(),
            block: block.into(),
            shared_bytes: 0,
            is_cooperative: false,
            cluster: Dim3::new(1, 1, 1),
            tables: &[],
        }
    }

    /// Divides the grid into clusters of `blocks` blocks each. The blocks of a cluster run at the same time, meet at
    /// barriers of the cluster and access each other's shared memory.
    ///
    /// In each dimension the grid must be a multiple of the cluster. Every device with clusters allows 8 blocks per
    /// cluster. Some, such as an H100, allow 16.
    pub fn cluster(mut self, blocks: impl Into<Dim3>) -> Self {
        self.cluster = blocks.into();
        self
    }

    /// Returns this configuration with the fixed cluster size of `kernel`, if the kernel has one and this configuration
    /// has no clusters.
    #[doc(hidden)]
    #[inline]
    pub fn for_kernel(mut self, kernel: &KernelInfo) -> Self {
        if let Some(cluster) = kernel.cluster
            && !self.has_clusters()
        {
            self.cluster = cluster;
        }
        self
    }

    /// Returns true if a cluster has more than one block.
    #[doc(hidden)]
    #[inline]
    pub fn has_clusters(&self) -> bool {
        self.cluster != Dim3::new(1, 1, 1)
    }

    /// Makes all blocks run at the same time, so that they can meet at a barrier of the grid. The device must have room
    /// for all blocks at once.
    pub const fn cooperative(mut self) -> Self {
        self.is_cooperative = true;
        self
    }
}

setters! { LaunchConfig [const]
    /// Sets the dynamic shared memory to `bytes` per block.
    fn shared_bytes(bytes: u32) => shared_bytes = bytes;
    /// Sets the truth tables for the kernel's calls of `lop3_given`, in order. The kernel is compiled for each list of
    /// tables at its first launch with that list.
    fn tables(tables: &'static [u8]) => tables = tables;
}

/// The description of a kernel. `#[kernel]` writes one for each entry of the PTX.
///
/// [`KernelInfo::new`] sets the fields that every kernel has. For each other field, the method of the same name sets
/// the field.
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
    /// The name of the kernel's Rust function, which all instances of a generic kernel share. By default this is the
    /// entry's name.
    pub family: &'static str,
    /// The first paragraph of the kernel's documentation as one line. May be empty.
    pub summary: &'static str,
    /// The Rust module in which the kernel is declared, as `module_path!()` returns it.
    pub module: &'static str,
    /// The generic arguments that the entry is built for, in the order of the kernel's generic parameters.
    pub arguments: &'static [GenericArgument],
    /// The number of input elements that a thread processes at a time, if the kernel declares it.
    pub items_per_thread: Option<usize>,
    /// The maximum number of elements that the kernel can process, or `None` if there is no limit.
    pub max_elements: Option<usize>,
    /// The source file of the kernel's definition.
    pub file: &'static str,
    /// The line of the kernel's definition.
    pub line: u32,
    /// Launch bound: the maximum number of threads per block (`.maxntid`).
    pub max_threads: Option<u32>,
    /// Launch bound: the minimum number of blocks that must fit on a multiprocessor at once (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// The fixed number of blocks in each dimension of a cluster (`.reqnctapercluster`), if the kernel declares it.
    pub cluster: Option<Dim3>,
}

impl KernelInfo {
    /// Describes the kernel whose entry in the PTX is `name`. `module`, `file` and `line` are the kernel's position in
    /// the source, as `module_path!()`, `file!()` and `line!()` return them.
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
            cluster: None,
        }
    }

    /// Returns `true` if the entry is built for exactly the generic arguments `arguments`.
    pub fn has_arguments(&self, arguments: &[ArgumentId]) -> bool {
        self.arguments.len() == arguments.len() && self.arguments_begin_with(arguments)
    }

    /// Returns `true` if the entry's generic arguments begin with `first`.
    pub fn arguments_begin_with(&self, first: &[ArgumentId]) -> bool {
        first.len() <= self.arguments.len() && self.arguments.iter().zip(first).all(|(own, id)| own.id == *id)
    }

    /// Returns `true` if the entry's generic arguments end with `last`.
    pub fn arguments_end_with(&self, last: &[ArgumentId]) -> bool {
        let begin = self.arguments.len().checked_sub(last.len());
        begin.is_some_and(|begin| self.arguments[begin..].iter().zip(last).all(|(own, id)| own.id == *id))
    }
}

setters! { KernelInfo [const]
    /// Sets the name of the kernel's Rust function, if it differs from the entry's name.
    fn family(family: &'static str) => family = family;
    /// Sets the first paragraph of the kernel's documentation, as one line.
    fn summary(summary: &'static str) => summary = summary;
    /// Sets the generic arguments that the entry is built for.
    fn arguments(arguments: &'static [GenericArgument]) => arguments = arguments;
    /// Sets the number of input elements that a thread processes at a time.
    fn items_per_thread(items_per_thread: usize) => items_per_thread = Some(items_per_thread);
    /// Sets the maximum number of elements that the kernel can process.
    fn max_elements(max_elements: usize) => max_elements = Some(max_elements);
    /// Sets the launch bound `.maxntid`: the maximum number of threads per block.
    fn max_threads(max_threads: u32) => max_threads = Some(max_threads);
    /// Sets the launch bound `.minnctapersm`: the minimum number of blocks that must fit on a multiprocessor at once.
    fn min_blocks(min_blocks: u32) => min_blocks = Some(min_blocks);
    /// Sets the fixed number of blocks in each dimension of a cluster (`.reqnctapercluster`).
    fn cluster(cluster: Dim3) => cluster = Some(cluster);
}
