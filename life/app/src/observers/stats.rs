//! `--stats` and `--plot`: population, births and deaths over a run's generations, counted where the board is.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::Serialize;

use super::Observer;
use crate::run::Run;
use crate::simulation::Advance;
use program::error::UsageError;
use program::files::WholeFile;
use program::report::{self, plot};

/// The counts of one generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Which one.
    pub generation: u64,
    /// Live cells.
    pub population: u64,
    /// Cells that it has brought to life. None in the generation that a run begins with.
    pub births: Option<u64>,
    /// Cells that have died in it.
    pub deaths: Option<u64>,
}

/// Which generations are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Every so many.
    Every(u64),
    /// All of the first 128, and of each later time that the number doubles, 64.
    Doubling,
}

impl Spacing {
    /// The first generation after `generation` that is counted.
    fn after(self, generation: u64) -> u64 {
        let every = match self {
            Self::Every(every) => every,
            Self::Doubling => (generation.saturating_add(1) / 64).checked_ilog2().map_or(1, |doubled| 1 << doubled),
        };
        (generation / every).saturating_add(1).saturating_mul(every)
    }
}

/// The format of a file of rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Csv,
    Json,
}

/// A file for the rows.
#[derive(Clone, Debug)]
pub struct StatsFile {
    file: WholeFile,
    format: Format,
}

impl StatsFile {
    /// The file at `path`, in the format of its extension.
    ///
    /// # Errors
    /// [`UsageError`] for another extension than .csv and .json.
    pub fn new(path: &Path) -> Result<Self, UsageError> {
        let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
        let format = match extension.to_str() {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            _ => {
                let text = format!("--stats: '{}' does not say which format: use .csv or .json", path.display());
                return Err(UsageError(text));
            }
        };
        Ok(Self { file: WholeFile::new(path), format })
    }

    /// Finds out whether the file can be written, before a long run rather than after it.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn check(&self) -> anyhow::Result<()> {
        self.file.check()
    }

    fn write(&self, rows: &[Row]) -> anyhow::Result<()> {
        let mut out = self.file.create()?;
        let text = match self.format {
            Format::Csv => {
                let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
                let line = |row: &Row| {
                    let Row { generation, population, births, deaths } = *row;
                    format!("{generation},{population},{},{}\n", number(births), number(deaths))
                };
                "generation,population,births,deaths\n"
                    .chars()
                    .chain(rows.iter().map(line).collect::<String>().chars())
                    .collect()
            }
            Format::Json => serde_json::to_string(rows).context("cannot express the statistics as JSON")? + "\n",
        };
        out.write_all(text.as_bytes()).with_context(|| self.file.failed())?;
        self.file.keep(out)?;
        report::note(&format!("wrote {}", self.file));
        Ok(())
    }
}

/// Counts beside a run, and writes what it has counted when that ends, however it does.
pub struct Stats {
    file: Option<StatsFile>,
    plot: Option<PathBuf>,
    title: String,
    spacing: Spacing,
    /// The last generation of the run.
    last: u64,
    rows: Vec<Row>,
    due: u64,
}

impl Stats {
    /// Returns the statistics of a run from generation `begin` to at most `last`. The plot has this title.
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
        let series = |name: &str, of: fn(&Row) -> Option<u64>| {
            let point = |row: &Row| Some((row.generation as f64, of(row)? as f64));
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

    fn on_generation(&mut self, run: &mut Run) -> anyhow::Result<ControlFlow<()>> {
        let changes = if self.rows.is_empty() { None } else { Some(run.advance_counting()?) };
        let generation = run.generation();
        let (births, deaths) = changes.unzip();
        self.rows.push(Row { generation, population: run.life_mut().population()?, births, deaths });
        let next = self.spacing.after(generation);
        // The changes of a generation are counted from the one before it.
        self.due = if next <= self.last { next - 1 } else { u64::MAX };
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self, run: &mut Run, _was_stopped: bool) -> anyhow::Result<()> {
        // A search for its end may have gone back.
        self.rows.retain(|row| row.generation <= run.generation());
        if !run.life().ranks().is_first() {
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
