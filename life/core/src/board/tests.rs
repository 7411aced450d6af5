//! Tests of [`Board`].

use proptest::prelude::*;

use super::*;

#[test]
fn a_new_board_is_dead() {
    let board = Board::new(33, 2).unwrap();
    assert_eq!((board.width(), board.height(), board.words_per_row()), (33, 2, 2));
    assert_eq!(board.words(), [0; 4]);
    assert_eq!(board.population(), 0);
    assert_eq!(board.cells().next(), None);
}

#[test]
fn bit_0_is_the_leftmost_cell() {
    let mut board = Board::new(40, 2).unwrap();
    board.set(0, 0, true);
    board.set(31, 0, true);
    board.set(32, 1, true);
    board.set(39, 1, true);
    assert_eq!(board.words(), [1 | 1 << 31, 0, 0, 1 | 1 << 7]);
    assert_eq!(board.row(1), [0, 1 | 1 << 7]);
    board.set(31, 0, false);
    assert_eq!(board.cells().collect::<Vec<_>>(), [(0, 0), (32, 1), (39, 1)]);
}

#[test]
fn runs_cross_words_and_end_at_the_edge() {
    let mut board = Board::new(100, 2).unwrap();
    let runs = [
        Run { x: 0, y: 0, length: 1 },
        Run { x: 30, y: 0, length: 66 },
        Run { x: 99, y: 0, length: 1 },
        Run { x: 0, y: 1, length: 100 },
    ];
    for run in runs {
        board.fill_run(run);
    }
    board.fill_run(Run { x: 100, y: 0, length: 0 });
    assert_eq!(board.runs().collect::<Vec<_>>(), runs);
    assert_eq!(board.population(), 168);
    assert_eq!(board.row(1), [u32::MAX, u32::MAX, u32::MAX, 0xf]);
}

#[test]
fn debug_draws_small_boards() {
    let mut board = Board::new(3, 2).unwrap();
    board.set(1, 0, true);
    assert_eq!(format!("{board:?}"), "Board 3x2, 1 alive\n.O.\n...");
    assert_eq!(format!("{:?}", Board::new(129, 2).unwrap()), "Board 129x2, 0 alive");
}

#[test]
fn impossible_sizes_are_errors() {
    for (width, height) in [(0, 0), (0, 5), (5, 0)] {
        let error = Board::new(width, height).unwrap_err();
        assert_eq!(error, SizeError::Zero { width, height });
    }
    let (width, height) = (usize::MAX, 2);
    assert_eq!(Board::new(width, height), Err(SizeError::Overflow { width, height }));
    assert_eq!(Board::new(0, 5).unwrap_err().to_string(), "a board of 0x5 has no cells: both sides must be at least 1");
    // `usize` can represent the number of cells of this board, but memory cannot store them.
    let error = Board::new(usize::MAX, 1).unwrap_err();
    assert!(matches!(error, SizeError::OutOfMemory { width: usize::MAX, height: 1, .. }), "{error}");
    // The board is one cell wide and very high. `usize` can represent the number of cells, but not the number of bytes
    // of its words.
    let error = Board::new(1, usize::MAX).unwrap_err();
    assert!(matches!(error, SizeError::OutOfMemory { bytes: usize::MAX, .. }), "{error}");
}

#[test]
fn words_are_checked() {
    assert_eq!(
        Board::from_words(33, 2, vec![0; 3]),
        Err(WordsError::Length { width: 33, height: 2, expected: 4, found: 3 })
    );
    assert_eq!(Board::from_words(33, 2, vec![0, 1, 0, 2]), Err(WordsError::Padding { row: 1, width: 33 }));
    assert_eq!(Board::from_words(0, 2, vec![]), Err(SizeError::Zero { width: 0, height: 2 }.into()));
    let board = Board::from_words(64, 1, vec![u32::MAX; 2]).unwrap();
    assert_eq!(board.population(), 64);
    assert_eq!(board.into_words(), vec![u32::MAX; 2]);
}

proptest! {
    /// Checks that a board agrees with a plain list of cells after cells are set, filled, counted and listed.
    #[test]
    fn agrees_with_a_set_of_cells(
        width in 1..100usize,
        height in 1..5usize,
        cells in prop::collection::btree_set((0..5usize, 0..100usize), 0..60),
    ) {
        let expected: Vec<_> = cells.into_iter().filter(|&(y, x)| x < width && y < height).map(|(y, x)| (x, y)).collect();
        let mut board = Board::new(width, height).unwrap();
        for &(x, y) in &expected {
            board.set(x, y, true);
        }
        prop_assert_eq!(board.population(), expected.len() as u64);
        prop_assert_eq!(board.cells().collect::<Vec<_>>(), expected.clone());
        for y in 0..height {
            for x in 0..width {
                prop_assert_eq!(board.get(x, y), expected.contains(&(x, y)));
            }
        }
        let mut filled = Board::new(width, height).unwrap();
        let runs: Vec<_> = board.runs().collect();
        runs.iter().for_each(|&run| filled.fill_run(run));
        prop_assert_eq!(&filled, &board);
        // Two runs of one row never touch.
        prop_assert!(runs.windows(2).all(|pair| pair[0].y < pair[1].y || pair[0].x + pair[0].length < pair[1].x));
        prop_assert_eq!(Board::from_words(width, height, board.words().to_vec()), Ok(board));
    }
}

#[test]
fn cells_have_states() {
    let board = |states| Board::with_states(40, 3, states).unwrap();
    assert_eq!([2, 3, 4, 5, 6, 255, 256].map(|states| board(states).states()), [2, 3, 5, 5, 9, 256, 256]);
    let mut many = board(256);
    for state in 0..=255 {
        many.set_state(33, 1, state);
        assert_eq!((many.state(33, 1), many.get(33, 1), many.state(32, 1)), (state, state > 0, 0));
    }
    let copy = Board::from_words_and_ages(40, 3, many.words().to_vec(), many.ages().to_vec()).unwrap();
    assert_eq!((copy.state(33, 1), copy == many), (255, true));
    many.fill_run(Run { x: 30, y: 1, length: 5 });
    assert_eq!((many.state(33, 1), many.population()), (1, 5));
    many.set(33, 1, false);
    assert_eq!((many.state(33, 1), many.population()), (0, 4));
}

#[test]
#[should_panic(expected = "state 2 was given to a board of 2 states")]
fn a_board_of_two_states_has_no_third() {
    Board::new(4, 4).unwrap().set_state(1, 1, 2);
}
