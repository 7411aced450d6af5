//! The first board of a run: a pattern, a soup or a checkpoint. Only the first rank reads files.

use std::path::Path;

use anyhow::Context;
use gridstride::Size;

use crate::checkpoint::{Header, RunFacts, saved_board};
use crate::ranks::Ranks;
use crate::universe::Universe;
use program::report;

mod board_source;
mod pattern;

pub use board_source::{BoardSource, PlacedPattern};
pub use pattern::{BoardPlan, Check, soup};

/// The first board of a run, with its universe and the facts of the run.
pub struct FirstBoard {
    /// The source of the board's cells.
    pub source: BoardSource,
    /// The universe of the board.
    pub universe: Universe,
    /// The facts of the run that its checkpoints store.
    pub facts: RunFacts,
    /// The generation of the board.
    pub generation: u64,
}

/// The options that determine the first board.
#[derive(Clone, Copy)]
pub struct BoardOptions<'a> {
    /// The ranks that share the run.
    pub ranks: Ranks,
    /// The text of `--rule`.
    pub rule: Option<&'a str>,
    /// The size that `--size` sets.
    pub size: Option<Size>,
    /// The size that fills the screen, if the run will be animated.
    pub screen: Option<Size>,
    /// True if the processor's cores may advance the board.
    pub may_use_plane: bool,
}

impl BoardOptions<'_> {
    /// Returns true if the processor's cores may advance a board in `universe` as tiles of the unbounded plane.
    fn takes_plane(&self, universe: &Universe) -> bool {
        self.may_use_plane && universe.is_unbounded()
    }

    /// Returns a soup of density `density`. The size of the soup is the value of `--size`, if present. Otherwise it is
    /// the size of the rule's grid, or else the size of the screen, or else 256 × 256.
    ///
    /// # Errors
    /// [`UsageError`](program::error::UsageError) for an invalid rule or size.
    pub fn soup(&self, density: f64, seed: Option<u64>) -> anyhow::Result<FirstBoard> {
        let (universe, named) = pattern::of_soup(self.rule)?;
        let universe = if self.size.is_some() { universe.bounded() } else { universe };
        let (Size { width, height }, seed) = pattern::soup(self.size.or(named), self.screen, seed);
        universe.check_size((width, height))?;
        let seed = self.ranks.first(seed)?;
        let origin = (-(width as i64 / 2), -(height as i64 / 2));
        let facts = RunFacts { seed: Some(seed), ..RunFacts::of(&universe, origin) };
        let source = BoardSource::Soup { size: (width, height), density, seed };
        Ok(FirstBoard { source, universe, facts, generation: 0 })
    }

    /// Returns the pattern or the checkpoint in `file`. The first rank reads the file and sends size, rule and other
    /// facts to the other ranks. For a pattern, the first rank calls `check` as soon as the size of the board is known.
    ///
    /// # Errors
    /// [`UsageError`](program::error::UsageError) for invalid options. Another error if the file cannot be read.
    pub fn read(&self, file: &Path, check: Check<'_>) -> anyhow::Result<FirstBoard> {
        let mut own = None;
        let lines = self.ranks.text(|| {
            let first = own.insert(self.read_alone(file, check)?);
            let (facts, size, generation) = (first.facts.clone(), first.source.size(), first.generation);
            Ok(Header { facts, size, generation, is_text: false }.lines())
        })?;
        match own {
            Some(first) => Ok(first),
            None => {
                let header = Header::parse(&lines)?;
                FirstBoard::saved(BoardSource::OfFirstRank { size: header.size }, header)
            }
        }
    }

    fn read_alone(&self, file: &Path, check: Check<'_>) -> anyhow::Result<FirstBoard> {
        if !saved_board::is_checkpoint(file) {
            let placed = pattern::pattern(self, file, check)?;
            let (universe, facts) = (placed.universe, RunFacts::of(&placed.universe, placed.origin));
            return Ok(FirstBoard { source: BoardSource::Pattern(Box::new(placed)), universe, facts, generation: 0 });
        }
        for (flag, what, is_given) in [("--rule", "rule", self.rule.is_some()), ("--size", "size", self.size.is_some())]
        {
            if is_given {
                let shown = file.display();
                reject!("{flag}: the checkpoint '{shown}' has its own {what}: leave out {flag}");
            }
        }
        let saved = saved_board::open(file)?;
        let header = saved.header.clone();
        let (generation, size) = (header.generation, header.size);
        let text = header.is_text.then(|| saved.pattern()).transpose()?;
        let mut first = FirstBoard::saved(BoardSource::Saved(saved), header)
            .with_context(|| format!("cannot resume from '{}'", file.display()))?;
        if let Some(pattern) = text {
            first.source = BoardSource::Pattern(PlacedPattern::whole(pattern, size, first.universe));
        }
        report::note(&format!("resuming at generation {generation}"));
        Ok(first)
    }
}

impl FirstBoard {
    /// Returns the plan of a board that was not planned for a pattern.
    pub fn plan(&self) -> BoardPlan {
        let mut plan = BoardPlan::of(self.source.size(), self.universe);
        if let BoardSource::Pattern(placed) = &self.source {
            plan.suits_plane = placed.suits_plane();
        }
        plan
    }

    /// Returns the first board of a run that resumes from a checkpoint. `source` is the source of the cells.
    fn saved(source: BoardSource, Header { facts, generation, .. }: Header) -> anyhow::Result<Self> {
        let universe = Universe { generation: facts.first.wrapping_add(generation), ..facts.universe()? };
        Ok(Self { source, universe, facts, generation })
    }
}
