//! Tests how patterns become first boards.

use std::fs;

use super::*;
use crate::ranks::Ranks;

fn pattern(file: &Path, rule: Option<&str>, size: Option<Size>) -> anyhow::Result<PlacedPattern> {
    let options = BoardOptions { ranks: Ranks::alone(), rule, size, screen: None, may_use_plane: false };
    super::pattern(&options, file, &mut |_| Ok(()))
}

#[test]
fn a_pattern_gets_its_torus_or_room() {
    let glider = || Pattern::from_cells([(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
    assert_eq!(room_for(&glider(), None, None), Size { width: 256, height: 256 });
    let screen = Size { width: 300, height: 80 };
    assert_eq!(room_for(&glider(), None, Some(screen)), Size { width: 300, height: 256 });
    let mut wide = glider();
    wide.width = 1000;
    assert_eq!(room_for(&wide, None, None), Size { width: 2000, height: 256 });
    let grid = |text: &str| text.parse::<RuleAndTopology>().unwrap().grid;
    assert_eq!(room_for(&glider(), grid("Life:T20,10"), Some(screen)), Size { width: 20, height: 10 });
    assert_eq!(room_for(&glider(), grid("Life:T0,10"), Some(screen)), Size { width: 300, height: 10 });
}

#[test]
fn a_pattern_larger_than_the_size_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("row.cells");
    fs::write(&file, "OOOOO\n").unwrap();
    let error = pattern(&file, None, Some(Size { width: 4, height: 4 })).err().unwrap();
    assert!(error.is::<UsageError>(), "{error:#}");
    let placed = pattern(&file, None, Some(Size { width: 7, height: 3 })).unwrap();
    let board = placed.board().unwrap();
    assert_eq!(placed.universe, Universe::default());
    assert_eq!(board.cells().collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
}

#[test]
fn the_rule_says_where_a_pattern_lives() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rle");
    let start = |text: &str, rule: Option<&str>, size| {
        fs::write(&file, text).unwrap();
        pattern(&file, rule, size)
    };
    let header = |rule: &str| format!("x = 3, y = 3, rule = {rule}\nbob$2bo$3o!\n");
    let size = Some(Size { width: 30, height: 40 });
    for (rule, typed, size, text) in [
        ("B3/S23", None, None, "B3/S23"),
        ("B3/S23", None, size, "B3/S23:T30,40"),
        ("Life:K20*,10", None, None, "B3/S23:K20*,10"),
        ("Life:K20*,10", None, size, "B3/S23:K30*,40"),
        ("Life:T20,10", Some("HighLife"), None, "B36/S23:T20,10"),
        ("Life:T20,10", Some("HighLife:P9,9"), None, "B36/S23:P9,9"),
        ("WireWorld", Some("HighLife"), None, "B36/S23"),
        ("Life:T0,10", None, None, "B3/S23:T0,10"),
    ] {
        let placed = start(&header(rule), typed, size).unwrap();
        let board = placed.board().unwrap();
        assert_eq!(placed.universe.text((board.width(), board.height())), text);
        assert_eq!(board.population(), 5);
    }
    let why = |text: &str, rule, size| start(text, rule, size).unwrap_err();
    assert!(format!("{:#}", why(&header("WireWorld"), None, None)).contains("rule tables"));
    assert!(why(&header("Life"), Some("R5,C0"), None).is::<UsageError>());
    assert!(why(&header("Life:S20"), None, size).is::<UsageError>());
    // Golly places a pattern of three cells at (9, 4) on a grid of 20 × 10 cells.
    let board = start(&header("Life:P20,10"), None, None).unwrap().board().unwrap();
    assert_eq!(board.cells().next(), Some((10, 4)));
    let placed = format!("#CXRLE Pos=-10,-5 Gen=3\n{}", header("Life:P20,10"));
    let placed = start(&placed, None, None).unwrap();
    let (board, universe, origin) = (placed.board().unwrap(), placed.universe, placed.origin);
    assert_eq!((board.cells().next(), universe.generation, origin), (Some((1, 0)), 3, (-10, -5)));
}

#[test]
fn a_shift_of_an_odd_klein_bottle_is_an_error_in_a_file_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rle");
    fs::write(&file, "x = 1, y = 1, rule = B3/S23:K5*+1,6\no!\n").unwrap();
    let why = format!("{:#}", pattern(&file, None, None).unwrap_err());
    assert!(why.contains("needs an even width, but 5 was given: use 4 or 6"), "{why}");
}

#[test]
fn states_are_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rle");
    let start = |rule: &str| {
        fs::write(&file, format!("x = 3, y = 1, rule = {rule}\nABC!\n")).unwrap();
        pattern(&file, None, None)
    };
    let states = |board: &Board| (0..3).map(|dx| board.state(126 + dx, 127)).collect::<Vec<_>>();
    assert_eq!(states(&start("345/2/4").unwrap().board().unwrap()), [1, 2, 3]);
    for rule in ["LifeHistory", "B3/S23History", "HighLifeHistory:T300,300"] {
        assert_eq!(start(rule).unwrap().board().unwrap().population(), 2, "{rule}");
    }
    let why = format!("{:#}", start("/2/3").unwrap_err());
    assert!(why.contains("4 states, but the rule /2/3 has 3"), "{why}");
    for text in ["BOB$2BO$3O!", "x = 3, y = 3\n bO$2bO$3O!"] {
        fs::write(&file, text).unwrap();
        let why = format!("{:#}", pattern(&file, None, None).unwrap_err());
        let place = if text.starts_with('B') { "line 1, column 1" } else { "line 2, column 3" };
        assert!(why.contains(&format!("{place}: capitals are states")), "{why}");
        assert!(why.contains("write `b` and `o`") && why.contains("16 states, but the rule B3/S23 has 2"), "{why}");
        assert!(pattern(&file, Some("/2/16"), None).is_ok());
    }
}

#[test]
fn the_loss_of_marks_is_noted() {
    let note = |text: &str| {
        let read = life_formats::read_pattern(text, life_formats::Format::Rle).unwrap();
        lost_marks(&read, None)
    };
    assert_eq!(note("3o!"), None);
    let text = "the marks of 5 cells (states above 1) are not kept: odd states are alive";
    assert_eq!(note("AB2C2D!").as_deref(), Some(text));
    let boundary = "boundaries (state 6) do not kill cells";
    assert!(note("AF!").unwrap().ends_with(boundary));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.mc");
    fs::write(&file, "[M2]\n#R LifeHistory\n1 1 2 4 6\n2 1 0 0 1\n").unwrap();
    let options = BoardOptions { ranks: Ranks::alone(), rule: None, size: None, screen: None, may_use_plane: true };
    let placed = super::pattern(&options, &file, &mut |_| Ok(())).unwrap();
    let note = lost_marks(&placed.pattern, placed.tree.as_ref()).unwrap();
    assert!(note.starts_with("the marks of 6 cells") && note.ends_with(boundary), "{note}");
}

/// Checks that a macrocell file is refused before the memory for its cells is allocated. The list of these cells
/// would need 5 GB.
#[test]
fn a_macrocell_file_is_refused_by_its_box() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("large.mc");
    let mut text = "[M2]\n.*.*.*.*$*.*.*.*.$.*.*.*.*$*.*.*.*.$.*.*.*.*$*.*.*.*.$.*.*.*.*$*.*.*.*.$\n".to_owned();
    (4..=20).for_each(|level| text += &format!("{level} {last} {last} {last} {last}\n", last = level - 3));
    fs::write(&file, text).unwrap();
    let begun = std::time::Instant::now();
    let mut sizes = Vec::new();
    let options = BoardOptions { ranks: Ranks::alone(), rule: None, size: None, screen: None, may_use_plane: false };
    let error = super::pattern(&options, &file, &mut |plan| {
        sizes.push(plan.size);
        Err(anyhow!("too large")).with_context(|| plan.why_this_size.clone().unwrap_or_default())
    });
    let why = format!("{:#}", error.unwrap_err());
    assert!(why.contains("twice as large as the pattern of 1048576x1048576") && why.contains("too large"), "{why}");
    assert_eq!(sizes, [(1 << 21, 1 << 21)]);
    assert!(begun.elapsed() < std::time::Duration::from_secs(2));
}

#[test]
fn a_soup_has_a_size_and_a_seed() {
    let (size, screen) = (Size { width: 50, height: 40 }, Size { width: 80, height: 44 });
    assert_eq!(soup(Some(size), Some(screen), Some(7)), (size, 7));
    assert_eq!(soup(None, Some(screen), Some(1)).0, screen);
    assert_eq!(soup(None, None, Some(1)).0, Size { width: 256, height: 256 });
    assert_ne!(soup(None, None, None).1, soup(None, None, None).1);
}

proptest::proptest! {
    /// Reads random cells for LifeHistory and similar rules: exactly the cells in odd states are alive, on a board and
    /// on the plane.
    #[test]
    fn odd_states_of_histories_are_alive(cells in "([0-9]{0,2}[.A-F$]){0,60}") {
        if let Ok(read) = life_formats::rle::parse(&format!("{cells}!"), 1 << 20) {
            let (mut length, mut odd) = (None, 0);
            for byte in cells.bytes() {
                if byte.is_ascii_digit() {
                    length = Some(10 * length.unwrap_or(0) + u64::from(byte - b'0'));
                    continue;
                }
                let length = length.take().unwrap_or(1);
                odd += if b"ACE".contains(&byte) { length } else { 0 };
            }
            let size = (read.width.max(1), read.height.max(1));
            let placed = PlacedPattern::whole(read, size, Universe::default());
            let placed = PlacedPattern { is_history: true, ..*placed };
            let mut plane = life::plane::dead(&placed.universe.rule, 0);
            placed.put_on(&mut plane).unwrap();
            let board = placed.board().unwrap();
            proptest::prop_assert_eq!((board.population(), plane.population()), (odd, odd), "{}", cells);
        }
    }
}
