//! The options of the checker.

/// Options of the checker, which makes a launch also report data races and reads of uninitialised memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// `true` if a shuffle or a vote orders the memory accesses of its lanes, as a warp synchronisation does. GPUs give
    /// this order and programs rely on it, but CUDA's documentation does not guarantee it.
    pub shuffles_order_memory: bool,
    /// `true` if the warps of a block may reach one line of a block barrier by different calls or in different loop
    /// iterations.
    ///
    /// GPUs count warps at a barrier, but CUDA's documentation requires all threads of the block to reach the same
    /// barrier. If this is `false`, a launch warns of such warps
    /// ([`NoteKind::WarpsApart`](crate::NoteKind::WarpsApart)) and continues. The lanes of one warp must reach the
    /// barrier together in any case.
    pub warps_may_part: bool,
}

impl Checks {
    /// The checks that accept only programs whose order CUDA's documentation guarantees.
    pub const STRICT: Self = Self { shuffles_order_memory: false, warps_may_part: false };
}

impl Default for Checks {
    fn default() -> Self {
        Self { shuffles_order_memory: true, warps_may_part: true }
    }
}
