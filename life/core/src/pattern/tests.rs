//! Tests of [`Pattern`].

use super::*;

fn glider() -> Pattern {
    Pattern::from_cells([(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)])
}

#[test]
fn from_cells_takes_any_order() {
    let pattern = Pattern::from_cells([(4, 2), (0, 2), (3, 2), (0, 2), (1, 0)]);
    assert_eq!((pattern.width, pattern.height, pattern.population()), (5, 3, 4));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (0, 2), (3, 2), (4, 2)]);
    let runs = [Run { x: 1, y: 0, length: 1 }, Run { x: 0, y: 2, length: 1 }, Run { x: 3, y: 2, length: 2 }];
    assert_eq!(pattern.runs().collect::<Vec<_>>(), runs);
    let empty = Pattern::from_cells([]);
    assert_eq!((empty.width, empty.height, empty.population()), (0, 0, 0));
}

#[test]
fn both_ways_to_keep_cells_are_equal() {
    let mut packed = Pattern::with_budget(3, 3, 12);
    let mut sparse = Pattern::with_budget(3, 3, 11);
    for run in glider().runs() {
        packed.push(run);
        sparse.push(run);
    }
    assert!(packed.packed.is_some() && sparse.packed.is_none());
    assert_eq!(packed, sparse);
    assert_eq!(packed, glider());
    assert_eq!((packed.population(), sparse.population()), (5, 5));
}

#[test]
fn a_huge_box_takes_no_memory() {
    let mut pattern = Pattern::with_budget(usize::MAX, usize::MAX, 4096);
    assert!(pattern.packed.is_none());
    pattern.push(Run { x: 0, y: 0, length: usize::MAX });
    pattern.push(Run { x: 0, y: 1, length: 1 });
    assert_eq!(pattern.population(), u64::MAX);
    assert!(Pattern::with_budget(0, 7, 4096).packed.is_none());
}

#[test]
fn placing_goes_around_the_torus() {
    let mut board = Board::new(40, 5).unwrap();
    board.set(20, 3, true);
    board.place(&glider(), 79, 4).unwrap();
    let cells: Vec<_> = board.cells().collect();
    assert_eq!(cells, [(1, 0), (0, 1), (1, 1), (39, 1), (20, 3), (0, 4)]);
}

#[test]
fn placing_a_long_run_around_the_edge() {
    let mut board = Board::new(70, 1).unwrap();
    board.place(&Pattern::from_cells((0..70).map(|x| (x, 0))), 33, 0).unwrap();
    assert_eq!(board.population(), 70);
}

#[test]
fn centred() {
    let mut board = Board::new(8, 3).unwrap();
    board.place_centered(&glider()).unwrap();
    assert_eq!(board.cells().collect::<Vec<_>>(), [(3, 0), (4, 1), (2, 2), (3, 2), (4, 2)]);
}

#[test]
fn larger_than_the_grid() {
    let mut board = Board::new(2, 9).unwrap();
    let error = board.place(&glider(), 0, 0).unwrap_err();
    assert_eq!(error, PlaceError { pattern_width: 3, pattern_height: 3, width: 2, height: 9 });
    assert_eq!(
        error.to_string(),
        "the pattern of 3x3 cells is larger than the grid of 2x9: it needs a grid of at least 3x3"
    );
    assert_eq!(board.place_centered(&glider()), Err(error));
    assert_eq!(Board::new(9, 2).unwrap().place(&glider(), 0, 0).unwrap_err().height, 2);
    assert_eq!(board.population(), 0);
}

#[test]
fn runs_in_any_order_make_a_pattern() {
    let run = |x, y, length| Run { x, y, length };
    let pattern = Pattern::from_runs(vec![run(5, 2, 3), run(4, 0, 1), run(0, 2, 2), run(1, 2, 4), run(6, 2, 1)]);
    assert_eq!(pattern.runs().collect::<Vec<_>>(), [run(4, 0, 1), run(0, 2, 8)]);
    assert_eq!((pattern.width, pattern.height), (8, 3));
    assert_eq!(Pattern::from_runs(Vec::new()), Pattern::default());
}

#[test]
fn the_box_grows_with_what_lies_outside_of_it() {
    let mut pattern = Pattern::with_budget(3, 1, 4096);
    pattern.push(Run { x: 1, y: 0, length: 2 });
    pattern.push(Run { x: 2, y: 1, length: 4 });
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (2, 0), (2, 1), (3, 1), (4, 1), (5, 1)]);
    assert_eq!((pattern.width, pattern.height), (6, 2));
}

#[test]
fn further_states_are_kept_apart() {
    let run = |x, length| Run { x, y: 0, length };
    let mut pattern = Pattern::default();
    for (x, state) in [(0, 0), (1, 1), (2, 2), (3, 2), (4, 255)] {
        pattern.push_state(run(x, 1), state);
    }
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0)]);
    assert_eq!(pattern.others(), [(run(2, 2), 2), (run(4, 1), 255)]);
    assert_eq!((pattern.states(), pattern.width, pattern.height), (256, 5, 1));
    assert_eq!(glider().states(), 2);
}
