//! The memory accesses of which a watcher is notified.

use crate::faults::race::RaceAccess;
use crate::scope::Scope;

/// The kinds of memory access of which a watcher is notified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// A plain load.
    Load,
    /// A plain load that assumes that no thread writes the memory during the launch.
    ReadOnlyLoad,
    /// A plain store.
    Store,
    /// A mutable borrow, which counts as a store.
    Borrow,
    /// The beginning of an asynchronous copy. The contents of its target are unspecified until the copy ends.
    Discard,
    /// The end of an asynchronous copy for which the thread has waited: a store of the copied values.
    Fill,
    /// An atomic load for the threads of the scope.
    AtomicLoad(MemoryOrder, Scope),
    /// An atomic store for the threads of the scope.
    AtomicStore(MemoryOrder, Scope),
    /// An atomic update for the threads of the scope.
    Update(Scope),
    /// An arrival at an `mbarrier` in shared memory: an atomic update that acquires nothing.
    Arrive,
    /// A read by an asynchronous operation.
    AsyncRead,
    /// A write by an asynchronous operation.
    AsyncWrite,
    /// A read by a product of a warpgroup, which is an asynchronous operation.
    ProductRead,
}

impl From<Access> for RaceAccess {
    fn from(access: Access) -> Self {
        match access {
            Access::Load | Access::ReadOnlyLoad => Self::Load,
            Access::Store => Self::Store,
            Access::Borrow => Self::MutableBorrow,
            Access::Discard | Access::Fill => Self::AsynchronousCopy,
            Access::AtomicLoad(..) => Self::AtomicLoad,
            Access::AtomicStore(..) => Self::AtomicStore,
            Access::Update(_) | Access::Arrive => Self::AtomicUpdate,
            Access::AsyncRead => Self::AsynchronousRead,
            Access::AsyncWrite => Self::AsynchronousWrite,
            Access::ProductRead => Self::ProductRead,
        }
    }
}

impl Access {
    /// Returns true if the access reads memory.
    #[inline(always)]
    pub(crate) fn reads(self) -> bool {
        matches!(
            self,
            Self::Load
                | Self::ReadOnlyLoad
                | Self::AtomicLoad(..)
                | Self::Update(_)
                | Self::Arrive
                | Self::AsyncRead
                | Self::ProductRead
        )
    }

    /// Returns true if the access writes memory.
    #[inline(always)]
    pub(crate) fn writes(self) -> bool {
        matches!(
            self,
            Self::Store
                | Self::Borrow
                | Self::Discard
                | Self::Fill
                | Self::AtomicStore(..)
                | Self::Update(_)
                | Self::Arrive
                | Self::AsyncWrite
        )
    }

    #[inline(always)]
    pub(crate) fn is_atomic(self) -> bool {
        matches!(self, Self::AtomicLoad(..) | Self::AtomicStore(..) | Self::Update(_) | Self::Arrive)
    }

    /// Returns true if an asynchronous operation makes the access, through its own proxy.
    pub(crate) fn is_asynchronous(self) -> bool {
        matches!(self, Self::AsyncRead | Self::AsyncWrite | Self::ProductRead)
    }

    /// Returns true if the access is the beginning or the end of an asynchronous copy.
    pub(crate) fn is_of_copy(self) -> bool {
        matches!(self, Self::Discard | Self::Fill)
    }

    /// Returns true if the access is atomic only for the threads of its own block.
    #[inline(always)]
    pub(crate) fn is_for_block(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad(_, Scope::Block) | Self::AtomicStore(_, Scope::Block) | Self::Update(Scope::Block)
        )
    }

    /// Returns true if the access is atomic only for the threads of its own cluster.
    #[inline(always)]
    pub(crate) fn is_for_cluster(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad(_, Scope::Cluster) | Self::AtomicStore(_, Scope::Cluster) | Self::Update(Scope::Cluster)
        )
    }

    /// Returns true if the access is atomic only for the threads of its own block or cluster.
    #[inline(always)]
    pub(crate) fn is_narrow(self) -> bool {
        match self {
            Self::AtomicLoad(_, scope) | Self::AtomicStore(_, scope) | Self::Update(scope) => {
                matches!(scope, Scope::Block | Scope::Cluster)
            }
            _ => false,
        }
    }

    /// Returns true if the access is atomic also for other devices and the host.
    #[inline(always)]
    pub(crate) fn is_for_system(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad(_, Scope::System) | Self::AtomicStore(_, Scope::System) | Self::Update(Scope::System)
        )
    }
}

/// The ordering of an atomic load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryOrder {
    /// The access orders no other access.
    Relaxed,
    /// The access is a releasing store or an acquiring load. All accesses before the store happen before all accesses
    /// after an acquiring load of the stored value.
    AcquireRelease,
    /// The access is a load of an `mbarrier`. The load acquires from the threads that arrived before the barrier's last
    /// phase ended, and not from threads that arrived later.
    Phase,
}
