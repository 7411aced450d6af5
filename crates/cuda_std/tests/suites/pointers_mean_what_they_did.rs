//! Checks that functions under `#[kernel]` and `#[device]` compute the same as plain Rust, because the macros add only
//! reports.

use std::ops::{Deref, DerefMut, Index, IndexMut};

use crate::common::{Device, download, view, view_mut};
use cuda_std::{DeviceCopy, Global, GlobalMut, device, kernel, thread};

#[derive(Clone, Copy, Debug, PartialEq, DeviceCopy)]
#[repr(C)]
struct Particle {
    position: [f32; 3],
    mass: f32,
    links: [u32; 4],
}

fn particles() -> Vec<Particle> {
    (0..4)
        .map(|i| Particle { position: [i as f32, 1.0, 2.0], mass: i as f32 * 10.0, links: [3 - i, i, 7, 8] })
        .collect()
}

/// Declares the same items twice: in a plain module and in one under `#[device]`.
macro_rules! twice {
    ($($items:tt)*) => {
        mod plain {
            use super::*;
            $($items)*
        }

        #[device]
        mod marked {
            use super::*;
            $($items)*
        }
    };
}

twice! {
    /// Accesses memory by a raw pointer in all forms.
    ///
    /// # Safety
    /// `p` must point to four particles, and `out` to 20 numbers.
    pub unsafe fn by_pointer(p: *mut Particle, out: *mut f32, n: usize) {
        // SAFETY: the caller guarantees a valid pointer.
        unsafe {
            let mut i = 0;
            *out = (*p.add(1)).mass;
            *out.add(1) = (*p.add(1)).position[0] + p.add(2).read().position[0];
            (*p.add(2)).mass += (*p.add(1)).mass * 2.0;
            (*p.add(n - 1)).position[1] = -(*p.add(2)).mass;
            *out.add({
                i += 2;
                i
            }) = (*p.add(3)).position[1];
            let third = &mut *p.add(3);
            third.mass = 5.0;
            third.links[0] = 2;
            let second = &*p.add(2);
            *out.add(3) = second.mass + third.mass;
            // The links lead from the third to the second particle, whose first link leads to the first.
            *out.add(4) = (*p.add((*p.add((*p.add(3)).links[0] as usize)).links[0] as usize)).mass;
            let pointers = [p, p.add(1)];
            *out.add(5) = (*pointers[1]).mass;
            let pointer_to_pointer = &raw const pointers[1];
            *out.add(6) = (**pointer_to_pointer).mass + (*(*pointer_to_pointer).add(1)).position[2];
            let Particle { mass, links: [first, ..], .. } = *p.add(1);
            *out.add(7) = mass + first as f32;
            *out.add(8) = match *p.add(1) {
                Particle { mass: 10.0, .. } => 1.0,
                _ => 2.0,
            };
            *out.add(9) = if let Particle { mass: 0.0, .. } = *p { 3.0 } else { 4.0 };
            out.add(10).write(core::ptr::read(&raw const (*p.add(1)).mass));
            core::ptr::write(out.add(11), 12.0);
            out.add(12).copy_from(out.add(10), 2);
            core::ptr::copy_nonoverlapping(out, out.add(14), 2);
            let plain = out.cast::<u32>().add(16);
            plain.write(0);
            *plain += 1;
            *plain <<= 4;
            *plain |= *plain >> 1;
            *out.add(16) = f32::from_bits(*plain).to_bits() as f32;
            let mut last = out.wrapping_add(100).wrapping_sub(83);
            *last = if *out == (*p.add(1)).mass && *out < 11.0 { 1.0 } else { 0.0 };
            last = last.offset(1);
            last.write_volatile((*p.add(1)).mass.max(11.0) + last.sub(1).read_volatile());
            (*last.add(1), i) = (f32::sqrt(4.0), 0);
            *last.add(1) += i as f32;
            assert_eq!(*last.add(1), 2.0, "{}", *last);
            assert!(n > 100 || *out.add(1) > 0.0);
        }
    }

    pub mod helpers {
        pub struct Window<'a> {
            pub elements: &'a mut [u32],
            pub start: usize,
        }

        impl Window<'_> {
            pub fn at(&self, i: usize) -> u32 {
                self.elements[self.start + i]
            }

            pub fn set(&mut self, i: usize, value: u32) {
                self.elements[self.start + i] = value;
            }
        }

        pub trait Total {
            fn elements(&self) -> &[u32];

            fn total(&self) -> u32 {
                let mut sum = 0;
                for element in self.elements() {
                    sum += *element;
                }
                sum
            }
        }

        impl Total for &[u32] {
            fn elements(&self) -> &[u32] {
                self
            }
        }

        pub fn largest<T: PartialOrd + Copy, const N: usize>(x: &[T], of: [usize; N]) -> T {
            let mut best = x[of[0]];
            for i in of {
                if x[i] > best {
                    best = x[i];
                }
            }
            best
        }

        pub const fn first(x: &[u32]) -> u32 {
            x[0]
        }
    }

    /// Accesses memory by a slice in all forms, and calls methods of other types that have the names of a slice's
    /// methods.
    pub fn by_slice(x: &[u32], out: &mut [u32]) {
        use helpers::Total as _;
        let mut calls = 0;
        let mut next = || {
            calls += 1;
            calls - 1
        };
        out[next()] = x[next()] + x[x[1] as usize];
        out[next()] += x[next()];
        out[1] = x.iter().copied().rev().map(|element| element * 2).sum::<u32>() + x.len() as u32;
        out[2] += x[1..].iter().zip(x).map(|(a, b)| a * b).max().unwrap_or(0);
        for (i, element) in out[3..5].iter_mut().enumerate() {
            *element = x[i];
        }
        let (low, high) = out.split_at_mut(6);
        low[5] = 50;
        high[0] = low[5] + 1;
        let range = 7..9;
        out[range].copy_from_slice(&x[..2]);
        out[9] = *x.get(1).unwrap_or(&0) + x.get(100).copied().unwrap_or(3);
        let swapped = &mut out[10..12];
        swapped[0] = 1;
        swapped[1] = 2;
        swapped.swap(0, 1);
        let i;
        out[12] = {
            i = 2;
            x[i]
        };
        let last = out.len() - 1;
        out[last] = 99;
        out[out.len() - 2] = 98;
        let [first, .., end] = x else { return };
        out[13] = first + end;
        // SAFETY: the arrays have enough elements.
        out[14] = unsafe { *x.get_unchecked(2) + core::slice::from_raw_parts(x.as_ptr().add(1), 2)[1] };
        let mut window = helpers::Window { elements: out, start: 15 };
        window.set(0, 70);
        window.elements[16] = window.at(0) + 1;
        window.set(2, window.at(1) + 1);
        let out = window.elements;
        out[18] = x.total() + helpers::largest(x, [1, 3]) + helpers::first(x);
        let read = |i: usize| x[i];
        let mut write = |i: usize, value| out[i] = value;
        write(19, read(3));
        let largest = x.iter().fold(0, |best: u32, &element| best.max(element));
        write(20, largest);

        let mut left = Some(x);
        let rest = &mut left;
        let mut steps = 0;
        'walk: while let Some([_, rest_of_it @ ..]) = *rest {
            steps += 1;
            if rest_of_it.is_empty() {
                break 'walk;
            }
            *rest = Some(rest_of_it);
        }
        out[14] += steps;

        // None of these arrays is memory of the device.
        let mut values = [0_u32; 4];
        let mut tile = [[0_u32; 2]; 2];
        for value in &mut values {
            *value += 1;
        }
        for (i, value) in values.iter_mut().enumerate() {
            *value *= i as u32;
        }
        tile[1][0] = values[3];
        tile[1][1] += tile[1][0];
        let mut boxed = Box::new(Some(String::from("text")));
        *boxed = Some(String::from("moved"));
        let moved = *boxed;
        let mut matrix = Matrix { rows: 2, elements: vec![1, 2, 3, 4] };
        matrix[(1, 0)] += matrix[(0, 1)];
        let mut vector = vec![String::from("a"), String::new()];
        vector[1].push_str("bc");
        vector[0] = vector[1].clone() + "d";
        let mut number = 3;
        {
            let mut guard = Guard(&mut number);
            *guard += 1;
            *guard *= 2;
        }
        let reference = &mut number;
        *reference += 1;
        let again = &mut *reference;
        *again += 1;
        let nested = vec![vec![1_u32], vec![2, 3]];
        out[21] = tile[1][1] + matrix[(1, 0)] + vector[0].len() as u32 + *reference + nested[1][1];
        out[22] = TABLE[1] + SQUARES[TABLE[0] as usize - 2] + moved.map_or(0, |text| text.len() as u32);
        assert_eq!(out[22], 6 + 9 + 5, "{} {last}", out[21]);
        assert!(matches!(out[22], 20), "{:?}", &out[20..]);
        println!("{} {a}", x[0], a = x[1]);
    }
}

#[kernel]
fn pointers(p: *mut Particle, out: *mut f32, n: usize) {
    // SAFETY: the test passes valid pointers.
    unsafe { marked::by_pointer(p, out, n) };
}

#[test]
fn pointers_compute_the_same() {
    let mut expected = (particles(), [0.0_f32; 20]);
    // SAFETY: the arrays have enough elements.
    unsafe { plain::by_pointer(expected.0.as_mut_ptr(), expected.1.as_mut_ptr(), 4) };
    let device = Device::new();
    let (p, out) = (device.upload(&particles()), device.room::<f32>(20));
    device.run(1, 1, &pointers(view_mut(&p), view_mut(&out), 4)).unwrap();
    assert_eq!(download::<Particle>(&p), expected.0);
    assert_eq!(download::<f32>(&out), expected.1);
    assert_eq!(expected.1[..10], [10.0, 3.0, -40.0, 45.0, 10.0, 10.0, 12.0, 12.0, 1.0, 3.0]);
    assert_eq!(expected.1[10..], [10.0, 12.0, 10.0, 12.0, 10.0, 3.0, 24.0, 1.0, 12.0, 2.0]);
}

struct Matrix {
    rows: usize,
    elements: Vec<u32>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = u32;

    fn index(&self, (row, column): (usize, usize)) -> &u32 {
        &self.elements[row * self.rows + column]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut u32 {
        &mut self.elements[row * self.rows + column]
    }
}

struct Guard<'a>(&'a mut u32);

impl Deref for Guard<'_> {
    type Target = u32;

    fn deref(&self) -> &u32 {
        self.0
    }
}

impl DerefMut for Guard<'_> {
    fn deref_mut(&mut self) -> &mut u32 {
        self.0
    }
}

const TABLE: [u32; 4] = [5, 6, 7, 8];
static SQUARES: [u32; 4] = [0, 1, 4, 9];

#[kernel]
fn slices(x: &[u32], out: GlobalMut<u32>) {
    // SAFETY: only one thread runs, on the memory's device.
    let out = unsafe { core::slice::from_raw_parts_mut(out.as_ptr(), out.len()) };
    marked::by_slice(x, out);
}

#[test]
fn slices_compute_the_same() {
    let (x, mut expected) = ([3_u32, 1, 4, 1], [7_u32; 25]);
    plain::by_slice(&x, &mut expected);
    // Outside of a kernel, a marked function can be called like any other function.
    let mut marked = [7_u32; 25];
    marked::by_slice(&x, &mut marked);
    assert_eq!(marked, expected);
    let device = Device::new();
    let (x, out) = (device.upload(&x), device.upload(&[7_u32; 25]));
    device.run(1, 1, &slices(view(&x), view_mut(&out))).unwrap();
    assert_eq!(download::<u32>(&out), expected);
    // An assignment computes its value before its target.
    assert_eq!(expected[..3], [7, 22, 11]);
}

/// Sums four numbers per thread in a local array whose elements come from a view.
#[kernel]
fn through_views(x: Global<u32>, y: GlobalMut<u32>) {
    let mut values = [0; 4];
    for (i, value) in values.iter_mut().enumerate() {
        *value = x.load(4 * thread::index_1d() + i);
    }
    let mut total = 0;
    let mut i = 0;
    while i < values.len() {
        total += values[i];
        i += 1;
    }
    y.store(thread::index_1d(), total);
}

#[test]
fn views_are_as_they_were() {
    let device = Device::new();
    let (x, y) = (device.upload(&[1_u32, 2, 3, 4, 5, 6, 7, 8]), device.room::<u32>(2));
    device.run(1, 2, &through_views(view(&x), view_mut(&y))).unwrap();
    assert_eq!(download::<u32>(&y), [10, 26]);
}
