//! Compares every instruction set with a plain reference, which computes one cell after the other.

use life_cpu::{Automaton, FirstBoard, Instructions, Rule, Topology};

fn torus(instructions: Instructions, width: usize, height: usize, words: &[u32]) -> Automaton {
    let first = FirstBoard { width, height, words, ages: &[], generation: 0 };
    Automaton::with(instructions, &first, &Rule::LIFE, Topology::TORUS).unwrap()
}

fn soup(width: usize, height: usize) -> Vec<u32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64 ^ (width * 31 + height) as u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u32
    };
    let row_words = width.div_ceil(32);
    let beyond = |i: usize| (width - i % row_words * 32).min(32);
    (0..row_words * height).map(|i| next() & next() & (u64::MAX >> (64 - beyond(i))) as u32).collect()
}

fn bytes(width: usize, height: usize, words: &[u32]) -> Vec<u8> {
    let row_words = width.div_ceil(32);
    (0..width * height).map(|i| (words[i / width * row_words + i % width / 32] >> (i % width % 32) & 1) as u8).collect()
}

fn reference(width: usize, height: usize, cells: &[u8]) -> Vec<u8> {
    let cell = |x: usize, y: usize| cells[y % height * width + x % width];
    let around = |x: usize, y: usize| {
        let rows = [y + height - 1, y, y + 1];
        rows.into_iter().flat_map(|y| [x + width - 1, x, x + 1].map(|x| cell(x, y))).sum::<u8>() - cell(x, y)
    };
    let next = |i: usize| match around(i % width, i / width) {
        3 => 1,
        2 => cells[i],
        _ => 0,
    };
    (0..width * height).map(next).collect()
}

/// The sizes of the boards. Their sides are near the lengths of vectors, margins, bands and strips.
const SIZES: [(usize, usize); 16] = [
    (1, 1),
    (2, 3),
    (3, 100),
    (31, 17),
    (100, 7),
    (224, 5),
    (225, 5),
    (256, 40),
    (480, 9),
    (512, 33),
    (700, 129),
    (1024, 130),
    (2048, 20),
    (16353, 3),
    (16384, 4),
    (40000, 3),
];

#[test]
fn every_board_is_the_references() {
    for (width, height) in SIZES {
        let words = soup(width, height);
        let mut expected = bytes(width, height, &words);
        let available = Instructions::available();
        let new = |instructions| torus(instructions, width, height, &words);
        let mut boards: Vec<_> = available.into_iter().map(new).collect();
        let mut generation = 0;
        // These numbers of generations need no pass, single passes of several depths, or several passes.
        for steps in [0, 1, 2, 15, 16, 17] {
            for _ in 0..steps {
                expected = reference(width, height, &expected);
            }
            generation += steps;
            for life in &mut boards {
                life.advance(steps);
                let what = format!("{} {width}x{height}, generation {generation}", life.instructions());
                let words = life.words().unwrap().0;
                assert!(bytes(width, height, &words) == expected, "{what}");
                assert_eq!(
                    words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>(),
                    life.population(0..height)
                );
                assert_eq!(
                    life.population(0..height),
                    expected.iter().map(|&cell| u64::from(cell)).sum::<u64>(),
                    "{what}"
                );
            }
        }
    }
}

#[test]
fn every_neighbourhood_has_its_successor() {
    // Each neighbourhood is in a square of 5 × 5 cells. The board has 16 × 32 such squares.
    let (width, height) = (80_usize, 160);
    let mut words = vec![0; width.div_ceil(32) * height];
    let row_words = width.div_ceil(32);
    for neighbourhood in 0..512 {
        for cell in (0..9).filter(|cell| neighbourhood >> cell & 1 != 0) {
            let (x, y) = (neighbourhood % 16 * 5 + 1 + cell % 3, neighbourhood / 16 * 5 + 1 + cell / 3);
            words[y * row_words + x / 32] |= 1 << (x % 32);
        }
    }
    let expected = reference(width, height, &bytes(width, height, &words));
    for instructions in Instructions::available() {
        let mut life = torus(instructions, width, height, &words);
        life.advance(1);
        assert_eq!(bytes(width, height, &life.words().unwrap().0), expected, "{instructions}");
    }
}

#[test]
fn a_board_without_cells_stays_empty() {
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let mut life = torus(Instructions::Portable, width, height, &[]);
        life.advance(u64::MAX);
        assert_eq!((life.words().unwrap().0, life.population(0..height)), (vec![], 0));
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let error = Automaton::new(
        &FirstBoard { width: 1 << 31, height: 1 << 31, words: &[], ages: &[], generation: 0 },
        &Rule::LIFE,
        Topology::TORUS,
    )
    .err()
    .unwrap()
    .to_string();
    assert!(error.contains("2147483648x2147483648"), "{error}");
}

/// Checks that a hash depends on all cells and on nothing else, such as the margins, which depend on the passes.
#[test]
fn a_hash_is_of_the_cells() {
    for (width, height) in SIZES {
        let words = soup(width, height);
        for instructions in Instructions::available() {
            let mut life = torus(instructions, width, height, &words);
            life.advance(5);
            life.advance(18);
            let mut again = torus(instructions, width, height, &life.words().unwrap().0);
            let what = format!("{instructions} {width}x{height}");
            assert_eq!(life.fingerprint(0..height), again.fingerprint(0..height), "{what}");
            assert_eq!(life.fingerprint(height / 2..height), again.fingerprint(height / 2..height), "{what}");
            let whole = again.fingerprint(0..height);
            let columns = [0, 1, width / 3, width / 2, width - 1].map(|x| x.min(width - 1));
            let mut hashes = std::collections::HashMap::from([(whole, None)]);
            for (x, y) in columns.into_iter().flat_map(|x| [(x, 0), (x, height / 2), (x, height - 1)]) {
                again.put_cell(x, y, again.cell(x, y) ^ 1);
                let hash = again.fingerprint(0..height);
                assert!(hashes.insert(hash, Some((x, y))).is_none_or(|cell| cell == Some((x, y))), "{what}: {x}, {y}");
                again.put_cell(x, y, again.cell(x, y) ^ 1);
            }
            assert_eq!(again.fingerprint(0..height), whole);
        }
    }
}
