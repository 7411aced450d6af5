//! Builds the kernels, or computes their functions on the host as the simulator does. Prints hashes of the results.

#[path = "../kernels/src/pairs.rs"]
mod pairs;

use std::path::Path;
use std::{env, process::ExitCode, thread};

use cuda_builder::CudaBuilder;
use cuda_std::GpuFloat;
use pairs::Bits;

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (Some("build"), Some(folder)) => {
            let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
            match CudaBuilder::new(kernels).copy_to(Path::new(&folder).join("mathematics.ptx")).build() {
                Ok(_) => ExitCode::SUCCESS,
                Err(error) => {
                    eprintln!("{error}");
                    ExitCode::FAILURE
                }
            }
        }
        (Some("hash"), names) => {
            hash_all(names.as_deref());
            hash_pairs(names.as_deref());
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("usage: mathematics build FOLDER | hash [NAME,…]");
            ExitCode::FAILURE
        }
    }
}

/// Returns a hash of the results `f(0)` to `f(count - 1)`: the sum of their bits, each multiplied by a different odd
/// number.
fn hash(count: u64, f: impl Fn(u64) -> u64 + Copy + Send + Sync) -> u64 {
    let parts = thread::available_parallelism().map_or(1, |count| count.get() as u64);
    let part = move |k: u64| {
        (count * k / parts..count * (k + 1) / parts)
            .fold(0_u64, |sum, i| sum.wrapping_add(f(i).wrapping_mul((2 * i).wrapping_add(0x9e37_79b9_7f4a_7c15))))
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..parts).map(|k| scope.spawn(move || part(k))).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).fold(0, u64::wrapping_add)
    })
}

fn hash_all(names: Option<&str>) {
    macro_rules! functions {
        ($($name:ident)*) => {
            [$((stringify!($name), (|x| GpuFloat::$name(x)) as fn(f32) -> f32)),*]
        };
    }
    let functions = functions! {
        exp exp2 exp10 exp_m1 ln log2 log10 ln_1p sin cos tan sinpi cospi asin acos atan sinh cosh tanh asinh acosh atanh
        sqrt rsqrt cbrt rcbrt erf erfc floor ceil round round_ties_even trunc fract logb erfcx erfinv erfcinv normcdf
        normcdfinv gamma lgamma cyl_bessel_i0 cyl_bessel_i1 j0 j1 y0 y1
    };
    for (name, f) in functions {
        if names.is_none_or(|names| names.split(',').any(|wanted| wanted == name)) {
            println!("hash {name} {:016x}", hash(1 << 32, |i| f(f32::from_bits(i as u32)).bits()));
        }
    }
}

/// The number of pairs, as in `bench/peers/mathematics.cu`.
const PAIRS: u64 = 1 << 24;

fn hash_pairs(names: Option<&str>) {
    macro_rules! of_pairs {
        ($($kernel:ident $pairs:ident |$x:ident, $y:ident| $call:expr;)*) => {$({
            let name = stringify!($kernel);
            if names.is_none_or(|names| names.split(',').any(|wanted| wanted == name || wanted == "pairs")) {
                let found = hash(PAIRS, |i| {
                    let ($x, $y) = pairs::$pairs(i);
                    ($call).bits()
                });
                println!("hash {name} {found:016x}");
            }
        })*};
    }
    functions_of_pairs!(of_pairs);
}
