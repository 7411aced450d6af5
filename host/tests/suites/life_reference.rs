//! Compares the plain reference of Life with known facts about the patterns in `patterns/`, and with an implementation
//! that counts neighbours differently.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use life::reference::*;
use life::{Board, Pattern};
use life_formats::{Format, read_pattern};

/// Returns the folder of patterns in the workspace.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../patterns")
}

fn pattern(file: &str) -> Pattern {
    let path = folder().join(file);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    read_pattern(&text, Format::from_path(&path).unwrap()).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Returns a board with a pattern in the middle.
fn centred(file: &str, width: usize, height: usize) -> Board {
    let mut board = Board::new(width, height).unwrap();
    board.place_centered(&pattern(file)).unwrap();
    board
}

/// Returns `board` moved to the right and down around the torus.
fn moved(board: &Board, right: usize, down: usize) -> Board {
    let mut result = Board::new(board.width(), board.height()).unwrap();
    for (x, y) in board.cells() {
        result.set((x + right) % board.width(), (y + down) % board.height(), true);
    }
    result
}

#[test]
fn every_file_is_read_and_named() {
    let mut files = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let pattern = pattern(&file);
        assert!(pattern.name.is_some(), "{file} has no name");
        assert!(pattern.population() > 0, "{file} is empty");
        // The box in the file is the smallest one.
        let tight = Pattern::from_cells(pattern.cells());
        assert_eq!((pattern.width, pattern.height), (tight.width, tight.height), "{file}");
        assert!(pattern.cells().any(|(x, _)| x == 0) && pattern.cells().any(|(_, y)| y == 0), "{file}");
        files += 1;
    }
    assert!(files >= 18, "{files} files");
    assert!(pattern("glider.cells").cells().eq(pattern("glider.rle").cells()));
}

#[test]
fn still_lives_stay_and_oscillators_return() {
    let periods = [
        ("block.rle", 1),
        ("beehive.rle", 1),
        ("loaf.rle", 1),
        ("eater.rle", 1),
        ("blinker.rle", 2),
        ("toad.rle", 2),
        ("beacon.rle", 2),
        ("pulsar.rle", 3),
        ("pentadecathlon.rle", 15),
    ];
    for (file, period) in periods {
        let start = centred(file, 33, 31);
        let mut board = start.clone();
        for generation in 1..=period {
            board = advance(&board, 1);
            assert_eq!(board == start, generation == period, "{file} at generation {generation}");
        }
    }
}

#[test]
fn spaceships_move() {
    for (file, right, down) in [("glider.rle", 1, 1), ("lwss.rle", 30, 0), ("mwss.rle", 30, 0), ("hwss.rle", 30, 0)] {
        let start = centred(file, 32, 29);
        for generation in 1..4 {
            let board = advance(&start, generation);
            let shifts = (0..32).flat_map(|x| (0..29).map(move |y| (x, y)));
            assert!(
                !shifts.into_iter().any(|(x, y)| moved(&start, x, y) == board),
                "{file} at generation {generation}"
            );
        }
        assert_eq!(advance(&start, 4), moved(&start, right, down), "{file}");
    }
}

#[test]
fn a_glider_comes_back_around_the_torus() {
    for side in [5, 31, 32, 33] {
        let start = centred("glider.rle", side, side);
        assert_eq!(advance(&start, 4 * side as u64), start);
        assert_ne!(advance(&start, 4 * (side as u64 - 1)), start);
    }
}

#[test]
fn the_gun_fires_every_30_generations() {
    let mut board = centred("gosper-glider-gun.rle", 200, 200);
    for gliders in 0..=5 {
        assert_eq!(board.population(), 36 + 5 * gliders);
        board = advance(&board, 30);
    }
}

#[test]
fn diehard_dies_at_generation_130() {
    let board = advance(&centred("diehard.rle", 64, 64), 129);
    assert_eq!(board.population(), 2);
    assert_eq!(advance(&board, 1).population(), 0);
}

#[test]
fn the_r_pentomino_settles_at_generation_1103() {
    let board = centred("r-pentomino.rle", 512, 512);
    let populations: Vec<_> = (0..8).map(|generation| advance(&board, generation).population()).collect();
    assert_eq!(populations, [5, 6, 7, 9, 8, 9, 12, 11]);
    assert_eq!(advance(&board, 1103).population(), 116);
}

/// Tests the first generations of acorn. Tests of the kernels run all 5206 generations until it settles.
#[test]
fn the_acorn_grows() {
    let board = centred("acorn.rle", 160, 160);
    let populations: Vec<_> = (0..8).map(|generation| advance(&board, generation).population()).collect();
    assert_eq!(populations, [7, 8, 10, 11, 11, 13, 15, 15]);
    assert_eq!(advance(&board, 200).population(), 169);
}

#[test]
fn neighbours_count_with_multiplicity() {
    // On a torus of one cell, the cell is all eight of its neighbours.
    assert_eq!(step(&[1], 1, 1), [0]);
    assert_eq!(step(&[0], 1, 1), [0]);
    // In one column, a cell counts itself twice, and the cells above and below it three times each.
    assert_eq!(step(&[1, 0, 0], 1, 3), [1, 1, 1]);
    assert_eq!(step(&[1, 1, 1], 1, 3), [0, 0, 0]);
    assert_eq!(step(&[1, 0, 0, 0], 1, 4), [1, 1, 0, 1]);
    assert_eq!(step(&[1, 0, 0, 0], 4, 1), [1, 1, 0, 1]);
    // In one column of two cells, the cells above and below are the same cell, which counts six times.
    assert_eq!(step(&[1, 0], 1, 2), [1, 0]);
    assert_eq!(step(&[1, 1], 1, 2), [0, 0]);
    // In two by two cells, the cell beside counts twice, the cell below twice, and the diagonal one four times.
    assert_eq!(step(&[1, 0, 0, 0], 2, 2), [0, 0, 0, 0]);
    assert_eq!(step(&[1, 1, 0, 0], 2, 2), [1, 1, 0, 0]);
    assert_eq!(step(&[1, 0, 1, 0], 2, 2), [1, 0, 1, 0]);
    assert_eq!(step(&[1, 0, 0, 1], 2, 2), [0, 0, 0, 0]);
}

#[test]
fn no_generation_changes_nothing() {
    let soup = Board::random(37, 5, 0.5, 1).unwrap();
    assert_eq!(advance(&soup, 0), soup);
}

/// Returns the next generation, computed differently from the reference: every live cell adds to the counts of the
/// eight cells around it.
fn spread(board: &Board) -> Board {
    let (width, height) = (board.width(), board.height());
    let mut counts = BTreeMap::new();
    for (x, y) in board.cells() {
        for offset in (0..9).filter(|&offset| offset != 4) {
            let (column, row) = (x + width - 1 + offset % 3, y + height - 1 + offset / 3);
            *counts.entry((column % width, row % height)).or_insert(0) += 1;
        }
    }
    let mut next = Board::new(width, height).unwrap();
    for ((x, y), count) in counts {
        next.set(x, y, count == 3 || count == 2 && board.get(x, y));
    }
    next
}

proptest! {
    #[test]
    fn agrees_with_counting_from_the_live_cells(width in 1..70usize, height in 1..12usize, density in 0.0..1.0, seed: u64) {
        let soup = Board::random(width, height, density, seed).unwrap();
        prop_assert_eq!(advance(&soup, 2), spread(&spread(&soup)));
    }
}
