//! Checks that float methods in kernels are those of `GpuFloat`, without an import and even if std has a method of the
//! same name. Methods of other types are not replaced.

use core::ops::Deref;

use cuda_std::{DeviceId, GlobalMut, GpuFloat as Mathematics, LaunchConfig, kernel};
use simt::{Simulator, memory::Allocation};

const COUNT: usize = 32;
/// An argument for which the functions of std, of the GPU and of a user-defined type all give different results.
const X: f32 = 0.731_2;

/// Runs the kernel of `call` and returns the numbers that it writes.
fn written<'a>(memory: &'a Allocation, call: impl FnOnce(GlobalMut<'a, f32>) -> cuda_std::Call<'a>) -> Vec<f32> {
    // SAFETY: the memory is aligned to 256 bytes, has `COUNT` elements, and lives as long as the view.
    let view = unsafe { GlobalMut::from_raw_parts(memory.as_ptr().cast(), COUNT, DeviceId::simulated(1)) };
    let call = call(view);
    let simulator = Simulator::default();
    simulator
        .launch_threads(call.info(), LaunchConfig::new(1, 1), call.params().regions().as_slice(), |threads| {
            call.run(threads)
        })
        .unwrap();
    // SAFETY: the memory has `COUNT` elements, and no kernel runs.
    unsafe { std::slice::from_raw_parts(memory.as_ptr().cast::<f32>(), COUNT) }.to_vec()
}

fn memory() -> Allocation {
    let memory = Allocation::new(COUNT * size_of::<f32>()).unwrap();
    // SAFETY: the memory has `memory.len()` bytes.
    unsafe { core::ptr::write_bytes(memory.as_ptr().cast::<u8>(), 0, memory.len()) };
    memory
}

struct Pair {
    x: f32,
    twice: f64,
}

/// A user-defined type whose methods have the names of float methods.
#[derive(Clone, Copy)]
struct Own(f32);

impl Own {
    fn exp(self) -> f32 {
        self.0 + 100.0
    }

    fn powf(&self, by: f32) -> f32 {
        self.0 + by
    }

    fn sqrt(&mut self) -> f32 {
        self.0 += 1.0;
        self.0
    }
}

struct Inner<'a>(&'a Own);

impl Deref for Inner<'_> {
    type Target = Own;

    fn deref(&self) -> &Own {
        self.0
    }
}

trait Scaled {
    fn gamma(&self) -> f32;
}

impl Scaled for u32 {
    fn gamma(&self) -> f32 {
        *self as f32
    }
}

fn generic<T: cuda_std::GpuFloat>(x: T) -> T {
    x.exp().ln_1p()
}

/// Kernels that call float functions in a module without an import of `GpuFloat`.
mod without_import {
    use super::{Inner, Own, Pair, Scaled, generic};
    use cuda_std::{GlobalMut, kernel};

    #[kernel]
    pub fn floats(x: f32, out: GlobalMut<f32>) {
        let mut k = 0;
        let mut put = |value: f32| {
            out.store(k, value);
            k += 1;
        };
        put(x.exp());
        put((x + 1.0).ln());
        put(-x.sin());
        let reference = &x;
        put(reference.exp());
        put((&reference).exp());
        let mut values = [x, x];
        for value in values.iter_mut() {
            *value = value.exp();
        }
        put(values[1]);
        put(values[0].ln());
        let pair = Pair { x, twice: f64::from(x) };
        let borrowed = &pair;
        put(borrowed.x.tanh());
        put(borrowed.twice.exp() as f32);
        let (sin, cos) = x.sin_cos();
        put(sin + cos);
        put([x].map(f32::exp)[0]);
        put([x, 0.5].into_iter().fold(f32::MIN, f32::max));
        let closure = |y: f32| y.powf(2.5).rsqrt();
        put(closure(x));
        let inferred: f32 = Default::default();
        put(inferred.exp());
        put(generic(x));
        put(x.powi(3).max(0.25).mul_add(2.0, 1.0));
        fn nested(x: f32) -> f32 {
            x.exp()
        }
        put(nested(x));
        put(match x {
            _ if x.rsqrt() > 2.0 => 0.0,
            _ => 1.0,
        });
        assert!(x.exp() > 1.0, "{}", x.exp());
    }

    #[kernel]
    pub fn others(out: GlobalMut<f32>) {
        let mut own = Own(1.0);
        out.store(0, own.exp());
        out.store(1, own.powf(2.0));
        out.store(2, Own(5.0).sqrt());
        let inner = Inner(&own);
        out.store(3, inner.exp());
        out.store(4, 7_u32.gamma());
        out.store(5, 7_i32.max(3).min(5) as f32);
        out.store(6, (3..9_u32).max().unwrap_or(0) as f32);
        out.store(7, (3_usize).max(2 + 2).rem_euclid(3) as f32);
        let whole = 12;
        out.store(8, whole.max(4) as f32);
        out.store(9, core::time::Duration::from_secs(2).max(core::time::Duration::from_secs(1)).as_secs() as f32);
        own = Own(3.0);
        let mutable = &mut own;
        mutable.0 += 1.0;
        out.store(10, mutable.exp());
    }
}

#[test]
fn floats_have_the_table_s_methods() {
    let memory = memory();
    let found = written(&memory, |out| without_import::floats(X, out));
    let exp = Mathematics::exp(X);
    let (sin, cos) = Mathematics::sin_cos(X);
    let expected = [
        exp,
        Mathematics::ln(X + 1.0),
        -Mathematics::sin(X),
        exp,
        exp,
        exp,
        Mathematics::ln(exp),
        Mathematics::tanh(X),
        Mathematics::exp(f64::from(X)) as f32,
        sin + cos,
        exp,
        X,
        Mathematics::rsqrt(Mathematics::powf(X, 2.5)),
        1.0,
        Mathematics::ln_1p(exp),
        Mathematics::mul_add(Mathematics::powi(X, 3), 2.0, 1.0),
        exp,
        1.0,
    ];
    assert_eq!(found[..expected.len()], expected);
}

#[test]
fn other_types_keep_their_own() {
    let memory = memory();
    let found = written(&memory, without_import::others);
    assert_eq!(found[..11], [101.0, 3.0, 6.0, 101.0, 7.0, 5.0, 8.0, 1.0, 12.0, 2.0, 104.0]);
}

/// Stores two results that show whether std's functions or those of `GpuFloat` computed them.
#[kernel]
fn with_import(x: f32, out: GlobalMut<f32>) {
    out.store(0, x.exp());
    out.store(1, f32::exp_m1(x));
}

#[test]
fn stds_methods_are_not_reached() {
    // With std's functions, some of these many arguments give other bits.
    let memory = memory();
    let mut differ = 0;
    for i in 0..200 {
        let x = 0.37 * i as f32 - 30.0;
        let found = written(&memory, |out| with_import(x, out));
        assert_eq!(found[0].to_bits(), Mathematics::exp(x).to_bits());
        assert_eq!(found[1].to_bits(), Mathematics::exp_m1(x).to_bits());
        differ += usize::from(found[0] != f32::exp(x));
    }
    assert!(differ > 0, "std's `exp` gives the same bits for all arguments: choose others");
}
