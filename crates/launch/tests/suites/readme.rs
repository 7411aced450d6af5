//! The kernel of one's own that README.md shows, and the report of its race.

use std::path::Path;

use cuda_std::prelude::*;
use launch::{Error, LaunchConfig};

/// `y` is `x` with each block's part reversed; blocks of 64 threads.
#[kernel(max_threads = 64)]
pub fn reverse(x: Global<f32>, y: GlobalMut<f32>) {
    let tile = shared_array![f32; 64];
    let (thread, i) = (thread::index_in_block() as usize, thread::index_1d());
    tile.store(thread, x.load(i));
    y.store(i, tile.load(63 - thread)); // thread::sync_threads() is missing before this line
}

/// The text in words, with `#` for a line's number and a column's.
fn words(text: &str) -> String {
    let is_place = |word: &str| word.contains(".rs:");
    let name = |word: &str| {
        let end = word.find(".rs:").map_or(word.len(), |at| at + 3);
        format!(
            "{}:#{}",
            &word[..end],
            word.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':').get(end..).unwrap_or_default()
        )
    };
    let words = text.split_whitespace().map(|word| if is_place(word) { name(word) } else { word.to_owned() });
    words.collect::<Vec<_>>().join(" ")
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
