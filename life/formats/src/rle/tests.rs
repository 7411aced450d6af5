//! Tests of the reader and writer of run-length encoded patterns.

use proptest::prelude::*;

use super::*;
use crate::tests::torus;
use life::board::Run;
use life::plane;

fn parse(text: &str) -> Result<Pattern, FormatError> {
    super::parse(text, 1 << 20)
}

fn cells(text: &str) -> Vec<(usize, usize)> {
    parse(text).unwrap().cells().collect()
}

fn metadata(board: &Board) -> Metadata {
    torus((board.width(), board.height()), 0)
}

fn write(board: &Board, metadata: &Metadata, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = Writer::new((board.width(), board.height()), !board.ages().is_empty(), metadata, out)?;
    writer.rows(board)?;
    writer.finish()
}

#[track_caller]
fn fails(text: &str, line: usize, column: usize, message: &str) {
    let FormatError::Malformed(error) = parse(text).unwrap_err() else { panic!("{text:?}") };
    assert_eq!((error.line, error.column), (line, column), "{error}");
    assert!(error.message.contains(message), "{error}\nlacks: {message}");
    assert!(error.to_string().starts_with(&format!("line {line}, column {column}: ")));
}

#[test]
fn a_glider() {
    let text =
        "#N Glider\n#O Richard K. Guy\n#C A comment\n#P 1 2\nx = 3, y = 3, rule = B3/S23:T20,10\nbob$2bo$3o!\nend";
    let pattern = parse(text).unwrap();
    assert_eq!(pattern.name.as_deref(), Some("Glider"));
    assert_eq!((pattern.width, pattern.height, pattern.rule.as_deref()), (3, 3, Some("B3/S23:T20,10")));
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
}

#[test]
fn white_space_may_stand_between_tokens() {
    let expected = [(1, 0), (0, 2), (1, 2), (2, 2)];
    for body in ["bo2$3o!", " b o 2 $ 3\to ! ", "b\no\r\n2\n\n$\n3o\n!", "bo\n#C in between\n  # and here\n$$3o!"] {
        let text = format!("\u{feff}\r\n  # x\n x=3 ,Y = 3\r\n{body}");
        assert_eq!(cells(&text), expected, "{body:?}");
    }
}

#[test]
fn the_first_state_above_1_has_a_position() {
    for (text, position) in [
        ("BOB$2BO$3O!", Some((1, 1))),
        ("x = 3, y = 2\nbo$\n  A2 xB!", Some((3, 6))),
        ("x = 3, y = 1\nA.oqC!", Some((2, 4))),
        ("bo$2bo$3o!", None),
    ] {
        assert_eq!(parse(text).unwrap().states_at, position, "{text}");
    }
}

#[test]
fn a_third_dimension_is_refused() {
    fails("x=5 y=4 z=3 rule=3D5,7/6\n5o!", 1, 9, "3-D patterns (.rle3) are not supported");
}

#[test]
fn the_other_letters_for_two_states() {
    assert_eq!(cells("x = 5, y = 2\n.A.2A$3.oA!"), [(1, 0), (3, 0), (4, 0), (3, 1), (4, 1)]);
}

#[test]
fn adjacent_runs_are_one() {
    let pattern = parse("x = 9, y = 2\n2o3oob2o$o!").unwrap();
    let runs = [Run { x: 0, y: 0, length: 6 }, Run { x: 7, y: 0, length: 2 }, Run { x: 0, y: 1, length: 1 }];
    assert_eq!(pattern.runs().collect::<Vec<_>>(), runs);
}

#[test]
fn an_empty_pattern() {
    let pattern = parse("x = 0, y = 0\n!").unwrap();
    assert_eq!((pattern.width, pattern.height, pattern.population(), pattern.name), (0, 0, 0, None));
}

#[test]
fn dead_cells_beyond_the_box_say_nothing() {
    assert_eq!(cells("x = 1, y = 1\no99b$$5b$!"), [(0, 0)]);
}

#[test]
fn names() {
    let name = |text: &str| parse(&format!("{text}\nx = 1, y = 1\no!")).unwrap().name;
    assert_eq!(name("#N  Gosper's gun \t\r"), Some("Gosper's gun".to_owned()));
    assert_eq!(name("#N"), None);
    assert_eq!(name("#N first\n#N second"), Some("first".to_owned()));
    assert_eq!(name("#N \u{1b}[31mred"), Some("[31mred".to_owned()));
    assert_eq!(parse("x = 1, y = 1\no\n#N late\n!").unwrap().name, Some("late".to_owned()));
}

#[test]
fn the_rule_is_what_the_file_says() {
    let rule = |text: &str| parse(text).unwrap().rule;
    for text in ["B3/S23", "23/3", "LifeHistory", "B2/S/C3:T30,20", "R2,C0,M1,S3..8,B5..9,NM", "é"] {
        assert_eq!(rule(&format!("x = 1, y = 1, rule = {text} \r\no!")).as_deref(), Some(text));
        assert_eq!(rule(&format!("#r {text}\nx = 1, y = 1\no!")).as_deref(), Some(text));
    }
    assert_eq!(rule("x = 1, y = 1\no!"), None);
    // The rule in the header takes precedence over `#r`.
    assert_eq!(rule("#r B36/S23\nx = 1, y = 1, rule = B3/S23\no!").as_deref(), Some("B3/S23"));
    fails("x = 1, y = 1, rule = \no!", 1, 22, "the rule is empty");
}

#[test]
fn place_and_generation() {
    let pattern = parse("#CXRLE Pos=-5,17 Gen=123\nx = 1, y = 1\no!").unwrap();
    assert_eq!((pattern.origin, pattern.generation), ((-5, 17), 123));
    let pattern = parse("#CXRLE Gen=-1 Pos=3\nx = 1, y = 1\no!").unwrap();
    assert_eq!((pattern.origin, pattern.generation), ((0, 0), 0), "values that are not numbers are ignored");
    fails("#CXRLE Gen=18446744073709551616\no!", 1, 1, "must be below 2⁶⁴");
    for line in ["#P 1 -2", "#R 1 -2"] {
        assert_eq!(parse(&format!("{line}\nx = 1, y = 1\no!")).unwrap().origin, (1, -2));
    }
}

#[test]
fn more_than_two_states() {
    let pattern = parse("x = 7, y = 2, rule = B2/S/C3\nA2B.o$2.pAyO2x!").unwrap();
    assert_eq!(pattern.cells().collect::<Vec<_>>(), [(0, 0), (4, 0), (4, 1), (5, 1)]);
    let run = |x, y, length| Run { x, y, length };
    assert_eq!(pattern.others(), [(run(1, 0, 2), 2), (run(2, 1, 1), 25), (run(3, 1, 1), 255)]);
    fails("yP!", 1, 1, "at most 255, but 256 was given");
}

/// Checks old files that have no header and use `x`, `y` and other letters for live cells.
#[test]
fn old_letters_and_no_header() {
    assert_eq!(cells("bob$2bo$3o!"), [(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
    assert_eq!(cells("#C old\n2xy$pqrstuvw!").len(), 11);
    assert_eq!(cells("#r 23/3\n#P 0 0\nxb2x$!"), [(0, 0), (2, 0), (3, 0)]);
    assert_eq!(cells("x!"), [(0, 0)]);
}

#[test]
fn the_box_holds_what_the_header_says_and_all_cells() {
    let pattern = parse("x = 3, y = 1\n4o2$o").unwrap();
    assert_eq!((pattern.width, pattern.height, pattern.population()), (4, 3, 5));
    let pattern = parse("x = 9, y = 9\no!").unwrap();
    assert_eq!((pattern.width, pattern.height), (9, 9));
}

#[test]
fn what_takes_too_much_is_counted() {
    let text = "x = 0, y = 0\n".to_owned() + &"bo".repeat(1000);
    let needed = |limit| match super::parse(&text, limit) {
        Err(FormatError::TooLarge { needed, free }) if free == limit => needed,
        other => panic!("{other:?}"),
    };
    assert!((24_000..200_000).contains(&needed(5_000)) && needed(5_000) > needed(100) / 2);
    assert_eq!(super::parse(&text, 1 << 20).unwrap().population(), 1000);
}

#[test]
fn malformed_headers() {
    fails("x =", 1, 4, "a number for the header's `x`, found the line's end");
    fails("x = , y = 3\n!", 1, 5, "a number for the header's `x`, found `,`");
    fails("x = -3, y = 3\n!", 1, 5, "a number for the header's `x`, found `-`");
    fails("x = 3\nbob!", 1, 6, "expected `y` in the header, found the line's end");
    fails("x = 3, \nbob!", 1, 8, "expected `y` in the header, found the line's end");
    fails("x = 3, y\nbob!", 1, 9, "expected `=` in the header, found the line's end");
    fails("x = 3, y =", 1, 11, "a number for the header's `y`, found the line's end");
    fails("x = 3, y = 3, rul = B3/S23\n!", 1, 15, "expected `rule` in the header, found `r`");
    fails("x = 3, y = 3, rule B3/S23\n!", 1, 20, "expected `=` in the header, found `B`");
    fails("x = 3, y = 99999999999999999999\n!", 1, 12, "must be below 2⁶⁴");
    fails("x = 3, é = 3\n!", 1, 8, "found `é`");
    let pattern = parse("x = 3 y = 4 rule = B3/S23,\n!").unwrap();
    assert_eq!((pattern.width, pattern.height, pattern.rule.as_deref()), (3, 4, Some("B3/S23")));
}

#[test]
fn malformed_cells() {
    const HEADER: &str = "x = 3, y = 4\n";
    let fails = |body: &str, line, column, message| fails(&format!("{HEADER}{body}"), line, column, message);
    fails("bob$2bo$3o", 2, 11, "without `!`");
    fails("bob$2bo$3o\n\n  \n", 2, 11, "without `!`");
    fails("", 1, 13, "without `!`");
    fails("bob$$$2", 2, 8, "without `!`");
    fails("bob$\n2bz!", 3, 3, "`z` is not allowed here: use `b` (dead), `o` (alive)");
    fails("bé!", 2, 2, "`é` is not allowed");
    fails("ob\u{7}!", 2, 3, "`\\u{7}` is not allowed");
    fails("2 3o!", 2, 3, "another number does");
    fails("b0o!", 2, 2, "a count must be at least 1");
    fails("bo#C no comment\n!", 2, 3, "`#` is not allowed");
    fails("99999999999999999999999999o!", 2, 1, "must be below 2⁶⁴");
    fails("2b18446744073709551615b!", 2, 3, "must be below 2⁶⁴");
    fails("o18446744073709551615o!", 2, 2, "must be below 2⁶⁴");
    fails("$18446744073709551615$!", 2, 2, "must be below 2⁶⁴");
    assert_eq!(parse(&format!("{HEADER}bob$2bo$3o$o")).unwrap().population(), 6, "a text with all rows needs no `!`");
}

/// Checks that an error reports its column in characters, not in bytes.
#[test]
fn columns_are_characters() {
    fails("#C é\nx = 1, y = 1\né!", 3, 1, "`é` is not allowed");
    fails("x = 1, y = 1\n\u{3000}o!", 2, 1, "is not allowed here");
}

#[test]
fn a_huge_header_takes_no_memory() {
    let text = "x = 1000000000000000000, y = 1000000000000000000\n999999999999999999bo999999999999999999$1000000000000000000o!";
    let pattern = parse(text).unwrap();
    assert_eq!((pattern.width, pattern.height), (10usize.pow(18), 10usize.pow(18)));
    let last = 10usize.pow(18) - 1;
    let runs = [Run { x: last, y: 0, length: 1 }, Run { x: 0, y: last, length: last + 1 }];
    assert_eq!(pattern.runs().collect::<Vec<_>>(), runs);
}

fn written(board: &Board) -> String {
    let mut out = Vec::new();
    write(board, &metadata(board), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn what_is_written() {
    let mut board = Board::new(8, 9).unwrap();
    assert_eq!(written(&board), "#CXRLE Pos=-4,-4 Gen=0\nx = 8, y = 9, rule = B3/S23:T8,9\n!\n");
    board.place(&parse("x = 3, y = 3\nbo$2bo$3o!").unwrap(), 1, 2).unwrap();
    board.set(7, 7, true);
    assert_eq!(written(&board), "#CXRLE Pos=-4,-4 Gen=0\nx = 8, y = 9, rule = B3/S23:T8,9\n2$2bo$3bo$b3o3$7bo!\n");
    let mut out = Vec::new();
    let sink: &mut dyn io::Write = &mut out;
    let named = Metadata { name: Some("two\nlines ".into()), ..torus((1, 1), 5) };
    write(&Board::new(1, 1).unwrap(), &named, sink).unwrap();
    assert_eq!(out, b"#N twolines\n#CXRLE Pos=0,0 Gen=5\nx = 1, y = 1, rule = B3/S23:T1,1\n!\n");
}

#[test]
fn states_are_written_and_come_back() {
    let mut board = Board::with_states(9, 2, 256).unwrap();
    for (x, state) in [(1, 1), (2, 1), (3, 2), (5, 24), (6, 25), (7, 255), (8, 255)] {
        board.set_state(x, 1, state);
    }
    let text = written(&board);
    assert!(text.ends_with("\n$.2AB.XpA2yO!\n"), "{text}");
    let mut back = Board::with_states(9, 2, 256).unwrap();
    back.place(&parse(&text).unwrap(), 0, 0).unwrap();
    assert_eq!(back, board);
}

#[test]
fn a_plane_is_written_like_its_board() {
    for rule in ["B3/S23", "345/2/40"] {
        let rule: life::Rule = rule.parse().unwrap();
        let mut board = Board::with_states(150, 90, rule.states()).unwrap();
        for (i, (x, y)) in Board::random(150, 90, 0.3, 2).unwrap().cells().enumerate() {
            board.set_state(x, y, (1 + i / 2 % usize::from(rule.states() - 1)) as u8);
        }
        let mut plane = plane::dead(&rule, 0);
        plane::put(&mut plane, (-100, 7), &board).unwrap();
        let area = Bounds { x: -100, y: 7, width: 150, height: 90 };
        let at = |origin| Metadata { origin, ..metadata(&board) };
        let (mut of_plane, mut of_board) = (Vec::new(), Vec::new());
        write_plane(&plane, area, &at((30, -2)), &mut of_plane).unwrap();
        write(&board, &at((-70, 5)), &mut of_board).unwrap();
        assert!(of_plane == of_board, "{rule}");
    }
    // Two cells far apart need no more than two cells.
    let mut far = plane::dead(&life::Rule::LIFE, 0);
    let end = plane::LIMIT - 2;
    [(-end, -end), (end, end)].into_iter().for_each(|(x, y)| far.set_state(x, y, 1).unwrap());
    let mut out = Vec::new();
    write_plane(&far, far.bounds().unwrap(), &torus((1, 1), 5), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.ends_with(&format!("\no{0}${0}bo!\n", 2 * end)), "{text}");
}

#[test]
fn lines_are_full_but_not_longer() {
    let text = written(&Board::random(500, 40, 0.3, 1).unwrap());
    let lines: Vec<_> = text.lines().skip(2).collect();
    assert!(lines.iter().all(|line| line.len() <= LINE));
    assert!(lines[..lines.len() - 1].iter().all(|line| line.len() > LINE - 4));
}

#[test]
fn a_failing_writer_is_an_error() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let board = Board::new(1, 1).unwrap();
    let error = write(&board, &metadata(&board), &mut Full).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

/// Generates texts from fragments of patterns. Most of these texts can be parsed beyond their first character.
fn plausible() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        Just("o".to_owned()),
        Just("b".to_owned()),
        Just("$".to_owned()),
        Just("!".to_owned()),
        Just("\n".to_owned()),
        Just("#N é\n".to_owned()),
        Just("A".to_owned()),
        Just(" ".to_owned()),
        Just("\r\n".to_owned()),
        Just("#r 23/3\n".to_owned()),
        Just(", rule = B3/S23:T".to_owned()),
        any::<u64>().prop_map(|n| n.to_string()),
        (0..50u8).prop_map(|n| n.to_string()),
        any::<char>().prop_map(String::from),
    ];
    let header = prop_oneof![
        Just("x = 40, y = 30\n".to_owned()),
        (any::<u64>(), any::<u64>()).prop_map(|(x, y)| format!("x={x},y={y}")),
        Just(String::new()),
    ];
    (header, prop::collection::vec(token, 0..40)).prop_map(|(header, tokens)| header + &tokens.concat())
}

proptest! {
    #[test]
    fn reading_back_gives_the_board(width in 1..200usize, height in 1..40usize, density in 0.0..1.0, seed: u64) {
        let board = Board::random(width, height, density * density, seed).unwrap();
        let text = written(&board);
        let pattern = parse(&text).unwrap();
        prop_assert_eq!((pattern.width, pattern.height), (width, height));
        prop_assert_eq!(&pattern.rule, &Some(format!("B3/S23:T{width},{height}")));
        let mut back = Board::new(width, height).unwrap();
        back.place_centered(&pattern).unwrap();
        prop_assert_eq!(back, board);
        prop_assert!(text.lines().all(|line| line.len() <= LINE));
        prop_assert!(!text.contains("b$") && !text.contains("b!") && !text.contains("$$") && !text.contains("$!"));
    }

    #[test]
    fn line_breaks_change_nothing(cells in prop::collection::vec((0..60usize, 0..9usize), 1..40), breaks: Vec<bool>) {
        let mut board = Board::new(60, 9).unwrap();
        cells.iter().for_each(|&(x, y)| board.set(x, y, true));
        let text = written(&board);
        let (header, body) = text.split_at(text.match_indices('\n').nth(1).unwrap().0 + 1);
        let mut breaks = breaks.into_iter();
        let mut broken = header.to_owned();
        for character in body.trim().chars() {
            if !character.is_ascii_digit() && breaks.next() == Some(true) {
                broken.push_str(" \r\n");
            }
            broken.push(character);
        }
        prop_assert_eq!(parse(&broken), parse(&text));
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn no_plausible_text_makes_it_panic(text in plausible()) {
        match parse(&text) {
            Ok(pattern) => prop_assert!(pattern.runs().all(|run| run.y < pattern.height && run.x + run.length <= pattern.width)),
            Err(FormatError::TooLarge { .. }) => {}
            Err(FormatError::Malformed(error)) => {
                // The position must exist in the text: it is at most one column after the last character of its line.
                let line = text.split('\n').nth(error.line - 1);
                prop_assert!(line.is_some_and(|line| error.column <= line.chars().count() + 1), "{}", error);
            }
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}
