//! Products with an epilogue of the program's own agree with those of the CPU, by each rung that runs by default, in
//! the simulator and on a GPU.

use gridstride::matmul::{Layout, Matmul, MatmulOptions, MatmulRung, Matrix, MatrixMut};
use gridstride::prelude::*;
use own_type_kernels::Swish;

const SWISH: Swish = Swish { beta: 1.5 };

/// Returns some of the devices that check the kernels, and a GPU if there is one.
fn devices() -> Result<impl Iterator<Item = Device>, AlgorithmError> {
    let modules = [gridstride::MODULES, launch::include_ptx!("own_type_kernels")].concat().leak();
    let device = Device::open(DeviceChoice::Auto, modules)?;
    Ok(launch::checked_devices().step_by(3).chain(Some(device).filter(|device| !device.is_simulated())))
}

/// Returns `len` small numbers, whose products have exact sums.
fn numbers(len: usize, factor: usize) -> Vec<bf16> {
    (0..len).map(|i| bf16::from_f32((i * factor % 17) as f32 / 8.0 - 1.0)).collect()
}

/// Multiplies *A* of `m` × `k` and a transposed *B* of `k` × `n` elements, and compares *C* with the CPU's.
fn check(device: &Device, rung: Option<MatmulRung>, [m, n, k]: [usize; 3]) -> Result<(), AlgorithmError> {
    let (a, b) = (numbers(m * k, 7), numbers(n * k, 5));
    let (of_a, of_b) = (Layout::row_major(m, k), Layout::row_major(n, k).t());
    let options = MatmulOptions { rung, ..MatmulOptions::new(of_a, of_b) };
    let mut product = Matmul::<bf16, bf16>::with_options(device, &options)?.epilogue(SWISH);
    let (on_a, on_b, mut c) = (device.upload(&a)?, device.upload(&b)?, device.alloc(m * n)?);
    let (of_a, of_b) = (Matrix::new(on_a.view(), of_a)?, Matrix::new(on_b.view(), of_b)?);
    product.run(device.queue(), of_a, of_b, MatrixMut::row_major(&mut c, m, n)?)?;
    for (i, element) in c.download()?.into_iter().enumerate() {
        let pairs = a[i / n * k..][..k].iter().zip(&b[i % n * k..][..k]);
        let sum: f32 = pairs.map(|(a, b)| a.to_f32() * b.to_f32()).sum();
        let (element, expected) = (element.to_f32(), sum / (1.0 + (-SWISH.beta * sum).exp()));
        let is_near = (element - expected).abs() <= expected.abs() / 128.0 + 1e-6;
        assert!(is_near, "{element} for {expected} at {i} of {m} x {n} x {k} by {rung:?}, {}", device.name());
    }
    Ok(())
}

/// Checks the sizes by a rung, or by the one that runs by default.
fn check_all(rung: Option<MatmulRung>, sizes: &[[usize; 3]]) -> Result<(), AlgorithmError> {
    for device in devices()? {
        for &sizes in sizes {
            check(&device, rung, sizes)?;
        }
    }
    Ok(())
}

#[test]
fn the_default_rung_has_the_epilogue() -> Result<(), AlgorithmError> {
    // The fourth product has one row, and runs the kernel for vectors. The fifth one has no summands, and the last one
    // has split sums.
    check_all(None, &[[16, 16, 16], [130, 17, 40], [5, 3, 3], [1, 40, 64], [3, 4, 0], [8, 8, 1024]])
}

#[test]
fn register_blocks_have_the_epilogue() -> Result<(), AlgorithmError> {
    check_all(Some(MatmulRung::RegisterBlocks), &[[16, 16, 16], [130, 17, 20], [3, 4, 0]])
}

#[test]
fn clusters_have_the_epilogue() -> Result<(), AlgorithmError> {
    check_all(Some(MatmulRung::Clustered), &[[16, 16, 16], [130, 17, 40]])
}

#[test]
fn wide_clusters_have_the_epilogue() -> Result<(), AlgorithmError> {
    check_all(Some(MatmulRung::Clustered), &[[256, 256, 64]])
}

#[test]
fn split_sums_have_the_epilogue() -> Result<(), AlgorithmError> {
    check_all(Some(MatmulRung::SplitK), &[[16, 24, 256]])
}

#[test]
fn split_clusters_have_the_epilogue() -> Result<(), AlgorithmError> {
    check_all(Some(MatmulRung::ClusterSplit), &[[16, 24, 256], [40, 130, 72], [100, 12, 1300]])
}

#[test]
fn a_rung_without_the_epilogue_says_which_one_has_it() -> Result<(), AlgorithmError> {
    for device in devices()? {
        let message = match check(&device, Some(MatmulRung::Pipelined), [16, 16, 16]) {
            Err(error) => error.to_string(),
            Ok(()) => String::new(),
        };
        assert!(message.contains("pipelined does not offer the epilogue Swish"), "{message}");
    }
    Ok(())
}
