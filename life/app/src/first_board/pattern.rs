//! Determines the size and universe of patterns and soups, and the position of patterns on the first board.

use std::path::Path;

use anyhow::{Context, anyhow, bail};

use super::BoardOptions;
use super::board_source::{PlacedPattern, suits_plane};
use crate::board_file::{name_of, read};
use crate::universe::Universe;
use gridstride::Size;
use life::{Board, Grid, Pattern, PlaceError, RuleAndTopology, SizeError};
use life_formats::Contents;
use life_formats::macrocell::Tree;
use program::error::UsageError;
use program::memory::available;
use program::report::{self, grouped};

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

/// The properties of a pattern's first board that are known before its cells are read.
pub struct BoardPlan {
    /// The size of the board as (columns, rows).
    pub size: (usize, usize),
    /// The universe of the board.
    pub universe: Universe,
    /// The reason for the size if the user did not choose it, as the context of an error.
    pub why_this_size: Option<String>,
    /// True if the cores' engine for the plane is probably faster than a GPU.
    pub suits_plane: bool,
    /// A lower bound of the bytes that the cells need on a plane.
    pub min_plane_bytes: u64,
    grid: Option<Grid>,
    is_history: bool,
}

impl BoardPlan {
    /// Returns the plan of a board whose cells need not be read from a pattern.
    pub(super) fn of(size: (usize, usize), universe: Universe) -> Self {
        let suits_plane = suits_plane(size, u64::MAX);
        let (why_this_size, grid) = (None, None);
        Self { size, universe, why_this_size, suits_plane, min_plane_bytes: 0, grid, is_history: false }
    }
}

/// A function that checks whether a device can advance the planned board.
pub type Check<'a> = &'a mut dyn FnMut(&BoardPlan) -> anyhow::Result<()>;

/// Reads the pattern in `file`, or from standard input if `file` is `-`. The rule is the value of `--rule`, or else the
/// rule in the file. `check` is called before the cells of a macrocell file are read.
///
/// The suffix of the rule sets the size and topology of the board. `--size` takes precedence over the size in the
/// suffix. Without a suffix, `--size` makes a torus. Without both, the board is the unbounded plane. The first board on
/// the plane is twice as wide and high as the pattern, but at least 256 × 256 cells and at least as large as the
/// screen.
///
/// # Errors
/// [`UsageError`] if `--rule` or `--size` is invalid, or the pattern is larger than `--size`. Another error if the file
/// cannot be read, is malformed or has an unsupported rule, if the host has too little memory, or if `check` fails.
pub fn pattern(options: &BoardOptions<'_>, file: &Path, check: Check<'_>) -> anyhow::Result<PlacedPattern> {
    let (mut pattern, mut tree) = match read(file)? {
        Contents::Pattern(pattern) => (pattern, None),
        Contents::Tree(tree) => (tree.header(), Some(tree)),
    };
    let plan = plan(options, file, &pattern, tree.as_ref())?;
    check(&plan)?;
    let BoardPlan { size: (width, height), universe, grid, is_history, .. } = plan;
    check_states(&pattern, tree.as_ref(), &universe, is_history).with_context(|| refused(file))?;
    // The cores' engine for the plane takes the cells from the tree.
    if let Some(tree) = tree.take_if(|_| !options.takes_plane(&universe)) {
        let cells = tree.pattern(available().unwrap_or(u64::MAX));
        pattern = cells.with_context(|| format!("cannot read the pattern in {}", name_of(file)))?;
    }
    if is_history && let Some(note) = lost_marks(&pattern, tree.as_ref()) {
        report::note(&note);
    }
    let (x, y) = corner(&pattern, grid.filter(|_| options.size.is_none()), (width, height));
    let origin = match universe.is_unbounded() {
        true => (pattern.origin.0.saturating_sub(x as i64), pattern.origin.1.saturating_sub(y as i64)),
        false => (-(width as i64 / 2), -(height as i64 / 2)),
    };
    Ok(PlacedPattern { pattern, tree, size: (width, height), universe, origin, corner: (x, y), is_history })
}

fn refused(file: &Path) -> String {
    format!("cannot run the pattern in {}", name_of(file))
}

/// Determines the universe and the size of the first board. `outline` need not have its cells if they are in `tree`.
fn plan(options: &BoardOptions<'_>, file: &Path, outline: &Pattern, tree: Option<&Tree>) -> anyhow::Result<BoardPlan> {
    let &BoardOptions { rule, size, screen, .. } = options;
    let text = rule_text(rule, outline.rule.as_deref());
    let (mut universe, grid) = Universe::of(match (text.parse::<RuleAndTopology>(), rule) {
        (Ok(read), _) => read,
        (Err(error), Some(_)) => return Err(UsageError(format!("--rule: {error}")).into()),
        (Err(error), None) => return Err(anyhow!(error).context(refused(file))),
    });
    universe.generation = outline.generation;
    // In rules such as LifeHistory, states above 1 mark cells, and cells in odd states are alive.
    let is_history = text.split(':').next().is_some_and(|rule| rule.trim_end().to_lowercase().ends_with("history"));
    if size.is_some() {
        universe = universe.bounded();
    }
    let room = room_for(outline, grid, screen);
    let Size { width, height } = size.unwrap_or(room);
    universe.check_size((width, height))?;
    let why_this_size = size.is_none().then(|| no_room(outline, grid, file));
    // The cores' engine for the plane needs no board. If a GPU is used instead, its memory is checked by the caller.
    if !options.takes_plane(&universe) {
        Board::check_size(width, height).map_err(|error| match &why_this_size {
            // Too little memory is a failure of this machine. A size that is too large for any machine is a mistake of
            // the user.
            None if !matches!(error, SizeError::OutOfMemory { .. }) => UsageError::of(error).into(),
            None => error.into(),
            Some(why) => anyhow!(error).context(why.clone()),
        })?;
    }
    if outline.width > width || outline.height > height {
        let (pattern_width, pattern_height) = (outline.width, outline.height);
        let error = PlaceError { pattern_width, pattern_height, width, height };
        return Err(match size {
            Some(_) => UsageError(format!("--size {width}x{height}: {error}")).into(),
            None => anyhow!(error).context(format!("cannot place {} on the grid in its rule", name_of(file))),
        });
    }
    let population = tree.map_or_else(|| outline.population(), Tree::max_population);
    Ok(BoardPlan {
        size: (width, height),
        universe,
        why_this_size,
        suits_plane: suits_plane((outline.width, outline.height), population),
        min_plane_bytes: tree.map_or(0, Tree::min_plane_bytes),
        grid,
        is_history,
    })
}

/// Checks that the rule has the states of the cells of `pattern`, or of `tree` if it has the cells.
fn check_states(pattern: &Pattern, tree: Option<&Tree>, universe: &Universe, is_history: bool) -> anyhow::Result<()> {
    let (states, rule) = (tree.map_or_else(|| pattern.states(), Tree::states), universe.rule);
    if states <= rule.states() || is_history {
        return Ok(());
    }
    let own = rule.states();
    if let (2, Some((line, column))) = (own, pattern.states_at) {
        bail!(
            "line {line}, column {column}: capitals are states, so that its cells have {states} states, but the rule \
             {rule} has {own}: in a two-state pattern write `b` and `o`, or choose another rule with --rule"
        );
    }
    bail!("its cells have {states} states, but the rule {rule} has {own}: choose another rule with --rule")
}

/// Returns a note for a pattern of a rule such as LifeHistory that has marked cells, or `None` if it has none. The
/// cells are those of `pattern`, or of `tree` if it has the cells.
fn lost_marks(pattern: &Pattern, tree: Option<&Tree>) -> Option<String> {
    const BOUNDARY: u8 = 6;
    let (marked, has_boundary) = match tree {
        Some(tree) => (tree.marked(), tree.has_state(BOUNDARY)),
        None => (
            pattern.others().iter().fold(0u64, |sum, (run, _)| sum.saturating_add(run.length as u64)),
            pattern.others().iter().any(|&(_, state)| state == BOUNDARY),
        ),
    };
    let boundary = if has_boundary { ", and boundaries (state 6) do not kill cells" } else { "" };
    (marked > 0).then(|| {
        format!("the marks of {} cells (states above 1) are not kept: odd states are alive{boundary}", grouped(marked))
    })
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
mod tests;
