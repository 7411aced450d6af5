//! The summary of a run, printed as a line of text or as a JSON object.

use std::fmt;

use serde::Serialize;

use crate::census::Census;
use crate::checkpoint::RunFacts;
use crate::fate::Outcome;
use crate::observers::stability::Stability;
use crate::timed_run::TimedRun;
use program::report::{Rate, Seconds, grouped};

/// The results of a run that are printed at its end.
#[derive(Serialize, Debug)]
pub struct Summary {
    device: String,
    kernel: String,
    /// The way in which halos are copied from rank to rank. `None` unless several ranks have devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    halos: Option<String>,
    width: usize,
    height: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    /// The generation of the first board in the pattern's file, or 0.
    first_generation: u64,
    /// The number of generations after the first board, including those before a checkpoint.
    generations: u64,
    /// The number of generations at which the run resumed from a checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    resumed_at: Option<u64>,
    population: u64,
    seconds: f64,
    cell_updates_per_second: f64,
    /// The result of `--until stable`, or `None` without that option. The inner value is `None` if the board is not
    /// periodic yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable: Option<Option<Stability>>,
    /// What a pattern on the plane becomes, or `None` if it is not known or the pattern is periodic as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<Outcome>,
    /// The result of `--census`, or `None` without that option.
    #[serde(skip_serializing_if = "Option::is_none")]
    census: Option<Census>,
    /// The number of generations that this process computed.
    #[serde(skip)]
    advanced: u64,
}

impl Summary {
    /// Returns the summary of a run.
    ///
    /// # Errors
    /// If the device fails to count the live cells.
    pub fn of(
        run: &mut TimedRun,
        facts: &RunFacts,
        (stable, outcome): (Option<Option<Stability>>, Option<Outcome>),
        census: Option<Census>,
    ) -> anyhow::Result<Self> {
        let population = run.life.population()?;
        let (width, height) = run.life.size();
        let seconds = run.computing.as_secs_f64();
        let (life, advanced) = (run.life.engine(), run.advanced);
        let updates = width as f64 * height as f64 * advanced as f64;
        Ok(Self {
            device: life.device(),
            kernel: life.kernel(),
            halos: life.halos(),
            width,
            height,
            seed: facts.seed,
            first_generation: facts.first,
            generations: run.generation(),
            resumed_at: Some(run.begun_at).filter(|&begun_at| begun_at > 0),
            population,
            seconds,
            cell_updates_per_second: if advanced == 0 { 0.0 } else { updates / seconds },
            stable,
            outcome,
            census,
            advanced,
        })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, kernel, width, height, seconds, .. } = self;
        write!(f, "generation {}, population {}", grouped(self.generations), grouped(self.population))?;
        match (self.stable, &self.outcome) {
            (Some(Some(stable)), None) => write!(f, ", {stable}")?,
            (stable, Some(outcome)) => {
                let stable = stable.flatten().map(|stable| (stable.since, stable.to_string()));
                write!(f, ", {}", outcome.state(stable))?;
            }
            (Some(None), None) => write!(f, ", not stable yet")?,
            (None, None) => {}
        }
        write!(f, ", {width}x{height}")?;
        if let Some(seed) = self.seed {
            write!(f, ", seed {seed}")?;
        }
        write!(f, "; {device}, kernel {kernel}, ")?;
        if let Some(halos) = &self.halos {
            write!(f, "{halos}, ")?;
        }
        write!(f, "{}", Seconds(*seconds))?;
        if self.advanced > 0 {
            let generations = Rate(self.advanced as f64 / seconds);
            write!(f, ", {generations} generations/s, {} cell updates/s", Rate(self.cell_updates_per_second))?;
        }
        if let Some(outcome) = &self.outcome {
            write!(f, "\n{outcome}")?;
        }
        if let Some(census) = &self.census {
            write!(f, "\n{census}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(seed: Option<u64>) -> Summary {
        Summary {
            device: "simulator".into(),
            kernel: "bitpacked".into(),
            halos: None,
            width: 640,
            height: 480,
            seed,
            first_generation: 30,
            generations: 1000,
            resumed_at: None,
            population: 12345,
            seconds: 2.0,
            cell_updates_per_second: 153.6e6,
            stable: None,
            outcome: None,
            census: None,
            advanced: 1000,
        }
    }

    #[test]
    fn the_line_has_everything() {
        assert_eq!(
            summary(Some(7)).to_string(),
            "generation 1,000, population 12,345, 640x480, seed 7; simulator, kernel bitpacked, 2.00 s, \
             500 generations/s, 1.54e8 cell updates/s"
        );
        let idle = Summary { generations: 0, advanced: 0, seconds: 0.0, cell_updates_per_second: 0.0, ..summary(None) };
        assert_eq!(idle.to_string(), "generation 0, population 12,345, 640x480; simulator, kernel bitpacked, 0 s");
    }

    #[test]
    fn it_says_what_a_search_found() {
        let found = Stability { since: 1234, period: 30, shift: None, dead: false, from_begin: false };
        let with = |stable| Summary { stable: Some(stable), ..summary(None) };
        let line = with(Some(found)).to_string();
        assert!(line.contains("12,345, periodic with period 30 from generation 1,234 on, 640x480"), "{line}");
        assert!(with(None).to_string().contains("12,345, not stable yet, 640x480"));
        let value = serde_json::to_value(with(Some(found))).unwrap();
        assert_eq!(value["stable"], serde_json::json!({"since": 1234, "period": 30, "dead": false}));
        assert!(serde_json::to_value(with(None)).unwrap()["stable"].is_null());
    }

    #[test]
    fn the_object_has_its_keys_and_a_seed_when_random() {
        let keys = |summary: &Summary| -> Vec<String> {
            let value = serde_json::to_value(summary).unwrap();
            value.as_object().unwrap().keys().cloned().collect()
        };
        let mut expected = vec![
            "cell_updates_per_second",
            "device",
            "first_generation",
            "generations",
            "height",
            "kernel",
            "population",
            "seconds",
            "width",
        ];
        let mut found = keys(&summary(None));
        found.sort();
        assert_eq!(found, expected);
        expected.insert(8, "seed");
        let mut found = keys(&summary(Some(1)));
        found.sort();
        assert_eq!(found, expected);
    }
}
