//! Why a worker stops running a block.

/// The reason why a worker stops running a block.
pub(crate) enum Outcome {
    Finished,
    /// The schedule lets another block run.
    Preempted,
    /// Every thread of the block that can run is polling.
    Stalled,
    /// The block has made many synchronising accesses, and other blocks must run.
    TurnOver,
    /// All threads of the block wait at a barrier of the grid.
    AtGridBarrier,
    /// No thread of the block can continue until another block of its cluster reaches the cluster's barrier.
    AtClusterBarrier,
    /// The block ended early, and its threads were unwound.
    Failed,
}
