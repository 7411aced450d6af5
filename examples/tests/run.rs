//! What the examples print.

use std::process::{Command, Stdio};

/// The lines of a program's output below the one that names the device.
fn lines(program: &str) -> Vec<String> {
    let output = Command::new(program).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("device: "), "{text}");
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn the_glider_comes_back() {
    let lines = lines(env!("CARGO_BIN_EXE_life"));
    let boards: Vec<&[String]> = lines.chunks(10).collect();
    assert_eq!(boards.len(), 4);
    for (number, board) in boards.iter().enumerate() {
        assert_eq!(board[1], format!("generation {}, 5 cells alive", 32 * number));
    }
    assert_ne!(boards[0][2..], boards[1][2..]);
    assert_eq!(boards[0][2..], boards[3][2..]);
}
