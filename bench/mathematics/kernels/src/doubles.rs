//! Defines a compute-bound kernel for each function of `f64` that is timed.

use cuda_std::{GlobalMut, GpuFloat, kernel, thread};

/// Sums `f(x)` over 8·`count` values of `x`. The values are `step` apart and differ from thread to thread. A store that
/// is never executed keeps the compiler from deleting the sum.
#[inline(always)]
fn sum(start: f64, per_thread: f64, step: f64, count: u32, y: GlobalMut<f64>, f: impl Fn(f64) -> f64) {
    let mut x = start + per_thread * f64::from(thread::index_1d() as u32);
    let mut sum = 0.0;
    let mut next = || {
        let result = f(x);
        x += step;
        result
    };
    for _ in 0..count {
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

macro_rules! timed {
    ($($timed:ident |$x:ident| $call:expr;)*) => {$(
        /// A kernel that sums the results of many calls of the function.
        #[kernel]
        pub fn $timed(start: f64, per_thread: f64, step: f64, count: u32, y: GlobalMut<f64>) {
            sum(start, per_thread, step, count, y, |$x| $call);
        }
    )*};
}

timed! {
    d_exp |x| GpuFloat::exp(x);
    d_ln |x| GpuFloat::ln(x);
    d_sin |x| GpuFloat::sin(x);
    d_cos |x| GpuFloat::cos(x);
    d_tan |x| GpuFloat::tan(x);
    d_sinpi |x| GpuFloat::sinpi(x);
    d_cospi |x| GpuFloat::cospi(x);
    d_sin_cos |x| {
        let (sin, cos) = GpuFloat::sin_cos(x);
        sin - cos
    };
    d_asin |x| GpuFloat::asin(x);
    d_atan |x| GpuFloat::atan(x);
    d_atan2 |x| GpuFloat::atan2(x, x + 0.3);
    d_sqrt |x| GpuFloat::sqrt(x);
    d_rsqrt |x| GpuFloat::rsqrt(x);
    d_cbrt |x| GpuFloat::cbrt(x);
    d_rcbrt |x| GpuFloat::rcbrt(x);
    d_hypot |x| GpuFloat::hypot(x, x + 0.3);
    d_rhypot |x| GpuFloat::rhypot(x, x + 0.3);
    d_erf |x| GpuFloat::erf(x);
    d_erfc |x| GpuFloat::erfc(x);
    d_erfinv |x| GpuFloat::erfinv(x);
    d_erfcinv |x| GpuFloat::erfcinv(x);
    d_normcdfinv |x| GpuFloat::normcdfinv(x);
    d_tgamma |x| GpuFloat::tgamma(x);
    d_lgamma |x| GpuFloat::lgamma(x);
    d_cyl_bessel_i0 |x| GpuFloat::cyl_bessel_i0(x);
    d_cyl_bessel_i1 |x| GpuFloat::cyl_bessel_i1(x);
}
