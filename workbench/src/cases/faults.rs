//! The cases of the faulty kernels of [`gpu::faults`]. Every case must fail.

use cuda_std::{Global, GlobalMut};
use gpu::faults::{
    ITEMS, TILE, aggregates_reused, barrier_in_branch, barrier_of_two_calls, barrier_skipped, barriers_of_branches,
    bound_underflows, bound_wraps, cluster_arrives_twice, cluster_barrier_in_branch, cluster_ended, cluster_not_begun,
    cluster_unsynchronised, cluster_without_last, collective_in_branch, copies_not_waited_for, copies_over_reads,
    double_checked, flag_before_value, flag_relaxed, life_in_place, life_in_place_blocks, prefix_in_place,
    shuffle_outside_mask, sum_partials, tail_dropped, ticket_without_fences, tile_reused, tile_unsynchronised,
    vectors_misaligned, warp_tail_unsynchronised,
};
use launch::{Call, Device, Element, Error, LaunchConfig};

use crate::case::{Case, equal};

/// Returns a case for each faulty kernel.
pub fn faults() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kernel: &'static [&'static str], what: &str, run: fn(&Device) -> Result<(), Error>| {
        cases.push(Case::new("faults", kernel[0], kernel, what, move |stage| Ok(run(&stage.device)?)));
    };
    add(&["prefix_in_place"], "a block of 100 threads", |device| {
        launch(device, (1, 100), &[1.0; 100], 100, prefix_in_place)
    });
    add(&["warp_tail_unsynchronised"], "2 blocks of 256 threads", |device| {
        let (mut x, mut y) = (device.upload(&[1; 512])?, device.zeroed(2)?);
        device.launch(LaunchConfig::new(2, 256), warp_tail_unsynchronised(x.view_mut(), y.view_mut()))
    });
    add(
        &["sum_partials", "tail_dropped"],
        "2 blocks of 64 threads, and a sum with a partial result that no block wrote",
        |device| {
            // The array has a partial sum per tile, but the grid has blocks only for the whole tiles.
            let x = vec![1; 2 * ITEMS * 64 + 96];
            let (mut x, mut partials, mut y) = (device.upload(&x)?, device.alloc(3)?, device.alloc(1)?);
            device.launch(LaunchConfig::new(2, 64), tail_dropped(x.view_mut(), partials.view_mut()))?;
            device.launch(LaunchConfig::new(1, 1), sum_partials(partials.view(), y.view_mut()))
        },
    );
    add(&["bound_wraps"], "2 blocks of 64 threads, fewer elements than one pass of the grid processes", |device| {
        let (x, mut y) = (device.upload(&[1.0; 300])?, device.upload(&[1.0; 300])?);
        device.launch(LaunchConfig::new(2, 64), bound_wraps(2.0, x.view(), y.view_mut()))
    });
    add(
        &["bound_underflows"],
        "2 blocks of 64 threads, fewer elements than one pass of the grid processes",
        |device| {
            let (x, mut y) = (device.upload(&[1.0; 300])?, device.upload(&[1.0; 300])?);
            device.launch(LaunchConfig::new(2, 64), bound_underflows(2.0, x.view(), y.view_mut()))
        },
    );
    add(&["life_in_place"], "a block of 20 x 12 threads, one per cell", |device| {
        let mut cells = device.upload(&[1; 240])?;
        device.launch(LaunchConfig::new(1, (20, 12)), life_in_place(cells.view_mut(), 20, 12))
    });
    add(&["life_in_place_blocks"], "2 x 2 blocks of 8 x 8 threads, one per cell", |device| {
        let mut cells = device.upload(&[1; 256])?;
        device.launch(LaunchConfig::new((2, 2), (8, 8)), life_in_place_blocks(cells.view_mut(), 16, 16, 3))
    });
    add(&["tile_unsynchronised"], "2 x 2 blocks with one tile each", |device| {
        let (x, mut y) = (device.upload(&vec![1; 4 * TILE * TILE])?, device.zeroed(4 * TILE * TILE)?);
        let config = LaunchConfig::new((2, 2), (TILE as u32, TILE as u32));
        device.launch(config, tile_unsynchronised(x.view(), y.view_mut(), 2 * TILE))
    });
    add(&["tile_reused"], "a block of 96 threads, three tiles", |device| {
        launch(device, (1, 96), &[7; 288], 288, tile_reused)
    });
    add(&["copies_not_waited_for"], "a block of 64 threads, three tiles", |device| {
        launch(device, (1, 64), &[7; 768], 768, copies_not_waited_for)
    });
    add(&["copies_over_reads"], "a block of 64 threads, three tiles", |device| {
        launch(device, (1, 64), &[7; 768], 768, copies_over_reads)
    });
    add(&["aggregates_reused"], "a block of 64 threads, two scans", |device| {
        launch(device, (1, 64), &[1; 64], 64, aggregates_reused)
    });
    add(&["collective_in_branch"], "a block of 64 threads, of which 32 scan", |device| {
        launch(device, (1, 64), &[1; 64], 64, collective_in_branch)
    });
    add(&["barrier_in_branch"], "2 blocks of 64 threads for 100 elements", |device| {
        launch(device, (2, 64), &[1; 100], 100, barrier_in_branch)
    });
    add(&["barriers_of_branches"], "a block of 64 threads", |device| {
        launch(device, (1, 64), &[1; 64], 64, barriers_of_branches)
    });
    add(&["barrier_of_two_calls"], "a block of 64 threads", |device| {
        let mut y = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), barrier_of_two_calls(y.view_mut()))
    });
    add(&["barrier_skipped"], "a block of 64 threads", |device| {
        let mut y = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), barrier_skipped(y.view_mut()))
    });
    add(&["shuffle_outside_mask"], "a block of one warp", |device| {
        launch(device, (1, 32), &[1; 32], 1, shuffle_outside_mask)
    });
    add(&["flag_before_value"], "9 blocks of 32 threads", |device| {
        let (mut ticket, mut flags, mut sums) = (device.zeroed(1)?, device.zeroed(9)?, device.zeroed(9)?);
        let call = flag_before_value(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(9, 32), call)
    });
    add(&["flag_relaxed"], "9 blocks of 32 threads", |device| {
        let (mut ticket, mut flags, mut sums) = (device.zeroed(1)?, device.zeroed(9)?, device.zeroed(9)?);
        let call = flag_relaxed(ticket.view_mut(), flags.view_mut(), sums.view_mut());
        device.launch(LaunchConfig::new(9, 32), call)
    });
    add(&["ticket_without_fences"], "7 blocks of 32 threads", |device| {
        let (x, mut ticket) = (device.upload(&[1; 100])?, device.zeroed(1)?);
        let (mut partials, mut y) = (device.alloc(7)?, device.alloc(1)?);
        let call = ticket_without_fences(x.view(), partials.view_mut(), ticket.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(7, 32), call)
    });
    add(&["double_checked"], "100 blocks of one thread", |device| {
        let (mut state, mut value, mut y) = (device.zeroed(1)?, device.zeroed(1)?, device.alloc(100)?);
        let call = double_checked(state.view_mut(), value.view_mut(), y.view_mut());
        device.launch(LaunchConfig::new(100, 1), call)
    });
    add(&["vectors_misaligned"], "2 blocks of 32 threads, vectors from element 3 on", |device| {
        let (x, mut y) = (device.upload(&[1; 300])?, device.alloc(256)?);
        device.launch(LaunchConfig::new(2, 32), vectors_misaligned(x.view(), y.view_mut(), 3))
    });
    macro_rules! clusters {
        ($($kernel:ident)*) => {$(
            add(&[stringify!($kernel)], "a cluster of 2 blocks of 64 threads", |device| {
                let mut y = device.zeroed(128)?;
                device.launch(LaunchConfig::new(2, 64).cluster(2), $kernel(y.view_mut()))
            });
        )*};
    }
    clusters! {
        cluster_unsynchronised cluster_not_begun cluster_ended cluster_barrier_in_branch cluster_arrives_twice
        cluster_without_last
    }
    cases.push(Case::new(
        "faults",
        "tail_dropped",
        &["tail_dropped", "sum_partials"],
        "2 blocks of 64 threads, whose sum lacks the tail",
        |stage| {
            let (device, n) = (&stage.device, 2 * ITEMS * 64 + 96);
            let (mut x, mut partials, mut y) = (device.upload(&vec![1; n])?, device.alloc(2)?, device.alloc(1)?);
            device.launch(LaunchConfig::new(2, 64), tail_dropped(x.view_mut(), partials.view_mut()))?;
            device.launch(LaunchConfig::new(1, 1), sum_partials(partials.view(), y.view_mut()))?;
            equal("y", &y.download()?, &[n as i32])
        },
    ));
    cases
}

/// Launches `kernel` on `x` and on an array of `n` zeros, in `blocks` blocks of `threads` threads.
fn launch<X: Element, Y: Element>(
    device: &Device,
    (blocks, threads): (u32, u32),
    x: &[X],
    n: usize,
    kernel: impl for<'a> Fn(Global<'a, X>, GlobalMut<'a, Y>) -> Call<'a>,
) -> Result<(), Error> {
    let (x, mut y) = (device.upload(x)?, device.zeroed(n)?);
    device.launch(LaunchConfig::new(blocks, threads), kernel(x.view(), y.view_mut()))
}
