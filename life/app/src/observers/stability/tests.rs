//! Tests the search for a period.

use std::collections::HashMap;

use life::{Board, CpuSimulation, LifeRung, Pattern};

use super::*;
use crate::first_board::{BoardSource, PlacedPattern};
use crate::observers::run_to_end;
use crate::ranks::Ranks;
use crate::universe::Universe;
use life_formats::rle;
use program::signals::StopRequests;

fn search(board: &Board, kernel: Option<LifeRung>, last: u64) -> Option<Stability> {
    search_under(Universe::default(), board, kernel, last)
}

fn search_under(universe: Universe, board: &Board, kernel: Option<LifeRung>, last: u64) -> Option<Stability> {
    let size = (board.width(), board.height());
    let spec = if kernel.is_some() { "sim" } else { "cpu" };
    let (backend, _) = Backend::open(Ranks::alone(), &spec.parse().unwrap(), kernel, size, universe).unwrap();
    let mut run = TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board.clone())), 0).unwrap();
    let mut search = Search::new(&backend, (0, last), false, || GrowingBoard::new(&backend, board));
    let stop = StopRequests::watch().unwrap();
    run_to_end(&mut run, last, &mut [&mut search], &stop).unwrap();
    if let Some(found) = search.found {
        let again = found.since + found.period;
        assert_eq!(run.generation(), again, "the run ends where a board occurs again");
        assert!(run.advanced < again + 10_000, "{found:?} is found only in generation {}", run.advanced);
    }
    search.found
}

/// Returns the first periodic generation and the period, found by comparing all boards with each other.
fn plainly(board: &Board) -> (u64, u64) {
    let mut boards: HashMap<Vec<u32>, u64> = HashMap::new();
    let mut life = CpuSimulation::new(board).unwrap();
    for generation in 0.. {
        if let Some(since) = boards.insert(life.board().unwrap().into_words(), generation) {
            return (since, generation - since);
        }
        life.advance(1);
    }
    unreachable!("every board of a torus becomes periodic")
}

fn place(text: &str, width: usize, height: usize) -> Board {
    let mut board = Board::new(width, height).unwrap();
    let pattern: Pattern = rle::parse(text, 1 << 20).unwrap();
    board.place_centered(&pattern).unwrap();
    board
}

fn since_and_period(board: &Board) -> (u64, u64) {
    let found = search(board, None, u64::MAX).unwrap();
    (found.since, found.period)
}

#[test]
fn known_patterns_have_their_periods() {
    let pulsar = "x = 13, y = 13\n2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$o4bobo4bo$o4bobo4bo$o4bobo4bo2$2b3o3b3o!";
    assert_eq!(since_and_period(&place(pulsar, 40, 40)), (0, 3));
    let pentadecathlon = "x = 10, y = 3\n2bo4bo$2ob4ob2o$2bo4bo!";
    assert_eq!(since_and_period(&place(pentadecathlon, 40, 40)), (0, 15));
    for side in [7, 12, 50] {
        assert_eq!(since_and_period(&place("x = 3, y = 3\nbo$2bo$3o!", side, side)), (0, 4 * side as u64));
    }
    let block = search(&place("x = 2, y = 2\n2o$2o!", 9, 9), None, u64::MAX).unwrap();
    assert_eq!(block.to_string(), "still from generation 0 on");
    let lonely = search(&place("x = 2, y = 1\n2o!", 9, 9), None, u64::MAX).unwrap();
    assert_eq!((lonely.to_string(), lonely.period), ("dead from generation 1 on".to_owned(), 1));
}

#[test]
fn long_lived_patterns_end_as_the_plain_search_finds() {
    // These patterns are the r-pentomino, the acorn, and a gun whose gliders hit the gun itself.
    let gun = "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";
    for (text, width, height) in
        [("x = 3, y = 3\nb2o$2o$bo!", 60, 60), ("x = 7, y = 3\nbo$3bo$2o2b3o!", 50, 64), (gun, 64, 48)]
    {
        let board = place(text, width, height);
        assert_eq!(since_and_period(&board), plainly(&board), "{text}");
    }
}

#[test]
fn soups_end_as_the_plain_search_finds_on_every_engine() {
    for seed in 0..20 {
        let side = 5 + seed as usize;
        let board = Board::random(side, side + 3, 0.4, seed).unwrap();
        let expected = plainly(&board);
        // The simulator is slow, so only the first seeds use it.
        let backends = if seed < 3 { &[None, Some(LifeRung::Temporal)][..] } else { &[None] };
        for &kernel in backends {
            let found = search(&board, kernel, u64::MAX).unwrap();
            assert_eq!((found.since, found.period), expected, "seed {seed}, {kernel:?}");
        }
    }
}

/// Checks gliders on tori whose sides have no common divisor. Their periods are far above the distances of hashes.
#[test]
fn long_periods_are_found() {
    for (width, height) in [(13, 17), (61, 67), (97, 101), (4001, 7)] {
        let found = search(&place("bo$2bo$3o!", width, height), None, u64::MAX).unwrap();
        assert_eq!((found.since, found.period), (0, 4 * width as u64 * height as u64), "{width}x{height}");
    }
    // The row of four cells becomes a beehive, which the glider passes.
    let board = place("x = 20, y = 3\n18bo$19bo$4o13b3o!", 93, 62);
    assert_eq!(since_and_period(&board), plainly(&board));
}

/// Checks that the result is the same if each generation is compared.
#[test]
fn a_run_goes_back_to_where_a_board_came_again() {
    let board = Board::random(9, 12, 0.4, 4).unwrap();
    let (since, period) = plainly(&board);
    for at_each in [false, true] {
        for last in [40_000, u64::MAX] {
            let (backend, _) =
                Backend::open(Ranks::alone(), &"cpu".parse().unwrap(), None, (9, 12), Universe::default()).unwrap();
            let mut run =
                TimedRun::begin(&backend, &BoardSource::Pattern(PlacedPattern::of(board.clone())), 0).unwrap();
            let mut search = Search::new(&backend, (0, last), at_each, || GrowingBoard::new(&backend, &board));
            let stop = StopRequests::watch().unwrap();
            run_to_end(&mut run, last, &mut [&mut search], &stop).unwrap();
            let found = search.found.map(|found| (found.since, found.period));
            assert_eq!(found, Some((since, period)), "each: {at_each}");
            assert_eq!(run.generation(), since + period, "each: {at_each}");
        }
    }
}

/// Checks spaceships on the unbounded plane and along a tube. Spaceships count as periodic although they move.
#[test]
fn what_moves_away_is_periodic() {
    let glider = "x = 3, y = 3\nbo$2bo$3o!";
    let ships = "x = 5, y = 13\nbo2bo$o$o3bo$4o6$bo2bo$o$o3bo$4o!";
    for (text, rule, period, shift) in [
        (glider, "B3/S23", 4, Some((1, 1))),
        (ships, "B3/S23", 4, Some((-2, 0))),
        (glider, "B3/S23:T0,40", 160, Some((40, 0))),
        (glider, "B3/S23:T40,0", 160, Some((0, 40))),
        ("x = 3, y = 1\n3o!", "B3/S23", 2, None),
    ] {
        let universe = Universe::of(rule.parse().unwrap()).0;
        let found = search_under(universe, &place(text, 40, 40), None, u64::MAX).unwrap();
        assert_eq!((found.since, found.period, found.shift), (0, period, shift), "{rule}: {text}");
    }
    let glider = search_under(Universe::of("Life".parse().unwrap()).0, &place(glider, 40, 40), None, 1000).unwrap();
    assert_eq!(glider.to_string(), "periodic with period 4, shifted by (1, 1), from generation 0 on");
    let json = serde_json::to_value(glider).unwrap();
    assert_eq!(json, serde_json::json!({"since": 0, "period": 4, "shift": [1, 1], "dead": false}));
}

/// Checks rules with B0. Such a rule runs as one rule in even generations and as another rule in odd generations,
/// so only an even number of generations can be a period.
#[test]
fn even_and_odd_generations_are_told_apart() {
    for (text, sides) in [("B03/S23", 5..9), ("B0/S", 5..8), ("B014/S", 4..7)] {
        let rule = text.parse().unwrap();
        let universe = Universe { rule, ..Universe::default() };
        for side in sides {
            let board = Board::random(side, side, 0.4, side as u64).unwrap();
            let mut life = CpuSimulation::with(&board, &rule, universe.topology, 0).unwrap();
            let mut boards: HashMap<(Vec<u32>, u64), u64> = HashMap::new();
            let expected = (0_u64..).find_map(|generation| {
                let since = boards.insert((life.board().unwrap().into_words(), generation % 2), generation);
                life.advance(1);
                since.map(|since| (since, generation - since))
            });
            // These rules differ in even and odd generations.
            let [even, odd] = rule.phases();
            assert!(even != odd, "{text}");
            let found = search_under(universe, &board, None, u64::MAX).unwrap();
            assert_eq!(Some((found.since, found.period)), expected, "{text}, {side}x{side}");
        }
    }
}

#[test]
fn an_end_comes_before_it_is_stable() {
    assert_eq!(search(&Board::random(64, 64, 0.4, 3).unwrap(), None, 100), None);
}
