//! A function that calls each crate of docs/crates.md, and the kernel that runs one of them.
#![no_std] // A GPU has only `core`, and `alloc` where a crate needs it.

use cuda_std::{Global, GlobalMut, kernel, thread};

/// Declares [`NAMES`] and [`call`] for a function per crate.
macro_rules! crates {
    ($($name:ident)*) => {
        /// The names of the functions, which are those of the crates.
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// Returns `$name(x)` of the function number `which` of [`NAMES`], or their number if there are fewer.
        pub fn call(which: u32, x: u32) -> u32 {
            let mut number = 0;
            $(
                if which == number {
                    return $name(x);
                }
                number += 1;
            )*
            number
        }
    };
}

crates! {
    arrayvec base64 bitflags blake3 bytemuck crc crc32fast either euclid fixed fixedbitset glam half hashbrown
    heapless hex itertools itoa libm memchr micromath nalgebra num_complex num_integer num_traits oorandom postcard
    rand rand_chacha rand_core rand_xoshiro rustc_hash ryu sha2 siphasher smallvec subtle thiserror tinyvec zeroize
}

/// Writes the results of the function number `which` for each element of `x`. Any grid.
#[kernel]
pub fn call_crate(which: u32, x: Global<u32>, y: GlobalMut<u32>) {
    for i in thread::grid_stride(y.len()) {
        y.store(i, call(which, x.load(i)));
    }
}

fn arrayvec(x: u32) -> u32 {
    let mut v: arrayvec::ArrayVec<u32, 16> = arrayvec::ArrayVec::new();
    for i in 0..x % 16 {
        v.push(i ^ x);
    }
    v.retain(|a| *a % 3 != 0);
    v.iter().sum()
}

fn base64(x: u32) -> u32 {
    use base64::Engine;
    let mut b = [0; 8];
    let _ = base64::engine::general_purpose::STANDARD.encode_slice(x.to_le_bytes(), &mut b);
    u32::from_le_bytes([b[0], b[1], b[2], b[3]])
}

fn bitflags(x: u32) -> u32 {
    bitflags::bitflags! { #[derive(Clone, Copy, PartialEq)] struct F: u32 { const A = 1; const B = 2; const C = 4; } }
    let f = F::from_bits_truncate(x) | F::B;
    if f.contains(F::A) { (f - F::A).bits() } else { (!f).bits() }
}

fn blake3(x: u32) -> u32 {
    let d = blake3::hash(&x.to_le_bytes());
    let b = d.as_bytes();
    u32::from_le_bytes([b[0], b[1], b[2], b[3]])
}

fn bytemuck(x: u32) -> u32 {
    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
    #[repr(C)]
    struct P {
        a: u16,
        b: [u8; 2],
    }
    let p: P = bytemuck::cast(x.wrapping_mul(2654435761));
    let w: [P; 2] = [p, bytemuck::cast(x)];
    let bytes: &[u8] = bytemuck::cast_slice(&w);
    bytes.iter().fold(u32::from(w[0].a) + u32::from(w[1].b[0]), |s, &b| s.wrapping_mul(31).wrapping_add(u32::from(b)))
}

fn crc(x: u32) -> u32 {
    crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(&x.to_le_bytes())
}

fn crc32fast(x: u32) -> u32 {
    let mut h = crc32fast::Hasher::new();
    h.update(&x.to_le_bytes());
    h.finalize()
}

fn either(x: u32) -> u32 {
    let it =
        if x.is_multiple_of(2) { either::Either::Left(0..x % 9) } else { either::Either::Right([x, 3].into_iter()) };
    it.sum()
}

fn euclid(x: u32) -> u32 {
    use euclid::default::{Rotation2D, Vector2D};
    Rotation2D::radians(0.01 * x as f32).transform_vector(Vector2D::new(1.0_f32, 2.0)).length().to_bits()
}

fn fixed(x: u32) -> u32 {
    use fixed::types::I16F16;
    let a = I16F16::from_num(x % 100) / 7;
    ((a * a).wrapping_add(I16F16::from_num(0.25))).to_bits() as u32
}

fn fixedbitset(x: u32) -> u32 {
    let mut s = fixedbitset::FixedBitSet::with_capacity(100);
    s.insert(x as usize % 100);
    s.insert_range(3..9);
    s.count_ones(..) as u32
}

fn glam(x: u32) -> u32 {
    use glam::{Mat3, Vec3};
    let v = Vec3::new(x as f32, 1.0, 2.0).normalize();
    (Mat3::from_rotation_z(0.1 * x as f32) * v).cross(Vec3::Y).length().to_bits()
}

fn half(x: u32) -> u32 {
    let h = half::f16::from_f32(x as f32 * 0.3) + half::f16::from_f32(1.5);
    u32::from(h.to_bits()) ^ half::bf16::from_f32(x as f32).to_f32().to_bits()
}

fn hashbrown(x: u32) -> u32 {
    let mut m = hashbrown::HashMap::new();
    for i in 0..x % 9 {
        m.insert(i * i % 7, i);
    }
    m.values().sum::<u32>()
}

fn heapless(x: u32) -> u32 {
    let mut v: heapless::Vec<u32, 8> = heapless::Vec::new();
    for i in 0..x % 8 {
        let _ = v.push(i + x);
    }
    let mut h: heapless::BinaryHeap<u32, heapless::binary_heap::Max, 8> = heapless::BinaryHeap::new();
    for &i in &v {
        let _ = h.push(i * 7 % 13);
    }
    let mut m: heapless::index_map::FnvIndexMap<u32, u32, 8> = Default::default();
    for &i in &v {
        let _ = m.insert(i % 5, i);
    }
    h.pop().unwrap_or(0) ^ m.values().sum::<u32>()
}

fn hex(x: u32) -> u32 {
    let mut b = [0; 8];
    let _ = hex::encode_to_slice(x.to_be_bytes(), &mut b);
    u32::from_le_bytes([b[7], b[6], b[5], b[4]])
}

fn itertools(x: u32) -> u32 {
    use itertools::Itertools;
    (0..x % 9).tuple_windows().map(|(a, b)| a * b).interleave(1..4).sum::<u32>()
}

fn itoa(x: u32) -> u32 {
    let mut b = itoa::Buffer::new();
    b.format(x * 7).bytes().fold(0, |a: u32, c| a * 3 + u32::from(c))
}

fn libm(x: u32) -> u32 {
    libm::sinf(x as f32 * 0.01).to_bits() ^ libm::pow(1.5, f64::from(x % 20)) as u32
}

fn memchr(x: u32) -> u32 {
    let t: [u8; 40] = core::array::from_fn(|i| (x as usize * i % 11) as u8);
    memchr::memchr(7, &t).unwrap_or(99) as u32 + memchr::memchr_iter(3, &t).count() as u32
}

fn micromath(x: u32) -> u32 {
    use micromath::F32Ext;
    F32Ext::sin(x as f32 * 0.1).to_bits() ^ F32Ext::sqrt(x as f32).to_bits()
}

fn nalgebra(x: u32) -> u32 {
    use nalgebra::{Matrix3, Vector3};
    let m = Matrix3::new(2.0, 1.0, 0.0, 1.0, 3.0 + x as f32, 1.0, 0.0, 1.0, 4.0);
    m.lu().solve(&Vector3::new(1.0, 2.0, 3.0)).map_or(0, |v| v.norm().to_bits())
}

fn num_complex(x: u32) -> u32 {
    use num_complex::Complex32;
    let c = Complex32::new((x % 32) as f32 / 16.0 - 1.5, (x / 32 % 32) as f32 / 16.0 - 1.0);
    let mut z = Complex32::new(0.0, 0.0);
    let mut n = 0;
    while n < 50 && z.norm() < 2.0 {
        z = z * z + c;
        n += 1;
    }
    n ^ Complex32::exp(z).re.to_bits()
}

fn num_integer(x: u32) -> u32 {
    num_integer::gcd(x + 12, 360) ^ num_integer::sqrt(x * 7)
}

fn num_traits(x: u32) -> u32 {
    fn poly<T: num_traits::Float>(x: T) -> T {
        x.powi(3) + x.sqrt() - x.sin()
    }
    poly(x as f32 * 0.25).to_bits() ^ poly(f64::from(x)).to_bits() as u32
}

fn oorandom(x: u32) -> u32 {
    oorandom::Rand32::new(u64::from(x)).rand_u32()
}

fn postcard(x: u32) -> u32 {
    #[derive(serde::Serialize, serde::Deserialize, PartialEq)]
    struct S {
        a: u32,
        b: (u8, bool),
    }
    let mut buf = [0; 16];
    let s = S { a: x, b: (x as u8, true) };
    let n = postcard::to_slice(&s, &mut buf).map_or(0, |b| b.len());
    let t: Option<S> = postcard::from_bytes(&buf[..n]).ok();
    n as u32 + u32::from(t.is_some_and(|t| t == s)) * 100
}

fn rand(x: u32) -> u32 {
    use rand::{Rng, SeedableRng, rngs::SmallRng};
    let mut r = SmallRng::seed_from_u64(u64::from(x));
    r.random_range(0..1000_u32) ^ r.random::<f32>().to_bits()
}

fn rand_chacha(x: u32) -> u32 {
    use rand_chacha::{
        ChaCha8Rng,
        rand_core::{RngCore, SeedableRng},
    };
    ChaCha8Rng::seed_from_u64(u64::from(x)).next_u32()
}

fn rand_core(x: u32) -> u32 {
    struct R(u32);
    impl rand_core::RngCore for R {
        fn next_u32(&mut self) -> u32 {
            self.0 = self.0 * 9 % 65521 + 1;
            self.0
        }
        fn next_u64(&mut self) -> u64 {
            rand_core::impls::next_u64_via_u32(self)
        }
        fn fill_bytes(&mut self, d: &mut [u8]) {
            rand_core::impls::fill_bytes_via_next(self, d)
        }
    }
    use rand_core::RngCore;
    let mut r = R(x % 1000);
    let mut b = [0; 7];
    r.fill_bytes(&mut b);
    (r.next_u64() as u32) ^ u32::from(b[6])
}

fn rand_xoshiro(x: u32) -> u32 {
    use rand_xoshiro::{
        Xoshiro256PlusPlus,
        rand_core::{RngCore, SeedableRng},
    };
    Xoshiro256PlusPlus::seed_from_u64(u64::from(x)).next_u32()
}

fn rustc_hash(x: u32) -> u32 {
    use core::hash::{Hash, Hasher};
    let mut h = rustc_hash::FxHasher::default();
    (x, 7_u8).hash(&mut h);
    h.finish() as u32
}

fn ryu(x: u32) -> u32 {
    let mut b = ryu::Buffer::new();
    b.format(x as f32 * 0.37).bytes().fold(0, |a: u32, c| a.wrapping_mul(3) + u32::from(c))
}

fn sha2(x: u32) -> u32 {
    use sha2::{Digest, Sha256};
    let d = Sha256::digest(x.to_le_bytes());
    u32::from_le_bytes([d[0], d[1], d[2], d[3]])
}

fn siphasher(x: u32) -> u32 {
    use core::hash::Hasher;
    let mut h = siphasher::sip::SipHasher13::new_with_keys(1, 2);
    h.write(&x.to_le_bytes());
    h.finish() as u32
}

fn smallvec(x: u32) -> u32 {
    let mut v: smallvec::SmallVec<[u32; 4]> = smallvec::SmallVec::new();
    for i in 0..x % 9 {
        v.push(i * x);
    }
    v.iter().fold(v.len() as u32, |a, &b| a ^ b)
}

fn subtle(x: u32) -> u32 {
    use subtle::{ConditionallySelectable, ConstantTimeEq};
    u32::conditional_select(&x, &(x * 3), x.ct_eq(&7) | (x & 1).ct_eq(&0))
}

fn thiserror(x: u32) -> u32 {
    #[derive(Debug, thiserror::Error)]
    enum E {
        #[error("odd {0}")]
        Odd(u32),
    }
    fn g(x: u32) -> Result<u32, E> {
        if x % 2 == 1 { Err(E::Odd(x)) } else { Ok(x / 2) }
    }
    g(x).unwrap_or_else(|E::Odd(o)| o * 3)
}

fn tinyvec(x: u32) -> u32 {
    let mut v: tinyvec::ArrayVec<[u32; 16]> = tinyvec::ArrayVec::new();
    for i in 0..x % 16 {
        v.push(i ^ x);
    }
    v.retain(|a| *a % 3 != 0);
    v.iter().sum()
}

fn zeroize(x: u32) -> u32 {
    use zeroize::Zeroize;
    let mut k = [x; 4];
    let s = k[0] ^ 5;
    k.zeroize();
    s + k[1]
}
