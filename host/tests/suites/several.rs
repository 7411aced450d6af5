//! Tests commands on several simulated devices.

use crate::common;

use std::fs;

use common::{Host, text};
use serde_json::Value;

const HOST: Host = Host(&[]);

#[test]
fn vectors_are_split_over_devices_and_right() {
    for (device, members) in [("sim:2", 2), ("sim:3", 3), ("sim:7", 7)] {
        for n in ["0", "2", "5009"] {
            for arguments in [
                &["reduce", "--type", "i64", "--op", "product", "--rung", "grid_stride"][..],
                &["reduce", "--type", "f32", "--rung", "interleaved"],
                &["scan", "--type", "f64", "--exclusive", "--rung", "look_back"],
                &["scan", "--type", "i32", "--rung", "work_efficient"],
                &["saxpy", "--type", "f64"],
                &["histogram", "--type", "u32", "--bins", "1000", "--rung", "global"],
            ] {
                let output = HOST.run(&[arguments, &["--n", n, "--device", device, "--json"]].concat());
                assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
                let report: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!((&report["members"], &report["ranks"]), (&members.into(), &1.into()), "{report}");
                let kernel = &report["kernels"].as_array().unwrap().last().unwrap();
                assert!(kernel["wrong"].is_null() && kernel["of_bound"].as_f64().unwrap() <= 1.0, "{report}");
            }
        }
    }
    for (size, layout, number, device) in [("20x33", "nn", "bf16", "sim:2"), ("9x2", "tt", "f64", "sim:3")] {
        let command = ["matmul", "--size", size, "--k", "70", "--layout", layout, "--type", number, "--device", device];
        let output = HOST.run(&[&command[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", text(&output.stderr));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        for kernel in report["kernels"].as_array().unwrap() {
            assert!(kernel["wrong"].is_null() && kernel["of_bound"].as_f64().unwrap() <= 1.0, "{report}");
        }
    }
    let output = HOST.run(&["scan", "--n", "100", "--device", "sim:3"]);
    assert!(text(&output.stdout).contains("n = 100 on 3 × simulator: "), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("devices: 3 × simulator"), "{}", text(&output.stderr));
}

#[test]
fn what_runs_on_one_device_refuses_several() {
    HOST.assert_fails(&["bandwidth", "--device", "gpu:0,1"], 2, &["gpu:0,1", "this command runs on one", "gpu:N"]);
    HOST.assert_fails(&["stream", "async", "--device", "sim:2"], 2, &["sim:2", "this command runs on one"]);
    let transpose = ["transpose", "--size", "9x5", "--device", "sim:2"];
    let output = HOST.run(&transpose);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("error: transpose, f32, 9x5 runs on one device"), "{}", text(&output.stderr));
    HOST.assert_fails(&["reduce", "--device", "sim:0"], 2, &["sim:0", "between 1 and 1024"]);
    HOST.assert_fails(&["bench", "--n", "5", "--device", "sim"], 2, &["--n", "several devices"]);
    HOST.assert_fails(&["bench", "--peers", "true", "--device", "sim:2"], 2, &["--peers", "one device"]);
}

#[test]
fn scaling_is_measured_shown_recorded_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let (file, plots) = (folder.path().join("run.json"), folder.path().join("plots"));
    let (file, plots) = (file.to_str().unwrap(), plots.to_str().unwrap());
    let output = HOST.run(&["bench", "--device", "sim:3", "--n", "5003", "--json", file, "--plot", plots]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    let recording: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&recording["members"], &recording["simulated"]), (&3.into(), &true.into()));
    for (algorithm, number) in
        [("reduce", "f32"), ("reduce", "i32"), ("scan", "f32"), ("saxpy", "f32"), ("histogram", "u8")]
    {
        assert!(table.contains(&format!("{algorithm} {number}")), "{table}");
        for (kind, sizes) in [("strong", [5003; 3]), ("weak", [5003, 2 * 5003, 3 * 5003])] {
            let rows = recording["scaling"].as_array().unwrap().iter();
            let rows: Vec<_> = rows
                .filter(|row| row["algorithm"] == algorithm && row["type"] == number && row["kind"] == kind)
                .collect();
            for ((row, size), members) in rows.iter().zip(sizes).zip(1..) {
                assert_eq!((&row["members"], &row["size"]), (&members.into(), &size.into()), "{row}");
                let [gbps, one] = [row, rows[0]].map(|row| row["gbps"].as_f64().unwrap());
                let speedup = row["speedup"].as_f64().unwrap();
                assert!((speedup - gbps / one).abs() < 1e-9, "{row}");
                assert!((row["efficiency"].as_f64().unwrap() - speedup / f64::from(members)).abs() < 1e-9, "{row}");
            }
            assert_eq!(rows.len(), 3, "{recording}");
        }
    }
    // A board of 64 columns has at most 5003 cells.
    let rows = || recording["scaling"].as_array().unwrap().iter().filter(|row| row["algorithm"] == "life");
    assert_eq!(
        rows().map(|row| row["size"].as_u64().unwrap()).collect::<Vec<_>>(),
        [4992, 4992, 4992, 4992, 9984, 14976]
    );
    for row in rows() {
        let [rate, median] = ["cell_updates_per_second", "median_us"].map(|key| row[key].as_f64().unwrap());
        let updates = 24.0 * row["size"].as_f64().unwrap();
        assert!((rate * 1e-6 * median / updates - 1.0).abs() < 1e-9 && row["speedup"].as_f64().unwrap() > 0.0, "{row}");
    }
    // A result of 64 columns has at most 5003 elements.
    let rows = recording["scaling"].as_array().unwrap().iter().filter(|row| row["algorithm"] == "matmul");
    let rows: Vec<_> = rows.map(|row| [&row["size"], &row["teraflops"], &row["median_us"]]).collect();
    let sizes = [4992, 4992, 4992, 4992, 9984, 14976];
    assert_eq!(rows.len(), sizes.len());
    for (row, size) in rows.iter().zip(sizes) {
        let [found, rate, median] = row.map(|value| value.as_f64().unwrap());
        let operations = 2.0 * 64.0 * f64::from(size);
        assert!(found == f64::from(size) && (rate * 1e6 * median / operations - 1.0).abs() < 1e-9, "{row:?}");
    }
    assert!(table.contains("matmul bf16") && table.contains(" TFLOP/s"), "{table}");
    assert!(table.contains("life cells") && table.contains(" cells/s"), "{table}");
    assert!(fs::exists(format!("{plots}/bench-scaling.png")).unwrap());
    let again = HOST.run(&["bench", "--from", file]);
    assert_eq!(text(&again.stdout), table);
    HOST.assert_fails(&["bench", "life_of_others", "--device", "sim:2"], 2, &["life_of_others"]);
    let output = HOST.run(&["bench", "transpose", "--device", "sim:2"]);
    assert!(text(&output.stderr).contains("transpose does not run on several devices"), "{}", text(&output.stderr));
}

#[test]
fn more_than_a_device_holds_is_an_error() {
    for (n, count) in [("2^50", "1125899906842624"), ("2^63", "9223372036854775808")] {
        let left_out = format!("strong saxpy f32 of {count} on 1");
        let parts = ["nothing was measured", &left_out, "needed on each", "use a smaller --n"];
        HOST.assert_fails(&["bench", "saxpy", "--device", "sim:2", "--n", n], 1, &parts);
    }
}

/// Tests a program without MPI that `mpirun` has started. It must report the missing MPI once, instead of running the
/// command in each process.
#[test]
#[cfg(not(feature = "mpi"))]
fn a_build_without_mpi_is_no_rank() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let begun = Instant::now();
    // All ranks start at once. Each rank but the first waits before it ends. Otherwise `mpirun` would end the first
    // rank before that rank prints its error.
    let ranks = [("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"), ("PMI_SIZE", "PMI_RANK")].map(|(size, rank)| {
        ["0", "1"].map(|number| {
            let mut host = Command::new(env!("CARGO_BIN_EXE_host"));
            host.args(["reduce", "--n", "100", "--device", "sim"]).env(size, "3").env(rank, number);
            host.env("GRIDSTRIDE_TEST_PATIENCE_MS", "500");
            host.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
    });
    for pair in ranks {
        let [first, second] = pair.map(|rank| rank.wait_with_output().unwrap());
        assert_eq!((first.status.code(), second.status.code()), (Some(2), Some(2)));
        assert!(first.stdout.is_empty() && second.stdout.is_empty() && second.stderr.is_empty());
        let error = text(&first.stderr);
        assert!(error.starts_with("error: ") && error.contains("--features mpi"), "{error}");
    }
    assert!(begun.elapsed() >= Duration::from_millis(500), "no rank has waited");
}
