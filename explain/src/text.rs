//! Writes an explanation as text for a terminal.

use std::fmt::Write;

use units::{Bytes, Seconds, grouped, number, short_percent, table, wrapped};

use crate::bulk::BulkSite;
use crate::explanation::{Explanation, RungFigures};
use crate::figures::{KernelFigures, Launches};
use crate::gpus::Gpu;
use crate::sites::{AccessSite, BranchSite, Memory, SourceSite};
use crate::summary::Summary;
use crate::tensor::{ProductSite, TensorRoofline};

/// The largest number of launch shapes that the text lists per kernel.
const LISTED: usize = 3;

impl Explanation {
    /// Returns the explanation as text for a terminal. Sentences are broken into lines of at most `columns` columns;
    /// tables and source lines are not broken.
    pub fn text(&self, columns: usize) -> String {
        let Self { subject, gpu, rungs, left_out, notes, comparison: compared, next, .. } = self;
        let mut text = wrapped(&format!("{subject} on {gpu}"), 2, columns);
        text.push('\n');
        if self.has_one_problem()
            && let Some(rung) = rungs.first()
        {
            let _ = writeln!(text, "{}", rung.problem);
        }
        if let Some(compared) = compared {
            text.push_str(&compared.text(columns));
        } else if rungs.len() > 1 {
            let _ = write!(text, "\n{}\n\n", comparison(rungs));
            let width = rungs.iter().map(|rung| rung.names.rung.len()).max().unwrap_or(0);
            for rung in rungs {
                let Some(change) = &rung.change else { continue };
                text.push_str(&wrapped(&format!("{:width$}  {change}", rung.names.rung), width + 2, columns));
                text.push('\n');
            }
        }
        for rung in rungs.iter().filter(|_| compared.is_none()) {
            text.push('\n');
            add_rung(&mut text, rung, self, columns);
        }
        for reason in left_out {
            let _ = write!(text, "\n{}\n", wrapped(&format!("left out: {reason}"), 2, columns));
        }
        for note in notes {
            let _ = write!(text, "\n{}\n", wrapped(note, 2, columns));
        }
        if let Some(next) = next {
            let _ = write!(text, "\nnext: {next}\n");
        }
        text
    }
}

/// Returns the table that compares the rungs.
fn comparison(rungs: &[RungFigures]) -> String {
    let row = |rung: &RungFigures| {
        let summary = &rung.summary;
        [
            rung.names.rung.to_owned(),
            share(summary.load_efficiency),
            share(summary.store_efficiency),
            summary.shared_ways.map_or("–".into(), number),
            format!("{} B", number(summary.per_element(summary.floor_bytes as f64))),
            format!("{} B", number(summary.per_element(summary.moved_bytes as f64))),
            picoseconds(summary.per_element(summary.moved_seconds)),
            picoseconds(summary.per_element(summary.shared_seconds)),
            share(summary.divergent_share),
            share(summary.occupancy),
        ]
    };
    let rows = rungs.iter().map(row);
    let heading =
        ["kernel", "loads use", "stores use", "ways", "must move", "moves", "global", "shared", "split", "occupancy"];
    format!(
        "{}\nloads use, stores use: share of the moved bytes of global memory; ways: factor of bank conflicts; must \
         move,\nmoves, global, shared: bytes and times of memory per element; split: share of branches that split a \
         warp",
        table(heading, rows).to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    )
}

/// Returns a share in percent, or `–` for `None`.
pub fn share(share: Option<f64>) -> String {
    share.map_or("–".into(), short_percent)
}

/// Returns a time in picoseconds as text, or `–` for 0.
pub fn picoseconds(seconds: f64) -> String {
    match 1e12 * seconds {
        0.0 => "–".into(),
        value if value < 0.005 => "< 0.01 ps".into(),
        value => format!("{} ps", number(value)),
    }
}

fn add_rung(text: &mut String, rung: &RungFigures, explanation: &Explanation, columns: usize) {
    let heading = format!("{}: {}", rung.names.full(), rung.names.idea);
    let _ = writeln!(text, "{}", wrapped(&heading, 2, columns));
    if !explanation.has_one_problem() {
        let _ = writeln!(text, "  {}", rung.problem);
    }
    let _ = writeln!(text, "{}", wrapped(&format!("  {}", rung.roofline.line()), 4, columns));
    add_figures(text, &rung.summary, &rung.kernels, explanation.gpu, columns);
}

/// Adds the bytes and times of `summary`, and the figures of each kernel.
pub fn add_figures(text: &mut String, summary: &Summary, kernels: &[KernelFigures], gpu: &Gpu, columns: usize) {
    for line in floor(summary, gpu) {
        let _ = writeln!(text, "{}", wrapped(&format!("  {line}"), 4, columns));
    }
    for kernel in kernels {
        let _ = writeln!(text, "\n  {} ({})", kernel.entry, kernel.file);
        for line in about(kernel) {
            let _ = writeln!(text, "{}", wrapped(&format!("  {line}"), 4, columns));
        }
        add_sites(text, kernel, columns);
        add_bulk_copies(text, kernel, columns);
        add_products(text, kernel);
        add_branches(text, kernel, columns);
    }
}

/// Returns lines about the bytes that must move, the bytes that do move, the products, and the times for all.
pub fn floor(summary: &Summary, gpu: &Gpu) -> Vec<String> {
    let speed = gpu.gigabytes_per_second;
    let ideal = match summary.moved_bytes == summary.ideal_bytes {
        true => String::new(),
        false => format!(", where {}, {}, would do", Bytes(summary.ideal_bytes), Seconds(summary.ideal_seconds)),
    };
    let mut lines = vec![
        format!(
            "floor: {} must move, each sector once per launch: {} at {speed:.0} GB/s",
            Bytes(summary.floor_bytes),
            Seconds(summary.floor_seconds)
        ),
        format!(
            "as accessed: {} of global memory, {} unless caches serve them{ideal}",
            Bytes(summary.moved_bytes),
            Seconds(summary.moved_seconds)
        ),
    ];
    if summary.shared_seconds > 0.0 {
        let rest = if summary.is_bound_by_shared() { "more than global memory" } else { "less than global memory" };
        lines.push(format!("shared memory: {} at least, {rest}", Seconds(summary.shared_seconds)));
    }
    lines.extend(summary.bulk.line());
    lines.extend(TensorRoofline::of(summary, gpu).iter().flat_map(|roofline| roofline.lines(&summary.products)));
    lines
}

/// Returns lines about the launches, resources and synchronisation of a kernel.
pub fn about(kernel: &KernelFigures) -> Vec<String> {
    let mut shapes: Vec<String> = kernel.launches.iter().take(LISTED).map(shape).collect();
    if kernel.launches.len() > LISTED {
        shapes.push(format!("{} other grids", kernel.launches.len() - LISTED));
    }
    let mut lines = vec![shapes.join("; ")];
    if let Some(resources) = kernel.resources {
        let dynamic = kernel.launches.iter().map(|launches| launches.dynamic_shared_bytes).max().unwrap_or(0);
        let shared = u64::from(resources.static_shared_bytes) + u64::from(dynamic);
        let occupancy = kernel.occupancy.as_ref().map_or(String::new(), |occupancy| format!(": {occupancy}"));
        lines.push(format!(
            "{} registers per thread, {} B of shared memory per block{occupancy}",
            resources.registers,
            grouped(shared)
        ));
    }
    lines.extend(kernel.local.map(|local| local.to_string()));
    if kernel.max_blocks == 1 {
        lines.push("one block uses one SM, and all others are idle".into());
    }
    let totals = &kernel.totals;
    let atomics = totals.global.atomic.lanes + totals.shared.atomic.lanes;
    let counts = [
        (totals.products.executions, "products (one per warp)"),
        (totals.barriers, "barriers (one per block)"),
        (totals.warp_operations, "warp operations"),
        (atomics, "atomic updates"),
        (totals.fences, "fences"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{} {what}", grouped(*count)))
        .collect();
    if !counts.is_empty() {
        lines.push(counts.join(", "));
    }
    lines.extend(kernel.pipeline.map(|pipeline| pipeline.to_string()));
    lines
}

/// Returns the number and shape of launches, such as `2 launches of 16x16 blocks of 32x8 threads`.
fn shape(launches: &Launches) -> String {
    let extent = |extent: [u32; 3]| {
        let used = extent.iter().rposition(|&extent| extent != 1).map_or(1, |last| last + 1);
        extent[..used].iter().map(u32::to_string).collect::<Vec<_>>().join("x")
    };
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let Launches { grid, block, launches: count, .. } = launches;
    let (blocks, threads) = (plural(launches.blocks()), plural(launches.threads().into()));
    format!(
        "{count} launch{} of {} block{blocks} of {} thread{threads}",
        if *count == 1 { "" } else { "es" },
        extent(*grid),
        extent(*block)
    )
}

/// Returns the number of sectors or wavefronts per request as text, such as `32 sectors` or `1 wavefront`.
pub fn passes(site: &AccessSite) -> String {
    let unit = if site.memory == Memory::Global { "sector" } else { "wavefront" };
    let count = number(site.per_request());
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

fn add_sites(text: &mut String, kernel: &KernelFigures, columns: usize) {
    if kernel.sites.is_empty() {
        return;
    }
    let width = kernel.sites.iter().map(|site| site.place.short().len()).max().unwrap_or(0);
    let row = |site: &AccessSite| {
        [
            format!("{:width$}  {}", site.place.short(), site.what()),
            format!("{} B", site.bytes_per_lane),
            grouped(site.traffic.requests),
            passes(site),
            number(site.ideal_per_request()),
            share(site.efficiency),
            Bytes(site.bytes_moved).to_string(),
            Seconds(site.seconds).to_string(),
        ]
    };
    let rows = kernel.sites.iter().map(row);
    let heading = ["access", "per lane", "requests", "per request", "ideal", "used", "bytes", "at least"];
    let remarks = kernel.sites.iter().map(|site| (&site.place, site.meaning.as_str()));
    add_table(text, &table(heading, rows).to_string(), remarks, columns);
}

fn add_bulk_copies(text: &mut String, kernel: &KernelFigures, columns: usize) {
    if kernel.bulk_copies.is_empty() {
        return;
    }
    let row = |site: &BulkSite| {
        [
            format!("{}  {}", site.place.short(), site.what()),
            grouped(site.traffic.copies),
            Bytes(site.traffic.bytes).to_string(),
            Bytes(site.traffic.delivered_bytes).to_string(),
            share(site.efficiency()),
            Seconds(site.seconds).to_string(),
        ]
    };
    let heading = ["bulk copy", "copies", "bytes", "delivered", "used", "at least"];
    let table = table(heading, kernel.bulk_copies.iter().map(row)).to_string();
    let meanings: Vec<String> = kernel.bulk_copies.iter().map(BulkSite::meaning).collect();
    let places = kernel.bulk_copies.iter().map(|site| &site.place);
    add_table(text, &table, places.zip(meanings.iter().map(String::as_str)), columns);
}

fn add_products(text: &mut String, kernel: &KernelFigures) {
    if kernel.products.is_empty() {
        return;
    }
    let row = |site: &ProductSite| {
        [format!("{}  {}", site.place.short(), site.what()), grouped(site.executions), grouped(site.operations)]
    };
    let heading = ["product", "by warps", "operations"];
    for line in table(heading, kernel.products.iter().map(row)).to_string().lines() {
        let _ = writeln!(text, "  {}", line.trim_end());
    }
}

/// Adds a table. Below each row, it adds the source line and the sentence about the figures.
fn add_table<'a>(
    text: &mut String,
    table: &str,
    remarks: impl Iterator<Item = (&'a SourceSite, &'a str)>,
    columns: usize,
) {
    // The heading row and the rule below it have no remarks.
    let remarks = [None, None].into_iter().chain(remarks.map(Some));
    for (line, remark) in table.lines().zip(remarks) {
        let _ = writeln!(text, "  {}", line.trim_end());
        let Some((place, meaning)) = remark else { continue };
        if let Some(source) = &place.source {
            let _ = writeln!(text, "      {source}");
        }
        let _ = writeln!(text, "{}", wrapped(&format!("    → {meaning}"), 6, columns));
    }
}

fn add_branches(text: &mut String, kernel: &KernelFigures, columns: usize) {
    let (split, whole): (Vec<_>, Vec<_>) = kernel.branches.iter().partition(|branch| branch.divergent > 0);
    if !split.is_empty() {
        let row = |branch: &&BranchSite| {
            [
                format!("{}  branch", branch.place.short()),
                grouped(branch.executions),
                grouped(branch.divergent),
                short_percent(branch.divergent_share),
            ]
        };
        let rows = split.iter().map(row);
        let table = table(["branch", "warps came", "split", "share"], rows).to_string();
        add_table(text, &table, split.iter().map(|branch| (&branch.place, branch.meaning.as_str())), columns);
    }
    if !whole.is_empty() {
        let lines: Vec<String> = whole.iter().map(|branch| branch.place.short()).collect();
        let line = format!("  never split: the branches at {}", lines.join(", "));
        let _ = writeln!(text, "{}", wrapped(&line, 4, columns));
    }
}
