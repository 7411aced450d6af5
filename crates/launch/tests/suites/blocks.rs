//! Tests the kernels of docs/shared-memory.md in the simulator. `cuda_builder` compiles them to PTX.

#[path = "../fixtures/memory-kernels/src/blocks.rs"]
mod kernels;

use std::path::Path;

use kernels::*;
use launch::{Buffer, Device, Error, LaunchConfig, checked_devices};

/// Returns the product of `a` (`m` rows of `k`) and `b` (`k` rows of `n`).
fn product(m: usize, k: usize, n: usize, a: &Buffer<f32>, b: &Buffer<f32>) -> Result<Buffer<f32>, Error> {
    let mut c = a.device().alloc(m * n)?;
    let blocks = (n.div_ceil(16) as u32, m.div_ceil(16) as u32);
    a.device().launch(LaunchConfig::new(blocks, (16, 16)), multiply(k, n, a.view(), b.view(), c.view_mut()))?;
    Ok(c)
}

#[test]
fn matrices_of_any_size_are_multiplied() -> Result<(), Error> {
    for device in checked_devices() {
        for (m, k, n) in [(1, 1, 1), (16, 16, 16), (15, 17, 33), (40, 5, 18), (3, 50, 1)] {
            let a: Vec<f32> = (0..m * k).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..k * n).map(|i| (i % 5) as f32 - 2.0).collect();
            let c = product(m, k, n, &device.upload(&a)?, &device.upload(&b)?)?.download()?;
            let expected = |i: usize| (0..k).map(|j| a[i / n * k + j] * b[j * n + i % n]).sum::<f32>();
            assert_eq!(c, (0..m * n).map(expected).collect::<Vec<_>>(), "{m} x {k} x {n}");
        }
    }
    Ok(())
}

/// Returns how often each number below `values` occurs in `x`.
fn counts(x: &Buffer<u32>, values: usize) -> Result<Buffer<u32>, Error> {
    let mut counts = x.device().zeroed(values)?;
    let config = LaunchConfig::new(2, 64).shared_bytes(4 * values as u32);
    x.device().launch(config, count(x.view(), counts.view_mut()))?;
    Ok(counts)
}

/// Returns the text of docs/shared-memory.md, each run of white space as one blank.
fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/shared-memory.md");
    std::fs::read_to_string(page).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn numbers_are_counted_in_dynamic_memory() -> Result<(), Error> {
    for device in checked_devices() {
        let x: Vec<u32> = (0..1000).map(|i| i * i % 89).collect();
        let mut expected = vec![0; 100];
        x.iter().for_each(|&x| expected[x as usize] += 1);
        assert_eq!(counts(&device.upload(&x)?, 100)?.download()?, expected);
    }
    Ok(())
}

#[test]
fn the_page_shows_the_errors_of_too_little_and_too_much_dynamic_memory() -> Result<(), Error> {
    let device = checked_devices().next().unwrap();
    let (x, mut counts) = (device.upload(&[1; 100])?, device.zeroed(100)?);
    let mut error = |bytes| {
        let call = count(x.view(), counts.view_mut());
        device.launch(LaunchConfig::new(2, 64).shared_bytes(bytes), call).unwrap_err().to_string()
    };
    // The page leaves out kernel, thread and line, which stand before this.
    let little = error(256);
    let (_, reason) = little.split_once("index").unwrap();
    assert!(page().contains(&format!("index{reason}")), "{little}");
    let much = error(300_000);
    assert!(page().contains(&much), "{much}");
    Ok(())
}

/// Launches `reverse_tiles` in 3 blocks.
fn reversed(device: &Device, x: &[f32]) -> Result<Vec<f32>, Error> {
    let (x, mut y) = (device.upload(x)?, device.alloc(x.len())?);
    device.launch(LaunchConfig::new(3, 64), reverse_tiles(x.view(), y.view_mut()))?;
    y.download()
}

#[test]
fn tiles_are_copied_while_others_are_stored() -> Result<(), Error> {
    for device in checked_devices() {
        for tiles in [0, 1, 2, 3, 10] {
            let x: Vec<f32> = (0..256 * tiles).map(|i| i as f32).collect();
            let expected: Vec<f32> = x.chunks(256).flat_map(|tile| tile.chunks(4).rev().flatten()).copied().collect();
            assert_eq!(reversed(&device, &x)?, expected, "{tiles} tiles");
        }
    }
    Ok(())
}
