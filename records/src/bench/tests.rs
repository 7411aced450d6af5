//! Tests the parts of README.md and docs/figures.md with a made-up run.

use std::fs;

use workbench::bench::Recording;
use xtask::workspace::Workspace;

use super::recording::{check, file_name, text};
use super::{RESULTS, figures, newest, plots, tables};

const RUN: &str = include_str!("../../tests/fixtures/bench/run.json");

fn parse(text: &str) -> serde_json::Result<Recording> {
    serde_json::from_str(text)
}

fn run() -> Recording {
    parse(RUN).unwrap()
}

/// Returns the cells of the first row that contains `part`.
#[track_caller]
fn cells(table: &str, part: &str) -> Vec<String> {
    let row = table.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}: {table}"));
    row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
}

#[test]
fn the_run_is_described() {
    let mut recording = run();
    recording.revision = Some("abc123".to_owned());
    let text = tables::run(&recording, "bench/results/gpu-x-2026-01-31.json");
    assert!(text.lines().count() > 2 && text.lines().all(|line| line.chars().count() <= 120), "{text}");
    let text = text.replace('\n', " ");
    for part in [
        "Measured on one GPU X (driver 123.45, compute capability 9.0, 100 SMs at up to 1900 MHz), 2026-01-31",
        "sources at `abc123`; kernels compiled by rustc 1.0.0",
        "peers CUB 1.2.0 and cuBLAS 1.2.1, compiled by nvcc 1.2.3",
        "reads and writes at 4194 GB/s, 91 % of what memory clock and bus width allow (4608 GB/s)",
        "[bench/results/gpu-x-2026-01-31.json](bench/results/gpu-x-2026-01-31.json)",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Tests that the table shows the rung that the recording marks as the last.
#[test]
fn the_last_rungs_stand_beside_their_peers() {
    let text = tables::last(&run());
    let saxpy = cells(&text, "saxpy f32");
    assert_eq!(saxpy[0], "saxpy f32, 2^28, `vectorised`");
    assert_eq!(saxpy[2..], ["4027 GB/s", "3097 GB/s, cuBLAS", "1.30 ×", "96 %"]);
    assert_eq!(cells(&text, "inclusive scan f32")[0], "inclusive scan f32, 2^28, `pipelined`");
    assert_eq!(cells(&text, "copy kernel")[2..], ["4295 GB/s", "4194 GB/s, device_copy", "1.02 ×", "102 %"]);
    assert_eq!(cells(&text, "16383 × 16385")[3..5], ["–", "–"]);
    assert_eq!(
        cells(&text, "one generation per launch")[0],
        "Life, one generation per launch, 65536 × 65536, `bitpacked`"
    );
    assert_eq!(cells(&text, "one generation per launch")[2], "1.60e13 cells/s");
    assert_eq!(cells(&text, "several generations")[2], "2.68e13 cells/s");
    // Only missed targets are marked.
    assert_eq!(cells(&text, "uniform u8 in 256")[1..5], ["1.30 × CUB", "4194 GB/s", "2097 GB/s, CUB", "2.00 ×"]);
    assert_eq!(cells(&text, "constant u8 in 256")[1..5], ["1.30 × CUB †", "4194 GB/s", "3355 GB/s, CUB", "1.25 ×"]);
    assert_eq!(text.matches(" †").count(), 3, "{text}");
    // Works that were not measured are left out.
    assert!(!text.contains("sum i32") && !text.contains("u16"), "{text}");
}

#[test]
fn the_short_table_has_a_line_for_each_algorithm() {
    let text = tables::short(&run());
    assert_eq!(cells(&text, "saxpy f32")[1..], ["4027 GB/s", "3097 GB/s, cuBLAS", "1.30 ×", "96 %"]);
    assert_eq!((text.matches("scan").count(), text.matches("Life").count()), (1, 2), "{text}");
}

#[test]
fn a_ladder_shows_what_each_step_bought() {
    let text = tables::ladders(&run());
    assert_eq!(cells(&text, "`monolithic`")[..], ["saxpy, 2^28", "`monolithic`", "3221", "77 %", ""]);
    assert_eq!(cells(&text, "| `vectorised` | 4027")[4], "1.25");
    assert_eq!(cells(&text, "*cuBLAS*")[..], ["", "*cuBLAS*", "3097", "74 %", ""]);
    assert_eq!(cells(&text, "`grid_stride`")[4], "8.00");
    // A point of another size shows its size, and no gain.
    assert_eq!(cells(&text, "`naive_block`")[..], ["inclusive scan, 2^28", "`naive_block`, 2^10", "1.64", "0 %", ""]);
    assert_eq!(cells(&text, "| `naive` | 74.0")[4], "");
    // The copies are baselines and not steps of the ladder, so they show no gain.
    assert_eq!(cells(&text, "`copy_tile`")[4], "");
    assert_eq!(cells(&text, "| `naive` | 488")[4], "");
    assert_eq!(cells(&text, "`padded`")[4], "6.98");
    assert!(text.contains("transpose, 16384 × 16384"), "{text}");
}

#[test]
fn small_inputs_and_life_have_their_tables() {
    let text = tables::small(&run());
    let sum = cells(&text, "sum f32, `grid_stride` | 2^16");
    assert_eq!(sum[2..], ["3.5 µs", "8.8 µs, CUB", "2.50 ×", "8.0 µs", "16.0 µs", "2.50", "5.00", "2.00 ×"]);
    assert_eq!(cells(&text, "one call").len(), sum.len());
    // Saxpy was not measured in a series, so these cells have a dash.
    assert_eq!(cells(&text, "saxpy f32, `vectorised` | 2^16")[7..], ["–", "–", "–"]);
    assert!(text.replace('\n', " ").contains("A series is 64 calls"), "{text}");
    assert!(text.lines().filter(|line| !line.starts_with('|')).all(|line| line.chars().count() <= 120), "{text}");
    // A run without measured series has a table without columns for them.
    let before = parse(&RUN.replace("\"series_us\"", "\"other\"")).unwrap();
    let before = tables::small(&before);
    assert_eq!(cells(&before, "sum f32, `grid_stride` | 2^16")[2..], sum[2..7]);
    assert!(cells(&before, "one call").len() == 7 && !before.contains("series"), "{before}");
    assert!(!text.contains("scan"), "{text}");
    let text = tables::life(&run());
    assert_eq!(cells(&text, "`global`")[1..], ["1.64e11", "1.65e11", "1.65e11 (65536 × 65536)"]);
    assert_eq!(cells(&text, "`shared`")[1..], ["–", "–", "2.73e9 (256 × 256)"]);
}

#[test]
fn figures_are_rewritten_and_again_is_no_change() {
    let recording = run();
    let plots = ["bench-saxpy.svg", "bench-life.svg", "bench-copy.svg", "bench-peers.svg"].map(str::to_owned);
    let parts = tables::all(&recording, "bench/results/x.json", &plots).unwrap();
    let names: Vec<_> = figures::DOCUMENTS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    assert_eq!(parts.iter().map(|(name, _)| *name).collect::<Vec<_>>(), names);
    let images = "![copy: GB/s over size](bench-copy.svg) | ![saxpy: GB/s over size](bench-saxpy.svg) |\n| \
                  ![life: GB/s over size](bench-life.svg) |";
    let root = Workspace::open().unwrap().root().to_owned();
    for document @ (path, names) in figures::DOCUMENTS {
        let text = fs::read_to_string(root.join(path)).unwrap();
        let once = figures::rewrite(document, &text, &parts).unwrap();
        assert_eq!(figures::rewrite(document, &once, &parts).unwrap(), once);
        assert_eq!(once.contains(images), names.contains(&"plots"), "{once}");
        assert_eq!(once.contains("(docs/bench-peers.svg)"), names.contains(&"peers"), "{once}");
        // The text outside of the marks is unchanged.
        let outside = |text: &str| {
            let mut text = text.to_owned();
            for name in names {
                let (from, to) = (format!("<!-- bench:{name} -->"), format!("<!-- /bench:{name} -->"));
                let (from, to) = (text.find(&from).unwrap(), text.find(&to).unwrap());
                text.replace_range(from..to, "");
            }
            text
        };
        assert_eq!(outside(&once), outside(&text));
    }
}

/// Tests that the newest recording can be read, and that README.md and docs/figures.md show it.
#[test]
fn the_newest_recording_that_is_kept_is_the_one_that_is_shown() {
    let workspace = Workspace::open().unwrap();
    let (path, recording) = newest(&workspace.root().join(RESULTS)).unwrap().unwrap();
    assert!(check(&recording).is_ok());
    assert_eq!(path.file_name().unwrap().to_string_lossy(), file_name(&recording));
    assert_eq!(
        text(&recording).unwrap(),
        fs::read_to_string(workspace.root().join(&path)).unwrap().replace("\r\n", "\n")
    );
    let plots: Vec<String> =
        plots(tempfile::tempdir().unwrap().path(), &recording).unwrap().into_iter().map(|(name, _)| name).collect();
    let parts = tables::all(&recording, &path.display().to_string(), &plots).unwrap();
    for document in figures::DOCUMENTS {
        let shown = fs::read_to_string(workspace.root().join(document.0)).unwrap().replace("\r\n", "\n");
        assert_eq!(figures::rewrite(document, &shown, &parts).unwrap(), shown);
    }
}

#[test]
fn what_cannot_be_recorded_is_told() {
    assert!(check(&run()).is_ok());
    assert_eq!(file_name(&run()), "gpu-x-2026-01-31.json");
    for (from, to, part) in [
        ("\"simulated\": false", "\"simulated\": true", "of the simulator"),
        ("2026-01-31", "today", "2026-11-21"),
        ("\"copy_gbps\": 4194.3", "\"copy_gbps\": 0", "no measurements"),
    ] {
        let message = check(&parse(&RUN.replace(from, to)).unwrap()).unwrap_err().to_string();
        assert!(message.contains(part), "{part}: {message}");
    }
    for text in ["{}", "[1]", "{\"device\": \"x\", \"date\": \"y\", \"rows\": [{}]}"] {
        assert!(parse(text).is_err(), "{text}");
    }
    let partial = parse(&RUN.replace("\"scan\"", "\"other\"")).unwrap();
    let message = tables::all(&partial, "x", &[]).unwrap_err().to_string();
    assert!(message.contains("does not have scan") && message.contains("without an ALGORITHM"), "{message}");
    let mut recording = run();
    recording.revision = Some("abc".to_owned());
    assert_eq!(parse(&text(&recording).unwrap()).unwrap(), recording);
    recording.rows[0].rung = None;
    let message = check(&recording).unwrap_err().to_string();
    assert!(message.contains("neither of a rung nor of a peer"), "{message}");
}
