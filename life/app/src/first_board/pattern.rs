//! Determines the size and universe of patterns and soups, and the position of patterns on the first board.

use std::path::Path;

use anyhow::{Context, anyhow};

use super::BoardOptions;
use super::board_source::PlacedPattern;
use crate::backend::memory;
use crate::board_file::{name_of, read};
use crate::universe::Universe;
use gridstride::Size;
use life::{Board, Grid, Pattern, PlaceError, RuleAndTopology, SizeError};
use life_formats::macrocell::Tree;
use life_formats::{Contents, FormatError};
use program::error::UsageError;
use program::memory::available;

/// The default width and height of a board in cells.
const ROOMY: usize = 256;

/// Returns the size and the seed of a soup. The size is `size` if it is set, otherwise the size of the `screen`,
/// otherwise 256 × 256. The seed is `seed` if it is set, otherwise a random number.
pub fn soup(size: Option<Size>, screen: Option<Size>, seed: Option<u64>) -> (Size, u64) {
    // A number of 32 bits is short enough to type, and exact in JSON readers that use doubles (jq, JavaScript).
    let seed = seed.unwrap_or_else(|| rand::random::<u32>().into());
    (size.or(screen).unwrap_or(Size { width: ROOMY, height: ROOMY }), seed)
}

/// Returns the universe of a soup under `rule`, and the size in the rule's suffix. If `rule` has no suffix, the size is
/// `None` and the universe is a torus.
///
/// # Errors
/// [`UsageError`] if `rule` cannot be parsed.
pub fn of_soup(rule: Option<&str>) -> Result<(Universe, Option<Size>), UsageError> {
    let Some(rule) = rule else { return Ok((Universe::default(), None)) };
    let (universe, grid) = Universe::of(rule.parse().map_err(|error| UsageError(format!("--rule: {error}")))?);
    let size = grid.map(|grid| room_for(&Pattern::default(), Some(grid), None));
    Ok((if grid.is_none() { universe.bounded() } else { universe }, size))
}

/// Reads the pattern in `file`, or from standard input if `file` is `-`. The rule is the value of `--rule`, or else the
/// rule in the file.
///
/// The suffix of the rule sets the size and topology of the board. `--size` takes precedence over the size in the
/// suffix. Without a suffix, `--size` makes a torus. Without both, the board is the unbounded plane. The first board on
/// the plane is twice as wide and high as the pattern, but at least 256 × 256 cells and at least as large as the
/// screen.
///
/// # Errors
/// [`UsageError`] if `--rule` or `--size` is invalid, or the pattern is larger than `--size`. Another error if the file
/// cannot be read, is malformed or has an unsupported rule, or if the host has too little memory.
pub fn pattern(options: &BoardOptions<'_>, file: &Path) -> anyhow::Result<PlacedPattern> {
    let &BoardOptions { ranks, rule, size, screen, may_use_plane } = options;
    let (mut pattern, mut tree) = match read(file)? {
        Contents::Pattern(pattern) => (pattern, None),
        Contents::Tree(tree) => (tree.header(), Some(tree)),
    };
    let refused = || format!("cannot run the pattern in {}", name_of(file));
    let text = rule_text(rule, pattern.rule.as_deref());
    let (mut universe, grid) = Universe::of(match (text.parse::<RuleAndTopology>(), rule) {
        (Ok(read), _) => read,
        (Err(error), Some(_)) => return Err(UsageError(format!("--rule: {error}")).into()),
        (Err(error), None) => return Err(anyhow!(error).context(refused())),
    });
    universe.generation = pattern.generation;
    // In rules such as LifeHistory, states above 1 mark cells, and cells in odd states are alive.
    let is_history = text.split(':').next().is_some_and(|rule| rule.trim_end().to_lowercase().ends_with("history"));
    let states = tree.as_ref().map_or_else(|| pattern.states(), Tree::states);
    if states > universe.rule.states() && !is_history {
        let rule = universe.rule;
        return Err(anyhow!(
            "its cells have {states} states, but the rule {rule} has {}: choose another rule with --rule",
            rule.states()
        )
        .context(refused()));
    }
    if size.is_some() {
        universe = universe.bounded();
    }
    let may_use_plane = may_use_plane && universe.is_unbounded();
    if let Some(cells) = &tree {
        let free = available().unwrap_or(u64::MAX);
        let needed = cells.min_plane_bytes();
        let cannot_read = || format!("cannot read the pattern in {}", name_of(file));
        if !may_use_plane {
            (pattern, tree) = (cells.pattern(free).with_context(cannot_read)?, None);
        } else if needed > free {
            return Err(anyhow!(FormatError::TooLarge { needed, free }).context(cannot_read()));
        }
    }
    let room = room_for(&pattern, grid, screen);
    let Size { width, height } = size.unwrap_or(room);
    universe.check_size((width, height))?;
    // The cores' engine for the plane needs no board. If a GPU is used instead, its memory is checked later.
    if !may_use_plane {
        // If there are several ranks, no rank stores the whole board. `Board::check_size` below rejects an impossible
        // size.
        if width.checked_mul(height).is_some() && ranks.size() == 1 {
            let fits = memory::check_host((width, height), memory::board_bytes((width, height)));
            fits.map_err(|error| if size.is_some() { error } else { error.context(no_room(&pattern, grid, file)) })?;
        }
        Board::check_size(width, height).map_err(|error| match size {
            // Too little memory is a failure of this machine. A size that is too large for any machine is a mistake of
            // the user.
            Some(_) if !matches!(error, SizeError::OutOfMemory { .. }) => UsageError::of(error).into(),
            Some(_) => error.into(),
            None => anyhow!(error).context(no_room(&pattern, grid, file)),
        })?;
    }
    let (x, y) = corner(&pattern, grid.filter(|_| size.is_none()), (width, height));
    if pattern.width > width || pattern.height > height {
        let (pattern_width, pattern_height) = (pattern.width, pattern.height);
        let error = PlaceError { pattern_width, pattern_height, width, height };
        return Err(match size {
            Some(_) => UsageError(format!("--size {width}x{height}: {error}")).into(),
            None => anyhow!(error).context(format!("cannot place {} on the grid in its rule", name_of(file))),
        });
    }
    let origin = match universe.is_unbounded() {
        true => (pattern.origin.0.saturating_sub(x as i64), pattern.origin.1.saturating_sub(y as i64)),
        false => (-(width as i64 / 2), -(height as i64 / 2)),
    };
    Ok(PlacedPattern { pattern, tree, size: (width, height), universe, origin, corner: (x, y), is_history })
}

/// Returns the text of a run's rule: `rule` if it is set, otherwise the file's rule. If `rule` has no suffix, the
/// suffix of the file's rule is appended to it.
fn rule_text(rule: Option<&str>, of_file: Option<&str>) -> String {
    let of_file = of_file.unwrap_or("B3/S23");
    match (rule, of_file.split_once(':')) {
        (Some(rule), Some((_, suffix))) if !rule.contains(':') => format!("{rule}:{suffix}"),
        (Some(rule), _) => rule.to_owned(),
        (None, _) => of_file.to_owned(),
    }
}

/// Returns the position of a pattern's upper left corner on a board. Without a grid, the pattern is centred. On a grid,
/// the pattern is placed as in Golly.
fn corner(pattern: &Pattern, grid: Option<Grid>, (width, height): (usize, usize)) -> (usize, usize) {
    if grid.is_none() {
        return (width.saturating_sub(pattern.width) / 2, height.saturating_sub(pattern.height) / 2);
    }
    // The file may contain a position. It is relative to the middle of the grid.
    let (x, y) =
        (pattern.origin.0.saturating_add(width as i64 / 2), pattern.origin.1.saturating_add(height as i64 / 2));
    let fits = |at: i64, length: usize, side: usize| at >= 0 && (at as usize).saturating_add(length) <= side;
    if pattern.origin != (0, 0) && fits(x, pattern.width, width) && fits(y, pattern.height, height) {
        return (x as usize, y as usize);
    }
    ((width / 2).saturating_sub(pattern.width / 2), (height / 2).saturating_sub(pattern.height / 2))
}

fn room_for(pattern: &Pattern, grid: Option<Grid>, screen: Option<Size>) -> Size {
    let screen = screen.unwrap_or(Size { width: ROOMY, height: ROOMY });
    let side = |pattern: usize, screen: usize| ROOMY.max(screen).max(pattern.saturating_mul(2));
    let (width, height) = (side(pattern.width, screen.width), side(pattern.height, screen.height));
    match grid {
        None => Size { width, height },
        Some(grid) => Size {
            width: if grid.width == 0 { width } else { grid.width },
            height: if grid.height == 0 { height } else { grid.height },
        },
    }
}

/// Returns the message for a pattern whose default board is too large. The message explains the size, because the user
/// did not choose it.
fn no_room(pattern: &Pattern, grid: Option<Grid>, file: &Path) -> String {
    let Pattern { width, height, .. } = pattern;
    let room = if grid.is_some() { "has the size in the file's rule, for" } else { "is twice as large as" };
    let name = name_of(file);
    format!(
        "cannot make the default board, which {room} the pattern of {width}x{height} cells in {name}: choose a board \
         size with --size"
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::ranks::Ranks;

    fn pattern(file: &Path, rule: Option<&str>, size: Option<Size>) -> anyhow::Result<PlacedPattern> {
        super::pattern(&BoardOptions { ranks: Ranks::alone(), rule, size, screen: None, may_use_plane: false }, file)
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
    }

    #[test]
    fn a_soup_has_a_size_and_a_seed() {
        let (size, screen) = (Size { width: 50, height: 40 }, Size { width: 80, height: 44 });
        assert_eq!(soup(Some(size), Some(screen), Some(7)), (size, 7));
        assert_eq!(soup(None, Some(screen), Some(1)).0, screen);
        assert_eq!(soup(None, None, Some(1)).0, Size { width: 256, height: 256 });
        assert_ne!(soup(None, None, None).1, soup(None, None, None).1);
    }
}
