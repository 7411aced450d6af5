//! Tests the output of the examples.

use std::process::{Command, Stdio};

/// Runs a program and returns the lines of its output, except the first line, which names the device.
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

#[test]
fn saxpy_doubles_and_adds() {
    assert_eq!(lines(env!("CARGO_BIN_EXE_saxpy")), ["y[..4] = [0.5, 2.5, 4.5, 6.5], y[999999] = 1999998.5"]);
}

#[test]
fn the_year_s_rain_is_summed() {
    let rain: Vec<f64> = (0..365).map(|day| f64::from(day * day % 17) * 0.5).collect();
    // The numbers are multiples of 0.5, so every sum is exact in any order.
    let year: f64 = rain.iter().sum();
    let mut total = 0.0;
    let half = rain.iter().position(|day| {
        total += day;
        2.0 * total >= year
    });
    let expected = [
        format!("{year} mm in the year, 0 to 8 mm a day"),
        format!("half of it had fallen by day {}, {total} mm", half.unwrap()),
    ];
    assert_eq!(lines(env!("CARGO_BIN_EXE_rain")), expected);
}

#[test]
fn visits_are_counted_by_page() {
    // The numbers are multiples of 0.5, so every sum is exact in any order.
    let seconds: Vec<f32> = (0..100_000_u32).map(|visit| (visit * 37 % 101) as f32 * 0.5).collect();
    let count = |selects: fn(f32) -> bool| seconds.iter().filter(|&&seconds| selects(seconds)).count();
    let (long, short) = (count(|seconds| seconds >= 30.0), count(|seconds| seconds < 1.0));
    let last = &seconds[142 * 700..];
    assert_eq!(
        lines(env!("CARGO_BIN_EXE_visits")),
        [
            format!("{long} long visits, {short} short ones and {} others", seconds.len() - short),
            format!("page 142 has {} visits of {} seconds in total", last.len(), last.iter().sum::<f32>()),
        ]
    );
}
