//! Tests of the reader and writer of macrocell files.

use proptest::prelude::*;

use super::super::metadata::Metadata;
use super::*;

const LIMIT: u64 = 1 << 20;

fn fails(text: &str, message: &str) {
    let error = parse(text, LIMIT).unwrap_err().to_string();
    assert!(error.contains(message), "{text:?}: {error}");
}

#[test]
fn a_glider() {
    let pattern =
        parse("[M2] (golly 4.2)\n#R B3/S23\n#G 12\n#N Glider\n#C x\n.*$..*$***$\n4 0 0 0 1\n", LIMIT).unwrap();
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
    assert_eq!((pattern.width, pattern.height, pattern.origin, pattern.generation), (3, 3, (0, 1), 12));
    assert_eq!((pattern.rule.as_deref(), pattern.name.as_deref()), (Some("B3/S23"), Some("Glider")));
}

#[test]
fn states_and_quarters() {
    let pattern = parse("[M2]\r\n1 1 0 0 7\r\n2 1 0 0 1\r\n", LIMIT).unwrap();
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(0, 0), (2, 2)]);
    let run = |x, y| Run { x, y, length: 1 };
    assert_eq!(pattern.others(), [(run(1, 1), 7), (run(3, 3), 7)]);
    assert_eq!((pattern.states(), pattern.origin), (8, (-2, -1)));
}

/// Checks that the box of a file can be refused before the cells are computed.
#[test]
fn a_box_is_known_before_the_cells() {
    let mut text =
        "[M2]\n#R B36/S23\n********$********$********$********$********$********$********$********$\n".to_owned();
    (4..=60).for_each(|level| text += &format!("{level} {last} {last} {last} {last}\n", last = level - 3));
    let tree = Tree::parse(&text, LIMIT).unwrap();
    let header = tree.header();
    assert_eq!((header.width, header.height, header.population()), (1 << 60, 1 << 60, 0));
    assert_eq!((header.rule.as_deref(), tree.states()), (Some("B36/S23"), 2));
    assert!(matches!(tree.pattern(LIMIT), Err(FormatError::TooLarge { .. })));
    let glider = Tree::parse("[M2]\n.*$..*$***$\n4 0 0 0 1\n", LIMIT).unwrap();
    assert_eq!((glider.header().origin, glider.pattern(LIMIT).unwrap().population()), ((0, 1), 5));
}

/// Checks that a small file with nested squares is rejected if its cells exceed the memory limit. The memory for the
/// cells must not be allocated.
#[test]
fn what_is_larger_than_memory_is_refused() {
    let mut text = "[M2]\n********$********$********$********$********$********$********$********$\n".to_owned();
    for level in 4..=120 {
        let last = level - 3;
        text += &format!("{level} {last} {last} {last} {last}\n");
        let result = parse(&text, LIMIT);
        assert_eq!(result.is_ok(), level < 12, "{level}");
        if let Err(error) = result {
            assert!(matches!(error, FormatError::TooLarge { needed, free: LIMIT } if needed > LIMIT), "{error}");
        }
    }
    // A few cells need little memory even if they are far apart.
    let mut text = "[M2]\n*$\n".to_owned();
    for level in 4..=60 {
        text += &format!("{level} {last} 0 0 {last}\n", last = level - 3);
        let cells = 1u64 << (level - 3);
        assert_eq!(parse(&text, LIMIT).is_ok(), cells * 24 < LIMIT - 8000, "{level}");
    }
    // There is one cell in the middle of a square of any size.
    let mut text = "[M2]\n*$\n".to_owned();
    (4..=127).for_each(|level| text += &format!("{level} {} 0 0 0\n", level - 3));
    let pattern = parse(&text, LIMIT).unwrap();
    assert_eq!((pattern.width, pattern.height, pattern.population()), (1, 1, 1));
    assert!(parse(&text, 5000).is_err(), "the memory of the tree counts, too");
}

#[test]
fn a_tree_is_put_on_a_plane_with_its_states() {
    let tree = Tree::parse("[M2]\n1 1 0 0 7\n2 1 0 0 1\n", LIMIT).unwrap();
    assert_eq!((tree.states(), tree.header().origin, tree.header().width), (8, (-2, -1), 4));
    let mut plane = plane::dead(&"0/2/9".parse().unwrap(), 0);
    tree.put_on(&mut plane, (-100, 50), |state| state).unwrap();
    let states: Vec<_> = plane.cells().map(|(x, y)| (x, y, plane.state(x, y))).collect();
    assert_eq!(states, [(-100, 50, 1), (-99, 51, 7), (-98, 52, 1), (-97, 53, 7)]);
    // A box that no plane contains is refused before its cells are visited.
    let mut text = "[M2]\n*$\n".to_owned();
    (4..=60).for_each(|level| text += &format!("{level} {last} 0 0 {last}\n", last = level - 3));
    let tree = Tree::parse(&text, LIMIT).unwrap();
    let error = tree.put_on(&mut plane, (0, 0), |state| state).unwrap_err();
    assert!(matches!(error, PlaneError::TooFar { .. }), "{error}");
    assert_eq!(plane.population(), 4);
}

#[test]
fn what_is_no_tree() {
    fails("[M2]\n4 1 0 0 0\n", "line 2, column 1: node 1 is used as a quarter of node 1");
    fails("[M2]\n*$\n5 1 0 0 0\n", "must be of level 4, but node 1 is of level 3");
    fails("[M2]\n1 0 0 0 256\n", "at most 255, but 256 was given");
    fails("[M2]\n.........*$\n", "must fit 8×8");
    fails("[M2]\n$$$$$$$$*\n", "must fit 8×8");
    fails("[M2]\n.x$\n", "`x` is not a cell");
    fails("[M2]\n4 0 0 0\n", "five numbers");
    fails("[M2]\n0 0 0 0 0\n", "must be at least 1, but 0 was given");
    fails("[M2]\n128 0 0 0 0\n", "must be at most 127, but 128 was given");
    fails("[M2]\n#G many\n", "but `many` was given");
}

#[test]
fn nothing_is_an_empty_pattern() {
    for text in ["[M2]\n", "[M2]\n4 0 0 0 0\n", "[M2]\n$$\n"] {
        assert_eq!(parse(text, LIMIT).unwrap().population(), 0, "{text:?}");
    }
}

proptest! {
    #[test]
    fn reading_back_gives_the_board(
        width in 1..90usize, height in 1..40usize, density in 0.0..1.0, seed: u64, x in -50..50i64, y in -50..50i64
    ) {
        let board = Board::random(width, height, density * density, seed).unwrap();
        let metadata = Metadata { rule: "B36/S23".into(), generation: seed, origin: (x, y), name: None };
        let mut out = Vec::new();
        write(&board, &metadata, &mut out).unwrap();
        let mut plane = plane::dead(&"B36/S23".parse().unwrap(), 0);
        plane::put(&mut plane, (0, 0), &board).unwrap();
        let mut of_plane = Vec::new();
        write_plane(&plane, &metadata, &mut of_plane).unwrap();
        let tree = Tree::parse(std::str::from_utf8(&of_plane).unwrap(), LIMIT).unwrap();
        prop_assert_eq!(tree.pattern(LIMIT).unwrap(), parse(std::str::from_utf8(&out).unwrap(), LIMIT).unwrap());
        let mut again = plane::dead(&"B36/S23".parse().unwrap(), 0);
        let (left, top) = tree.header().origin;
        tree.put_on(&mut again, (left - x, top - y), |state| state).unwrap();
        prop_assert_eq!(again.hash(), plane.hash());
        prop_assert!(board.population() <= tree.max_population());
        let pattern = parse(std::str::from_utf8(&out).unwrap(), LIMIT).unwrap();
        prop_assert_eq!((pattern.rule.as_deref(), pattern.generation), (Some("B36/S23"), seed));
        let plane = |x: i64, y: i64, cells: Vec<(usize, usize)>| {
            cells.into_iter().map(|cell| (x + cell.0 as i64, y + cell.1 as i64)).collect::<Vec<_>>()
        };
        let (left, top) = pattern.origin;
        prop_assert_eq!(plane(left, top, pattern.cells().collect()), plane(x, y, board.cells().collect()));
    }
}
