//! Shows a recording as tables for a terminal.

use units::percent;
use workbench::algorithm::Unit;
use workbench::bench::{MeasuredPoint, Recording, subject};

use crate::recordings;
use crate::report::{self, Bytes, Rate};

/// The largest size of vectors and matrices that is shown in full, in elements.
const HEADLINE: u64 = 1 << 28;

/// Returns the tables: the machine, GB/s or TFLOP/s over size, the rungs at the largest size, and small inputs.
pub fn text(recording: &Recording) -> String {
    let mut text = heading(recording);
    let tables = tables(recording);
    // Points that move no bytes are shown with their times in the tables below.
    let moves_bytes = |table: &&Table<'_>| table.columns.iter().flat_map(|(_, rows)| rows).any(|row| row.bytes > 0);
    for Table { title, columns } in tables.iter().filter(moves_bytes) {
        text += &format!("\n{title}: {}\n{}\n", rate_unit(columns), over_size(columns));
    }
    for Table { title, columns } in &tables {
        let rows = at_headline(columns);
        if !rows.is_empty() {
            text += &format!("\n{title}\n{}\n", in_full(recording, rate_unit(columns), &rows));
        }
    }
    let small: Vec<&MeasuredPoint> = recording.rows.iter().filter(|row| row.host_us.is_some()).collect();
    if !small.is_empty() {
        let calls = recording.series_calls.map_or("many".to_owned(), |calls| calls.to_string());
        let series = match has_series(&small) {
            true => format!("; and in a series of {calls}, each on memory of its own"),
            false => String::new(),
        };
        text += &format!(
            "\nsmall inputs, one call: on the device's clock, and as the host sees it{series}\n{}\n",
            of_small(&small)
        );
    }
    for reason in &recording.left_out {
        text += &format!("left out: {reason}\n");
    }
    if recording.simulated {
        text += report::SIMULATED;
    }
    text
}

/// The rows of one table.
struct Table<'a> {
    title: String,
    /// The columns: the heading of each, and the points of its rung or peer.
    columns: Vec<(String, Vec<&'a MeasuredPoint>)>,
}

/// Returns a table for each ladder with several measured rungs. Where only the last rung was measured, all types and
/// variants of an algorithm share one table.
fn tables(recording: &Recording) -> Vec<Table<'_>> {
    let mut tables: Vec<Table<'_>> = Vec::new();
    for group in recording.groups() {
        let mut columns: Vec<(String, Vec<&MeasuredPoint>)> = Vec::new();
        for row in &group {
            match columns.iter_mut().find(|(name, _)| name == row.name()) {
                Some((_, rows)) => rows.push(row),
                None => columns.push((row.name().to_owned(), vec![row])),
            }
        }
        if columns.iter().filter(|(_, rows)| rows[0].rung.is_some()).count() > 1 {
            tables.push(Table { title: title(&group), columns });
            continue;
        }
        let (algorithm, number, variant) = group[0].group();
        let variant = variant.map_or(String::new(), |variant| format!("{variant} "));
        let columns = columns.into_iter().map(|(name, rows)| (format!("{variant}{number} {name}"), rows));
        let title = format!("{algorithm}, last rung alone");
        match tables.iter_mut().find(|table| table.title == title) {
            Some(table) => table.columns.extend(columns),
            None => tables.push(Table { title, columns: columns.collect() }),
        }
    }
    tables
}

/// Returns the unit of the rates of a table.
fn rate_unit(columns: &[(String, Vec<&MeasuredPoint>)]) -> &'static str {
    let mut rows = columns.iter().flat_map(|(_, rows)| rows);
    if rows.any(|row| subject::unit(row) == Unit::Operations) { "TFLOP/s" } else { "GB/s" }
}

/// Returns the rate of a row: 10¹² operations per second of a product, and otherwise 10⁹ bytes per second.
fn rate(row: &MeasuredPoint) -> f64 {
    if subject::unit(row) == Unit::Operations { subject::teraflops(row) } else { row.gbps }
}

fn heading(recording: &Recording) -> String {
    let mut parts = recordings::machine(recording);
    parts.extend(recording.machine.l2_bytes.map(|bytes| format!("L2 {}", Bytes(bytes))));
    let mut text = format!("bench on {}, {}: {}\n", recording.device, recording.date, parts.join(", "));
    for clocks in &recording.clocks {
        text += &format!("clocks {}: SMs {} MHz, memory {} MHz\n", clocks.when, clocks.sm_mhz, clocks.memory_mhz);
    }
    if let Some(peers) = &recording.peers {
        text += &format!("peers: CUB {}, cuBLAS {}, {}\n", peers.cub, peers.cublas, peers.compiler);
    }
    text += &format!("the device copies at {} GB/s", Rate(recording.copy_gbps));
    if let Some(datasheet) = recording.datasheet_gbps {
        let share = share(recording.copy_gbps, datasheet);
        text += &format!(", {share} of memory clock × bus width, {} GB/s", Rate(datasheet));
    }
    let caches = match recording.flush_bytes {
        0 => "caches as they are".to_owned(),
        bytes => format!("caches flushed before every run by reading {}", Bytes(bytes)),
    };
    text + &format!("\nmedians after runs that warm up; {caches}; random values of seed {}\n", recording.seed)
}

fn title(group: &[&MeasuredPoint]) -> String {
    let (algorithm, number, variant) = group[0].group();
    let variant = variant.map_or(String::new(), |variant| format!(" {variant}"));
    format!("{algorithm}{variant} {number}")
}

/// Returns a table with a row for each size and a column for each rung and peer.
fn over_size(columns: &[(String, Vec<&MeasuredPoint>)]) -> String {
    let mut sizes: Vec<(u64, String)> =
        columns.iter().flat_map(|(_, rows)| rows).map(|row| (row.size, row.size_text())).collect();
    sizes.sort();
    sizes.dedup();
    let cell = |size: &str, rows: &[&MeasuredPoint]| {
        let row = rows.iter().find(|row| row.size_text() == size);
        row.map_or("–".to_owned(), |row| Rate(rate(row)).to_string())
    };
    let row = |(_, size): &(u64, String)| -> Vec<String> {
        std::iter::once(size.clone()).chain(columns.iter().map(|(_, rows)| cell(size, rows))).collect()
    };
    let heading: Vec<&str> = std::iter::once("size").chain(columns.iter().map(|(name, _)| name.as_str())).collect();
    report::table(heading, sizes.iter().map(row)).to_string()
}

/// Returns the heading of each column, with the column's measured point at the largest size that is shown in full.
fn at_headline<'a>(columns: &'a [(String, Vec<&'a MeasuredPoint>)]) -> Vec<(&'a str, &'a MeasuredPoint)> {
    let fits =
        |row: &MeasuredPoint| row.size.is_power_of_two() && (subject::unit(row) == Unit::Cells || row.size <= HEADLINE);
    let largest = |rows: &[&'a MeasuredPoint]| rows.iter().copied().filter(|row| fits(row)).max_by_key(|row| row.size);
    columns.iter().filter_map(|(name, rows)| Some((name.as_str(), largest(rows)?))).collect()
}

fn in_full(recording: &Recording, unit: &str, rows: &[(&str, &MeasuredPoint)]) -> String {
    // The bytes do not limit a product.
    let of = |row: &MeasuredPoint, speed: f64| match subject::unit(row) {
        Unit::Operations => "–".to_owned(),
        _ => share(row.gbps, speed),
    };
    let rows = rows.iter().map(|(name, row)| {
        [
            row.setting.as_ref().map_or((*name).to_owned(), |setting| format!("{name}: {setting}")),
            row.size_text(),
            micros(row.median_us),
            format!("{} – {}", micros(row.low_us), micros(row.high_us)),
            Rate(rate(row)).to_string(),
            of(row, recording.copy_gbps),
            recording.datasheet_gbps.map_or("–".to_owned(), |datasheet| of(row, datasheet)),
            row.runs.to_string(),
        ]
    });
    let heading = ["kernel", "size", "median", "quartiles", unit, "of copy", "of datasheet", "runs"];
    report::table(heading, rows).to_string()
}

/// Returns true if any of the rows was measured in a series.
fn has_series(rows: &[&MeasuredPoint]) -> bool {
    rows.iter().any(|row| row.series_us.is_some())
}

fn of_small(rows: &[&MeasuredPoint]) -> String {
    let has_series = has_series(rows);
    let some = |time: Option<f64>| time.map_or("–".to_owned(), micros);
    let cells = |row: &&MeasuredPoint| {
        let mut cells = vec![title(&[row]), row.size_text(), row.name().to_owned(), micros(row.median_us)];
        cells.push(some(row.host_us));
        cells.extend(has_series.then(|| some(row.series_us)));
        cells
    };
    let mut heading = vec!["work", "size", "kernel", "device", "host"];
    heading.extend(has_series.then_some("a call in a series"));
    report::table(heading, rows.iter().map(cells)).to_string()
}

fn micros(micros: f64) -> String {
    report::Seconds(1e-6 * micros).to_string()
}

/// Returns `part` of `whole` in percent, or `–` if `whole` is 0.
fn share(part: f64, whole: f64) -> String {
    if whole > 0.0 { percent(part / whole) } else { "–".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_and_peer_is_shown() {
        let row = |rung: Option<&str>, peer: Option<&str>, size: u64| MeasuredPoint {
            algorithm: "reduce".into(),
            rung: rung.map(str::to_owned),
            peer: peer.map(str::to_owned),
            number: "f32".into(),
            size,
            bytes: 4 * size,
            runs: 9,
            median_us: 8.0,
            low_us: 7.5,
            high_us: 8.25,
            gbps: size as f64 / 2000.0,
            host_us: (size < 1 << 20 && rung != Some("plain")).then_some(12.5),
            series_us: (size == 1 << 16 && rung != Some("plain")).then_some(3.25),
            ..MeasuredPoint::default()
        };
        let mut rows = Vec::new();
        for size in [1 << 16, 1 << 20] {
            rows.extend([row(Some("plain"), None, size), row(Some("best"), None, size), row(None, Some("CUB"), size)]);
        }
        rows.push(MeasuredPoint { number: "f64".into(), ..row(Some("best"), None, 1 << 19) });
        let recording = Recording {
            device: "GPU X".into(),
            copy_gbps: 1048.576,
            datasheet_gbps: Some(2097.152),
            rows,
            series_calls: Some(64),
            left_out: vec!["reduce 2^40".to_owned()],
            ..Recording::default()
        };
        let shown = text(&recording);
        let mut without = recording.clone();
        without.rows.iter_mut().for_each(|row| row.series_us = None);
        assert!(!text(&without).contains("series"), "{}", text(&without));
        let text = shown;
        for part in [
            "bench on GPU X",
            "the device copies at 1,049 GB/s, 50.0 % of memory clock",
            "reduce f32: GB/s",
            "reduce, last rung alone: GB/s",
            "f64 best",
            "7.50 µs – 8.25 µs",
            "small inputs",
            "in a series of 64",
            "a call in a series",
            "left out: reduce 2^40",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let best: Vec<&str> = text.lines().filter(|line| line.trim_start().starts_with("best")).collect();
        assert!(best[0].contains("524") && best[0].contains("50.0 %") && best[0].contains("25.0 %"), "{text}");
        assert_eq!(text.lines().filter(|line| line.contains("12.5 µs")).count(), 3, "{text}");
        assert_eq!(text.lines().filter(|line| line.trim_end().ends_with("3.25 µs")).count(), 2, "{text}");
        for name in ["plain", "best", "CUB"] {
            assert!(text.matches(name).count() >= 2, "{name}: {text}");
        }
    }
}
