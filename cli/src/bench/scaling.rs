//! `host bench` on several devices: measures strong scaling (one vector is divided among the devices) and weak scaling
//! (the vector grows with the number of devices) of each algorithm's
//! [`scaling_measurements`](workbench::algorithm::Algorithm::scaling_measurements).

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;
use launch::Group;
use multi::team::Team;
use serde::{Deserialize, Serialize};
use workbench::scaling::ScalingMeasurement;
use workbench::{bench::recording, catalogue};

use super::machine;
use crate::error::UsageError;
use crate::measure::doubled_up_to;
use crate::measure::split::{median_time, of_all};
use crate::report::plot::{LinePlot, Series};
use crate::report::progress::Progress;
use crate::report::{self, Bytes, Rate};
use crate::{ranks, recordings::plots};

/// The result of a run on several devices.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct Scaling {
    /// The name of the first device, such as "NVIDIA H200", or "simulator".
    pub device: String,
    /// The number of members: the devices of all ranks.
    pub members: usize,
    /// The number of processes.
    pub ranks: usize,
    /// True if the devices are simulated. They then share one CPU, and the times are CPU times.
    pub simulated: bool,
    /// The driver's version; without `nvidia-smi`, the CUDA version that the driver supports.
    pub driver: Option<String>,
    /// The date, as in 2026-11-21.
    pub date: String,
    /// The compiler of the kernels' PTX.
    pub compiler: Option<String>,
    /// The version of this program.
    pub version: String,
    /// The measured points.
    pub scaling: Vec<ScalingPoint>,
    /// Points that were left out, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// The measurement of one algorithm and element type on a number of members.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct ScalingPoint {
    /// The name of the algorithm.
    pub algorithm: String,
    /// The type of the elements.
    #[serde(rename = "type")]
    pub number: String,
    /// The kind of scaling: strong or weak.
    pub kind: Kind,
    /// The number of members.
    pub members: usize,
    /// The number of elements of all members together.
    pub size: u64,
    /// The number of bytes that the work must read and write.
    pub bytes: u64,
    /// The number of timed runs.
    pub runs: usize,
    /// The median time by the host's clock, in microseconds.
    pub median_us: f64,
    /// The rate in units of 10⁹ bytes per second; 0 for a cellular automaton.
    pub gbps: f64,
    /// The rate in cell updates per second, for a cellular automaton.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_updates_per_second: Option<f64>,
    /// The rate in units of 10¹² operations per second, for a matrix product.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub teraflops: Option<f64>,
    /// The rate divided by the rate on one member.
    pub speedup: f64,
    /// The speed-up divided by the number of members.
    pub efficiency: f64,
}

impl ScalingPoint {
    /// Returns the elements per second.
    fn rate(&self) -> f64 {
        self.size as f64 / (1e-6 * self.median_us)
    }
}

/// The kind of scaling, by the size that stays constant as members are added.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Strong scaling: the size of all members together stays constant.
    Strong,
    /// Weak scaling: the size per member stays constant.
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

/// Measures the scaling of `algorithms` (of all algorithms if the slice is empty) on 1, 2, 4, … and all members. For
/// strong scaling `n` is the total number of elements, and for weak scaling the number of elements per member.
///
/// # Errors
/// [`UsageError`] for an algorithm that does not run on several devices; another error if a device or another rank
/// fails, or a result is wrong.
pub fn run(group: &Group, algorithms: &[&str], n: usize) -> anyhow::Result<Scaling> {
    let mut works: Vec<(&str, ScalingMeasurement)> =
        catalogue::scaling_measurements().into_iter().map(|(algorithm, work)| (algorithm.name(), work)).collect();
    if let Some(unknown) = algorithms.iter().find(|name| works.iter().all(|(algorithm, _)| algorithm != *name)) {
        let text = format!("{unknown} does not run on several devices: name one device with --device");
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
    let counts = doubled_up_to(team.members());
    let mut progress = Progress::new((works.len() * (2 * counts.len() - 1)) as u64, "points");
    for (algorithm, work) in &works {
        for kind in [Kind::Strong, Kind::Weak] {
            for &members in &counts {
                let size = (work.whole)(if kind == Kind::Weak { n.saturating_mul(members) } else { n });
                // Strong and weak scaling share the point of one member.
                let known = scaling.scaling.iter().find(|row| {
                    kind == Kind::Weak
                        && (row.kind, row.members, members) == (Kind::Strong, 1, 1)
                        && (row.algorithm.as_str(), row.number.as_str()) == (*algorithm, work.number)
                });
                let row = match known.cloned() {
                    Some(known) => Some(ScalingPoint { kind, ..known }),
                    None => point(&team.of_first(members), algorithm, work, kind, size, &mut scaling.left_out)?,
                };
                let Some(row) = row else { continue };
                let (rate, unit) = row.cell_updates_per_second.map_or((1e9 * row.gbps, "B"), |rate| (rate, "cells"));
                scaling.scaling.push(row);
                progress.set(scaling.scaling.len() as u64, rate, unit);
            }
        }
    }
    if let (true, Some(first)) = (scaling.scaling.is_empty(), scaling.left_out.first()) {
        bail!("nothing was measured, because no point of --n {n} fits the memory: {first}: use a smaller --n");
    }
    set_speedups(&mut scaling.scaling);
    Ok(scaling)
}

/// Computes the speed-up of each row over the same work on one member. A row has no speed-up if its data does not fit
/// the memory of one member.
fn set_speedups(rows: &mut [ScalingPoint]) {
    let ones: Vec<ScalingPoint> = rows.iter().filter(|row| row.members == 1).cloned().collect();
    for row in rows {
        let is_same =
            |one: &&ScalingPoint| (&one.algorithm, &one.number, one.kind) == (&row.algorithm, &row.number, row.kind);
        row.speedup = ones.iter().find(is_same).map_or(0.0, |one| row.rate() / one.rate());
        row.efficiency = row.speedup / row.members as f64;
    }
}

/// Measures `work` on the devices of `team`. If a device has too little memory for its part of the data, adds the
/// reason to `left_out` and returns `None`.
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
    // If one rank has too little memory for a point, all ranks leave the point out.
    let all = team.ranks().all_gather(&free.to_le_bytes())?;
    let free = all.iter().filter_map(|bytes| Some(u64::from_le_bytes(bytes.as_slice().try_into().ok()?))).min();
    let free = free.unwrap_or(0);
    let name = format!("{} {} {} of {size} on {members}", kind.name(), algorithm, work.number);
    // Some memory is lost in the gaps between allocations.
    if needed > free - free / 64 {
        left_out.push(format!("{name}: {} needed on each, {} free", Bytes(needed), Bytes(free)));
        return Ok(None);
    }
    if each > work.max_elements as f64 {
        left_out.push(format!("{name}: a member takes up to {} elements", work.max_elements));
        return Ok(None);
    }
    let mut prepared = (work.prepare)(team, size)?;
    let deviation = of_all(team.ranks(), prepared.verify()?)?;
    if let Some(wrong) = deviation.wrong {
        bail!("the result of {name} is wrong: {wrong}");
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
        // Rank 0, which prints, has a member and therefore the number of generations.
        cell_updates_per_second: prepared
            .generations()
            .map(|generations| size as f64 * generations as f64 / timing.seconds),
        teraflops: prepared.operations().map(|operations| operations as f64 / timing.seconds / 1e12),
        speedup: 1.0,
        efficiency: 1.0,
    }))
}

impl Scaling {
    /// Reads a file that `host bench --json` wrote. Returns `None` if that run was not on several devices.
    pub fn read(path: &Path) -> Option<Self> {
        serde_json::from_str(&fs::read_to_string(path).ok()?).ok()
    }

    /// Returns the table for the terminal.
    pub fn text(&self) -> String {
        let share = |value: f64, text: String| if value > 0.0 { text } else { "–".to_owned() };
        let rows = self.scaling.iter().map(|row| {
            [
                format!("{} {}", row.algorithm, row.number),
                row.kind.name().to_owned(),
                row.members.to_string(),
                if row.size.is_power_of_two() { format!("2^{}", row.size.ilog2()) } else { row.size.to_string() },
                report::Seconds(1e-6 * row.median_us).to_string(),
                match (row.cell_updates_per_second, row.teraflops) {
                    (Some(rate), _) => format!("{} cells/s", Rate(rate)),
                    (_, Some(rate)) => format!("{} TFLOP/s", Rate(rate)),
                    _ => format!("{} GB/s", Rate(row.gbps)),
                },
                share(row.speedup, format!("{:.3}", row.speedup)),
                share(row.efficiency, format!("{} %", Rate(100.0 * row.efficiency))),
                row.runs.to_string(),
            ]
        });
        let heading = ["work", "scaling", "members", "size", "median", "rate", "speed-up", "efficiency", "runs"];
        let mut text = format!(
            "scaling on {} × {}, {} process{}, {}\nmedians by the host's clock, from the moment when all \
             are ready until the last is done\n{}\n",
            self.members,
            self.device,
            self.ranks,
            if self.ranks == 1 { "" } else { "es" },
            self.date,
            report::table(heading, rows),
        );
        self.left_out.iter().for_each(|reason| text += &format!("left out: {reason}\n"));
        if self.simulated {
            text += "Simulated: all members share this machine's CPU, whose times say nothing about a GPU's.\n";
        }
        text
    }

    /// Writes `bench-scaling.svg` and `.png` into `folder`, and returns their paths.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn draw(&self, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
        plots::write_formats(folder, "bench-scaling", &self.plot())
    }

    /// Returns the plot of the speed-up over the number of members. The plot has the ideal line, and one line for each
    /// combination of algorithm, element type and kind of scaling.
    fn plot(&self) -> LinePlot {
        let ideal = doubled_up_to(self.members).into_iter().map(|members| (members as f64, members as f64)).collect();
        let mut series = vec![Series { name: "ideal".to_owned(), points: ideal }];
        for row in self.scaling.iter().filter(|row| row.speedup > 0.0) {
            let name = format!("{} {}, {}", row.algorithm, row.number, row.kind.name());
            Series::add(&mut series, &name, (row.members as f64, row.speedup));
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
    use crate::files::WholeFile;
    use crate::recordings;

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
            teraflops: None,
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
        recordings::write(&scaling, &WholeFile::new(&path)).unwrap();
        assert_eq!(Scaling::read(&path), Some(scaling));
        fs::write(&path, "{\"device\": \"GPU X\", \"rows\": []}").unwrap();
        assert_eq!(Scaling::read(&path), None);
    }

    #[test]
    fn members_are_doubled_up_to_all() {
        assert_eq!([1, 2, 3, 8].map(doubled_up_to), [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8]]);
    }

    #[test]
    fn what_one_member_cannot_hold_has_no_speed_up() {
        let mut rows = [row(2, Kind::Strong, 10.0), row(1, Kind::Weak, 10.0), row(2, Kind::Weak, 20.0)];
        rows[2].median_us = 1.0;
        set_speedups(&mut rows);
        assert_eq!(rows.each_ref().map(|row| row.speedup), [0.0, 1.0, 3.0]);
        assert_eq!(rows[2].efficiency, 1.5);
    }
}
