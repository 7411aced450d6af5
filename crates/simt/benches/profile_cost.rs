//! Measures the cost of profiling: the time of some kernels with the profiler, divided by their time without.
//!
//! `cargo bench -p gridstride-simt --bench profile_cost` prints both times and their ratio.

use std::num::NonZeroUsize;
use std::sync::LazyLock;
use std::time::Instant;

use simt::{Fault, KernelInfo, LaunchConfig, Profiles, Simulator, memory, shared, thread, warp};

static KERNEL: KernelInfo = KernelInfo::new("profile_cost", module_path!(), file!(), line!());

const LEN: usize = 1 << 20;

fn main() -> Result<(), Fault> {
    let x = vec![1.0_f32; LEN];
    let (address, stride) = (x.as_ptr().addr(), 1024 * 256);
    // SAFETY: `x` has `LEN` elements and lives until all launches have returned; all indices are below `LEN`.
    let load = |i: usize| -> f32 { unsafe { memory::load((address as *const f32).add(i % LEN)) } };
    // SAFETY: `x` has `LEN` elements and lives until all launches have returned. No kernel reads the values that it
    // writes.
    let store = |i: usize, value: f32| unsafe { memory::store((address as *mut f32).add(i % LEN), value) };
    let index = || (thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x) as usize;
    println!("{:44}{:>12}{:>12}{:>8}", "", "without, ms", "with, ms", "ratio");
    measure("a copy", LaunchConfig::new(4096, 256), || store(index(), load(index())))?;
    measure("a grid-stride loop with a guard", LaunchConfig::new(1024, 256), || {
        let mut i = index();
        while thread::branch(i < 8 * LEN) {
            store(i, 2.0 * load(i));
            i += stride;
        }
    })?;
    measure("a tile transposed in shared memory", LaunchConfig::new(1024, (32, 8)).shared_bytes(4096), || {
        let (tile, at) = (shared::dynamic().0, thread::thread_idx());
        for row in (at.y..32).step_by(8) {
            shared::store(tile + (row * 32 + at.x) * 4, load(index() + row as usize));
        }
        thread::sync_threads();
        for row in (at.y..32).step_by(8) {
            store(index() + row as usize, shared::load(tile + (at.x * 32 + row) * 4));
        }
    })?;
    measure("a butterfly of shuffles", LaunchConfig::new(1024, 256), || {
        let mut sum = u64::from(load(index()).to_bits());
        for step in [16, 8, 4, 2, 1] {
            sum = sum.wrapping_add(warp::exchange(u32::MAX, sum, thread::lane_id() ^ step).unwrap_or_default());
        }
        store(index(), sum as f32);
    })?;
    measure("loops of different lengths", LaunchConfig::new(1024, 256), || {
        let mut sum = 0.0;
        for i in 0..1 + index() % 16 {
            sum += load(index() + i);
        }
        store(index(), sum);
    })?;
    measure("each lane its own way", LaunchConfig::new(1024, 256), || {
        let lane = thread::lane_id() as usize;
        for i in 0..8 {
            if thread::branch((lane * 7 + i * 5) % 11 < 4) {
                store(index() * 97, load(index() * 31));
            } else if thread::branch((lane * 3 + i) % 5 < 2) {
                store(index(), load(index() * 13));
            }
        }
    })?;
    measure("random gathers", LaunchConfig::new(1024, 256), || {
        for i in 0..8 {
            load((index() + i).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20);
        }
    })
}

/// Returns the time in seconds that the calling OS thread has run. On a busy machine this is less than the time that
/// has passed.
fn processor_time() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = statistics.split(' ').next().and_then(|time| time.parse::<u64>().ok());
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |time| time as f64 / 1e9)
}

fn measure(name: &str, config: LaunchConfig, body: impl Fn() + Sync) -> Result<(), Fault> {
    let without = Simulator::new().with_workers(NonZeroUsize::MIN);
    let with = without.clone().with_profiles(Profiles::default());
    let least = |simulator: &Simulator| {
        let mut least = f64::MAX;
        for _ in 0..5 {
            let start = processor_time();
            simulator.launch(&KERNEL, config, &body)?;
            least = least.min(processor_time() - start);
        }
        Ok::<_, Fault>(least * 1e3)
    };
    let (without, with) = (least(&without)?, least(&with)?);
    println!("{name:44}{without:>12.2}{with:>12.2}{:>8.1}", with / without);
    Ok(())
}
