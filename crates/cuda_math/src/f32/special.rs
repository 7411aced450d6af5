//! Rarely used functions. Each calls the `f64` function of the same name and rounds its result to `f32`.

use crate::f64;

macro_rules! rounded {
    ($($name:ident($($argument:ident: $ty:ty),*);)*) => {$(
        #[inline(always)]
        pub fn $name(x: f32 $(, $argument: $ty)*) -> f32 {
            f64::$name(f64::from(x) $(, $argument)*) as f32
        }
    )*};
}

rounded! {
    erfcx();
    erfinv();
    erfcinv();
    normcdf();
    normcdfinv();
    gamma();
    tgamma();
    lgamma();
    j0();
    j1();
    jn(n: i32);
    y0();
    y1();
    yn(n: i32);
    cyl_bessel_i0();
    cyl_bessel_i1();
}

#[inline(always)]
pub fn ln_gamma(x: f32) -> (f32, i32) {
    let (value, sign) = f64::ln_gamma(f64::from(x));
    (value as f32, sign)
}
