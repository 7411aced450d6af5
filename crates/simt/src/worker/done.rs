//! What is counted of a launch while it runs.

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    pub(crate) blocks: u64,
    pub(crate) barriers: u64,
    pub(crate) operations: u64,
}

impl Done {
    /// Counts what another worker has done as well.
    pub(crate) fn add(&mut self, other: Self) {
        self.blocks += other.blocks;
        self.barriers += other.barriers;
        self.operations += other.operations;
    }
}
