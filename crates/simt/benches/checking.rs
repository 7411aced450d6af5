//! Measures the cost of the checks for races: how much longer typical kernels take with checks than without, on one
//! worker.
//!
//! `cargo bench -p gridstride-simt --bench checking` prints the median times of several runs.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use simt::memory::Allocation;
use simt::{Checks, Fault, KernelInfo, LaunchConfig, Simulator, memory, shared, thread, warp};

const RUNS: usize = 5;
const BLOCK: u32 = 256;
/// The number of elements of every array.
const LEN: usize = 1 << 20;
const WIDTH: usize = 1024;

static KERNEL: KernelInfo = KernelInfo::new("checking", module_path!(), file!(), line!());

static TILE: shared::Site = shared::Site::new();

/// An array of [`LEN`] words in global memory.
struct Array(Allocation);

impl Array {
    fn new(simulator: &Simulator, is_written: bool) -> Result<Self, Box<dyn std::error::Error>> {
        let memory = simulator.allocate(4 * LEN)?;
        if is_written {
            // SAFETY: the allocation has `4 * LEN` bytes, and nothing else refers to it.
            unsafe { memory.as_ptr().write_bytes(0, 4 * LEN) };
            memory.note_written(0, 4 * LEN);
        }
        Ok(Self(memory))
    }

    fn at<T>(&self, i: usize) -> *mut T {
        assert!((i + 1) * size_of::<T>() <= self.0.len());
        self.0.as_ptr().cast::<T>().wrapping_add(i)
    }

    #[track_caller]
    #[inline(always)]
    fn load<T: bytemuck::Pod>(&self, i: usize) -> T {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::load(self.at(i)) }
    }

    #[track_caller]
    #[inline(always)]
    fn store<T: bytemuck::Pod>(&self, i: usize, value: T) {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::store(self.at(i), value) }
    }

    #[track_caller]
    #[inline(always)]
    fn count(&self, i: usize) -> u32 {
        // SAFETY: `at` returns an address in the allocation, which lives as long as the array.
        unsafe { memory::update(self.at(i), |old: u32| old.wrapping_add(1)) }
    }
}

fn me() -> u32 {
    thread::thread_idx().x
}

fn index() -> usize {
    (thread::block_idx().x * BLOCK + me()) as usize
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("nanoseconds per thread, medians of {RUNS} runs");
    println!("{:52}{:>10}{:>10}{:>8}", "", "unchecked", "checked", "ratio");
    let all = LEN as u32;
    measure("copy of words", all, |x, y| y.store(index(), x.load::<u32>(index())))?;
    measure("copy of 16 bytes", all / 4, |x, y| y.store(index(), x.load::<[u32; 4]>(index())))?;
    measure("copy of bytes", all, |x, y| y.store(index(), x.load::<u8>(index())))?;
    measure("16 bytes, then words", all / 4, |x, y| {
        y.store(index(), x.load::<[u32; 4]>(index()));
        let i = index() / 1024 * 4096 + index() % 1024;
        for part in 0..4 {
            black_box(x.load::<u32>(i + 1024 * part));
        }
    })?;
    measure("9 points of a writable grid", all, |x, y| {
        let (row, column) = (index() / WIDTH, index() % WIDTH);
        let mut sum = 0_u32;
        for up in [WIDTH - 1, 0, 1] {
            for left in [WIDTH - 1, 0, 1] {
                sum = sum.wrapping_add(x.load((row + up) % WIDTH * WIDTH + (column + left) % WIDTH));
            }
        }
        y.store(index(), sum);
    })?;
    measure("the same element read by all", all, |x, y| y.store(index(), x.load::<u32>(0)))?;
    measure("tree in shared memory", all, |x, y| {
        let tile = shared::allocate_static(&TILE, 4 * BLOCK as usize);
        shared::store(tile + 4 * me(), x.load::<u32>(index()));
        thread::sync_threads();
        let mut stride = BLOCK / 2;
        while stride > 0 {
            if me() < stride {
                let other: u32 = shared::load(tile + 4 * (me() + stride));
                let own: u32 = shared::load(tile + 4 * me());
                shared::store(tile + 4 * me(), own.wrapping_add(other));
            }
            thread::sync_threads();
            stride /= 2;
        }
        if me() == 0 {
            y.store(thread::block_idx().x as usize, shared::load::<u32>(tile));
        }
    })?;
    measure("every element of a tile read by all threads", all / 16, |x, y| {
        let tile = shared::allocate_static(&TILE, 4 * BLOCK as usize);
        shared::store(tile + 4 * me(), x.load::<u32>(index()));
        thread::sync_threads();
        let mut sum = 0_u32;
        for i in 0..BLOCK {
            sum = sum.wrapping_add(shared::load(tile + 4 * i));
        }
        y.store(index(), sum);
    })?;
    measure("a product's tiles of 16 x 16", all / 4, |x, y| {
        let tile = shared::allocate_static(&TILE, 8 * BLOCK as usize);
        let (row, column, mut sum) = (me() / 16, me() % 16, 0_u32);
        for _ in 0..4 {
            shared::store(tile + 4 * me(), x.load::<u32>(index()));
            shared::store(tile + 4 * (BLOCK + me()), x.load::<u32>(index() + 1));
            thread::sync_threads();
            for k in 0..16 {
                let a: u32 = shared::load(tile + 4 * (16 * row + k));
                let b: u32 = shared::load(tile + 4 * (BLOCK + 16 * k + column));
                sum = sum.wrapping_add(a.wrapping_mul(b));
            }
            thread::sync_threads();
        }
        y.store(index(), sum);
    })?;
    measure("barriers", all / 4, |_, _| (0..16).for_each(|_| thread::sync_threads()))?;
    measure("shuffles of a warp", all / 4, |x, y| {
        let mut value = x.load::<u32>(index());
        for distance in [16, 8, 4, 2, 1] {
            let other = warp::exchange(u32::MAX, value.into(), thread::lane_id() ^ distance);
            value = value.wrapping_add(other.unwrap_or_default() as u32);
        }
        y.store(index(), value);
    })?;
    measure("synchronisation of half warps, shared memory", all / 4, |_, _| {
        let tile = shared::allocate_static(&TILE, 4 * BLOCK as usize);
        for i in 0..4_u32 {
            shared::store(tile + 4 * me(), i);
            warp::sync(0xFFFF << (me() & 16));
            black_box(shared::load::<u32>(tile + 4 * (me() ^ 1)));
            warp::sync(0xFFFF << (me() & 16));
        }
    })?;
    measure("one counter", all, |_, y| {
        black_box(y.count(0));
    })?;
    measure("a histogram in global memory", all, |_, y| {
        black_box(y.count(index() * 7919 % 65_536));
    })?;
    measure("a histogram in shared memory", all, |x, _| {
        let tile = shared::allocate_static(&TILE, 4 * BLOCK as usize);
        shared::store(tile + 4 * me(), 0_u32);
        thread::sync_threads();
        let bin = x.load::<u32>(index()).wrapping_add(me() * 7) % BLOCK;
        shared::update(tile + 4 * bin, |old: u32| old + 1);
        thread::sync_threads();
        black_box(shared::load::<u32>(tile + 4 * me()));
    })?;
    measure("a ticket of each block, with fences", all, |x, y| {
        x.load::<u32>(index());
        if me() == 0 {
            memory::fence();
            y.count(0);
            memory::fence();
        }
        thread::sync_threads();
    })?;
    measure("a fence of each thread", all / 4, |_, y| {
        y.store(index(), 0_u32);
        memory::fence();
        y.store(index(), 1_u32);
    })?;
    Ok(())
}

/// Prints the times of `kernel` with `threads` threads, without and with checks. `kernel` reads its first argument and
/// writes its second.
fn measure(name: &str, threads: u32, kernel: impl Fn(&Array, &Array) + Sync) -> Result<(), Box<dyn std::error::Error>> {
    let one = Simulator::new().with_workers(NonZeroUsize::MIN);
    let unchecked = median(&one, threads, &kernel)?;
    let checked = median(&one.with_checks(Checks::default()), threads, &kernel)?;
    println!("{name:52}{unchecked:>10.1}{checked:>10.1}{:>8.1}", checked / unchecked);
    Ok(())
}

/// Returns the median time of `kernel` in nanoseconds per thread.
fn median(
    simulator: &Simulator,
    threads: u32,
    kernel: &(impl Fn(&Array, &Array) + Sync),
) -> Result<f64, Box<dyn std::error::Error>> {
    let clock = Instant::now();
    let input = Array::new(simulator, true)?;
    let mut times = Vec::new();
    for _ in 0..=RUNS {
        let output = Array::new(simulator, true)?;
        let start = now(clock);
        let launch: Result<_, Fault> =
            simulator.launch(&KERNEL, LaunchConfig::new(threads / BLOCK, BLOCK), || kernel(&input, &output));
        launch?;
        times.push((now(clock) - start) / f64::from(threads));
    }
    // The first run does not count.
    times.remove(0);
    times.sort_by(f64::total_cmp);
    Ok(times[RUNS / 2])
}

/// Returns the time in nanoseconds that the calling OS thread has run, without the time of other processes. If the
/// system does not count this time, returns the time since `clock` was made.
fn now(clock: Instant) -> f64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = schedule.and_then(|text| text.split_whitespace().next()?.parse().ok());
    told.unwrap_or_else(|| clock.elapsed().as_secs_f64() * 1e9)
}
