//! Where a thread is, what it is passed, what it prints, and what ends it.

use cuda_std::{Global, GlobalMut, grid, kernel, thread, warp};

/// `out[8·i..]` = thread index, block index, lane and warp of thread `i` of a three-dimensional grid of such blocks.
#[kernel(max_threads = 1024)]
pub fn coordinates(out: GlobalMut<u32>) {
    let in_block = thread::index_in_block();
    let block = (thread::block_idx_z() * thread::grid_dim_y() + thread::block_idx_y()) * thread::grid_dim_x()
        + thread::block_idx_x();
    let i = 8 * (block * thread::block_size() + in_block) as usize;
    out.store(i, thread::thread_idx_x());
    out.store(i + 1, thread::thread_idx_y());
    out.store(i + 2, thread::thread_idx_z());
    out.store(i + 3, thread::block_idx_x());
    out.store(i + 4, thread::block_idx_y());
    out.store(i + 5, thread::block_idx_z());
    out.store(i + 6, warp::lane_id());
    out.store(i + 7, warp::warp_id());
}

/// `out[i] = i`, with launch bounds.
#[kernel(max_threads = 128, min_blocks = 2)]
pub fn bounded(out: GlobalMut<u32>) {
    for i in thread::grid_stride(out.len()) {
        out.store(i, i as u32);
    }
}

/// `y[i] = x[i] + x[i + 1]`, the last with the first. May begin while the launch before runs, and waits for it.
#[kernel(max_threads = 256)]
pub fn add_neighbours(x: Global<u32>, y: GlobalMut<u32>) {
    grid::launch_dependents();
    let (i, n) = (thread::index_1d(), y.len());
    grid::wait_for_dependencies();
    if i < n {
        y.store(i, x.load(i).wrapping_add(x.load((i + 1) % n)));
    }
}

/// `c[i] = a[i] + b[i]`, written as a kernel of Rust-CUDA is.
///
/// # Safety
/// `c` must have as many elements as `a`.
#[kernel(max_threads = 1024)]
pub unsafe fn add_slices(a: &[f32], b: &[f32], c: *mut f32) {
    let i = thread::index_1d();
    if i < a.len() {
        // SAFETY: `i` is below the length of `a`, and so of `c`.
        unsafe { *c.add(i) = a[i] + b[i] };
    }
}

/// Prints one line per thread, with numbers of each kind.
#[kernel(
    max_threads = 1024,
    allow(
        local_in_ptx = "`vprintf` reads what it prints from local memory",
        local = "`vprintf` reads what it prints from local memory"
    )
)]
pub fn print_numbers(small: i32, large: u64, real: f32) {
    let i = thread::index_1d();
    println!("thread {i} of 100%: {} {:08x} {:.3}", small, large, real);
}

/// Sets element `index` of `out` in thread `culprit`, whether there is such an element or not.
#[kernel(max_threads = 1024)]
pub fn store_at(out: GlobalMut<u32>, index: usize, culprit: usize) {
    if thread::index_1d() == culprit {
        out.store(index, 1);
    }
}
