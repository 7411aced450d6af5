//! Checkpoint files. A run can resume from such a file, which contains a board and the facts of its run.

use std::str::FromStr;
use std::time::Duration;

use anyhow::ensure;
use life::Topology;

use crate::universe::Universe;
use program::options::parse_count;

mod claim;
mod format;
pub mod saved_board;

pub use claim::Claim;
pub use format::{Header, write_rows};

/// The interval between two checkpoints.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Every {
    /// A number of generations.
    Generations(u64),
    /// A time.
    Time(Duration),
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "use generations, such as 1000, or a time, such as 30s, 5m or 1h";
        let units = [("s", 1), ("m", 60), ("h", 3600)];
        let found = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, Some(*seconds))));
        let (number, seconds) = found.unwrap_or((text, None));
        let number = parse_count(number).map_err(|_| form.to_owned())? as u64;
        match (number, seconds) {
            (0, _) => Err(form.into()),
            (number, None) => Ok(Self::Generations(number)),
            (number, Some(seconds)) => Ok(Self::Time(Duration::from_secs(number.saturating_mul(seconds)))),
        }
    }
}

/// The facts that are the same in all checkpoints of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunFacts {
    /// The rule of the run.
    pub rule: String,
    /// The topology of the run: a suffix of the rule, `T` or `plane`.
    pub topology: String,
    /// The last generation of the run, if it has one.
    pub until: Option<u64>,
    /// The seed of the run's soup, if it began with one.
    pub seed: Option<u64>,
    /// The generation number that the pattern file gives for the run's first board. The run itself counts generations
    /// from 0 at that board.
    pub first: u64,
    /// The position of this process's first board on the plane: the column and row of the board's upper left corner.
    pub origin: (i64, i64),
}

/// The text that a checkpoint contains for a torus.
const TORUS: &str = "T";

/// The text that a checkpoint contains for the unbounded plane.
const PLANE: &str = "plane";

impl RunFacts {
    /// Returns the facts of a run in `universe`. The upper left corner of the run's first board is at `origin` on the
    /// plane.
    pub fn of(universe: &Universe, origin: (i64, i64)) -> Self {
        let topology = match (universe.is_unbounded(), universe.topology) {
            (true, _) => PLANE.into(),
            (false, Topology::TORUS) => TORUS.into(),
            // The suffix writes 0 for an unbounded direction. Other lengths do not matter here, because the header
            // contains the size.
            _ => universe.suffix((1 << 20, 1 << 20)),
        };
        let (rule, first) = (universe.rule.to_string(), universe.generation);
        Self { rule, topology, until: None, seed: None, first, origin }
    }

    /// Returns the universe of a run with these facts.
    ///
    /// # Errors
    /// If the rule or the topology is not supported.
    pub fn universe(&self) -> anyhow::Result<Universe> {
        let suffix = match &self.topology[..] {
            TORUS | PLANE => "",
            suffix => suffix,
        };
        ensure!(
            suffix.is_empty() || suffix.starts_with(':'),
            "its topology `{}` is invalid: it is damaged",
            self.topology
        );
        let (universe, _) = Universe::of(format!("{}{suffix}", self.rule).parse()?);
        Ok(if self.topology == TORUS { universe.bounded() } else { universe })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_generations_or_times() {
        for (text, every) in [
            ("1000", Every::Generations(1000)),
            ("2^10", Every::Generations(1024)),
            ("90s", Every::Time(Duration::from_secs(90))),
            ("5m", Every::Time(Duration::from_secs(300))),
            ("1h", Every::Time(Duration::from_secs(3600))),
        ] {
            assert_eq!(text.parse(), Ok(every));
        }
        for text in ["", "0", "0s", "s", "-1", "1d", "1.5m"] {
            let message = text.parse::<Every>().unwrap_err();
            assert!(message.contains("30s"), "{text}: {message}");
        }
    }
}
