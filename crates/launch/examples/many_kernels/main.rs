//! Measures how long it takes until each of 118 kernels, which share large functions, has been launched once.
//!
//! ```text
//! CUDA_CACHE_DISABLE=1 many_kernels [--functions N] [--lines N] [WAY…]
//! ```
//!
//! All kernels share the N functions of `--functions`, and each function has the N lines of PTX of `--lines`. The
//! program measures these ways to compile and launch the kernels, by default the first four:
//!
//! - `one-by-one`: each kernel is compiled at its first launch;
//! - `load`: `Device::load` compiles all;
//! - `open`: all are compiled in the background as soon as the device is opened, and meanwhile launched in order;
//! - `one-text`: the driver compiles one text with all kernels, because they use a static;
//! - `last`: as `open`, but only the last kernel is launched, and the device is dropped;
//! - `exit`: as `last`, but the process exits before the device is dropped.
//!
//! Each way uses PTX of its own, which no other way has compiled. The results are compared with those of the host. On a
//! machine without a GPU the simulator runs the kernels, and nothing is compiled.

use std::error::Error;
use std::time::{Duration, Instant};

use cuda_std::{GlobalMut, kernel};
use launch::{Buffer, Device, DeviceChoice, Kernel, KernelInfo, LaunchConfig, PtxImage, PtxModule, Queue};
use program::Program;

mod program;

/// The program whose kernels run; set once, before the first launch.
static PROGRAM: std::sync::OnceLock<Program> = std::sync::OnceLock::new();

/// The value that each kernel gets.
const INPUT: u64 = 0x0123_4567_89AB_CDEF;

struct ManyKernel {
    info: &'static KernelInfo,
    launch: fn(Queue<'_>, &mut Buffer<u64>) -> Result<(), launch::Error>,
}

macro_rules! kernels {
    ($($k:tt)*) => {
        /// Replaces `y[0]` by a value that depends on it and on `K`. Launch with one thread.
        #[kernel(instances(K = [$($k),*]))]
        pub fn mix<const K: usize>(y: GlobalMut<u64>) {
            if let Some(program) = PROGRAM.get() {
                y.store(0, program.result(K, y.load(0)));
            }
        }

        const KERNELS: &[ManyKernel] = &[$(ManyKernel {
            info: <mix<$k> as Kernel>::INFO,
            launch: |queue, y| queue.launch(LaunchConfig::new(1, 1), mix::<$k>(y.view_mut())),
        }),*];
    };
}
kernels! {
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41
    42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80
    81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114
    115 116 117
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut program = Program { functions: 14, lines: 700 };
    let mut ways = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            arguments
                .next()
                .ok_or(format!("{argument} needs a number"))
                .and_then(|number| number.parse::<usize>().map_err(|error| format!("{argument} {number}: {error}")))
        };
        match &*argument {
            "--functions" => program.functions = number()?,
            "--lines" => program.lines = number()?,
            "one-by-one" | "load" | "open" | "one-text" | "last" | "exit" => ways.push(argument),
            _ => return Err(format!("unknown argument {argument}: see the comment at the top of the source").into()),
        }
    }
    if ways.is_empty() {
        ways = ["one-by-one", "load", "open", "one-text"].map(str::to_owned).into();
    }
    let program = *PROGRAM.get_or_init(|| program);
    let names: Vec<_> = KERNELS.iter().map(|kernel| kernel.info.name).collect();
    let ptx = program.ptx(&names, false);
    let one = program.ptx(&names[..1], false);
    println!(
        "{} kernels of {} lines, {} KB each; together {} KB; {} cores; CUDA_CACHE_DISABLE={}",
        KERNELS.len(),
        one.lines().count(),
        one.len() / 1000,
        ptx.len() / 1000,
        std::thread::available_parallelism()?,
        std::env::var("CUDA_CACHE_DISABLE").unwrap_or_default()
    );
    // The driver is started and the context made before any measurement.
    let device = Device::open(DeviceChoice::Auto, &[])?;
    println!("{}", device.summary());
    let expected: Vec<_> = (0..KERNELS.len()).map(|kernel| program.result(kernel, INPUT)).collect();
    ways.iter().try_for_each(|way| measure(way, program.ptx(&names, way == "one-text"), &expected))
}

/// Returns modules with this PTX, which no other module shares.
fn modules(ptx: String, is_compiled_at_open: bool) -> &'static [PtxModule] {
    let image = PtxImage::new(70, ptx.leak());
    let image = if is_compiled_at_open { image.compiled_at_open() } else { image };
    Box::leak(Box::new([PtxModule { path: module_path!(), images: Box::leak(Box::new([image])) }]))
}

fn measure(way: &str, ptx: String, expected: &[u64]) -> Result<(), Box<dyn Error>> {
    let modules = modules(ptx, matches!(way, "open" | "last" | "exit"));
    let start = Instant::now();
    let device = Device::open(DeviceChoice::Auto, modules)?;
    let opened = start.elapsed();
    let mut y = device.zeroed::<u64>(1)?;
    if way == "load" {
        device.load(|queue| KERNELS.iter().try_for_each(|kernel| (kernel.launch)(queue, &mut y)))?;
    }
    let first = if matches!(way, "last" | "exit") { KERNELS.len() - 1 } else { 0 };
    let mut times = Vec::new();
    for (kernel, &expected) in KERNELS.iter().zip(expected).skip(first) {
        y.upload(&[INPUT])?;
        let begin = Instant::now();
        (kernel.launch)(device.queue(), &mut y)?;
        times.push((begin.elapsed(), kernel.info.name));
        let result = y.download()?[0];
        if result != expected {
            return Err(format!("{} returned {result:#x} instead of {expected:#x}", kernel.info.name).into());
        }
    }
    let ready = start.elapsed();
    if way == "exit" {
        println!("exit: launched after {:.3} s; the process exits", ready.as_secs_f64());
        std::process::exit(0);
    }
    let dropping = Instant::now();
    drop((y, device));
    let dropped = dropping.elapsed();
    times.sort_unstable();
    let sum: Duration = times.iter().map(|(time, _)| *time).sum();
    let (longest, name) = times.last().copied().unwrap_or_default();
    println!(
        "{way:>10}: all {} launched after {:.3} s (opened after {:.3} s); the launches took {:.3} s together, {name} \
         {:.3} s, the median {:.3} s; dropped in {:.3} s",
        times.len(),
        ready.as_secs_f64(),
        opened.as_secs_f64(),
        sum.as_secs_f64(),
        longest.as_secs_f64(),
        times[times.len() / 2].0.as_secs_f64(),
        dropped.as_secs_f64()
    );
    if way == "one-by-one" {
        let line: Vec<_> = times.iter().map(|(time, name)| format!("{name} {:.2}", time.as_secs_f64())).collect();
        println!("            seconds of each: {}", line.join(", "));
    }
    Ok(())
}
