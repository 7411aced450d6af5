//! Scopes: between which threads an atomic access or a fence orders.

/// The threads for which an atomic access is one step, or a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Those of the caller's block.
    Block,
    /// Those of the grid, which is all that the simulated device runs at a time.
    Device,
    /// Those and the host. The host is not there while a kernel runs, so that this is the same as
    /// [`Device`](Self::Device).
    System,
}
