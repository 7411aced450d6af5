//! The tables of README.md and docs/figures.md.

use anyhow::{Result, ensure};
use host::bench::record::{About, Recording, Row};

/// A work that the last rung is compared with its peer at.
struct Work {
    what: &'static str,
    algorithm: &'static str,
    number: &'static str,
    variant: Option<&'static str>,
    /// Elements or cells.
    size: u64,
    shape: Option<&'static str>,
    /// Which of the last rungs: Life has one that runs one generation per launch, and one that runs several.
    nth: usize,
    /// What it is to reach.
    aim: &'static str,
}

const fn work(what: &'static str, algorithm: &'static str, number: &'static str, size: u64, aim: &'static str) -> Work {
    Work { what, algorithm, number, variant: None, size, shape: None, nth: 0, aim }
}

/// The side of the matrices and boards that are compared.
const SQUARE: &str = "16384x16384";
const BOARD: &str = "65536x65536";

/// What the last rungs are to reach.
const WORKS: [Work; 17] = [
    work("saxpy f32, 2^28", "saxpy", "f32", 1 << 28, "1.25 × cuBLAS, 98 % of copy"),
    work("sum f32, 2^28", "reduce", "f32", 1 << 28, "1.00 × CUB"),
    work("sum i32, 2^28", "reduce", "i32", 1 << 28, "1.00 × CUB"),
    scan("inclusive scan f32, 2^28", "f32", "inclusive", 28, "1.25 × CUB"),
    scan("exclusive scan f32, 2^28", "f32", "exclusive", 28, "1.25 × CUB"),
    scan("inclusive scan i32, 2^28", "i32", "inclusive", 28, "1.25 × CUB"),
    scan("exclusive scan i32, 2^28", "i32", "exclusive", 28, "1.25 × CUB"),
    scan("inclusive scan f64, 2^27", "f64", "inclusive", 27, "1.20 × CUB"),
    scan("exclusive scan f64, 2^27", "f64", "exclusive", 27, "1.20 × CUB"),
    plane("transpose f32, 16384 × 16384", "transpose", "f32", SQUARE, "1.05 × cuBLAS, 99 % of copy"),
    plane("transpose f32, 16383 × 16385", "transpose", "f32", "16383x16385", "92 % of copy"),
    plane("transpose f64, 16384 × 16384", "transpose", "f64", SQUARE, "92 % of copy"),
    plane("transpose u8, 16384 × 16384", "transpose", "u8", SQUARE, "92 % of copy"),
    plane("transpose u16, 16384 × 16384", "transpose", "u16", SQUARE, "92 % of copy"),
    plane("Life, one generation per launch, 65536 × 65536", "life", "bit", BOARD, "1.6e13 cells/s"),
    Work {
        nth: 1,
        ..plane("Life, several generations per launch, 65536 × 65536", "life", "bit", BOARD, "5.2e13 cells/s")
    },
    work("copy kernel f32, 2^28", "copy", "f32", 1 << 28, "1.00 × cudaMemcpy"),
];

const fn scan(
    what: &'static str,
    number: &'static str,
    variant: &'static str,
    exponent: u32,
    aim: &'static str,
) -> Work {
    Work { variant: Some(variant), ..work(what, "scan", number, 1 << exponent, aim) }
}

const fn plane(
    what: &'static str,
    algorithm: &'static str,
    number: &'static str,
    shape: &'static str,
    aim: &'static str,
) -> Work {
    Work { shape: Some(shape), ..work(what, algorithm, number, 0, aim) }
}

/// The works whose small inputs are compared, and at which sizes.
const SMALL: [(&str, &str, &str, Option<&str>); 4] = [
    ("sum f32", "reduce", "f32", None),
    ("inclusive scan f32", "scan", "f32", Some("inclusive")),
    ("exclusive scan f32", "scan", "f32", Some("exclusive")),
    ("saxpy f32", "saxpy", "f32", None),
];
const SMALL_EXPONENTS: [u32; 3] = [16, 18, 20];

/// The ladders, and the largest size that their rungs are compared at.
const LADDERS: [(&str, Option<&str>); 5] =
    [("saxpy", None), ("scale", None), ("reduce", None), ("scan", Some("inclusive")), ("transpose", None)];
const LADDER_SIZE: u64 = 1 << 28;

/// Kernels of a ladder that are no step of it: the yardsticks of transpose.
const YARDSTICKS: [&str; 2] = ["copy", "copy_tile"];

/// The device's own copy among the rows.
const DEVICE_COPY: &str = "device_copy";

/// Characters of a line.
const COLUMNS: usize = 120;

/// Boards in the table of Life.
const BOARDS: [&str; 2] = ["8192x8192", BOARD];

/// Every part of both files for a run that is kept at `path` and has the `plots`.
///
/// # Errors
/// If the run is of some algorithms alone.
pub fn all(recording: &Recording, path: &str, plots: &[String]) -> Result<Vec<(&'static str, String)>> {
    for work in &WORKS {
        let has_any = recording.rows.iter().any(|row| row.algorithm == work.algorithm && row.last);
        ensure!(
            has_any,
            "the run has nothing of {}: record one of host bench without the name of an algorithm",
            work.algorithm
        );
    }
    Ok(vec![
        ("run", run(recording, path)),
        ("last", last(recording)),
        ("peers", beside_peers(plots)),
        ("ladders", ladders(recording)),
        ("small", small(recording)),
        ("life", life(recording)),
        ("plots", images(recording, plots)),
    ])
}

/// What was measured on, when and how.
pub fn run(recording: &Recording, path: &str) -> String {
    let some = |prefix: &str, text: &Option<String>| text.as_ref().map(|text| format!("{prefix}{text}"));
    let of_device = &recording.machine;
    let mut machine = Vec::new();
    machine.extend(some("driver ", &recording.driver));
    machine.extend(some("compute capability ", &of_device.compute_capability));
    let clock = of_device.sm_clock_mhz.map_or(String::new(), |mhz| format!(" at up to {mhz} MHz"));
    machine.push(format!("{} SMs{clock}", of_device.multiprocessors));
    let mut made = Vec::new();
    made.extend(some("sources at `", &recording.revision).map(|text| text + "`"));
    made.extend(some("kernels compiled by ", &recording.compiler));
    if let Some(About { compiler, cub, cublas, .. }) = &recording.peers {
        made.push(format!("peers CUB {cub} and cuBLAS {cublas}, compiled by {compiler}"));
    }
    let copy = recording.copy_gbps;
    let share = recording.datasheet_gbps.filter(|&datasheet| datasheet > 0.0);
    let share = share.map_or(String::new(), |datasheet| {
        format!(", {:.0} % of what memory clock and bus width allow ({datasheet:.0} GB/s)", 100.0 * copy / datasheet)
    });
    wrapped(&format!(
        "One {} ({}), {}: {}. Random values in device memory, medians by device events, caches flushed before each run (but for \
         Life, whose generations follow each other); GB/s counts the bytes that the work cannot do without. The device's own \
         copy reads and writes at {copy:.0} GB/s{share}. All points: [{path}]({path}).",
        recording.device,
        machine.join(", "),
        recording.date,
        made.join("; "),
    ))
}

/// The text in lines of at most [`COLUMNS`] characters, where its words allow it.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let width = word.chars().count();
        if length > 0 && length + 1 + width > COLUMNS {
            lines.push('\n');
            length = 0;
        }
        if length > 0 {
            lines.push(' ');
            length += 1;
        }
        lines.push_str(word);
        length += width;
    }
    lines + "\n"
}

/// The last rungs beside their peers.
pub fn last(recording: &Recording) -> String {
    let mut text =
        "| work | to reach | ours | peer | ours ÷ peer | of copy |\n|---|---|---:|---:|---:|---:|\n".to_owned();
    for work in &WORKS {
        let rows: Vec<&Row> = recording.rows.iter().filter(|row| is_of(work, row)).collect();
        let Some(ours) = rows.iter().copied().filter(|row| row.last).nth(work.nth) else { continue };
        let own_copy = |row: &&Row| work.algorithm == "copy" && row.name() == DEVICE_COPY;
        let peer = rows.iter().copied().find(|row| row.peer.is_some()).or_else(|| rows.iter().copied().find(own_copy));
        let speed = |row: &Row| match work.algorithm {
            "life" => format!("{} cells/s", exponent(row.size as f64 / row.median_us * 1e6)),
            _ => format!("{} GB/s", rate(row.gbps)),
        };
        let beside = peer.map_or("–".to_owned(), |peer| format!("{}, {}", speed(peer), peer.name()));
        let ratio = peer.map_or("–".to_owned(), |peer| format!("{:.2} ×", peer.median_us / ours.median_us));
        text += &format!(
            "| {}, `{}` | {} | {} | {beside} | {ratio} | {} |\n",
            work.what,
            ours.name(),
            work.aim,
            speed(ours),
            share(ours.gbps, recording)
        );
    }
    text
}

fn is_of(work: &Work, row: &Row) -> bool {
    row.algorithm == work.algorithm
        && row.number == work.number
        && row.variant.as_deref() == work.variant
        && match work.shape {
            Some(shape) => row.shape.as_deref() == Some(shape),
            None => row.shape.is_none() && row.size == work.size,
        }
}

/// What each step of a ladder bought.
pub fn ladders(recording: &Recording) -> String {
    let mut text = "| algorithm | rung | GB/s | of copy | × the rung before |\n|---|---|---:|---:|---:|\n".to_owned();
    for (algorithm, variant) in LADDERS {
        let is_of = |row: &&Row| {
            row.algorithm == algorithm
                && row.number == "f32"
                && row.variant.as_deref() == variant
                && row.size.is_power_of_two()
                && row.size <= LADDER_SIZE
        };
        let rows: Vec<&Row> = recording.rows.iter().filter(is_of).collect();
        let Some(size) = rows.iter().map(|row| row.size).max() else { continue };
        let mut names: Vec<&str> = Vec::new();
        for row in &rows {
            if !names.contains(&row.name()) {
                names.push(row.name());
            }
        }
        let mut first = true;
        let mut before: Option<&Row> = None;
        for name in names {
            // A rung of one block has no such size.
            let Some(row) = rows.iter().copied().filter(|row| row.name() == name).max_by_key(|row| row.size) else {
                continue;
            };
            let title = match (first, variant) {
                (false, _) => String::new(),
                (true, None) => format!("{algorithm}, {}", at(&rows, size)),
                (true, Some(variant)) => format!("{variant} {algorithm}, {}", at(&rows, size)),
            };
            first = false;
            let step = match before {
                Some(before) if row.peer.is_none() && before.size == row.size => {
                    format!("{:.2}", before.median_us / row.median_us)
                }
                _ => String::new(),
            };
            let shown = match (row.peer.is_some(), row.size == size) {
                (true, _) => format!("*{name}*"),
                (false, true) => format!("`{name}`"),
                (false, false) => format!("`{name}`, {}", size_text(row)),
            };
            text += &format!("| {title} | {shown} | {} | {} | {step} |\n", rate(row.gbps), share(row.gbps, recording));
            let is_yardstick = algorithm == "transpose" && YARDSTICKS.contains(&name);
            before = (!is_yardstick).then_some(row);
        }
    }
    text.push_str(
        "\nPeers are in italics. A copy reads and writes each byte; a reduction only reads, which is faster.\n",
    );
    text
}

/// How the size of some rows is written.
fn at(rows: &[&Row], size: u64) -> String {
    rows.iter().find(|row| row.size == size).map_or_else(|| size.to_string(), |row| size_text(row))
}

/// One call on a small input. Where any was measured in a series, those have columns too.
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
    for (what, algorithm, number, variant) in SMALL {
        for exponent in SMALL_EXPONENTS {
            let is_of = |row: &&Row| {
                row.algorithm == algorithm
                    && row.number == number
                    && row.variant.as_deref() == variant
                    && row.size == 1 << exponent
            };
            let rows: Vec<&Row> = recording.rows.iter().filter(is_of).collect();
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
        text.push('\n');
        text += &wrapped(&format!(
            "The first columns are of one call alone, with cold caches: by device events, and by the host's clock from the \
             launch to the end. A series is {calls} calls launched one after the other between two events, each on memory \
             of its own that the caches do not hold; its time divided by their number is what a program pays for each that \
             makes many."
        ));
    }
    text
}

/// Life's rungs in cell updates per second.
pub fn life(recording: &Recording) -> String {
    let rows: Vec<&Row> = recording.rows.iter().filter(|row| row.algorithm == "life" && row.peer.is_none()).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&row.name()) {
            names.push(row.name());
        }
    }
    let updates = |row: &Row| exponent(row.size as f64 / row.median_us * 1e6);
    let headings = BOARDS.map(|board| board.replace('x', " × ")).join(" | ");
    let mut text = format!("| kernel | {headings} | largest board measured |\n|---|---:|---:|---:|\n");
    for name in names {
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

/// The plot of all algorithms beside their peers, as README.md shows it.
pub fn beside_peers(plots: &[String]) -> String {
    let shown = plots.iter().find(|name| name.strip_suffix(".svg") == Some(host::bench::plots::PEERS));
    shown.map_or(String::new(), |name| format!("![the time of NVIDIA's libraries over ours, by size](docs/{name})"))
}

/// The plots of GB/s, two beside each other, in the order of their algorithms' rows.
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

/// The size as it is written in a table: `2^28`, `16384 × 16384`.
fn size_text(row: &Row) -> String {
    row.size_text().replace('x', " × ")
}

fn share(gbps: f64, recording: &Recording) -> String {
    let copy = recording.copy_gbps;
    if copy > 0.0 { format!("{:.0} %", 100.0 * gbps / copy) } else { "–".to_owned() }
}

/// Three digits or more: `4155`, `73.2`, `0.512`.
fn rate(rate: f64) -> String {
    match rate {
        rate if rate >= 99.95 => format!("{rate:.0}"),
        rate if rate >= 9.995 => format!("{rate:.1}"),
        rate if rate >= 0.9995 => format!("{rate:.2}"),
        rate => format!("{rate:.3}"),
    }
}

/// Three digits and a power of ten: `1.09e13`.
fn exponent(rate: f64) -> String {
    format!("{rate:.2e}")
}
