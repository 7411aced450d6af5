//! Tests that a matrix product has the same bits on a team as on one device.

use std::num::NonZeroUsize;

use cuda_std::{bf16, f16};
use launch::{Buffer, Device, DeviceChoice, Group, Simulator, checked_groups};

use super::teams::{bits, group, on_teams, whole};
use gridstride::matmul::{Layout, Matmul, MatmulElement, MatmulOptions, MatmulRung, Matrix, MatrixMut};
use gridstride::numbers::Number;
use multi::MultiError;
use multi::matmul::SplitMatmul;
use multi::ranks::{alone, in_threads};
use multi::team::Team;

/// Returns element `index` of matrix number `matrix`: sums of products of these elements round.
fn element<T: Number>(matrix: usize, index: usize) -> T {
    T::from_f64((bits(4 * index + matrix) >> 44) as f64 / f64::from(1 << 14) - 32.0)
}

/// Returns the elements of some rows and columns of matrix number `matrix`, in the order of their addresses.
fn part<T: Number>(matrix: usize, of: Layout, first: [usize; 2], [rows, columns]: [usize; 2]) -> Vec<T> {
    let at = |row, column| element(matrix, (first[0] + row) * of.columns() + first[1] + column);
    match of.is_transposed() {
        true => (0..columns).flat_map(|column| (0..rows).map(move |row| at(row, column))).collect(),
        false => (0..rows).flat_map(|row| (0..columns).map(move |column| at(row, column))).collect(),
    }
}

/// A product with its epilogue: α = 2, β = −1, a bias and `relu`.
#[derive(Clone, Copy)]
struct Case {
    options: MatmulOptions,
    has_epilogue: bool,
}

impl Case {
    fn new(sizes: [usize; 3]) -> Self {
        Self { options: MatmulOptions::row_major(sizes), has_epilogue: true }
    }

    fn of_c(&self) -> Layout {
        Layout::row_major(self.options.a.rows(), self.options.b.columns())
    }

    /// Returns the bits of the product on one device.
    fn on_one<T: MatmulElement<Result: Number> + Number>(&self, device: &Device) -> Vec<u8>
    where
        T::Sum: Number,
    {
        let Self { options, has_epilogue } = *self;
        let [of_a, of_b, of_c] = [options.a, options.b, self.of_c()];
        let all = |layout: Layout| [layout.rows(), layout.columns()];
        let a = device.upload(&part::<T>(0, of_a, [0, 0], all(of_a))).unwrap();
        let b = device.upload(&part::<T>(1, of_b, [0, 0], all(of_b))).unwrap();
        let mut c = device.upload(&part::<T::Result>(2, of_c, [0, 0], all(of_c))).unwrap();
        let bias = device.upload(&part::<T::Result>(3, of_c, [0, 0], [1, of_c.columns()])).unwrap();
        let mut product = Matmul::<T>::with_options(device, &options).unwrap();
        let (of_a, of_b) = (Matrix::new(a.view(), of_a).unwrap(), Matrix::new(b.view(), of_b).unwrap());
        let target = MatrixMut::new(c.view_mut(), of_c).unwrap();
        if has_epilogue {
            product = product.alpha(Number::from_f64(2.0)).beta(Number::from_f64(-1.0)).relu();
            product.run_with_bias(device, of_a, of_b, target, &bias).unwrap();
        } else {
            product.run(device, of_a, of_b, target).unwrap();
        }
        bytemuck::cast_slice(&c.download().unwrap()).to_vec()
    }

    /// Runs the product twice with this division and returns the bits of all parts of the result.
    fn on_team<T: MatmulElement<Result: Number> + Number>(
        &self,
        team: &Team<'_>,
        rows: &[usize],
        columns: &[usize],
    ) -> Vec<u8>
    where
        T::Sum: Number,
    {
        let Self { options, has_epilogue } = *self;
        let [of_a, of_b, of_c] = [options.a, options.b, self.of_c()];
        let (own, k) = (team.first()..team.first() + team.devices().len(), of_a.columns());
        let parts = team.devices().iter().zip(own.clone());
        let start = |parts: &[usize], member: usize| parts[..member].iter().sum::<usize>();
        let upload = |device: &Device, data: Vec<T>| device.upload(&data).unwrap();
        let part_of_a = |i: usize| part(0, of_a, [start(rows, i), 0], [rows[i], k]);
        let part_of_b = |i: usize| part(1, of_b, [0, start(columns, i)], [k, columns[i]]);
        let a: Vec<_> = parts.clone().map(|(device, i)| upload(device, part_of_a(i))).collect();
        let b: Vec<_> = parts.clone().map(|(device, i)| upload(device, part_of_b(i))).collect();
        let bias = part::<T::Result>(3, of_c, [0, 0], [1, of_c.columns()]);
        let bias: Vec<Buffer<T::Result>> = parts.clone().map(|(device, _)| device.upload(&bias).unwrap()).collect();
        let mut product =
            SplitMatmul::<T>::with_options(team, &options, &rows[own.clone()], &columns[own.clone()]).unwrap();
        if has_epilogue {
            product = product.alpha(Number::from_f64(2.0)).beta(Number::from_f64(-1.0)).relu();
        }
        let mut results = [0, 1].map(|_| {
            let part_of_c = |i: usize| part(2, of_c, [start(rows, i), 0], [rows[i], of_c.columns()]);
            let c = parts.clone().map(|(device, i)| device.upload::<T::Result>(&part_of_c(i)).unwrap());
            let mut c: Vec<_> = c.collect();
            match has_epilogue {
                true => product.run_with_bias(&a, &b, &mut c, &bias).unwrap(),
                false => product.run(&a, &b, &mut c).unwrap(),
            }
            bytemuck::cast_slice(&whole(team, &c)).to_vec()
        });
        assert!(results[0] == results[1], "two runs differ");
        std::mem::take(&mut results[0])
    }

    /// Compares the product on `team` with that on `device`, for an even division.
    fn check<T: MatmulElement<Result: Number> + Number>(&self, team: &Team<'_>, device: &Device)
    where
        T::Sum: Number,
    {
        let even = |size: usize| {
            let members = team.members();
            (0..members).map(|member| size / members + usize::from(member < size % members)).collect::<Vec<_>>()
        };
        let (rows, columns) = (even(self.options.a.rows()), even(self.options.b.columns()));
        self.check_parts::<T>(team, device, &rows, &columns);
    }

    fn check_parts<T: MatmulElement<Result: Number> + Number>(
        &self,
        team: &Team<'_>,
        device: &Device,
        rows: &[usize],
        columns: &[usize],
    ) where
        T::Sum: Number,
    {
        let found = self.on_team::<T>(team, rows, columns);
        let what = format!("{:?} of {} on {}: {rows:?} {columns:?}", self.options, T::TYPE, team.members());
        assert!(found == self.on_one::<T>(device), "{what}");
    }
}

fn device() -> Device {
    Device::open(DeviceChoice::Sim, gridstride::MODULES).unwrap()
}

#[test]
fn a_product_has_the_bits_of_one_device() {
    on_teams(|team| {
        let device = device();
        Case::new([9, 11, 20]).check::<f32>(team, &device);
        Case::new([5, 16, 33]).check::<bf16>(team, &device);
        Case::new([1, 3, 40]).check::<f64>(team, &device);
        // One column: the whole product has the kernel for vectors. Then some parts have one, and the whole has not.
        Case::new([7, 1, 16]).check::<f16>(team, &device);
        Case::new([2, 3, 8]).check::<f16>(team, &device);
        for sizes in [[0, 5, 3], [5, 0, 3], [5, 3, 0], [0, 0, 0]] {
            Case::new(sizes).check::<f32>(team, &device);
        }
    });
}

#[test]
fn a_product_of_integers_and_of_transposed_matrices() {
    for members in [2, 4] {
        let (ranks, group, device) = (alone(), group(members), device());
        let team = Team::new(&group, &ranks).unwrap();
        Case { has_epilogue: false, ..Case::new([6, 5, 17]) }.check::<i8>(&team, &device);
        let options = MatmulOptions::new(Layout::row_major(20, 9).t(), Layout::row_major(11, 20).t());
        Case { options, has_epilogue: true }.check::<f32>(&team, &device);
        let options = MatmulOptions { tf32: true, ..options };
        Case { options, has_epilogue: false }.check::<f32>(&team, &device);
    }
}

/// Checks a product whose sums are split in another way than those of its parts would be.
#[test]
fn the_whole_product_determines_the_order_of_additions() {
    let simulator = Simulator::new().with_workers(NonZeroUsize::new(2).unwrap());
    let members: Vec<_> = (0..2).map(|_| Device::simulated(simulator.clone())).collect();
    let (device, group, ranks) = (members[0].clone(), Group::of(members).unwrap(), alone());
    let rung = Some(MatmulRung::AsyncCopies);
    let (part, case) = (MatmulOptions::row_major([129, 8, 256]), Case::new([257, 8, 256]));
    let options = MatmulOptions { rung, ..case.options };
    let bytes = |options| Matmul::<f32>::with_options(&device, &options).unwrap().temporary_bytes();
    let part_of = Some([options.a, options.b]);
    assert_eq!(bytes(MatmulOptions { rung, ..part }), 0);
    assert_eq!(bytes(MatmulOptions { rung, part_of, ..part }), 2 * 4 * 129 * 8);
    Case { options, ..case }.check::<f32>(&Team::new(&group, &ranks).unwrap(), &device);
    let options = MatmulOptions { part_of: Some([part.a, part.b]), ..options };
    let error = Matmul::<f32>::with_options(&device, &options).err().unwrap().to_string();
    assert!(error.contains("is no part of the product"), "{error}");
}

#[test]
fn rows_and_panels_may_be_uneven_and_empty() {
    let (ranks, one, device) = (alone(), group(4), device());
    let team = Team::new(&one, &ranks).unwrap();
    let case = Case::new([7, 10, 12]);
    for (rows, columns) in [
        ([0, 7, 0, 0], [10, 0, 0, 0]),
        ([3, 0, 4, 0], [0, 1, 0, 9]),
        ([0, 0, 0, 7], [0, 0, 0, 10]),
        ([1, 1, 4, 1], [3, 4, 2, 1]),
    ] {
        case.check_parts::<f32>(&team, &device, &rows, &columns);
        in_threads(2, |ranks| {
            let group = group(2);
            case.check_parts::<f32>(&Team::new(&group, ranks).unwrap(), &device, &rows, &columns);
        });
    }
}

#[test]
fn copies_and_products_are_ordered() {
    for group in checked_groups(4) {
        let (ranks, case) = (alone(), Case::new([5, 9, 8]));
        case.check::<f32>(&Team::new(&group, &ranks).unwrap(), &group.members()[0]);
    }
}

#[test]
fn wrong_parts_are_refused() {
    let (ranks, group) = (alone(), group(2));
    let team = Team::new(&group, &ranks).unwrap();
    let text = |error: MultiError| error.to_string();
    let options = MatmulOptions::row_major([3, 4, 5]);
    let new = |options: &MatmulOptions, rows: &[usize], columns: &[usize]| {
        text(SplitMatmul::<f32>::with_options(&team, options, rows, columns).err().unwrap())
    };
    assert_eq!(new(&options, &[2, 2], &[2, 2]), "the members have 4 rows of A, but the product has 3: divide 3");
    assert!(new(&options, &[2, 1], &[4, 4]).contains("8 columns of B"));
    assert!(new(&options, &[3], &[2, 2]).contains("divide the rows of a matrix"));
    let batch = MatmulOptions::new(options.a.batch(2, 15), options.b.batch(2, 20));
    assert!(new(&batch, &[2, 1], &[2, 2]).contains("without gaps"));

    let mut product = SplitMatmul::<f32>::new(&team, [3, 4, 5]).unwrap();
    let (a, b, mut c) = (team.alloc(15).unwrap(), team.alloc(20).unwrap(), team.alloc(12).unwrap());
    // `alloc` divides elements and not rows.
    let error = text(product.run(&a, &b, &mut c).unwrap_err());
    assert_eq!(error, "the part of A of member 0 is 2 x 5, but its buffer has 8 elements: pass 10");
    assert!(text(product.run(&a[..1], &b, &mut c).unwrap_err()).contains("multiply rows of A"));
}
