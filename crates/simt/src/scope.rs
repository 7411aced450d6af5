//! The scopes of atomic accesses and fences.

/// A scope: the set of threads for which an access is atomic or a fence orders accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of the caller's block.
    Block,
    /// The threads of the caller's cluster.
    Cluster,
    /// The threads of the grid. The simulated device runs no other threads at the same time.
    Device,
    /// The threads of the grid and the host. The host does not run during a kernel, so this equals
    /// [`Device`](Self::Device).
    System,
}
