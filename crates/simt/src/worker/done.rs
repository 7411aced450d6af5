//! The counts of blocks, barriers and warp operations that a worker has completed.

/// The numbers of blocks, barriers and warp operations that a worker has completed in a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) blocks: u64,
    pub(crate) barriers: u64,
    pub(crate) operations: u64,
}

impl Done {
    /// Adds the numbers of another worker.
    pub(crate) fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.barriers += other.barriers;
        self.operations += other.operations;
    }
}
