//! Test kernels for thread coordinates, launch bounds, dependent launches, slice parameters, printing and traps.

use cuda_std::{Global, GlobalMut, grid, kernel, thread, warp};

/// In thread `i`, writes the thread index, block index, lane and warp to the eight elements of `out` from `out[8·i]`
/// on. Grid and blocks may be three-dimensional.
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

/// Writes `out[i] = i`. The kernel has launch bounds.
#[kernel(max_threads = 128, min_blocks = 2)]
pub fn bounded(out: GlobalMut<u32>) {
    for i in thread::grid_stride(out.len()) {
        out.store(i, i as u32);
    }
}

/// Computes `y[i] = x[i] + x[i + 1]`, where the element after the last is the first. The kernel may start while the
/// previous launch still runs. It waits for that launch before it reads `x`.
#[kernel(max_threads = 256)]
pub fn add_neighbours(x: Global<u32>, y: GlobalMut<u32>) {
    grid::launch_dependents();
    let (i, n) = (thread::index_1d(), y.len());
    grid::wait_for_dependencies();
    if i < n {
        y.store(i, x.load(i).wrapping_add(x.load((i + 1) % n)));
    }
}

/// Computes `c[i] = a[i] + b[i]`, in the style of a Rust-CUDA kernel.
///
/// # Safety
/// `c` must have as many elements as `a`.
#[kernel(max_threads = 1024)]
pub unsafe fn add_slices(a: &[f32], b: &[f32], c: *mut f32) {
    let i = thread::index_1d();
    if i < a.len() {
        // SAFETY: `i` is below the length of `a`, and by this kernel's contract `c` has as many elements.
        unsafe { *c.add(i) = a[i] + b[i] };
    }
}

/// Prints one line per thread, with `small`, `large` and `real` in different formats.
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

/// In thread `culprit`, stores to element `index` of `out`, even if `index` is out of bounds.
#[kernel(max_threads = 1024)]
pub fn store_at(out: GlobalMut<u32>, index: usize, culprit: usize) {
    if thread::index_1d() == culprit {
        out.store(index, 1);
    }
}
