//! Test kernels for atomic operations, and for values that one block passes to the next.

use cuda_std::{Global, GlobalMut, fence, kernel, multiply_wide, shared_array, thread};

/// Executes each atomic operation in every thread, first on shared memory, then on global memory. Each operation has
/// its own element: `counters[0..7]` and `signed[0..3]`. The host sets the starting values.
#[kernel(max_threads = 1024)]
pub fn atomics_integer(counters: GlobalMut<u32>, signed: GlobalMut<i64>) {
    let local = shared_array![u32; 2];
    let thread = thread::index_in_block();
    if thread == 0 {
        local.store(0, 0);
        local.store(1, u32::MAX);
    }
    thread::sync_threads();
    local.atomic_add(0, thread);
    local.atomic_min(1, thread + 5);
    thread::sync_threads();

    let i = thread::index_1d() as u32;
    if thread == 0 {
        counters.atomic_add(0, local.load(0));
        counters.atomic_max(1, local.load(1));
    }
    counters.atomic_or(2, 1 << (i % 32));
    counters.atomic_and(3, !(1 << (i % 7)));
    counters.atomic_xor(4, i);
    counters.atomic_exchange(5, 77);
    // Increments the element by compare-and-exchange. The loop repeats until no other thread changes the element
    // between the load and the exchange.
    let mut seen = counters.load_relaxed(6);
    loop {
        let old = counters.atomic_compare_exchange(6, seen, seen + 3);
        if old == seen {
            break;
        }
        seen = old;
    }
    signed.atomic_add(0, -i64::from(i) << 33);
    signed.atomic_min(1, -i64::from(i));
    signed.atomic_max(2, -i64::from(i) - 1);
}

/// Adds 1 to `single[0]` and 0.5 to `double[0]` in each thread.
#[kernel(max_threads = 1024)]
pub fn atomics_float(single: GlobalMut<f32>, double: GlobalMut<f64>) {
    single.atomic_add(0, 1.0);
    double.atomic_add(0, 0.5);
}

/// Writes the 64-bit product `x[i]·factor` to `products[i]`. Adds to `counts[1]` the number of products whose upper
/// half exceeds their lower half, and to `counts[0]` the number of all other products. Launch any grid.
#[kernel(max_threads = 1024)]
pub fn wide_products(factor: u32, x: Global<u32>, products: GlobalMut<u64>, counts: GlobalMut<u32>) {
    let local = shared_array![u32; 2];
    for word in thread::block_stride(local.len()) {
        local.store(word, 0);
    }
    thread::sync_threads();
    for i in thread::grid_stride(x.len()) {
        let product = multiply_wide(x.load(i), factor);
        products.store(i, product);
        let is_upper_larger = product >> 32 > product & 0xffff_ffff;
        // SAFETY: the index is 0 or 1, and `local` has two elements.
        unsafe { local.atomic_add_unchecked(usize::from(is_upper_larger), 1) };
    }
    thread::sync_threads();
    for word in thread::block_stride(local.len()) {
        counts.atomic_add(word, local.load(word));
    }
}

/// Passes a sum from block to block. The block with ticket *t* waits for the block with ticket *t − 1*, adds *t* and
/// publishes the sum, by a release store that the next block reads with an acquire load.
///
/// `ticket[0]` and `flags` (one element per block) must be 0. `sums` (one element per block) may have any values.
#[kernel(max_threads = 1024)]
pub fn hand_over(ticket: GlobalMut<u32>, flags: GlobalMut<u32>, sums: GlobalMut<u64>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let mine = ticket.atomic_add(0, 1) as usize;
    let before = if mine == 0 {
        0
    } else {
        while flags.load_acquire(mine - 1) == 0 {}
        sums.load(mine - 1)
    };
    sums.store(mine, before + mine as u64);
    flags.store_release(mine, 1);
}

/// Does the same as [`hand_over()`], but with fences and relaxed accesses instead of release and acquire.
#[kernel(max_threads = 1024)]
pub fn hand_over_fenced(ticket: GlobalMut<u32>, flags: GlobalMut<u32>, sums: GlobalMut<u64>) {
    if thread::index_in_block() != 0 {
        return;
    }
    let mine = ticket.atomic_add(0, 1) as usize;
    let before = if mine == 0 {
        0
    } else {
        while flags.load_relaxed(mine - 1) == 0 {}
        fence();
        sums.load(mine - 1)
    };
    sums.store(mine, before + mine as u64);
    fence();
    flags.store_relaxed(mine, 1);
}
