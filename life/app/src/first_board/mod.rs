//! The first board of a run: a pattern, a soup or a checkpoint. The first rank reads it.

use std::path::Path;

use anyhow::Context;
use gridstride::Size;

use crate::checkpoint::{Header, RunFacts, saved_board};
use crate::ranks::Ranks;
use crate::universe::Universe;
use pattern::PlacedPattern;
use program::error::UsageError;
use program::report;

mod board_source;
mod pattern;

pub use board_source::BoardSource;
#[cfg(test)]
pub use board_source::Placed;
pub use pattern::soup;

/// The first board of a run, with its universe and metadata.
pub struct FirstBoard {
    /// The source of the cells.
    pub source: BoardSource,
    /// The universe of the board.
    pub universe: Universe,
    /// The facts that the run's checkpoints store.
    pub facts: RunFacts,
    /// The generation of the board.
    pub generation: u64,
}

impl FirstBoard {
    /// Returns a soup of this density. Its size is `size`, else the grid of `rule`, else the `screen`, else 256 × 256.
    ///
    /// # Errors
    /// [`UsageError`] for an invalid rule or size.
    pub fn soup(
        ranks: Ranks,
        rule: Option<&str>,
        size: Option<Size>,
        screen: Option<Size>,
        density: f64,
        seed: Option<u64>,
    ) -> anyhow::Result<Self> {
        let (universe, named) = pattern::of_soup(rule)?;
        let universe = if size.is_some() { universe.bounded() } else { universe };
        let (Size { width, height }, seed) = pattern::soup(size.or(named), screen, seed);
        universe.check_size((width, height))?;
        let seed = ranks.first(seed)?;
        let origin = (-(width as i64 / 2), -(height as i64 / 2));
        let facts = RunFacts { seed: Some(seed), ..RunFacts::of(&universe, origin) };
        Ok(Self { source: BoardSource::Soup { size: (width, height), density, seed }, universe, facts, generation: 0 })
    }

    /// Returns the pattern or the checkpoint in `file`. The first rank reads it and sends its header to the others.
    ///
    /// # Errors
    /// [`UsageError`] for invalid options. Otherwise if the file cannot be read.
    pub fn file(
        ranks: Ranks,
        file: &Path,
        rule: Option<&str>,
        size: Option<Size>,
        screen: Option<Size>,
    ) -> anyhow::Result<Self> {
        let mut own = None;
        let lines = ranks.text(|| {
            let begin = own.insert(Self::read(ranks, file, rule, size, screen)?);
            Ok(begin.facts.clone().header(begin.source.size(), begin.generation).lines())
        })?;
        match own {
            Some(begin) => Ok(begin),
            None => Self::from_header(Header::parse(&lines)?),
        }
    }

    /// Returns the first board on a rank other than the first, from the header that the first rank sent.
    fn from_header(header: Header) -> anyhow::Result<Self> {
        let (size, generation) = (header.size, header.generation);
        let facts = RunFacts::from(header);
        let universe = Universe { generation: facts.first.wrapping_add(generation), ..facts.universe()? };
        Ok(Self { source: BoardSource::OfFirstRank { size }, universe, facts, generation })
    }

    fn read(
        ranks: Ranks,
        file: &Path,
        rule: Option<&str>,
        size: Option<Size>,
        screen: Option<Size>,
    ) -> anyhow::Result<Self> {
        if !saved_board::is_checkpoint(file) {
            let PlacedPattern { placed, universe, origin } = pattern::pattern(ranks, file, rule, size, screen)?;
            let facts = RunFacts::of(&universe, origin);
            return Ok(Self { source: BoardSource::Pattern(placed), universe, facts, generation: 0 });
        }
        if rule.is_some() {
            let text = format!("--rule: the checkpoint '{}' has its own rule: leave out --rule", file.display());
            return Err(UsageError(text).into());
        }
        if size.is_some() {
            let text = format!("--size: the checkpoint '{}' has its own size: leave out --size", file.display());
            return Err(UsageError(text).into());
        }
        let saved = saved_board::open(file)?;
        let generation = saved.header.generation;
        let facts = RunFacts::from(saved.header.clone());
        let universe = facts.universe().with_context(|| format!("cannot resume from '{}'", file.display()))?;
        report::note(&format!("resuming at generation {generation}"));
        let universe = Universe { generation: facts.first.wrapping_add(generation), ..universe };
        Ok(Self { source: BoardSource::Saved(saved), universe, facts, generation })
    }
}
