//! Tests of the reader and writer of plaintext patterns.

use proptest::prelude::*;

use super::*;
use crate::tests::torus;

fn parse(text: &str) -> Result<Pattern, FormatError> {
    super::parse(text, 1 << 22)
}

fn metadata(name: Option<&str>) -> Metadata {
    Metadata { name: name.map(str::to_owned), ..torus((1, 1), 0) }
}

fn write(board: &Board, metadata: &Metadata, out: &mut Vec<u8>) -> io::Result<()> {
    write_name(metadata, out)?;
    write_rows(board, out)
}

#[test]
fn a_glider() {
    let pattern = parse("!Name: Glider\n!\n! by hand\n.O.\n..O\nOO*\n").unwrap();
    assert_eq!(pattern.name.as_deref(), Some("Glider"));
    assert_eq!((pattern.width, pattern.height, &pattern.rule), (3, 3, &None));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
}

#[test]
fn ragged_and_empty_rows() {
    let pattern = parse("\u{feff}O  \r\n\r\n...O\t\r\n!in between\r\n\r\n.OO").unwrap();
    assert_eq!((pattern.width, pattern.height), (4, 5));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(0, 0), (3, 2), (1, 4), (2, 4)]);
}

#[test]
fn blanks_are_dead_cells() {
    let pattern = parse("!Name: Glider\n O\n  O\nOOO\n").unwrap();
    assert_eq!((pattern.width, pattern.height), (3, 3));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
}

#[test]
fn a_text_without_rows_is_refused() {
    for text in ["", "!Name:\n", "!"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains("no rows of cells"), "{text:?}: {error}");
    }
    let pattern = parse("!Name:\n.\n").unwrap();
    assert_eq!((pattern.width, pattern.height, pattern.name), (1, 1, None));
}

#[test]
fn a_wide_and_high_text_stays_small() {
    let text = format!("{}O\n{}O", ".".repeat(100_000), "\n".repeat(100_000));
    let pattern = parse(&text).unwrap();
    assert_eq!((pattern.width, pattern.height), (100_001, 100_002));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(100_000, 0), (0, 100_001)]);
}

#[test]
fn what_is_no_cell_is_an_error() {
    for (text, line, column, found) in [
        (".O\n.z", 2, 2, "`z`"),
        ("!é\n0", 2, 1, "`0`"),
        ("O\n\n.!", 3, 2, "`!`"),
        (" !O", 1, 2, "`!`"),
        ("OO é", 1, 4, "`é`"),
        ("\tO", 1, 1, "`\\t`"),
        ("é", 1, 1, "`é`"),
        (".\u{1b}", 1, 2, "`\\u{1b}`"),
    ] {
        let FormatError::Malformed(error) = parse(text).unwrap_err() else { panic!("{text:?}") };
        assert_eq!((error.line, error.column), (line, column), "{text:?}");
        assert!(error.message.starts_with(&format!("{found} is neither")), "{error}");
    }
}

#[test]
fn what_is_written() {
    let mut board = Board::new(34, 2).unwrap();
    board.set(33, 0, true);
    board.set(0, 1, true);
    let mut out = Vec::new();
    write(&board, &metadata(Some(" a\u{7} name ")), &mut out).unwrap();
    let expected = format!("!Name: a name\n{}O\nO{}\n", ".".repeat(33), ".".repeat(33));
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

proptest! {
    #[test]
    fn reading_back_gives_the_board(width in 1..100usize, height in 1..20usize, density in 0.0..1.0, seed: u64) {
        let board = Board::random(width, height, density * density, seed).unwrap();
        let mut out = Vec::new();
        write(&board, &metadata(None), &mut out).unwrap();
        let pattern = parse(std::str::from_utf8(&out).unwrap()).unwrap();
        prop_assert_eq!((pattern.width, pattern.height), (width, height));
        let mut back = Board::new(width, height).unwrap();
        back.place(&pattern, 0, 0).unwrap();
        prop_assert_eq!(back, board);
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), plausible in "[.O*! \r\n]{0,60}") {
        let _ = parse(&text);
        match parse(&plausible) {
            Ok(pattern) => prop_assert!(pattern.cells().all(|(x, y)| x < pattern.width && y < pattern.height)),
            Err(FormatError::Malformed(error)) => prop_assert!(plausible.lines().nth(error.line - 1).is_some_and(|line| error.column <= line.len())),
            Err(other) => prop_assert!(plausible.lines().all(|line| line.starts_with('!')), "{}", other),
        }
    }
}
