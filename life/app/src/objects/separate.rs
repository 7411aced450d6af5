//! Divides the cells of a periodic group into objects.
//!
//! The definition is that of lifelib, by which Catagolue counts, so that the results can be compared.
//!
//! An island is a set of cells, over all generations of a period, that are connected: cells of one generation that
//! touch, and a cell with those cells of the next generation that it touches. Islands are joined to objects:
//!
//! 1. If all islands would be joined to several sets by joining the neighbours of each dead cell that has at least
//!    three of them, these sets are the objects.
//! 2. Otherwise, if an island alone would give birth to a cell that stays dead, and only one other island touches that
//!    cell, the two islands are joined.
//! 3. If each island then develops as before without the others, the islands are the objects.
//! 4. Otherwise the objects are a division of the islands into the smallest number of sets, at least two, each of which
//!    develops as before without the others. If there is none, all islands are one object.
//!
//! A dead cell next to two objects may therefore be kept dead by both of them (a still life in which this matters is
//! *strict*), but no object depends on another one to stay as it is.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::cell_set::{AROUND, CellSet, Counts, Phase};

/// The maximum number of islands for which all divisions are tried.
const MAX_ISLANDS: usize = 16;

/// The maximum number of divisions that are tried.
const MAX_DIVISIONS: u64 = 1 << 20;

type Cell = (i32, i32);

/// A union-find structure of disjoint sets of cells. Each set is represented by one of its cells.
#[derive(Clone)]
struct DisjointSets(Vec<usize>);

impl DisjointSets {
    fn find(&mut self, cell: usize) -> usize {
        let mut root = cell;
        while self.0[root] != root {
            root = self.0[root];
        }
        self.0[cell] = root;
        root
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a] = b;
    }
}

/// All cells of a period, on a plane in which the first generation begins at (0, 0).
struct Period {
    rule: Counts,
    /// For each generation, its live cells and their numbers.
    generations: Vec<HashMap<Cell, usize>>,
    /// The distance by which the cells move in the period.
    moved: Cell,
}

/// Returns the cells of each object in the first generation of `phases`. The cells move by `moved` in a period.
pub fn separate(rule: Counts, phases: &[Phase], moved: Cell) -> Vec<CellSet> {
    let mut count = 0;
    let mut number = |(cells, at): &Phase| -> HashMap<Cell, usize> {
        let cells = cells.cells().iter().map(|(x, y)| (x + at.0, y + at.1));
        let numbered: HashMap<_, _> = cells.zip(count..).collect();
        count += numbered.len();
        numbered
    };
    let generations: Vec<_> = phases.iter().map(&mut number).collect();
    let period = Period { rule, generations, moved };
    let mut islands = period.islands(count);
    let mut joined = islands.clone();
    period.join_neighbours_of_dead_cells(&mut joined);
    let fast = period.sets(&mut joined);
    if fast.len() > 1 {
        return first_generations(&fast);
    }
    let sets = loop {
        let sets = period.sets(&mut islands);
        match period.dependent_pair(&sets, &mut islands) {
            Some((a, b)) => islands.join(a, b),
            None => break sets,
        }
    };
    if sets.len() == 1 || sets.iter().all(|set| period.is_independent(set)) {
        return first_generations(&sets);
    }
    let division = period.division(&sets);
    first_generations(&division.unwrap_or_else(|| vec![union(sets.iter())]))
}

/// The live cells of an object in each generation.
type Set = Vec<HashSet<Cell>>;

fn first_generations(sets: &[Set]) -> Vec<CellSet> {
    sets.iter().map(|set| CellSet::new(set[0].iter().copied().collect()).0).collect()
}

fn union<'a>(sets: impl Iterator<Item = &'a Set>) -> Set {
    let mut all = Set::new();
    for set in sets {
        all.resize(set.len(), HashSet::new());
        all.iter_mut().zip(set).for_each(|(all, cells)| all.extend(cells));
    }
    all
}

fn around((x, y): Cell) -> impl Iterator<Item = Cell> {
    AROUND.iter().map(move |(dx, dy)| (x + dx, y + dy))
}

impl Period {
    /// Returns the cells of the next generation, and the distance by which they have moved there. After the last
    /// generation, the next one is the first.
    fn after(&self, generation: usize) -> (usize, Cell) {
        if generation + 1 < self.generations.len() { (generation + 1, (0, 0)) } else { (0, self.moved) }
    }

    /// Returns the islands of `count` numbered cells.
    fn islands(&self, count: usize) -> DisjointSets {
        let mut islands = DisjointSets((0..count).collect());
        for (generation, cells) in self.generations.iter().enumerate() {
            let (later, by) = self.after(generation);
            for (&cell, &number) in cells {
                around(cell).filter_map(|cell| cells.get(&cell)).for_each(|&other| islands.join(number, other));
                for (x, y) in around(cell).chain([cell]) {
                    if let Some(&other) = self.generations[later].get(&(x - by.0, y - by.1)) {
                        islands.join(number, other);
                    }
                }
            }
        }
        islands
    }

    fn join_neighbours_of_dead_cells(&self, sets: &mut DisjointSets) {
        for cells in &self.generations {
            let mut neighbours: HashMap<Cell, Vec<usize>> = HashMap::new();
            for (&cell, &number) in cells {
                for dead in around(cell).filter(|cell| !cells.contains_key(cell)) {
                    neighbours.entry(dead).or_default().push(number);
                }
            }
            for neighbours in neighbours.values().filter(|neighbours| neighbours.len() >= 3) {
                neighbours.windows(2).for_each(|pair| sets.join(pair[0], pair[1]));
            }
        }
    }

    /// Returns the cells of each set.
    fn sets(&self, sets: &mut DisjointSets) -> Vec<Set> {
        let mut by_root: HashMap<usize, Set> = HashMap::new();
        for (generation, cells) in self.generations.iter().enumerate() {
            for (&cell, &number) in cells {
                let set = by_root.entry(sets.find(number)).or_default();
                set.resize(self.generations.len(), HashSet::new());
                set[generation].insert(cell);
            }
        }
        by_root.into_values().collect()
    }

    /// Returns the cells that follow after `set` alone in `generation`.
    fn alone(&self, set: &Set, generation: usize) -> HashSet<Cell> {
        let now = &set[generation];
        let count = |cell: Cell| around(cell).filter(|cell| now.contains(cell)).count() as u8;
        let born = now.iter().flat_map(|&cell| around(cell)).filter(|cell| !now.contains(cell));
        let born = born.filter(|&cell| self.rule.is_born(count(cell)));
        born.chain(now.iter().copied().filter(|&cell| self.rule.survives(count(cell)))).collect()
    }

    /// Returns the cells of `set` in the generation after `generation`.
    fn next_of(&self, set: &Set, generation: usize) -> HashSet<Cell> {
        let (later, by) = self.after(generation);
        set[later].iter().map(|&(x, y)| (x + by.0, y + by.1)).collect()
    }

    /// Returns true if `set` develops as before without the other sets.
    fn is_independent(&self, set: &Set) -> bool {
        (0..self.generations.len()).all(|generation| self.alone(set, generation) == self.next_of(set, generation))
    }

    /// Returns cells of two sets of which one depends on the other: alone, it would give birth to a cell that stays
    /// dead, and only the other one touches that cell.
    fn dependent_pair(&self, sets: &[Set], roots: &mut DisjointSets) -> Option<(usize, usize)> {
        for (generation, cells) in self.generations.iter().enumerate() {
            for set in sets {
                let (alone, next) = (self.alone(set, generation), self.next_of(set, generation));
                for &cell in alone.difference(&next) {
                    let mut of_set = around(cell).filter(|cell| set[generation].contains(cell));
                    let Some(own) = of_set.next().and_then(|cell| cells.get(&cell)).copied() else { continue };
                    let own = roots.find(own);
                    let others: BTreeSet<usize> = around(cell)
                        .filter_map(|cell| cells.get(&cell))
                        .map(|&other| roots.find(other))
                        .filter(|&other| other != own)
                        .collect();
                    if let (1, Some(&other)) = (others.len(), others.first()) {
                        return Some((own, other));
                    }
                }
            }
        }
        None
    }

    /// Returns a division of `sets` into the smallest number of sets, at least two, each of which is independent.
    fn division(&self, sets: &[Set]) -> Option<Vec<Set>> {
        if sets.len() > MAX_ISLANDS {
            return None;
        }
        // Whether the union of some of the sets, given as bits, is independent.
        let mut known: HashMap<u32, bool> = HashMap::new();
        for parts in 2..=sets.len() {
            if (parts as u64).checked_pow(sets.len() as u32).is_none_or(|count| count > MAX_DIVISIONS) {
                return None;
            }
            let mut of = vec![0; sets.len()];
            while advance(&mut of, parts) {
                let mut masks = vec![0_u32; parts];
                of.iter().enumerate().for_each(|(set, &part)| masks[part] |= 1 << set);
                let chosen =
                    |mask: u32| union(sets.iter().enumerate().filter(|(i, _)| mask >> i & 1 == 1).map(|s| s.1));
                if masks
                    .iter()
                    .all(|&mask| mask != 0 && *known.entry(mask).or_insert_with(|| self.is_independent(&chosen(mask))))
                {
                    return Some(masks.into_iter().map(chosen).collect());
                }
            }
        }
        None
    }
}

/// Changes `of` to the next assignment of numbers below `parts` in which each number is at most one greater than all
/// before it. Every division occurs once in this way. Returns false after the last one.
fn advance(of: &mut [usize], parts: usize) -> bool {
    for i in (1..of.len()).rev() {
        let limit = of[..i].iter().max().map_or(0, |most| (most + 1).min(parts - 1));
        if of[i] < limit {
            of[i] += 1;
            of[i + 1..].fill(0);
            return true;
        }
    }
    false
}
