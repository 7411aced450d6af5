//! Compares the plane with the definition of a rule on a set of cells, and with the engine for boards.

use std::collections::BTreeMap;

use life_cpu::plane::{Bounds, LIMIT, Plane, PlaneError, Run, TILE};
use life_cpu::{Automaton, FirstBoard, Instructions, Rule, Topology};

use crate::common::{rule, rules};

mod common;

/// The cells that are not dead, by row and column, with their states.
type Cells = BTreeMap<(i64, i64), u8>;

/// A generator of random numbers.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % below
    }
}

fn named(name: &str) -> Rule {
    rules(61).into_iter().find(|(other, _)| *other == name).unwrap().1
}

/// Returns the next generation of `cells` by the definition of the rule.
fn next(rule: &Rule, generation: u64, cells: &Cells) -> Cells {
    let table = rule.phases[(generation % 2) as usize];
    // The number of each neighbourhood that has a live cell.
    let mut around: BTreeMap<(i64, i64), usize> = BTreeMap::new();
    for (&(y, x), _) in cells.iter().filter(|(_, state)| **state == 1) {
        for bit in 0..9 {
            *around.entry((y + bit / 3 - 1, x + bit % 3 - 1)).or_default() |= 1 << bit;
        }
    }
    let mut after = Cells::new();
    for (&cell, &i) in &around {
        let state = cells.get(&cell).copied().unwrap_or(0);
        if state < 2 && table[i / 64] >> (i % 64) & 1 == 1 {
            after.insert(cell, 1);
        }
    }
    for (&cell, &state) in cells {
        if !after.contains_key(&cell) && u16::from(state) + 1 < rule.states {
            after.insert(cell, state + 1);
        }
    }
    after
}

fn plane_of(instructions: Instructions, rule: &Rule, cells: &Cells) -> Plane {
    let mut plane = Plane::with(instructions, rule, 0);
    cells.iter().for_each(|(&(y, x), &state)| plane.set_state(x, y, state).unwrap());
    plane
}

fn cells_of(plane: &Plane) -> Cells {
    plane.cells().map(|(x, y)| ((y, x), plane.state(x, y))).collect()
}

/// Returns a soup of `width` × `height` cells.
fn soup(random: &mut Random, states: u16, (x, y): (i64, i64), (width, height): (i64, i64), percent: u64) -> Cells {
    let mut cells = Cells::new();
    for (row, column) in (y..y + height).flat_map(|row| (x..x + width).map(move |column| (row, column))) {
        if random.next(100) < percent {
            cells.insert((row, column), 1 + random.next(u64::from(states) - 1) as u8);
        }
    }
    cells
}

#[test]
fn every_rule_is_its_definition() {
    let mut random = Random(7);
    for (name, rule) in rules(61) {
        for instructions in Instructions::available() {
            for corner in [(-40, -20), (LIMIT - 200, 200 - LIMIT)] {
                let mut cells = soup(&mut random, rule.states, corner, (60, 40), 35);
                let mut plane = plane_of(instructions, &rule, &cells);
                let mut generation = 0;
                for step in [0, 1, 2, 8, 3, 16, 1, 1, 4] {
                    plane.advance(step).unwrap();
                    for _ in 0..step {
                        cells = next(&rule, generation, &cells);
                        generation += 1;
                    }
                    assert!(cells_of(&plane) == cells, "{name}, {instructions}, {corner:?}, {generation}");
                    assert_eq!((plane.generation(), plane.population()), (generation, cells.len() as u64));
                }
            }
        }
    }
}

/// Lets sparse soups come to rest, so that most tiles are not visited, with steps of many sizes.
#[test]
fn tiles_at_rest_are_as_if_they_were_computed() {
    let mut random = Random(99);
    let b03 = named("B03/S23 emulated");
    for (rule, rounds) in [(Rule::LIFE, 2), (b03, 1)] {
        for round in 0..rounds {
            let mut cells = Cells::new();
            for _ in 0..12 {
                let corner = (random.next(400) as i64 - 200, random.next(400) as i64 - 200);
                cells.extend(soup(&mut random, 2, corner, (9, 9), 40));
            }
            let mut plane = plane_of(Instructions::available()[0], &rule, &cells);
            let side = 1100;
            let (words, _) = plane.window(-550, -550, side, side).unwrap();
            let first = FirstBoard { width: side, height: side, words: &words, ages: &[], generation: 0 };
            let mut board = Automaton::new(&first, &rule, Topology::Plane).unwrap();
            while plane.generation() < 500 {
                let step = if random.next(2) == 0 { 1 + random.next(9) } else { 8 * random.next(4) };
                plane.advance(step).unwrap();
                board.advance(step);
                let generation = plane.generation();
                let is_same = plane.window(-550, -550, side, side).unwrap() == board.words().unwrap();
                assert!(is_same, "round {round}, generation {generation}, step {step}");
                assert_eq!(plane.population(), board.population(0..side), "round {round}, {generation}");
            }
        }
    }
}

#[test]
fn edits_are_seen_by_the_next_generation() {
    let mut random = Random(3);
    for (rule, states) in [(Rule::LIFE, 2), (named("Star Wars"), 4)] {
        let mut cells = soup(&mut random, states, (-30, -30), (100, 70), 30);
        let mut plane = plane_of(Instructions::available()[0], &rule, &cells);
        for round in 0..36 {
            let (x, y) = (random.next(300) as i64 - 150, random.next(300) as i64 - 150);
            let area = Bounds { x, y, width: random.next(90), height: random.next(90) };
            match round % 3 {
                0 => {
                    plane.clear(area);
                    let is_in = |x, y| (area.x..area.right()).contains(&x) && (area.y..area.bottom()).contains(&y);
                    cells.retain(|&(y, x), _| !is_in(x, y));
                }
                1 => {
                    let state = random.next(u64::from(states)) as u8;
                    plane.set_state(x, y, state).unwrap();
                    cells.remove(&(y, x));
                    cells.extend((state > 0).then_some(((y, x), state)));
                }
                _ => {
                    plane.set_run(Run { x, y, length: area.width }).unwrap();
                    cells.extend((x..area.right()).map(|x| ((y, x), 1)));
                }
            }
            assert!(cells_of(&plane) == cells, "{round}");
            plane.advance(1 + round % 9).unwrap();
            for _ in 0..1 + round % 9 {
                cells = next(&rule, 0, &cells);
            }
            assert!(cells_of(&plane) == cells, "{round}");
        }
    }
}

#[test]
fn the_plane_is_the_boards_of_the_other_engine() {
    for (name, rule) in rules(61) {
        let mut random = Random(11);
        let (width, height) = (333, 250);
        let mut words = vec![0u32; 11 * height];
        for y in 100..150 {
            (140..190).filter(|_| random.next(5) < 2).for_each(|x| words[11 * y + x / 32] |= 1 << (x % 32));
        }
        let first = FirstBoard { width, height, words: &words, ages: &[], generation: 1 };
        let mut board = Automaton::new(&first, &rule, Topology::Plane).unwrap();
        let mut plane = Plane::new(&rule, 1);
        plane.put(-77, 5, &first).unwrap();
        assert_eq!(plane.window(-77, 5, width, height).unwrap().0, words);
        for step in [1, 16, 40, 30] {
            board.advance(step);
            plane.advance(step).unwrap();
            assert!(plane.window(-77, 5, width, height).unwrap() == board.words().unwrap(), "{name}");
        }
        let mut again = Plane::new(&rule, plane.generation());
        let (words, ages) = board.words().unwrap();
        again.put(-77, 5, &FirstBoard { width, height, words: &words, ages: &ages, generation: 0 }).unwrap();
        assert_eq!(cells_of(&again), cells_of(&plane), "{name}");
        assert_eq!((again.hash(), again.bounds()), (plane.hash(), plane.bounds()), "{name}");
        let before = plane.clone();
        let changes = again.advance_counting().unwrap();
        plane.advance(1).unwrap();
        let is_new = |a: &Plane, b: &Plane| b.cells().filter(|&(x, y)| a.state(x, y) == 0).count() as u64;
        assert_eq!(changes, (is_new(&before, &plane), is_new(&plane, &before)), "{name}");
    }
}

fn glider(plane: &mut Plane, x: i64, y: i64) {
    for (dx, dy, length) in [(1, 0, 1), (2, 1, 1), (0, 2, 3)] {
        plane.set_run(Run { x: x + dx, y: y + dy, length }).unwrap();
    }
}

#[test]
fn a_glider_needs_no_memory_behind_it() {
    let mut plane = Plane::new(&Rule::LIFE, 0);
    glider(&mut plane, -3000, -3000);
    let shape = plane.shape_hash();
    plane.advance(24_000).unwrap();
    let glider = Bounds { x: 3000, y: 3000, width: 3, height: 3 };
    assert_eq!((plane.bounds(), plane.population()), (Some(glider), 5));
    assert!(plane.bytes() <= 9 * 512, "{} bytes", plane.bytes());
    assert_eq!(plane.shape_hash(), shape);
    let tiles: Vec<_> = plane.tiles().collect();
    assert!(tiles.iter().all(|tile| tile.has_changed && tile.x % TILE == 0 && tile.y % TILE == 0));
    assert_eq!(tiles.iter().map(|tile| tile.population).sum::<u32>(), 5);
}

#[test]
fn hashes_are_of_the_cells_and_not_of_their_history() {
    let mut random = Random(5);
    let cells = soup(&mut random, 2, (-100, -100), (200, 200), 20);
    let mut plane = plane_of(Instructions::Portable, &Rule::LIFE, &cells);
    let mut hashes = std::collections::HashSet::new();
    for _ in 0..20 {
        assert!(hashes.insert(plane.hash()));
        let mut other = Plane::new(&Rule::LIFE, 0);
        let mut moved = Plane::new(&Rule::LIFE, 0);
        for run in plane.runs() {
            other.set_run(run).unwrap();
            moved.set_run(Run { x: run.x + 12345, y: run.y - 678, ..run }).unwrap();
        }
        assert_eq!(other.hash(), plane.hash());
        assert_ne!(moved.hash(), plane.hash());
        assert_eq!(moved.shape_hash(), plane.shape_hash());
        plane.advance(7).unwrap();
    }
    let mut brain = Plane::new(&named("Brian's Brain"), 0);
    brain.set_state(5, 5, 2).unwrap();
    let dying = brain.hash();
    brain.set_state(5, 5, 1).unwrap();
    assert_ne!(brain.hash(), dying);
}

#[test]
fn the_limit_is_an_error() {
    let mut plane = Plane::new(&Rule::LIFE, 0);
    for (x, y) in [(LIMIT + 1, 0), (0, -LIMIT - 1), (i64::MIN, 0), (0, i64::MAX)] {
        assert_eq!(plane.set_state(x, y, 1), Err(PlaneError::TooFar { x, y }));
    }
    assert!(plane.set_run(Run { x: LIMIT, y: 0, length: u64::MAX }).is_err());
    assert_eq!(plane.population(), 0);
    glider(&mut plane, LIMIT - 400, LIMIT - 400);
    let before = plane.clone();
    let error = plane.advance(10_000).unwrap_err();
    assert!(matches!(error, PlaneError::TooFar { x, .. } if x > LIMIT), "{error}");
    assert!(plane.generation() > 1000 && plane.population() == 5, "{}", plane.generation());
    assert!(plane.advance(1000).is_err());
    assert_eq!(before.bounds().map(|bounds| bounds.x), Some(LIMIT - 400));
}

#[test]
fn a_limit_of_memory_is_an_error_before_the_step() {
    let mut random = Random(17);
    let replicator = named("Replicator");
    let cells = soup(&mut random, 2, (0, 0), (50, 50), 40);
    let mut plane = plane_of(Instructions::available()[0], &replicator, &cells);
    plane.limit_memory(40 << 10);
    let error = plane.advance(10_000).unwrap_err();
    assert!(matches!(error, PlaneError::OutOfMemory { bytes } if bytes > 40 << 10), "{error}");
    assert!(plane.generation() > 0 && plane.bytes() <= 40 << 10, "{} bytes", plane.bytes());
    // The plane is that of its generation, and continues when it has memory.
    let mut expected = cells;
    (0..plane.generation()).for_each(|generation| expected = next(&replicator, generation, &expected));
    assert!(cells_of(&plane) == expected);
    plane.limit_memory(u64::MAX);
    plane.advance(8).unwrap();
    (0..8).for_each(|_| expected = next(&replicator, 0, &expected));
    assert!(cells_of(&plane) == expected);
}

#[test]
fn another_rule_continues_with_the_cells() {
    let mut plane = Plane::new(&Rule::LIFE, 0);
    plane.set_run(Run { x: 0, y: 0, length: 3 }).unwrap();
    plane.advance(80).unwrap();
    let seeds = rule(
        2,
        |i| (i & 0o757).count_ones() == 2 && i & 0o020 == 0,
        |i| (i & 0o757).count_ones() == 2 && i & 0o020 == 0,
    );
    plane.change_rule(&seeds).unwrap();
    let mut cells = cells_of(&plane);
    assert_eq!(cells.len(), 3);
    plane.advance(9).unwrap();
    (0..9).for_each(|_| cells = next(&seeds, 0, &cells));
    assert_eq!(cells_of(&plane), cells);
    let brain = named("Brian's Brain");
    plane.change_rule(&brain).unwrap();
    assert_eq!(cells_of(&plane), cells);
    plane.advance(1).unwrap();
    assert_eq!(cells_of(&plane), next(&brain, 0, &cells));
}
