//! Measures the simulator's speed: threads, barrier arrivals and warp operations per second, and the cost of a launch.
//!
//! `cargo bench -p gridstride-simt --bench throughput` prints the medians of several runs, for one worker and for one
//! worker per core.

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::time::Instant;

use simt::{KernelInfo, LaunchConfig, Simulator, memory, thread, warp};

const RUNS: usize = 7;
const BLOCKS: u32 = 1024;
const ROUNDS: u32 = 32;

static KERNEL: KernelInfo = KernelInfo::new("throughput", module_path!(), file!(), line!());

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all = Simulator::new();
    let one = Simulator::new().with_workers(NonZeroUsize::MIN);
    let shuffled = Simulator::new().with_seed(1);
    let cores = all.workers();
    println!("medians of {RUNS} runs, in millions per second; {BLOCKS} blocks");
    println!("{:44}{:>12}{:>12}{:>12}", "", "1 worker", format!("{cores} workers"), "and seed 1");
    let each = |name: &str, measure: &dyn Fn(&Simulator) -> Result<f64, simt::Fault>| {
        let figures = [&one, &all, &shuffled].map(|simulator| median(|| measure(simulator)));
        let [one, all, shuffled] = figures;
        println!("{name:44}{:>12.1}{:>12.1}{:>12.1}", one? / 1e6, all? / 1e6, shuffled? / 1e6);
        Ok::<_, simt::Fault>(())
    };
    for threads in [32, 256, 1024] {
        each(&format!("threads without a barrier, {threads} per block"), &|simulator| start(simulator, threads))?;
    }
    each("threads of y = a x + y, 256 per block", &saxpy)?;
    for threads in [32, 256, 1024] {
        each(&format!("barrier arrivals, {threads} threads per block"), &|simulator| arrive(simulator, threads))?;
    }
    each("lanes at a warp exchange, 256 threads per block", &exchange)?;
    each("atomic updates, 256 threads per block", &update)?;
    println!("\nmicroseconds per launch");
    for (blocks, threads) in [(1, 1), (1, 256), (4, 256)] {
        let figures = [&one, &all].map(|simulator| median(|| launch(simulator, blocks, threads)));
        let [one, all] = figures;
        println!("{:44}{:>12.2}{:>12.2}", format!("{blocks} blocks of {threads} threads"), one?, all?);
    }
    Ok(())
}

/// Returns the median of `RUNS` measurements. A first measurement does not count.
fn median<E>(measure: impl Fn() -> Result<f64, E>) -> Result<f64, E> {
    measure()?;
    let mut figures = (0..RUNS).map(|_| measure()).collect::<Result<Vec<_>, _>>()?;
    figures.sort_by(f64::total_cmp);
    Ok(figures[RUNS / 2])
}

/// Returns the number of threads per second of a kernel that only reads the thread index.
fn start(simulator: &Simulator, threads: u32) -> Result<f64, simt::Fault> {
    let start = Instant::now();
    let config = LaunchConfig::new(BLOCKS * 16, threads);
    let stats = simulator.launch(&KERNEL, config, || {
        black_box(thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x);
    })?;
    Ok(stats.threads as f64 / start.elapsed().as_secs_f64())
}

/// Returns the number of threads per second of a kernel with two loads and one store per thread.
fn saxpy(simulator: &Simulator) -> Result<f64, simt::Fault> {
    let len = BLOCKS as usize * 16 * 256;
    let x = vec![1.0_f32; len];
    let mut y = vec![2.0_f32; len];
    let (x, y) = (x.as_ptr() as usize, y.as_mut_ptr() as usize);
    let start = Instant::now();
    let stats = simulator.launch(&KERNEL, LaunchConfig::new(BLOCKS * 16, 256_u32), || {
        let i = (thread::block_idx().x * thread::block_dim().x + thread::thread_idx().x) as usize;
        if i < len {
            let (x, y) = (x as *const f32, y as *mut f32);
            // SAFETY: both vectors live until the launch has returned and have `len` elements. Each thread accesses
            // another element.
            unsafe { memory::store(y.add(i), 3.0 * memory::load(x.add(i)) + memory::load(y.add(i))) };
        }
    })?;
    Ok(stats.threads as f64 / start.elapsed().as_secs_f64())
}

/// Returns the number of barrier arrivals per second of a kernel with several blocks.
fn arrive(simulator: &Simulator, threads: u32) -> Result<f64, simt::Fault> {
    let start = Instant::now();
    let config = LaunchConfig::new(BLOCKS * 64 / threads, threads);
    let stats = simulator.launch(&KERNEL, config, || {
        for _ in 0..ROUNDS {
            thread::sync_threads();
        }
    })?;
    Ok((stats.barriers * u64::from(threads)) as f64 / start.elapsed().as_secs_f64())
}

/// Returns the number of lanes per second that exchange a value with their neighbouring lane.
fn exchange(simulator: &Simulator) -> Result<f64, simt::Fault> {
    let start = Instant::now();
    let stats = simulator.launch(&KERNEL, LaunchConfig::new(BLOCKS, 256_u32), || {
        let lane = thread::lane_id();
        let mut value = u64::from(lane);
        for _ in 0..ROUNDS {
            value = warp::exchange(u32::MAX, value, lane ^ 1).unwrap_or_default();
        }
        black_box(value);
    })?;
    Ok((stats.warp_operations * 32) as f64 / start.elapsed().as_secs_f64())
}

/// Returns the number of atomic updates per second of one counter by all threads.
fn update(simulator: &Simulator) -> Result<f64, simt::Fault> {
    let mut counter = 0_u32;
    let address = (&raw mut counter) as usize;
    let start = Instant::now();
    let stats = simulator.launch(&KERNEL, LaunchConfig::new(BLOCKS * 4, 256_u32), || {
        // SAFETY: the counter lives until the launch has returned and is accessed atomically.
        unsafe { memory::update(address as *mut u32, |count: u32| count.wrapping_add(1)) };
    })?;
    Ok(stats.threads as f64 / start.elapsed().as_secs_f64())
}

/// Returns the time per launch in microseconds, averaged over many consecutive launches.
fn launch(simulator: &Simulator, blocks: u32, threads: u32) -> Result<f64, simt::Fault> {
    let launches = 5000;
    let start = Instant::now();
    for _ in 0..launches {
        simulator.launch(&KERNEL, LaunchConfig::new(blocks, threads), || {
            black_box(thread::thread_idx());
        })?;
    }
    Ok(start.elapsed().as_secs_f64() * 1e6 / f64::from(launches))
}
