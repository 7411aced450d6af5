//! Draws a recording. Each algorithm has a plot of GB/s over size, with a line for each rung, the device's copy and
//! each peer. One more plot compares all algorithms with their peers.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use workbench::algorithm::Unit;
use workbench::bench::sweep::DEVICE_COPY;
use workbench::bench::{MeasuredPoint, Recording, subject};

use crate::report::plot::{self, LadderPlot, LinePlot, Picture, Series};

/// The formats in which each plot is written.
const FORMATS: [&str; 2] = ["svg", "png"];

/// The name of the plot that compares all algorithms with their peers, without its format.
pub const PEERS: &str = "bench-peers";

/// Creates `folder` if it is missing.
///
/// # Errors
/// If a file has that name, or the folder cannot be created.
pub fn check(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() && !folder.is_dir() {
        bail!("cannot write plots into '{}': it is no folder, name one", folder.display());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make the folder '{}'", folder.display()))
}

/// Writes `bench-<algorithm>.svg` and `.png` for every algorithm of the recording, and [`PEERS`] if it has peers.
/// Returns their paths.
///
/// # Errors
/// If a plot cannot be written.
pub fn write(recording: &Recording, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    let mut drawn: Vec<&str> = Vec::new();
    for group in recording.groups() {
        let algorithm = group[0].algorithm.as_str();
        // Only the first type and variant of an algorithm has all rungs.
        let is_yardstick = group.iter().all(is_device_copy);
        let has_one_size = group.iter().all(|row| row.size == group[0].size);
        if drawn.contains(&algorithm) || is_yardstick || has_one_size {
            continue;
        }
        drawn.push(algorithm);
        paths.extend(write_formats(folder, &format!("bench-{algorithm}"), &of(recording, &group))?);
    }
    let plot = beside_peers(recording);
    if !plot.series.is_empty() {
        paths.extend(write_formats(folder, PEERS, &plot)?);
    }
    Ok(paths)
}

/// Writes a plot into `folder` as SVG and as PNG, and returns the paths.
///
/// # Errors
/// If a file cannot be written.
pub fn write_formats(folder: &Path, name: &str, plot: &impl Picture) -> anyhow::Result<Vec<PathBuf>> {
    let paths = FORMATS.map(|format| folder.join(format!("{name}.{format}")));
    paths.iter().try_for_each(|path| plot::write(path, plot))?;
    Ok(paths.into())
}

/// Returns the plot of each peer's time (a peer is a function of NVIDIA's libraries) divided by the time of our last
/// rung. For each algorithm, the first type and variant with a peer has one line for vectors and square matrices, and
/// one for other matrices.
fn beside_peers(recording: &Recording) -> LinePlot {
    let mut series: Vec<Series> = Vec::new();
    let mut drawn: Vec<&str> = Vec::new();
    for group in recording.groups() {
        let first = group[0];
        let algorithm = first.algorithm.as_str();
        if drawn.contains(&algorithm) || group.iter().any(is_device_copy) {
            continue;
        }
        let variant = first.variant.as_ref().map_or(String::new(), |variant| format!(", {variant}"));
        for (is_odd, sides) in [(false, ""), (true, ", odd sides")] {
            let points = ratios(&group, is_odd);
            // A line needs two sizes.
            if points.len() >= 2 {
                drawn.push(algorithm);
                series.push(Series { name: format!("{algorithm} {}{variant}{sides}", first.number), points });
            }
        }
    }
    let sizes = || series.iter().flat_map(|line| &line.points).map(|point| point.0);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    if least < most {
        series.push(Series { name: "NVIDIA's libraries".to_owned(), points: vec![(least, 1.0), (most, 1.0)] });
    }
    LinePlot {
        title: format!("beside CUB and cuBLAS, {}", recording.device),
        x_label: "elements".to_owned(),
        y_label: "their time over ours".to_owned(),
        x_log2: true,
        series,
    }
}

/// Returns the sizes of a group in ascending order, each with the peer's time divided by the time of our last rung. If
/// `is_odd` is true, the sizes are those of matrices that are not square; otherwise they are all other sizes.
fn ratios(group: &[&MeasuredPoint], is_odd: bool) -> Vec<(f64, f64)> {
    let has_odd_sides = |row: &MeasuredPoint| match row.shape.as_deref().and_then(|shape| shape.split_once('x')) {
        Some((width, height)) => width != height,
        None => false,
    };
    let ratio = |peer: &&MeasuredPoint| {
        let ours = group.iter().find(|row| row.last && row.size == peer.size && row.shape == peer.shape)?;
        Some((peer.size as f64, peer.median_us / ours.median_us))
    };
    let peers = group.iter().filter(|row| row.peer.is_some() && has_odd_sides(row) == is_odd);
    let mut points: Vec<(f64, f64)> = peers.filter_map(ratio).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn is_device_copy(row: &&MeasuredPoint) -> bool {
    row.rung.as_deref() == Some(DEVICE_COPY)
}

/// Returns the plot of one type and variant of an algorithm.
fn of(recording: &Recording, group: &[&MeasuredPoint]) -> LadderPlot {
    let rows: Vec<&MeasuredPoint> = group.iter().copied().filter(|row| row.size.is_power_of_two()).collect();
    let rungs = lines(rows.iter().copied().filter(|row| row.rung.is_some() && !is_device_copy(row)));
    let first = group[0];
    let mut references = Vec::new();
    let points = copy_line(recording, first, &rows);
    if !points.is_empty() {
        references.push(Series { name: "device copy".to_owned(), points });
    }
    references.extend(lines(rows.iter().copied().filter(|row| row.peer.is_some())));
    let variant = first.variant.as_ref().map_or(String::new(), |variant| format!(", {variant}"));
    let counted = match subject::unit(first) {
        Unit::Elements | Unit::Operations => "elements",
        Unit::Cells => "cells",
    };
    LadderPlot {
        title: format!("{}{variant}, {}, {}", first.algorithm, first.number, recording.device),
        x_label: counted.to_owned(),
        y_label: "GB/s".to_owned(),
        rungs,
        references,
    }
}

/// Returns a line for each rung or peer, in the order of their first rows.
fn lines<'a>(rows: impl Iterator<Item = &'a MeasuredPoint>) -> Vec<Series> {
    let mut lines: Vec<Series> = Vec::new();
    for row in rows {
        Series::add(&mut lines, row.name(), (row.size as f64, row.gbps));
    }
    lines
}

/// Returns the plot's line for the device's copy, over the range of sizes of `rows`. Its value at a size is the speed
/// of a copy that moves as many bytes as the algorithm.
fn copy_line(recording: &Recording, first: &MeasuredPoint, rows: &[&MeasuredPoint]) -> Vec<(f64, f64)> {
    let ends = rows.iter().map(|row| row.size).min().zip(rows.iter().map(|row| row.size).max());
    let Some((least, most)) = ends.filter(|_| first.bytes > 0) else { return Vec::new() };
    let copies = recording.rows.iter().filter(is_device_copy);
    copies
        .map(|copy| (copy.bytes as f64 * first.size as f64 / first.bytes as f64, copy.gbps))
        .filter(|&(size, _)| size >= least as f64 && size <= most as f64)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(algorithm: &str, rung: Option<&str>, size: u64, bytes: u64, gbps: f64) -> MeasuredPoint {
        let peer = if rung.is_none() { Some("CUB".to_owned()) } else { None };
        let (rung, number) = (rung.map(str::to_owned), "f32".to_owned());
        MeasuredPoint { algorithm: algorithm.into(), rung, peer, number, size, bytes, gbps, ..MeasuredPoint::default() }
    }

    fn recording() -> Recording {
        let mut rows = Vec::new();
        for size in [1024, 4096] {
            rows.push(row("copy", Some(DEVICE_COPY), size, 8 * size, 40.0));
            rows.push(row("reduce", Some("plain"), size, 4 * size, 10.0));
            rows.push(row("reduce", Some("best"), size, 4 * size, 30.0));
        }
        rows.push(row("reduce", None, 4096, 4 * 4096, 25.0));
        rows.push(row("reduce", Some("best"), 4095, 4 * 4095, 29.0));
        Recording { device: "GPU X".into(), rows, ..Recording::default() }
    }

    #[test]
    fn a_plot_has_a_line_for_each_rung_the_copy_and_the_peers() {
        let recording = recording();
        let plot = of(&recording, &recording.groups()[1]);
        assert_eq!(plot.rungs.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["plain", "best"]);
        assert_eq!(plot.rungs[1].points, [(1024.0, 30.0), (4096.0, 30.0)]);
        assert_eq!(plot.references.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["device copy", "CUB"]);
        // A copy moves twice as many bytes as a reduction of the same number of elements.
        assert_eq!(plot.references[0].points, [(2048.0, 40.0)]);
        assert_eq!(plot.title, "reduce, f32, GPU X");
    }

    #[test]
    fn an_algorithm_beside_its_peer_is_a_line_of_ratios() {
        let mut recording = recording();
        assert_eq!(beside_peers(&recording).series, [], "one size is no line");
        for (size, ours, theirs) in [(4096, 2.0, 3.0), (1024, 2.0, 1.0)] {
            let best = recording.rows.iter_mut().find(|row| row.size == size && row.rung.as_deref() == Some("best"));
            let best = best.unwrap();
            (best.last, best.median_us) = (true, ours);
            recording.rows.retain(|row| row.peer.is_none() || row.size != size);
            recording.rows.push(MeasuredPoint { median_us: theirs, ..row("reduce", None, size, 4 * size, 1.0) });
        }
        // Adds a point of another variant, and a point of a size at which no rung was measured.
        recording.rows.push(MeasuredPoint { variant: Some("other".into()), ..row("reduce", None, 1024, 1, 1.0) });
        recording.rows.push(MeasuredPoint { median_us: 1.0, ..row("reduce", None, 2048, 1, 1.0) });
        let plot = beside_peers(&recording);
        assert_eq!(
            plot.series.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(),
            ["reduce f32", "NVIDIA's libraries"]
        );
        assert_eq!(plot.series[0].points, [(1024.0, 0.5), (4096.0, 1.5)]);
        assert_eq!(plot.series[1].points, [(1024.0, 1.0), (4096.0, 1.0)]);
        let folder = tempfile::tempdir().unwrap();
        assert!(write(&recording, folder.path()).unwrap().contains(&folder.path().join("bench-peers.svg")));
    }

    #[test]
    fn odd_sides_are_a_line_of_their_own() {
        let mut recording = Recording::default();
        for (shape, size, ours, theirs) in
            [("64x64", 4096, 2.0, 3.0), ("31x33", 1023, 2.0, 5.0), ("63x65", 4095, 2.0, 1.0), ("32x32", 1024, 2.0, 4.0)]
        {
            let of = |rung, time| MeasuredPoint {
                shape: Some(shape.into()),
                median_us: time,
                ..row("transpose", rung, size, 8, 1.0)
            };
            recording.rows.push(MeasuredPoint { last: true, ..of(Some("best"), ours) });
            recording.rows.push(of(None, theirs));
        }
        let [squares, odd, _] = &beside_peers(&recording).series[..] else { panic!("three lines") };
        assert_eq!((squares.name.as_str(), odd.name.as_str()), ("transpose f32", "transpose f32, odd sides"));
        assert_eq!(squares.points, [(1024.0, 2.0), (4096.0, 1.5)]);
        assert_eq!(odd.points, [(1023.0, 2.5), (4095.0, 0.5)]);
    }

    #[test]
    fn the_yardstick_alone_has_no_plot() {
        let folder = tempfile::tempdir().unwrap();
        let paths = write(&recording(), folder.path()).unwrap();
        let names: Vec<_> = paths.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["bench-reduce.svg", "bench-reduce.png"]);
        assert!(paths.iter().all(|path| path.is_file()));
    }

    #[test]
    fn a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        assert!(check(&folder.path().join("new/plots")).is_ok());
        fs::write(folder.path().join("file"), "").unwrap();
        let message = check(&folder.path().join("file")).unwrap_err().to_string();
        assert!(message.contains("file': it is no folder"), "{message}");
    }
}
