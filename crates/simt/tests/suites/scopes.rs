//! Tests atomics and fences of block and device scope: the threads that they order, and the threads for which an access
//! is atomic.

use crate::common;

use common::Array;
use common::races::{accept_in_all_orders, first_index, race};
use simt::memory::{Scope, fence_scoped, load_scoped, store_scoped, update_scoped};
use simt::{LaunchConfig, Remedy, thread};

const SCOPES: [Scope; 3] = [Scope::Block, Scope::Device, Scope::System];

/// The two threads of a test: the first lanes of two warps of one block, or the only threads of two blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threads {
    OfOneBlock,
    OfTwoBlocks,
}

impl Threads {
    fn config(self) -> LaunchConfig {
        match self {
            Self::OfOneBlock => LaunchConfig::new(1, 64),
            Self::OfTwoBlocks => LaunchConfig::new(2, 1),
        }
    }

    /// Returns the number of the calling thread, 0 or 1, or `None` if the calling thread is not one of the two.
    fn number(self) -> Option<u32> {
        match self {
            Self::OfOneBlock => first_index().is_multiple_of(32).then_some(first_index() / 32),
            Self::OfTwoBlocks => Some(thread::block_idx().x),
        }
    }
}

/// The operations by which the first thread publishes a value and the second waits for it: fences and relaxed accesses,
/// or release and acquire.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Manner {
    Fences,
    ReleaseAcquire,
}

/// A kernel in which the first thread writes `data[0]` and sets the flag `data[1]`. The second thread waits for the
/// flag and reads `data[0]`.
fn publish_and_read(threads: Threads, data: &Array<u32>, manner: Manner, [publishes, waits, accesses]: [Scope; 3]) {
    let orders = manner == Manner::ReleaseAcquire;
    let of = |scope| if orders { scope } else { accesses };
    match threads.number() {
        Some(0) => {
            data.store(0, 7);
            if !orders {
                fence_scoped(publishes);
            }
            // SAFETY: the array has two elements and outlives the launch.
            unsafe { store_scoped(data.at(1), 1, orders, of(publishes)) };
        }
        Some(1) => {
            // SAFETY: the array has two elements and outlives the launch.
            while unsafe { load_scoped(data.at(1).cast_const(), orders, of(waits)) } == 0 {}
            if !orders {
                fence_scoped(waits);
            }
            assert_eq!(data.load(0), 7);
        }
        _ => {}
    }
}

#[test]
fn within_a_block_every_scope_orders() {
    for manner in [Manner::Fences, Manner::ReleaseAcquire] {
        for scopes in [
            [Scope::Block; 3],
            [Scope::Device, Scope::Block, Scope::Block],
            [Scope::Block, Scope::System, Scope::Device],
        ] {
            let data = Array::new(&[0_u32, 0]);
            let threads = Threads::OfOneBlock;
            accept_in_all_orders(threads.config(), || {
                if threads.number() == Some(0) {
                    // Resets the flag for each order.
                    data.store(1, 0);
                }
                thread::sync_threads();
                publish_and_read(threads, &data, manner, scopes);
            });
        }
    }
}

#[test]
fn between_blocks_both_sides_need_the_devices_scope() {
    for manner in [Manner::Fences, Manner::ReleaseAcquire] {
        for publishes in SCOPES {
            for waits in SCOPES {
                let threads = Threads::OfTwoBlocks;
                let data = Array::new(&[0_u32, 0]);
                let kernel = || publish_and_read(threads, &data, manner, [publishes, waits, Scope::Device]);
                if publishes != Scope::Block && waits != Scope::Block {
                    common::races::accept(threads.config(), kernel);
                } else {
                    let found = race(threads.config(), kernel);
                    let is_of_flag = found.there.access.is_atomic();
                    assert_eq!(is_of_flag, manner == Manner::ReleaseAcquire, "{publishes:?} {waits:?}: {found}");
                }
            }
        }
    }
}

#[test]
fn fences_do_not_widen_atomics_of_block_scope() {
    let data = Array::new(&[0_u32, 0]);
    let threads = Threads::OfTwoBlocks;
    let found = race(threads.config(), || {
        publish_and_read(threads, &data, Manner::Fences, [Scope::Device, Scope::Device, Scope::Block]);
    });
    assert_eq!(found.remedy, Remedy::WiderScope);
}

#[test]
fn atomics_of_block_scope_are_one_step_within_their_block_alone() {
    for (first, second) in [(Scope::Block, Scope::Block), (Scope::Block, Scope::Device), (Scope::System, Scope::Block)]
    {
        let count = Array::new(&[0_u32]);
        let add = |scope| {
            // SAFETY: the array has an element and outlives the launch.
            unsafe { update_scoped(count.at(0), scope, |old: u32| old + 1) }
        };
        let found = race(LaunchConfig::new(2, 32), || {
            add(if thread::block_idx().x == 0 { first } else { second });
        });
        assert_eq!(found.remedy, Remedy::WiderScope, "{found}");
        assert!(found.to_string().contains("make both atomic for the device"), "{found}");
        let count = Array::new(&[0_u32]);
        accept_in_all_orders(LaunchConfig::new(1, 64), || {
            // SAFETY: the array has an element and outlives the launch.
            unsafe { update_scoped(count.at(0), if first_index() < 32 { first } else { second }, |old: u32| old + 1) };
        });
        assert_eq!(count.to_vec(), [64 * 8]);
    }
}

#[test]
fn a_published_value_may_be_updated_with_block_scope() {
    // The flag orders the updates of both blocks.
    let data = Array::new(&[0_u32, 0]);
    let threads = Threads::OfTwoBlocks;
    common::races::accept(threads.config(), || {
        // SAFETY: the array has two elements and outlives the launch.
        let add = || unsafe { update_scoped(data.at(0), Scope::Block, |old: u32| old + 1) };
        if threads.number() == Some(0) {
            add();
            data.release(1, 1);
        } else {
            while data.acquire(1) == 0 {}
            assert_eq!(add(), 1);
        }
    });
}
