//! `host bench` on several devices: strong scaling (one vector, divided) and weak scaling (it grows with the devices),
//! of each algorithm's [`scaling_measurements`](workbench::algorithm::Algorithm::scaling_measurements).

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use launch::Group;
use multi::team::Team;
use serde::{Deserialize, Serialize};
use workbench::scaling::ScalingMeasurement;
use workbench::{bench::recording, catalogue};

use super::machine;
use crate::error::UsageError;
use crate::files::WholeFile;
use crate::measure::split::{median_time, of_all};
use crate::report::plot::{self, LinePlot, Series};
use crate::report::progress::Progress;
use crate::report::{self, Bytes, Rate};
use crate::{ranks, recordings::plots};

/// All that a run found.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Scaling {
    /// What the first member is: "NVIDIA H200" or "simulator".
    pub device: String,
    /// Members of all ranks.
    pub members: usize,
    /// Processes that they belong to.
    pub ranks: usize,
    /// Whether they are simulated: their times are those of a CPU, which they share.
    pub simulated: bool,
    /// The driver's version, or the CUDA version that it supports where nobody tells more.
    pub driver: Option<String>,
    /// The day, as in 2026-11-21.
    pub date: String,
    /// The compiler of the kernels' PTX.
    pub compiler: Option<String>,
    /// The version of this program.
    pub version: String,
    /// The points.
    pub scaling: Vec<ScalingPoint>,
    /// What was not measured, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A work on so many members.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct ScalingPoint {
    /// The algorithm.
    pub algorithm: String,
    /// The type of its elements.
    #[serde(rename = "type")]
    pub number: String,
    /// Whether the size is the same for all members together, or for each.
    pub kind: Kind,
    /// Members.
    pub members: usize,
    /// Elements on all of them.
    pub size: u64,
    /// Bytes that have to be read and written.
    pub bytes: u64,
    /// Timed runs.
    pub runs: usize,
    /// The median of their times, by the clock of the host, in microseconds.
    pub median_us: f64,
    /// The bytes over that time, in units of 10⁹ per second; 0 where it is not bytes that count.
    pub gbps: f64,
    /// Of a cellular automaton.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_updates_per_second: Option<f64>,
    /// That as a multiple of what one member reaches.
    pub speedup: f64,
    /// That for each member.
    pub efficiency: f64,
}

impl ScalingPoint {
    /// Elements per second.
    fn rate(&self) -> f64 {
        self.size as f64 / (1e-6 * self.median_us)
    }
}

/// What stays the same as members are added.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The size of all together.
    Strong,
    /// The size of each.
    Weak,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
        }
    }
}

/// Measures the works of the algorithms named, or all, on 1, 2, 4, … and all members, with `n` elements in all and for
/// each.
///
/// # Errors
/// [`UsageError`] for an algorithm that does not run on several devices; when a device or another rank fails, or when a
/// result is wrong.
pub fn run(group: &Group, algorithms: &[&str], n: usize) -> anyhow::Result<Scaling> {
    let mut works: Vec<(&str, ScalingMeasurement)> =
        catalogue::scaling_measurements().into_iter().map(|(algorithm, work)| (algorithm.name(), work)).collect();
    if let Some(unknown) = algorithms.iter().find(|name| works.iter().all(|(algorithm, _)| algorithm != *name)) {
        let text = format!("{unknown} is not measured on several devices: name one of them alone with --device");
        return Err(UsageError(text).into());
    }
    let team = Team::new(group, ranks::communicator())?;
    let device = &group.members()[0];
    let mut scaling = Scaling {
        device: device.name().to_owned(),
        members: team.members(),
        ranks: team.ranks().size(),
        simulated: device.is_simulated(),
        driver: machine::driver(device)?,
        date: recording::today(),
        compiler: machine::compiler(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scaling: Vec::new(),
        left_out: Vec::new(),
    };
    works.retain(|(algorithm, _)| algorithms.is_empty() || algorithms.contains(algorithm));
    let counts = counts(team.members());
    let mut progress = Progress::new((works.len() * (2 * counts.len() - 1)) as u64, "points");
    for (algorithm, work) in &works {
        for kind in [Kind::Strong, Kind::Weak] {
            let mut one = None;
            for &members in &counts {
                let size = (work.whole)(if kind == Kind::Weak { n.saturating_mul(members) } else { n });
                // Both begin with one member.
                let known = scaling.scaling.iter().find(|row| {
                    kind == Kind::Weak
                        && (row.kind, row.members, members) == (Kind::Strong, 1, 1)
                        && (row.algorithm.as_str(), row.number.as_str()) == (*algorithm, work.number)
                });
                let row = match known.cloned() {
                    Some(known) => Some(ScalingPoint { kind, ..known }),
                    None => point(&team.of_first(members), algorithm, work, kind, size, &mut scaling.left_out)?,
                };
                let Some(mut row) = row else { continue };
                row.speedup = row.rate() / *one.get_or_insert(row.rate());
                row.efficiency = row.speedup / members as f64;
                let (rate, unit) = row.cell_updates_per_second.map_or((1e9 * row.gbps, "B"), |rate| (rate, "cells"));
                scaling.scaling.push(row);
                progress.set(scaling.scaling.len() as u64, rate, unit);
            }
        }
    }
    // A speed-up is over one member: what one alone cannot hold has none.
    for row in without_one(&scaling.scaling) {
        scaling.scaling[row].speedup = 0.0;
        scaling.scaling[row].efficiency = 0.0;
    }
    Ok(scaling)
}

/// The rows whose work was not measured on one member.
fn without_one(rows: &[ScalingPoint]) -> Vec<usize> {
    let same =
        |a: &ScalingPoint, b: &ScalingPoint| (&a.algorithm, &a.number, a.kind) == (&b.algorithm, &b.number, b.kind);
    let has_one = |row: &ScalingPoint| rows.iter().any(|other| other.members == 1 && same(row, other));
    (0..rows.len()).filter(|&row| !has_one(&rows[row])).collect()
}

/// 1, 2, 4 and so on, and all.
fn counts(members: usize) -> Vec<usize> {
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|count| *count < members).collect();
    counts.push(members);
    counts
}

/// Measures a work on a team; `None`, with the reason in `left_out`, if a member has no room for its part.
fn point(
    team: &Team<'_>,
    algorithm: &str,
    work: &ScalingMeasurement,
    kind: Kind,
    size: usize,
    left_out: &mut Vec<String>,
) -> anyhow::Result<Option<ScalingPoint>> {
    let members = team.members();
    let each = (size as f64 * (work.share)(members)).ceil();
    let needed = (each * work.memory) as u64;
    let mut free = u64::MAX;
    for device in team.devices() {
        free = free.min(device.properties()?.memory_free_bytes);
    }
    // What one rank cannot do none begins.
    let all = team.ranks().all_gather(&free.to_le_bytes())?;
    let free = all.iter().filter_map(|bytes| Some(u64::from_le_bytes(bytes.as_slice().try_into().ok()?))).min();
    let free = free.unwrap_or(0);
    let name = format!("{} {} {} of {size} on {members}", kind.name(), algorithm, work.number);
    // A little is lost between allocations.
    if needed > free - free / 64 {
        left_out.push(format!("{name}: {} needed on each, {} free", Bytes(needed), Bytes(free)));
        return Ok(None);
    }
    if each > work.max_elements as f64 {
        left_out.push(format!("{name}: a member takes up to {}", work.max_elements));
        return Ok(None);
    }
    let mut prepared = (work.prepare)(team, size)?;
    let deviation = of_all(team.ranks(), prepared.verify()?)?;
    if let Some(wrong) = deviation.wrong {
        bail!("{name} is wrong: {wrong}");
    }
    let timing = median_time(team, &mut *prepared)?;
    let bytes = size as f64 * work.bytes;
    Ok(Some(ScalingPoint {
        algorithm: algorithm.to_owned(),
        number: work.number.to_owned(),
        kind,
        members,
        size: size as u64,
        bytes: bytes as u64,
        runs: timing.runs,
        median_us: 1e6 * timing.seconds,
        gbps: bytes / timing.seconds / 1e9,
        // Rank 0 has a member, and prints.
        cell_updates_per_second: prepared
            .generations()
            .map(|generations| size as f64 * generations as f64 / timing.seconds),
        speedup: 1.0,
        efficiency: 1.0,
    }))
}

impl Scaling {
    /// What `host bench --json` wrote to the file, if it was on several devices.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Writes it as JSON.
    ///
    /// # Errors
    /// What prevents it.
    pub fn write(&self, file: &WholeFile) -> anyhow::Result<()> {
        let text = serde_json::to_string_pretty(self).context("cannot express the result as JSON")?;
        let mut out = file.create()?;
        writeln!(out, "{text}").with_context(|| file.failed())?;
        file.keep(out)
    }

    /// The table.
    pub fn text(&self) -> String {
        let share = |value: f64, text: String| if value > 0.0 { text } else { "–".to_owned() };
        let rows: Vec<_> = self
            .scaling
            .iter()
            .map(|row| {
                [
                    format!("{} {}", row.algorithm, row.number),
                    row.kind.name().to_owned(),
                    row.members.to_string(),
                    if row.size.is_power_of_two() { format!("2^{}", row.size.ilog2()) } else { row.size.to_string() },
                    report::Seconds(1e-6 * row.median_us).to_string(),
                    row.cell_updates_per_second
                        .map_or(format!("{} GB/s", Rate(row.gbps)), |rate| format!("{} cells/s", Rate(rate))),
                    share(row.speedup, format!("{:.3}", row.speedup)),
                    share(row.efficiency, format!("{} %", Rate(100.0 * row.efficiency))),
                    row.runs.to_string(),
                ]
            })
            .collect();
        let heading = ["work", "scaling", "members", "size", "median", "rate", "speed-up", "efficiency", "runs"];
        let mut text = format!(
            "scaling on {} × {}, {} process{}, {}\nmedians by the host's clock, from the moment when all are ready until the last \
             is done\n{}\n",
            self.members,
            self.device,
            self.ranks,
            if self.ranks == 1 { "" } else { "es" },
            self.date,
            report::table(heading, &rows),
        );
        self.left_out.iter().for_each(|reason| text += &format!("left out: {reason}\n"));
        if self.simulated {
            text += "Simulated: the times are this CPU's, which all members share, and say nothing of a GPU's.\n";
        }
        text
    }

    /// Writes `bench-scaling.svg` and `.png` into `folder`, and gives their paths.
    ///
    /// # Errors
    /// What prevents it.
    pub fn draw(&self, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let paths = plots::FORMATS.map(|format| folder.join(format!("bench-scaling.{format}")));
        let plot = self.plot();
        paths.iter().try_for_each(|path| plot::lines(path, &plot))?;
        Ok(paths.into())
    }

    /// Speed-up over members: what would be ideal, and a line for each work and kind.
    fn plot(&self) -> LinePlot {
        let ideal = counts(self.members).into_iter().map(|members| (members as f64, members as f64)).collect();
        let mut series = vec![Series { name: "ideal".to_owned(), points: ideal }];
        for row in self.scaling.iter().filter(|row| row.speedup > 0.0) {
            let name = format!("{} {}, {}", row.algorithm, row.number, row.kind.name());
            let point = (row.members as f64, row.speedup);
            match series.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => series.push(Series { name, points: vec![point] }),
            }
        }
        LinePlot {
            title: format!("scaling on {}", self.device),
            x_label: "members".to_owned(),
            y_label: "speed-up over one".to_owned(),
            x_log2: false,
            series,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(members: usize, kind: Kind, gbps: f64) -> ScalingPoint {
        ScalingPoint {
            algorithm: "reduce".into(),
            number: "f32".into(),
            kind,
            members,
            size: 1 << 20,
            bytes: 1 << 22,
            runs: 5,
            median_us: 3.0,
            gbps,
            cell_updates_per_second: None,
            speedup: gbps / 10.0,
            efficiency: gbps / 10.0 / members as f64,
        }
    }

    fn scaling(rows: Vec<ScalingPoint>) -> Scaling {
        Scaling {
            device: "GPU X".into(),
            members: 3,
            ranks: 1,
            simulated: false,
            driver: None,
            date: "2026-11-23".into(),
            compiler: None,
            version: "0".into(),
            scaling: rows,
            left_out: vec!["saxpy of too many".into()],
        }
    }

    #[test]
    fn the_table_and_the_plot_show_every_row() {
        let scaling = scaling(vec![row(1, Kind::Strong, 10.0), row(3, Kind::Strong, 27.0), row(2, Kind::Weak, 19.0)]);
        let text = scaling.text();
        for part in ["3 × GPU X, 1 process,", "2^20", "2.700", "90.0 %", "1.900", "left out: saxpy of too many"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        let plot = scaling.plot();
        assert_eq!(plot.series[0].points, [(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]);
        assert_eq!((plot.series[1].name.as_str(), &plot.series[1].points[1]), ("reduce f32, strong", &(3.0, 2.7)));
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let scaling = scaling(vec![row(1, Kind::Weak, 10.0)]);
        scaling.write(&WholeFile::new(&path)).unwrap();
        assert_eq!(Scaling::read(&path), Some(scaling));
        fs::write(&path, "{\"device\": \"GPU X\", \"rows\": []}").unwrap();
        assert_eq!(Scaling::read(&path), None);
    }

    #[test]
    fn members_are_doubled_up_to_all() {
        assert_eq!([1, 2, 3, 8].map(counts), [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8]]);
    }

    #[test]
    fn what_one_member_cannot_hold_has_no_speed_up() {
        let rows = [row(2, Kind::Strong, 10.0), row(1, Kind::Weak, 10.0), row(2, Kind::Weak, 20.0)];
        assert_eq!(without_one(&rows), [0]);
    }
}
