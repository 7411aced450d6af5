//! The steps of a plane: which tiles are visited, and how the results are stored.

use std::ops::Range;

use rayon::prelude::*;

use super::tiles::{Cells, DEAD};
use super::visit::{Outcome, Visits};
use super::{GENERATIONS_PER_VISIT, LONG, Plane, PlaneError, compiled};
use crate::Instructions;

/// The number of tiles that one core visits before it takes others.
const TILES_PER_TASK: usize = 64;

/// The default of [`Scratch::tiles_per_part`].
const TILES_PER_PART: usize = 8192;

/// Memory that steps use again.
#[derive(Clone)]
pub struct Scratch {
    /// The minimum number of tiles of a part, except the last one.
    tiles_per_part: usize,
    /// The ranges of the active tiles that are visited together.
    parts: Vec<Range<usize>>,
    /// The results of a part and of the one before.
    results: [Results; 2],
}

impl Default for Scratch {
    fn default() -> Self {
        Self { tiles_per_part: TILES_PER_PART, parts: Vec::new(), results: Default::default() }
    }
}

/// The results of the visits of a part.
#[derive(Clone, Default)]
struct Results {
    next: Vec<Cells>,
    outcomes: Vec<Outcome>,
}

impl Plane {
    /// Selects the tiles that a step of `generations` generations visits, makes the tiles that are missing among them,
    /// and frees tiles.
    pub(super) fn plan(&mut self, generations: usize) -> Result<(), PlaneError> {
        if !generations.is_multiple_of(self.short_period()) {
            self.wake_all();
        }
        let set = usize::from(generations == GENERATIONS_PER_VISIT && self.was_long);
        self.active.clear();
        for i in 0..self.changed[set].len() {
            let tile = self.changed[set][i];
            let mut directions = self.tiles.get(tile).changed[set];
            while directions != 0 {
                let direction = directions.trailing_zeros() as usize;
                directions &= directions - 1;
                let neighbour = match self.tiles.neighbour(tile, direction) {
                    Ok(neighbour) => neighbour,
                    Err(error) => {
                        self.abandon();
                        return Err(error);
                    }
                };
                let tile = self.tiles.get_mut(neighbour);
                if !tile.is_active {
                    tile.is_active = true;
                    self.active.push(neighbour);
                }
            }
        }
        for i in 0..self.candidates.len() {
            let tile = self.candidates[i];
            let content = self.tiles.get(tile);
            if content.is_used && content.is_dead && !content.is_active && content.changed == [0; 2] {
                self.tiles.remove(tile);
            }
        }
        self.candidates.clear();
        Ok(())
    }

    /// Returns the number of generations after which a tile that does not change has not changed in the short run.
    fn short_period(&self) -> usize {
        if self.rule.phases[0] == self.rule.phases[1] { 1 } else { 2 }
    }

    /// Forgets the plan of a step that cannot be made.
    fn abandon(&mut self) {
        self.active.iter().for_each(|&tile| self.tiles.get_mut(tile).is_active = false);
        self.candidates.append(&mut self.active);
    }

    /// Advances the active tiles. Calls `watch` with the present and the next cells of each.
    ///
    /// # Errors
    /// If memory is too small. The cells are unchanged then.
    pub(super) fn step(
        &mut self,
        generations: usize,
        mut watch: impl FnMut(&[Cells], &[Cells]),
    ) -> Result<(), PlaneError> {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.divide(&mut scratch);
        let (planes, parts) = (self.tiles.planes, &scratch.parts);
        for (parity, results) in scratch.results.iter_mut().enumerate() {
            let most = parts.iter().skip(parity).step_by(2).map(Range::len).max().unwrap_or(0);
            if let Err(error) = results.reserve(most, planes) {
                self.abandon();
                return Err(error);
            }
        }
        self.begin_commit(generations);
        let active = std::mem::take(&mut self.active);
        let [mut now, mut before] = scratch.results.each_mut();
        let mut visited = 0..0;
        for part in parts {
            self.visit(generations, &active[part.clone()], now);
            // Only tiles of adjacent rows have common halos. The next part does not need the tiles of the last one.
            self.commit(generations, &active[visited], before, &mut watch);
            visited = part.clone();
            std::mem::swap(&mut now, &mut before);
        }
        self.commit(generations, &active[visited], before, &mut watch);
        (self.active, self.scratch) = (active, scratch);
        self.candidates.append(&mut self.active);
        self.was_long = generations == GENERATIONS_PER_VISIT;
        self.generation = self.generation.wrapping_add(generations as u64);
        Ok(())
    }

    /// Divides the active tiles into parts. If there are more parts than one, each consists of whole rows of tiles,
    /// from above to below.
    fn divide(&mut self, scratch: &mut Scratch) {
        let (Self { tiles, active, .. }, Scratch { tiles_per_part, parts, .. }) = (self, scratch);
        parts.clear();
        let mut begin = 0;
        if active.len() / 2 > *tiles_per_part {
            let row = |&tile: &u32| tiles.get(tile).position.1;
            active.par_sort_unstable_by_key(row);
            while active.len() - begin > *tiles_per_part {
                let last = row(&active[begin + *tiles_per_part - 1]);
                let end = begin + active[begin..].partition_point(|tile| row(tile) <= last);
                parts.push(begin..end);
                begin = end;
            }
        }
        parts.push(begin..active.len());
    }

    /// Computes the next cells of `active`.
    fn visit(&self, generations: usize, active: &[u32], results: &mut Results) {
        let (tiles, logic, planes) = (&self.tiles, &self.logic, self.tiles.planes);
        let Results { next, outcomes } = results;
        next.resize(active.len() * planes, DEAD);
        outcomes.resize(active.len(), Outcome::default());
        let visits = |active, next, outcomes| {
            let (states, generation, short_period) = (self.rule.states, self.generation, self.short_period());
            let visits = Visits { tiles, logic, states, generation, generations, short_period, active, next, outcomes };
            match self.instructions {
                // SAFETY: `with` takes only instructions that this processor has.
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx512 => unsafe { compiled::avx512(visits) },
                // SAFETY: `with` takes only instructions that this processor has.
                #[cfg(target_arch = "x86_64")]
                Instructions::Avx2 => unsafe { compiled::avx2(visits) },
                Instructions::Portable => compiled::portable(visits),
            }
        };
        if active.len() <= 2 * TILES_PER_TASK {
            visits(active, next, outcomes);
        } else {
            let parts = next.par_chunks_mut(TILES_PER_TASK * planes).zip(outcomes.par_chunks_mut(TILES_PER_TASK));
            parts.zip(active.par_chunks(TILES_PER_TASK)).for_each(|((next, outcomes), active)| {
                visits(active, next, outcomes);
            });
        }
    }

    /// Removes the flags and lists that the results of this step replace.
    fn begin_commit(&mut self, generations: usize) {
        let Self { tiles, changed: [short, long], candidates, .. } = self;
        if !(generations == GENERATIONS_PER_VISIT && self.was_long) {
            short.drain(..).for_each(|tile| tiles.get_mut(tile).is_listed = false);
        }
        for tile in long.drain(..) {
            let content = tiles.get_mut(tile);
            content.changed[LONG] = 0;
            if !content.is_active && content.is_dead {
                candidates.push(tile);
            }
        }
    }

    /// Stores the results of [`visit`](Self::visit) for `active`.
    fn commit(
        &mut self,
        generations: usize,
        active: &[u32],
        results: &Results,
        watch: &mut impl FnMut(&[Cells], &[Cells]),
    ) {
        let is_long = generations == GENERATIONS_PER_VISIT;
        let Self { tiles, changed: [short, long], .. } = self;
        let next = results.next.chunks_exact(tiles.planes);
        for ((&tile, outcome), next) in active.iter().zip(&results.outcomes).zip(next) {
            let cells = tiles.cells_mut(tile);
            watch(cells, next);
            cells.copy_from_slice(next);
            let content = tiles.get_mut(tile);
            (content.is_dead, content.is_active, content.changed) = (outcome.is_dead, false, outcome.changed);
            content.is_summed &= outcome.changed[LONG] == 0;
            if !is_long {
                content.changed[LONG] = 0;
            } else if outcome.changed[LONG] != 0 {
                long.push(tile);
            }
            if outcome.changed[0] != 0 && !content.is_listed {
                content.is_listed = true;
                short.push(tile);
            }
        }
    }
}

impl Results {
    /// Reserves memory for `count` tiles of `planes` bit planes.
    fn reserve(&mut self, count: usize, planes: usize) -> Result<(), PlaneError> {
        let more = (count * planes).saturating_sub(self.next.len());
        let bytes = count * planes * size_of::<Cells>();
        self.next.try_reserve(more).map_err(|_| PlaneError::OutOfMemory { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rule;
    use crate::plane::Run;

    #[test]
    fn parts_of_any_size_have_the_same_result() {
        let soup = |tiles_per_part| {
            let mut plane = Plane::new(&Rule::LIFE, 0);
            plane.scratch.tiles_per_part = tiles_per_part;
            let mut bits = 1_u32;
            for (y, x) in (0..400).flat_map(|y| (0..300).map(move |x| (y, x))) {
                // A linear shift register.
                bits = (bits >> 1) ^ ((bits & 1) * 0xa300_0000);
                if bits & 1 == 1 {
                    plane.set_run(Run { x, y, length: 1 })?;
                }
            }
            let changes = plane.advance_counting()?;
            plane.advance(43)?;
            Ok::<_, PlaneError>((changes, plane.hash(), plane.population()))
        };
        let whole = soup(usize::MAX);
        assert!(whole.as_ref().is_ok_and(|&(_, _, population)| population > 1000));
        for tiles_per_part in [1, 7, 25] {
            assert_eq!(soup(tiles_per_part), whole, "{tiles_per_part}");
        }
    }
}
