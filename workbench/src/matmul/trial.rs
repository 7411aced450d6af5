//! Trials: products of small integers by any kernel, layout and epilogue, whose results have no rounding error.
//!
//! # Design
//!
//! The elements are integers from −3 to 3, which all element types have, and sums of their products are exact. So a
//! result must be the reference's, rounded once to the type of *C*, and no lost, repeated or exchanged product is
//! within a tolerance. Elements between the rows of *C* and around it must not change.

use cuda_std::tensor::tf32;
use cuda_std::{ArgumentId, Ladder, bf16, e4m3, e5m2, f16};
use gridstride::matmul::{Layout, Matmul, MatmulElement, MatmulOptions, MatmulRung, Matrix, MatrixMut, Output};
use launch::{Device, Element};

use crate::case::{CaseError, bits};

/// A type that has small integers.
pub trait Integral: Element {
    /// Returns the element nearest to `value`.
    fn of(value: f64) -> Self;

    /// Returns the value of the element.
    fn value(self) -> f64;
}

macro_rules! integral {
    ($($type:ident |$value:ident| $of:expr, |$own:ident| $to:expr;)*) => {$(
        impl Integral for $type {
            fn of($value: f64) -> Self {
                $of
            }

            fn value(self) -> f64 {
                let $own = self;
                $to
            }
        }
    )*};
}

integral! {
    f32 |value| value as f32, |own| own.into();
    f64 |value| value, |own| own;
    f16 |value| f16::from_f64(value), |own| own.to_f64();
    bf16 |value| bf16::from_f64(value), |own| own.to_f64();
    e4m3 |value| e4m3::from_f32(value as f32), |own| own.to_f32().into();
    e5m2 |value| e5m2::from_f32(value as f32), |own| own.to_f32().into();
    i8 |value| value as i8, |own| own.into();
    i32 |value| value as i32, |own| own.into();
}

/// The types of the operands and results of a product.
pub struct Types {
    /// The name, such as "f16 to f32".
    pub name: &'static str,
    /// The number of bytes of an element of *A* or *B*.
    pub bytes: usize,
    /// The types as which kernels may multiply the operands.
    operands: [ArgumentId; 2],
    result: ArgumentId,
    /// Runs a trial with these types.
    pub run: fn(&Trial, &Device) -> Result<(), CaseError>,
}

macro_rules! types {
    ($($name:literal: $type:ident ($other:ident) to $result:ident;)*) => {
        /// The types of all products.
        pub static TYPES: &[Types] = &[$(Types {
            name: $name,
            bytes: size_of::<$type>(),
            operands: [ArgumentId::of::<$type>(), ArgumentId::of::<$other>()],
            result: ArgumentId::of::<$result>(),
            run: |trial, device| trial.run::<$type, $result>(device),
        }),*, Types {
            name: "tf32",
            bytes: size_of::<tf32>(),
            operands: [ArgumentId::of::<tf32>(); 2],
            result: ArgumentId::of::<f32>(),
            run: |trial, device| Trial { tf32: true, ..*trial }.run::<f32, f32>(device),
        }];
    };
}

types! {
    "f32": f32 (f32) to f32;
    "f64": f64 (f64) to f64;
    "f16": f16 (f16) to f16;
    "f16 to f32": f16 (f16) to f32;
    "bf16": bf16 (bf16) to bf16;
    "bf16 to f32": bf16 (bf16) to f32;
    "e4m3": e4m3 (f16) to f32;
    "e5m2": e5m2 (f16) to f32;
    "i8": i8 (i8) to i32;
}

impl Types {
    /// Returns true if the rung has a kernel for these types.
    pub fn is_built(&self, rung: MatmulRung) -> bool {
        self.operands.iter().any(|&operand| rung.rung().entry(&[operand, self.result]).is_some())
    }
}

/// A product of small integers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trial {
    /// *m*, *n* and *k*.
    pub sizes: [usize; 3],
    /// True for each of *A*, *B* and *C* whose columns have adjacent elements.
    pub is_transposed: [bool; 3],
    /// The number of elements between two rows (or columns) of *A*, *B* and *C*.
    pub gaps: [usize; 3],
    /// The index in its buffer at which each of *A*, *B* and *C* begins.
    pub starts: [usize; 3],
    /// The number of products.
    pub batch: usize,
    /// True if all products have the same *B*.
    pub is_b_shared: bool,
    /// The factors α and β.
    pub factors: [i8; 2],
    /// True if a bias is added.
    pub has_bias: bool,
    /// True if negative results are replaced by zero.
    pub has_relu: bool,
    /// True if products of `f32` may be rounded to `tf32`.
    pub tf32: bool,
    /// The rung, or `None` for the default one.
    pub rung: Option<MatmulRung>,
}

impl Trial {
    /// Returns the trial of the product of a row-major *A* and a row-major *B*.
    pub const fn new(sizes: [usize; 3]) -> Self {
        Self {
            sizes,
            is_transposed: [false; 3],
            gaps: [0; 3],
            starts: [0; 3],
            batch: 1,
            is_b_shared: false,
            factors: [1, 0],
            has_bias: false,
            has_relu: false,
            tf32: false,
            rung: None,
        }
    }

    /// Returns the layouts of *A*, *B* and *C*.
    fn layouts(&self) -> [Layout; 3] {
        let [m, n, k] = self.sizes;
        let all = [(m, k, false), (k, n, self.is_b_shared), (m, n, false)];
        std::array::from_fn(|i| {
            let ((rows, columns, is_shared), gap) = (all[i], self.gaps[i]);
            let (lines, len) = if self.is_transposed[i] { (columns, rows) } else { (rows, columns) };
            let stride = if is_shared { 0 } else { lines * (len + gap) };
            let layout = Layout::row_major(lines, len).leading_dimension(len + gap).batch(self.batch, stride);
            if self.is_transposed[i] { layout.t() } else { layout }
        })
    }

    /// Computes the product on `device` and compares each element with the reference.
    ///
    /// # Errors
    /// [`CaseError`] if a launch fails or an element is wrong.
    pub fn run<T, C>(&self, device: &Device) -> Result<(), CaseError>
    where
        T: MatmulElement<Sum: Integral> + Integral,
        C: Output<T::Sum> + launch::TensorElement + Integral + PartialEq + std::fmt::Debug,
    {
        let [m, n, k] = self.sizes;
        let layouts = self.layouts();
        let whole = [m * k, k * n, m * n];
        let lens: [usize; 3] = std::array::from_fn(|i| {
            let lines = if self.is_transposed[i] { layouts[i].columns() } else { layouts[i].rows() };
            self.starts[i] + self.batch * (whole[i] + lines * self.gaps[i])
        });
        let number = |matrix: usize, index: usize| (bits(index + matrix * 1_000_003) >> 32) % 7;
        let number = |matrix, index| number(matrix, index) as f64 - 3.0;
        let a: Vec<T> = (0..lens[0]).map(|index| T::of(number(0, index))).collect();
        let b: Vec<T> = (0..lens[1]).map(|index| T::of(number(1, index))).collect();
        let c: Vec<C> = (0..lens[2]).map(|index| C::of(number(2, index))).collect();
        let bias: Vec<C> = (0..n).map(|index| C::of(number(3, index))).collect();
        let (da, db, mut dc, dbias) =
            (device.upload(&a)?, device.upload(&b)?, device.upload(&c)?, device.upload(&bias)?);
        let unaligned = self.starts[..2] != [0; 2];
        let options =
            MatmulOptions { tf32: self.tf32, unaligned, rung: self.rung, ..MatmulOptions::new(layouts[0], layouts[1]) };
        let [alpha, beta] = self.factors.map(f64::from);
        let mut product = Matmul::<T, C>::with_options(device, &options)?;
        product = product.alpha(T::Sum::of(alpha)).beta(T::Sum::of(beta));
        if self.has_relu {
            product = product.relu();
        }
        let [from_a, from_b, from_c] = self.starts;
        let of_a = Matrix::new(da.view().part(from_a, lens[0] - from_a), layouts[0])?;
        let of_b = Matrix::new(db.view().part(from_b, lens[1] - from_b), layouts[1])?;
        let of_c = MatrixMut::new(dc.view_mut().part(from_c, lens[2] - from_c), layouts[2])?;
        match self.has_bias {
            true => product.run_with_bias(device.queue(), of_a, of_b, of_c, &dbias)?,
            false => product.run(device.queue(), of_a, of_b, of_c)?,
        }
        let mut expected = c.clone();
        let at = |matrix: usize, batch, row, column| self.starts[matrix] + place(&layouts[matrix], batch, row, column);
        for (batch, row, column) in indices([self.batch, m, n]) {
            let products = (0..k).map(|i| a[at(0, batch, row, i)].value() * b[at(1, batch, i, column)].value());
            let index = at(2, batch, row, column);
            let mut value = alpha * products.sum::<f64>() + beta * c[index].value();
            value += if self.has_bias { bias[column].value() } else { 0.0 };
            expected[index] = C::of(if self.has_relu { value.max(0.0) } else { value });
        }
        let found = dc.download()?;
        for (batch, row, column) in indices([self.batch, m, n]) {
            let index = at(2, batch, row, column);
            if found[index] != expected[index] {
                let what = format!("{self:?}: element ({row}, {column}) of product {batch}");
                let (found, expected) = (found[index], expected[index]);
                return Err(CaseError::Wrong(format!("{what} is {found:?} instead of {expected:?}")));
            }
        }
        match found.iter().zip(&expected).position(|(found, expected)| found != expected) {
            Some(index) => {
                Err(CaseError::Wrong(format!("{self:?}: element {index} of C's buffer, outside of C, changed")))
            }
            None => Ok(()),
        }
    }
}

/// Returns all triples of indices below the sizes.
fn indices([batch, m, n]: [usize; 3]) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..batch).flat_map(move |batch| (0..m).flat_map(move |row| (0..n).map(move |column| (batch, row, column))))
}

/// Returns the index of an element.
fn place(layout: &Layout, batch: usize, row: usize, column: usize) -> usize {
    let strides = layout.strides();
    strides.index(batch, row, column)
}
