//! The options `--stats` and `--plot`. The device counts population, births and deaths per generation.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::Observer;
use crate::timed_run::TimedRun;
use program::error::UsageError;
use program::files::WholeFile;
use program::report::{self, plot};

/// The counts of one generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct GenerationCounts {
    /// The generation that was counted.
    pub generation: u64,
    /// The number of cells that are not dead.
    pub population: u64,
    /// The number of births since the previous generation, or `None` in the first generation of a run.
    pub births: Option<u64>,
    /// The number of deaths since the previous generation, or `None` in the first generation of a run.
    pub deaths: Option<u64>,
}

/// The choice of the generations that are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// All generations that are multiples of a number.
    Every(u64),
    /// The first 128 generations, then 64 generations per doubling of the generation number.
    Doubling,
}

impl Spacing {
    /// Returns the next generation after `generation` that should be counted.
    fn after(self, generation: u64) -> u64 {
        let every = match self {
            Self::Every(every) => every,
            Self::Doubling => (generation.saturating_add(1) / 64).checked_ilog2().map_or(1, |doubled| 1 << doubled),
        };
        (generation / every).saturating_add(1).saturating_mul(every)
    }
}

/// A file to which the counts are written.
#[derive(Clone, Debug)]
pub struct StatsFile {
    /// The file, which appears at its path only when it is complete.
    pub file: WholeFile,
    is_json: bool,
}

impl StatsFile {
    /// Returns the file at `path` in the format of its extension.
    ///
    /// # Errors
    /// [`UsageError`] for an extension other than .csv and .json.
    pub fn new(path: &Path) -> Result<Self, UsageError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        if extension != "csv" && extension != "json" {
            reject!("--stats: '{}' must end with .csv or .json, which chooses the format", path.display());
        }
        Ok(Self { file: WholeFile::new(path), is_json: extension == "json" })
    }

    fn write(&self, rows: &[GenerationCounts]) -> anyhow::Result<()> {
        let mut out = self.file.create()?;
        let mut text = String::new();
        if self.is_json {
            text = serde_json::to_string(rows).context("cannot express the statistics as JSON")? + "\n";
        } else {
            text += "generation,population,births,deaths\n";
            let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
            for GenerationCounts { generation, population, births, deaths } in rows {
                text += &format!("{generation},{population},{},{}\n", number(*births), number(*deaths));
            }
        }
        out.write_all(text.as_bytes()).with_context(|| self.file.failed())?;
        self.file.keep(out)?;
        report::note(&format!("wrote {}", self.file));
        Ok(())
    }
}

/// An observer that counts the cells of some generations. When the run ends or is stopped, it writes the counts.
pub struct Stats {
    file: Option<StatsFile>,
    plot: Option<PathBuf>,
    title: String,
    spacing: Spacing,
    /// The last generation of the run.
    last: u64,
    rows: Vec<GenerationCounts>,
    due: u64,
}

impl Stats {
    /// Returns an observer that counts generations of a run, from generation `begin` to at most `last`.
    pub fn new(
        file: Option<StatsFile>,
        plot: Option<PathBuf>,
        title: String,
        spacing: Spacing,
        (begin, last): (u64, u64),
    ) -> Self {
        Self { file, plot, title, spacing, last, rows: Vec::new(), due: begin }
    }

    fn draw(&self, path: &Path) -> anyhow::Result<()> {
        let series = |name: &str, of: fn(&GenerationCounts) -> Option<u64>| {
            let point = |row: &GenerationCounts| Some((row.generation as f64, of(row)? as f64));
            plot::Series { name: name.into(), points: self.rows.iter().filter_map(point).collect() }
        };
        let picture = plot::LinePlot {
            title: self.title.clone(),
            x_label: "generation".into(),
            y_label: "cells".into(),
            x_log2: false,
            series: vec![
                series("population", |row| Some(row.population)),
                series("births", |row| row.births),
                series("deaths", |row| row.deaths),
            ],
        };
        plot::write(path, &picture)?;
        report::note(&format!("wrote {}", WholeFile::new(path)));
        Ok(())
    }
}

impl Observer for Stats {
    fn due(&self) -> u64 {
        self.due
    }

    fn on_generation(&mut self, run: &mut TimedRun) -> anyhow::Result<ControlFlow<()>> {
        let changes = if self.rows.is_empty() { None } else { Some(run.advance_counting()?) };
        let generation = run.generation();
        let (births, deaths) = changes.unzip();
        self.rows.push(GenerationCounts { generation, population: run.life.population()?, births, deaths });
        let next = self.spacing.after(generation);
        // The observer looks at the run one generation earlier, because births and deaths are counted while the run
        // advances.
        self.due = if next <= self.last { next - 1 } else { u64::MAX };
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self, run: &mut TimedRun, _was_stopped: bool) -> anyhow::Result<()> {
        // If a search for a period returned the run to an earlier generation, later counts are removed.
        self.rows.retain(|row| row.generation <= run.generation());
        if !run.life.ranks().is_first() {
            return Ok(());
        }
        self.file.as_ref().map_or(Ok(()), |file| file.write(&self.rows))?;
        self.plot.as_ref().map_or(Ok(()), |path| self.draw(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_counted_as_asked() {
        let all = |spacing: Spacing, last| -> Vec<u64> {
            std::iter::successors(Some(0), |&now| Some(spacing.after(now))).take_while(|&now| now <= last).collect()
        };
        assert_eq!(all(Spacing::Every(3), 10), [0, 3, 6, 9]);
        let doubling = all(Spacing::Doubling, 1 << 20);
        assert_eq!(doubling[..129], (0..=128).collect::<Vec<_>>());
        assert_eq!(doubling[129..132], [130, 132, 134]);
        for doubled in 7..20 {
            let rows = doubling.iter().filter(|&&row| (1 << doubled..1 << (doubled + 1)).contains(&row)).count();
            assert_eq!(rows, 64, "from 2^{doubled} on");
        }
        assert_eq!(Spacing::Doubling.after(u64::MAX), u64::MAX);
    }
}
