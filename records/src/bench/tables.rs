//! Makes the tables of README.md and docs/figures.md from a recording.

use std::fmt::Write;

use ::program::recordings;
use anyhow::{Result, ensure};
use workbench::algorithm::{Shape, Target, Unit};
use workbench::bench::sweep::DEVICE_COPY;
use workbench::bench::{MeasuredPoint, PeersAbout, Recording, Scope, Subject, Sweep, subject, sweeps};

use super::rung_rows;

/// The exponents of the sizes of small inputs.
const SMALL_EXPONENTS: [u32; 3] = [16, 18, 20];

/// The maximum number of characters per line of text.
const COLUMNS: usize = 120;

/// The mark after a target that the rung missed.
const MISSED: &str = " †";

/// The boards in the table of Life.
const BOARDS: [&str; 2] = ["8192x8192", "65536x65536"];

/// Returns all sweeps of a run of `host bench` on a GPU.
pub(super) fn all_works() -> impl Iterator<Item = Sweep> {
    Subject::all().flat_map(|subject| sweeps(subject, Scope { quick: false, simulated: false }))
}

/// Returns true if `row` belongs to the sweep `work`, at any size.
pub(super) fn is_of(work: &Sweep, row: &MeasuredPoint) -> bool {
    row.group() == (work.subject.name(), work.number, work.variant)
}

/// Returns true if `row` has the size `shape`.
fn is_at(shape: Shape, row: &MeasuredPoint) -> bool {
    match shape {
        Shape::Vector(len) => row.shape.is_none() && row.size == len as u64,
        Shape::Plane(size) => row.shape.as_deref() == Some(&size.to_string()),
    }
}

/// The algorithms that the kept recording does not have. The next recording of all algorithms empties this list.
const NOT_RECORDED: [&str; 5] = ["by_key", "matmul", "segments", "select", "sort"];

/// Returns every generated part of README.md and docs/figures.md with its name. `path` is the file of the recording,
/// and `plots` are the names of its plots.
///
/// # Errors
/// If the run lacks an algorithm.
pub fn all(recording: &Recording, path: &str, plots: &[String]) -> Result<Vec<(&'static str, String)>> {
    for work in all_works().filter(|work| !work.aims.is_empty() && !NOT_RECORDED.contains(&work.subject.name())) {
        let name = work.subject.name();
        ensure!(
            recording.rows.iter().any(|row| row.algorithm == name && row.last),
            "the run does not have {name}: record a run of host bench without an ALGORITHM",
        );
    }
    Ok(vec![
        ("run", run(recording, path)),
        ("short", short(recording)),
        ("peers", beside_peers(plots)),
        ("last", last(recording)),
        ("ladders", ladders(recording)),
        ("small", small(recording)),
        ("life", life(recording)),
        ("plots", images(recording, plots)),
    ])
}

/// Returns the description of the machine and of the measurement.
pub fn run(recording: &Recording, path: &str) -> String {
    let some = |prefix: &str, text: &Option<String>| text.as_ref().map(|text| format!("{prefix}{text}"));
    let mut made = Vec::new();
    made.extend(some("sources at `", &recording.revision).map(|text| text + "`"));
    made.extend(some("kernels compiled by ", &recording.compiler));
    if let Some(PeersAbout { compiler, cub, cublas, .. }) = &recording.peers {
        made.push(format!("peers CUB {cub} and cuBLAS {cublas}, compiled by {compiler}"));
    }
    let copy = recording.copy_gbps;
    let share = recording.datasheet_gbps.filter(|&datasheet| datasheet > 0.0);
    let share = share.map_or(String::new(), |datasheet| {
        format!(", {:.0} % of what memory clock and bus width allow ({datasheet:.0} GB/s)", 100.0 * copy / datasheet)
    });
    let text = format!(
        "Measured on one {} ({}), {}: {}. The inputs are random values in device memory. Times are medians by device \
         events, with caches flushed before each run, except for Life, whose generations follow each other. GB/s \
         counts the bytes that the algorithm must read and write. The device's own copy reads and writes at {copy:.0} \
         GB/s{share}. All points: [{path}]({path}).",
        recording.device,
        recordings::machine(recording).join(", "),
        recording.date,
        made.join("; "),
    );
    units::wrapped(&text, 0, COLUMNS) + "\n"
}

/// The measurement of an aim (a size and its targets), as cells of a table.
struct Measured {
    /// The description of the work, its size and the rung.
    what: String,
    /// The targets, each followed by a mark if it was missed.
    targets: String,
    is_missed: bool,
    /// The speed of the last rung and of its peer, their ratio, and the share of the device's copy speed.
    speeds: [String; 4],
    /// The algorithm, if the short table shows only its first aim; `None` for Life, whose aims are all shown.
    represents: Option<&'static str>,
}

/// Returns the measurements of the aims, in the order of the algorithms.
fn measured(recording: &Recording) -> impl Iterator<Item = Measured> {
    let aims = all_works().flat_map(|work| work.aims.iter().map(move |aim| (work.clone(), aim)));
    aims.filter_map(|(work, aim)| {
        let rows: Vec<&MeasuredPoint> =
            recording.rows.iter().filter(|row| is_of(&work, row) && is_at(aim.shape, row)).collect();
        let ours = rows.iter().copied().filter(|row| row.last).nth(aim.nth)?;
        let peer = rows.iter().find(|row| row.peer.is_some());
        let peer = peer.or_else(|| rows.iter().find(|row| row.name() == DEVICE_COPY)).copied();
        let speed = |row: &MeasuredPoint| match work.subject.unit() {
            Unit::Cells => format!("{} cells/s", exponent(updates(row))),
            Unit::Elements => format!("{} GB/s", rate(row.gbps)),
            Unit::Operations => format!("{} TFLOP/s", rate(subject::teraflops(row))),
        };
        let ratio = peer.map(|peer| peer.median_us / ours.median_us);
        let is_reached = |target: &Target| match *target {
            Target::Peer(times, _) => ratio.is_none_or(|ratio| ratio >= times),
            Target::Copy(percent) => 100.0 * ours.gbps >= percent * recording.copy_gbps,
            Target::CellUpdates(rate) => updates(ours) >= rate,
        };
        let target = |target: &Target| format!("{target}{}", if is_reached(target) { "" } else { MISSED });
        Some(Measured {
            what: format!("{}, {}, `{}`", aim.what, size_text(ours), ours.name()),
            targets: aim.targets.iter().map(target).collect::<Vec<_>>().join(", "),
            is_missed: !aim.targets.iter().all(is_reached),
            speeds: [
                speed(ours),
                peer.map_or("–".to_owned(), |peer| format!("{}, {}", speed(peer), peer.name())),
                ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.2} ×")),
                share(ours.gbps, recording),
            ],
            represents: (work.subject.unit() != Unit::Cells).then(|| work.subject.name()),
        })
    })
}

/// Returns the short table, which compares rungs with their peers: the first aim of each algorithm, and both aims of
/// Life.
pub fn short(recording: &Recording) -> String {
    let mut text = "| work | ours | peer | ours ÷ peer | of copy |\n|---|---:|---:|---:|---:|\n".to_owned();
    let mut shown = Vec::new();
    for Measured { what, speeds, represents, .. } in measured(recording) {
        if represents.is_some_and(|algorithm| shown.contains(&algorithm)) {
            continue;
        }
        shown.extend(represents);
        let _ = writeln!(text, "| {what} | {} |", speeds.join(" | "));
    }
    text
}

/// Returns the table that compares the last rungs with their peers. It marks missed targets.
pub fn last(recording: &Recording) -> String {
    let mut text =
        "| work | to reach | ours | peer | ours ÷ peer | of copy |\n|---|---|---:|---:|---:|---:|\n".to_owned();
    let mut misses = false;
    for Measured { what, targets, is_missed, speeds, .. } in measured(recording) {
        misses |= is_missed;
        let _ = writeln!(text, "| {what} | {targets} | {} |", speeds.join(" | "));
    }
    if misses {
        text += "\n†: target not reached. The [notes](notes/README.md) say what limits the kernel.\n";
    }
    text
}

/// Returns the cell updates per second of a row of Life.
pub(crate) fn updates(row: &MeasuredPoint) -> f64 {
    row.size as f64 / row.median_us * 1e6
}

/// Returns the table of the ladders, with the gain of each rung over the rung before it.
pub fn ladders(recording: &Recording) -> String {
    let mut text = "| algorithm | rung | GB/s | of copy | × the rung before |\n|---|---|---:|---:|---:|\n".to_owned();
    let mut of = None;
    for row in rung_rows::all(recording) {
        let is_first = of.replace((row.algorithm, row.variant)) != Some((row.algorithm, row.variant));
        let title = match (is_first, row.variant) {
            (false, _) => String::new(),
            (true, None) => format!("{}, {}", row.algorithm, row.ladder_size),
            (true, Some(variant)) => format!("{variant} {}, {}", row.algorithm, row.ladder_size),
        };
        let shown = match (row.is_peer, row.size == row.ladder_size) {
            (true, _) => format!("*{}*", row.name),
            (false, true) => format!("`{}`", row.name),
            (false, false) => format!("`{}`, {}", row.name, row.size),
        };
        let step = row.step.map_or(String::new(), |step| format!("{step:.2}"));
        let (speed, of_copy) = match row.teraflops {
            Some(teraflops) => (format!("{} TFLOP/s", rate(teraflops)), "–".to_owned()),
            None => (rate(row.gbps), share(row.gbps, recording)),
        };
        text += &format!("| {title} | {shown} | {speed} | {of_copy} | {step} |\n");
    }
    text.push_str(
        "\nPeers are in italics. A copy reads and writes each byte; a reduction only reads, which is faster.\n",
    );
    text
}

/// Returns the names of the rungs and peers of these rows, in the order of their first rows.
pub(super) fn names<'a>(rows: &[&'a MeasuredPoint]) -> Vec<&'a str> {
    let mut names = Vec::new();
    for row in rows {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    names
}

/// Returns the table of single calls on small inputs. If calls were measured in a series, the table has columns for
/// them.
pub fn small(recording: &Recording) -> String {
    let has_series = recording.rows.iter().any(|row| row.series_us.is_some());
    let mut headings =
        "| one call | elements | ours | peer | peer ÷ ours | ours, by the host | peer, by the host |".to_owned();
    let mut rule = "|---|---:|---:|---:|---:|---:|---:|".to_owned();
    if has_series {
        headings += " ours, µs per call in a series | peer, µs per call in a series | peer ÷ ours in a series |";
        rule += "---:|---:|---:|";
    }
    let mut text = format!("{headings}\n{rule}\n");
    for work in all_works().filter(|work| work.is_small) {
        let what = work.aims.first().map_or(work.subject.name(), |aim| aim.what);
        for exponent in SMALL_EXPONENTS {
            let is_small = |row: &&MeasuredPoint| is_of(&work, row) && is_at(Shape::Vector(1 << exponent), row);
            let rows: Vec<&MeasuredPoint> = recording.rows.iter().filter(is_small).collect();
            let Some(ours) = rows.iter().copied().find(|row| row.last) else { continue };
            let peer = rows.iter().copied().find(|row| row.peer.is_some());
            let micros = |micros: Option<f64>| micros.map_or("–".to_owned(), |micros| format!("{micros:.1} µs"));
            let ratio = peer.map_or("–".to_owned(), |peer| format!("{:.2} ×", peer.median_us / ours.median_us));
            text += &format!(
                "| {what}, `{}` | 2^{exponent} | {} | {} | {ratio} | {} | {} |",
                ours.name(),
                micros(Some(ours.median_us)),
                peer.map_or("–".to_owned(), |peer| format!("{:.1} µs, {}", peer.median_us, peer.name())),
                micros(ours.host_us),
                micros(peer.and_then(|peer| peer.host_us)),
            );
            if has_series {
                let (ours, peer) = (ours.series_us, peer.and_then(|peer| peer.series_us));
                let number = |micros: Option<f64>| micros.map_or("–".to_owned(), |micros| format!("{micros:.2}"));
                let ratio = ours.zip(peer).map_or("–".to_owned(), |(ours, peer)| format!("{:.2} ×", peer / ours));
                text += &format!(" {} | {} | {ratio} |", number(ours), number(peer));
            }
            text.push('\n');
        }
    }
    if has_series {
        let calls = recording.series_calls.map_or("many".to_owned(), |calls| calls.to_string());
        let remark = format!(
            "The first columns have the time of one call with cold caches, by device events and by the host's clock \
             from the launch to the end. A series is {calls} calls launched one after the other between two events, \
             each on memory of its own that the caches do not hold. Its columns have the time of the series divided \
             by the number of calls."
        );
        let _ = writeln!(text, "\n{}", units::wrapped(&remark, 0, COLUMNS));
    }
    text
}

/// Returns the table of Life's rungs, in cell updates per second.
pub fn life(recording: &Recording) -> String {
    let rows: Vec<&MeasuredPoint> =
        recording.rows.iter().filter(|row| subject::unit(row) == Unit::Cells && row.peer.is_none()).collect();
    let updates = |row: &MeasuredPoint| exponent(updates(row));
    let headings = BOARDS.map(|board| board.replace('x', " × ")).join(" | ");
    let mut text = format!("| kernel | {headings} | largest board measured |\n|---|---:|---:|---:|\n");
    for name in names(&rows) {
        let cells = BOARDS.map(|board| {
            let row = rows.iter().find(|row| row.name() == name && row.shape.as_deref() == Some(board));
            row.map_or("–".to_owned(), |row| updates(row))
        });
        let largest = rows.iter().filter(|row| row.name() == name).max_by_key(|row| row.size);
        let largest = largest.map_or("–".to_owned(), |row| format!("{} ({})", updates(row), size_text(row)));
        text += &format!("| `{name}` | {} | {largest} |\n", cells.join(" | "));
    }
    text
}

/// Returns the image of the plot that compares all algorithms with their peers, for README.md.
pub fn beside_peers(plots: &[String]) -> String {
    let shown = plots.iter().find(|name| name.strip_suffix(".svg") == Some(recordings::plots::PEERS));
    shown.map_or(String::new(), |name| format!("![the time of NVIDIA's libraries over ours, by size](docs/{name})"))
}

/// Returns the images of the plots of GB/s over size, two per table row. The recording determines the order of the
/// algorithms.
pub fn images(recording: &Recording, plots: &[String]) -> String {
    let mut ordered: Vec<(&str, &String)> = Vec::new();
    for row in &recording.rows {
        let name = format!("bench-{}.svg", row.algorithm);
        if let Some(plot) = plots.iter().find(|plot| **plot == name)
            && !ordered.iter().any(|(_, known)| *known == plot)
        {
            ordered.push((&row.algorithm, plot));
        }
    }
    let image = |(algorithm, plot): &(&str, &String)| format!("![{algorithm}: GB/s over size]({plot})");
    let mut text = String::new();
    if !ordered.is_empty() {
        text += "| | |\n|---|---|\n";
    }
    for pair in ordered.chunks(2) {
        let second = pair.get(1).map_or(String::new(), image);
        text += &format!("| {} | {second} |\n", image(&pair[0]));
    }
    text
}

/// Returns the size of a row in the form of a table: `2^28` or `16384 × 16384`.
pub(crate) fn size_text(row: &MeasuredPoint) -> String {
    row.size_text().replace('x', " × ")
}

pub(crate) fn share(gbps: f64, recording: &Recording) -> String {
    let copy = recording.copy_gbps;
    if copy > 0.0 { format!("{:.0} %", 100.0 * gbps / copy) } else { "–".to_owned() }
}

/// Formats a rate with three digits or more: `4155`, `73.2`, `0.512`.
pub(crate) fn rate(rate: f64) -> String {
    match rate {
        rate if rate >= 99.95 => format!("{rate:.0}"),
        rate if rate >= 9.995 => format!("{rate:.1}"),
        rate if rate >= 0.9995 => format!("{rate:.2}"),
        rate => format!("{rate:.3}"),
    }
}

/// Formats a rate with three digits and a power of ten: `1.09e13`.
pub(crate) fn exponent(rate: f64) -> String {
    format!("{rate:.2e}")
}
