//! Compares the engine with a plain reference, for every class of rules, topology and instruction set.

use life_cpu::{Automaton, Edges, FirstBoard, Instructions, Rule, Topology};

use crate::common::rules;

mod common;

const TOPOLOGIES: [Topology; 13] = [
    Topology::Plane,
    Topology::TORUS,
    Topology::Torus { across: 3, down: 0 },
    Topology::Torus { across: 0, down: -2 },
    Topology::Tube(Edges::Horizontal),
    Topology::Tube(Edges::Vertical),
    Topology::Klein { twisted: Edges::Horizontal, is_shifted: false },
    Topology::Klein { twisted: Edges::Horizontal, is_shifted: true },
    Topology::Klein { twisted: Edges::Vertical, is_shifted: false },
    Topology::Klein { twisted: Edges::Vertical, is_shifted: true },
    Topology::CrossSurface,
    Topology::Sphere,
    Topology::Torus { across: -40, down: 0 },
];

/// Returns random states for `width` × `height` cells. About half of the cells are in state 0.
fn soup(states: u16, width: usize, height: usize) -> Vec<u8> {
    let mut random = 0x2545_f491_4f6c_dd1d_u64 ^ (width * 31 + height) as u64;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    (0..width * height).map(|_| if next() % 2 == 0 { 0 } else { (1 + next() % u64::from(states - 1)) as u8 }).collect()
}

fn reference(rule: &Rule, generation: u64, topology: Topology, width: usize, height: usize, cells: &[u8]) -> Vec<u8> {
    let table = rule.phases[(generation % 2) as usize];
    // The framed board has one more cell on each side, as the topology joins the edges.
    let framed = width + 2;
    let bit = |i: usize| {
        let (x, y) = ((i % framed) as i64 - 1, (i / framed) as i64 - 1);
        let is_inside = (0..width as i64).contains(&x) && (0..height as i64).contains(&y);
        let source = if is_inside { Some((x as usize, y as usize)) } else { topology.source(width, height, x, y) };
        source.is_some_and(|(x, y)| cells[y * width + x] == 1)
    };
    let bits: Vec<bool> = (0..framed * (height + 2)).map(bit).collect();
    let next = |i: usize| {
        let corner = i / width * framed + i % width;
        let rows = bits[corner..].chunks(framed).take(3).flat_map(|row| &row[..3]);
        let around = rows.fold(0, |around, &bit| around << 1 | usize::from(bit));
        match (cells[i], table[around / 64] >> (around % 64) & 1) {
            (0 | 1, 1) => 1,
            (0, _) => 0,
            (state, _) => ((u16::from(state) + 1) % rule.states) as u8,
        }
    };
    (0..cells.len()).map(next).collect()
}

/// Packs one bit per cell into words. A bit is set if `bit` returns true for the cell's state.
fn words(width: usize, cells: &[u8], bit: impl Fn(u8) -> bool) -> Vec<u32> {
    let word = |cells: &[u8]| cells.iter().enumerate().fold(0, |word, (i, &cell)| word | u32::from(bit(cell)) << i);
    cells.chunks(width).flat_map(|row| row.chunks(32).map(word)).collect()
}

fn planes(rule: &Rule, width: usize, cells: &[u8]) -> (Vec<u32>, Vec<Vec<u32>>) {
    let ages = 16 - (rule.states - 2).leading_zeros();
    let of_age = |bit: u32| words(width, cells, |cell| cell.saturating_sub(1) >> bit & 1 == 1);
    (words(width, cells, |cell| cell > 0), (0..ages).map(of_age).collect())
}

fn compare(name: &str, rule: &Rule, topology: Topology, (width, height): (usize, usize), steps: &[u64]) {
    // The number of the first generation may be odd.
    let first = (width % 2) as u64;
    let mut expected = soup(rule.states, width, height);
    let (words, ages) = planes(rule, width, &expected);
    let start = FirstBoard { width, height, words: &words, ages: &ages, generation: first };
    let new = |instructions| Automaton::with(instructions, &start, rule, topology).unwrap();
    let mut boards: Vec<_> = Instructions::available().into_iter().map(new).collect();
    let mut generation = first;
    for &steps in steps {
        for _ in 0..steps {
            expected = reference(rule, generation, topology, width, height, &expected);
            generation += 1;
        }
        for life in &mut boards {
            life.advance(steps);
            let what = format!("{name} on {topology:?}, {width}x{height}, {}, {generation}", life.instructions());
            assert!(life.words().unwrap() == planes(rule, width, &expected), "{what}");
            assert_eq!(life.population(0..height), expected.iter().filter(|&&cell| cell > 0).count() as u64, "{what}");
        }
    }
}

/// Returns `sizes`. For a sphere, each height is replaced by the width.
fn sizes(topology: Topology, sizes: &[(usize, usize)]) -> Vec<(usize, usize)> {
    sizes.iter().map(|&(width, height)| (width, if topology == Topology::Sphere { width } else { height })).collect()
}

#[test]
fn every_rule_on_every_topology_is_the_references() {
    let awkward = [(1, 1), (2, 3), (3, 2), (31, 17), (32, 32), (33, 66), (65, 31)];
    for (name, rule) in rules(62) {
        for topology in TOPOLOGIES {
            for size in sizes(topology, &awkward) {
                compare(name, &rule, topology, size, &[0, 1, 2, 17]);
            }
        }
    }
}

/// Checks boards that consist of several bands, with full margins and recomputed corners.
#[test]
fn larger_boards_are_the_references() {
    let rules = rules(62);
    for (name, rule) in rules.iter().filter(|(name, _)| ["Life", "a table", "Star Wars"].contains(name)) {
        for topology in TOPOLOGIES {
            for size in sizes(topology, &[(64, 64), (130, 150)]) {
                compare(name, rule, topology, size, &[16, 35]);
            }
        }
    }
}

/// Checks boards that consist of several strips.
#[test]
fn wide_boards_are_the_references() {
    for topology in TOPOLOGIES.into_iter().filter(|&topology| topology != Topology::Sphere) {
        compare("Life", &Rule::LIFE, topology, (16400, 20), &[1, 17]);
    }
    let (name, rule) = rules(62).swap_remove(9);
    compare(name, &rule, Topology::Klein { twisted: Edges::Vertical, is_shifted: true }, (16390, 40), &[18]);
}
