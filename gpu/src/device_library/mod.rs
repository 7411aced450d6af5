//! Test kernels that together use every part of `cuda_std`. They must give the same results on every device, GPU or
//! simulator.
//!
//! The test kernels do not belong to an algorithm, and the program `host` does not contain them.

mod atomics;
mod clusters;
mod copies;
mod generic;
mod launching;
mod memory;
mod synchronisation;

pub use atomics::{atomics_float, atomics_integer, hand_over, hand_over_fenced, wide_products};
pub use clusters::{cluster_reverse, cluster_sum};
pub use copies::{copy_async, copy_async_by_elements};
pub use generic::{combine_block, timers};
pub use launching::{add_neighbours, add_slices, bounded, coordinates, print_numbers, store_at};
pub use memory::{copy_hinted, copy_wide};
pub use synchronisation::{block_sum, count_even, shuffles, votes};

cuda_std::kernels![
    atomics_float,
    atomics_integer,
    hand_over,
    hand_over_fenced,
    wide_products,
    copy_async,
    copy_async_by_elements,
    combine_block,
    timers,
    add_neighbours,
    add_slices,
    bounded,
    coordinates,
    print_numbers,
    store_at,
    copy_hinted,
    copy_wide,
    block_sum,
    count_even,
    shuffles,
    votes,
    cluster_sum,
    cluster_reverse,
];
