//! Tests that the kernel in README.md has the race whose report README.md shows.

use std::path::Path;

use cuda_std::prelude::*;
use launch::{Error, LaunchConfig};

/// Writes `x` to `y`, with the elements of each block reversed. Launch with blocks of 64 threads.
#[kernel(max_threads = 64)]
pub fn reverse(x: Global<f32>, y: GlobalMut<f32>) {
    let tile = shared_array![f32; 64];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    tile.store(thread, x.load(i));
    y.store(i, tile.load(63 - thread)); // thread::sync_threads() is missing before this line
}

/// Returns the words of `text`, without the numbers of lines and columns.
fn words(text: &str) -> String {
    let without_numbers = |word: &str| match word.split_once(".rs:") {
        Some((file, place)) => format!("{file}.rs:{}", place.replace(|c: char| c.is_ascii_digit(), "")),
        None => word.to_owned(),
    };
    text.split_whitespace().map(without_numbers).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_report_is_as_the_readme_shows() -> Result<(), Error> {
    let device = launch::checked_devices().next().unwrap();
    let x = device.upload(&[1.0; 128])?;
    let mut y = device.alloc(128)?;
    let error = device.launch(LaunchConfig::new(2, 64), reverse(x.view(), y.view_mut())).unwrap_err();
    let report = error.to_string().replace(file!(), "kernels/src/lib.rs");
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    assert!(words(&readme).contains(&words(&report)), "{report}");
    Ok(())
}
