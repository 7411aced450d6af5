//! Defines kernels that apply a function of `f32` to an array, kernels that store the bits of results, and
//! compute-bound kernels for timing.
#![no_std]

mod doubles;
mod pairs;

use cuda_std::{Global, GlobalMut, GpuFloat, kernel, thread};
use pairs::Bits;

/// Sums `f(x)` over 8·`count` values of `x`. The values are `step` apart and differ from thread to thread. A store that
/// is never executed keeps the compiler from deleting the sum.
#[inline(always)]
fn sum(start: f32, per_thread: f32, step: f32, count: u32, y: GlobalMut<f32>, f: impl Fn(f32) -> f32) {
    let mut x = start + per_thread * thread::index_1d() as f32;
    let mut sum = 0.0;
    let mut next = || {
        let result = f(x);
        x += step;
        result
    };
    for _ in 0..count {
        // The eight calls are written out, so that they overlap and no loop counter costs time.
        let terms = (next(), next(), next(), next(), next(), next(), next(), next());
        sum += terms.0;
        sum += terms.1;
        sum += terms.2;
        sum += terms.3;
        sum += terms.4;
        sum += terms.5;
        sum += terms.6;
        sum += terms.7;
    }
    if sum == 12345.0 {
        y.store(0, sum);
    }
}

macro_rules! of_one {
    ($($name:ident $each:ident $timed:ident)*) => {$(
        /// A kernel that computes `y[i] = f(x[i])`.
        #[kernel]
        pub fn $each(x: Global<f32>, y: GlobalMut<f32>) {
            for i in thread::grid_stride(y.len()) {
                y.store(i, GpuFloat::$name(x.load(i)));
            }
        }

        /// A kernel that sums the results of many calls of the function.
        #[kernel]
        pub fn $timed(start: f32, per_thread: f32, step: f32, count: u32, y: GlobalMut<f32>) {
            sum(start, per_thread, step, count, y, |x| GpuFloat::$name(x));
        }
    )*};
}

macro_rules! of_two {
    ($($timed:ident = |$x:ident| $call:expr;)*) => {$(
        /// A kernel that sums the results of many calls of the function.
        #[kernel]
        pub fn $timed(start: f32, per_thread: f32, step: f32, count: u32, y: GlobalMut<f32>) {
            sum(start, per_thread, step, count, y, |$x| $call);
        }
    )*};
}

of_one! {
    exp k_exp t_exp
    exp2 k_exp2 t_exp2
    exp10 k_exp10 t_exp10
    exp_m1 k_exp_m1 t_exp_m1
    ln k_ln t_ln
    log2 k_log2 t_log2
    log10 k_log10 t_log10
    ln_1p k_ln_1p t_ln_1p
    sin k_sin t_sin
    cos k_cos t_cos
    tan k_tan t_tan
    sinpi k_sinpi t_sinpi
    cospi k_cospi t_cospi
    asin k_asin t_asin
    acos k_acos t_acos
    atan k_atan t_atan
    sinh k_sinh t_sinh
    cosh k_cosh t_cosh
    tanh k_tanh t_tanh
    asinh k_asinh t_asinh
    acosh k_acosh t_acosh
    atanh k_atanh t_atanh
    sqrt k_sqrt t_sqrt
    rsqrt k_rsqrt t_rsqrt
    cbrt k_cbrt t_cbrt
    rcbrt k_rcbrt t_rcbrt
    erf k_erf t_erf
    erfc k_erfc t_erfc
    erfcx k_erfcx t_erfcx
    erfinv k_erfinv t_erfinv
    erfcinv k_erfcinv t_erfcinv
    normcdf k_normcdf t_normcdf
    normcdfinv k_normcdfinv t_normcdfinv
    gamma k_gamma t_gamma
    lgamma k_lgamma t_lgamma
    j0 k_j0 t_j0
    j1 k_j1 t_j1
    y0 k_y0 t_y0
    y1 k_y1 t_y1
    cyl_bessel_i0 k_cyl_bessel_i0 t_cyl_bessel_i0
    cyl_bessel_i1 k_cyl_bessel_i1 t_cyl_bessel_i1
    floor k_floor t_floor
    ceil k_ceil t_ceil
    round k_round t_round
    round_ties_even k_round_ties_even t_round_ties_even
    trunc k_trunc t_trunc
    fract k_fract t_fract
    logb k_logb t_logb
}

of_two! {
    t_powf = |x| GpuFloat::powf(x, x + 0.3);
    t_atan2 = |x| GpuFloat::atan2(x, x + 0.3);
    t_hypot = |x| GpuFloat::hypot(x, x + 0.3);
    t_fmod = |x| GpuFloat::fmod(x, 0.3);
    t_sin_cos = |x| {
        let (sin, cos) = GpuFloat::sin_cos(x);
        sin - cos
    };
}

/// A kernel that computes `y[i] = e^x[i]` for vectors of four elements.
#[kernel]
pub fn exp_vectors(x: Global<[f32; 4]>, y: GlobalMut<[f32; 4]>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, x.load(i).map(GpuFloat::exp));
    }
}

macro_rules! of_pairs {
    ($($kernel:ident $pairs:ident |$x:ident, $y:ident| $call:expr;)*) => {$(
        /// A kernel that applies the function to each pair of arguments, and stores the bits of the result at the
        /// pair's index.
        #[kernel]
        pub fn $kernel(results: GlobalMut<u64>) {
            for i in thread::grid_stride(results.len()) {
                let ($x, $y) = pairs::$pairs(i as u64);
                results.store(i, ($call).bits());
            }
        }
    )*};
}

functions_of_pairs!(of_pairs);
