//! Writes the last board of a run, and says why it has no census.

use life::{Rule, Topology};
use life_formats::Metadata;
use program::error::UsageError;
use program::report;

use crate::board_file::{BoardFile, Take};
use crate::checkpoint::RunFacts;
use crate::fate::Outcome;
use crate::timed_run::TimedRun;
use crate::universe::Universe;

/// Writes the board of the last generation to `out` and prints the file's name. For a recording, only prints the name,
/// because the recording already contains the board.
pub(super) fn write_last(out: &BoardFile, run: &TimedRun, facts: &RunFacts) -> anyhow::Result<()> {
    if !out.is_recording() {
        let life = &run.life;
        let generation = facts.first.saturating_add(run.generation());
        let (size, (left, top), origin) = (life.size(), life.added(), facts.origin);
        let plane = life.engine().plane().filter(|_| out.takes_plane());
        if let Some(plane) = plane {
            let metadata = Metadata { name: None, rule: life.universe().text(size), generation, origin };
            out.write_plane(plane.engine(), plane.area(), &metadata)?;
            report::note(&format!("wrote {out}"));
            return Ok(());
        }
        let origin = (origin.0.saturating_sub(left as i64), origin.1.saturating_sub(top as i64));
        let metadata = Metadata { name: None, rule: life.universe().text(size), generation, origin };
        let parts = |take: Take<'_>| match out.takes_parts() {
            true => life.parts(|_, part| take(part)),
            false => life.engine().gathered()?.map_or(Ok(()), |board| take(&board)),
        };
        // The first rank writes the file. The other ranks only send their parts.
        match life.ranks().is_first() {
            true => out.write(size, life.universe().rule.states() > 2, &metadata, parts)?,
            false => parts(&mut |_| Ok(()))?,
        }
    }
    report::note(&format!("wrote {out}"));
    Ok(())
}

/// Returns the reason why no census can be made of the last board of `run`, which is not stable.
pub(super) fn why_no_census(outcome: Option<&Outcome>, run: &TimedRun) -> String {
    match outcome {
        Some(outcome) => format!("--census: the pattern is {}: leave out --census", outcome.state(None)),
        None => format!(
            "--census: the objects cannot be counted, because the board is not stable in generation {}: use more \
             --generations",
            run.generation()
        ),
    }
}

/// Checks that the universe is Conway's rule on a plane or a torus. A census identifies only the objects of that rule.
pub(super) fn check_census(universe: &Universe) -> Result<(), UsageError> {
    let is_known = universe.is_unbounded() || matches!(universe.topology, Topology::TORUS | Topology::Plane);
    if universe.rule == Rule::LIFE && is_known {
        return Ok(());
    }
    reject!("--census needs the rule B3/S23 on a torus or a plane: use that rule, or leave out --census")
}
