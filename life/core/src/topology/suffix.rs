//! Golly's suffix of a rule, which describes a bounded grid: `B3/S23:T30,20`.

use std::fmt;
use std::str::FromStr;

use super::{Edges, Topology};
use crate::rule::{Rule, RuleError};

/// The maximum width or height in cells.
const LONGEST: usize = 2_000_000_000;

/// A bounded grid that a suffix describes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Grid {
    /// How the edges of the grid are joined.
    pub topology: Topology,
    /// The number of columns, or 0 if the width is unbounded.
    pub width: usize,
    /// The number of rows, or 0 if the height is unbounded.
    pub height: usize,
}

/// A rule with an optional suffix for a bounded grid, in the form that pattern files use.
///
/// ```
/// # use life::{Rule, RuleAndTopology, Topology};
/// let RuleAndTopology { rule, grid } = "b3s23:t30,20".parse()?;
/// assert_eq!((rule, grid.unwrap().topology, grid.unwrap().width), (Rule::LIFE, Topology::TORUS, 30));
/// # Ok::<(), life::RuleError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RuleAndTopology {
    /// The rule without its suffix.
    pub rule: Rule,
    /// The bounded grid, or `None` if the plane is unbounded.
    pub grid: Option<Grid>,
}

impl FromStr for RuleAndTopology {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let (rule, suffix) = text.split_once(':').map_or((text, None), |(rule, suffix)| (rule, Some(suffix)));
        let grid = suffix.map(grid).transpose().map_err(|why| {
            let short: String = suffix.unwrap_or_default().chars().take(40).flat_map(char::escape_debug).collect();
            RuleError(format!(
                "topology :{short}: {why}; there are :T30,20 (torus, with a shift T30+5,20, a tube T0,20), :P30,20 (plane), \
                 :K30*,20 (Klein bottle, with a shift K30*+1,20), :C30,20 (cross-surface) and :S30 (sphere)"
            ))
        })?;
        Ok(Self { rule: rule.parse()?, grid: grid.flatten() })
    }
}

/// The length, twist and shift of one side in a suffix, such as `30`, `30+5`, `30*` or `30*+1`.
#[derive(Clone, Copy, Default, PartialEq)]
struct Side {
    cells: usize,
    is_twisted: bool,
    shift: i64,
}

fn side(text: &str) -> Result<Side, String> {
    let (cells, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let cells = if cells.is_empty() { 0 } else { cells.parse().unwrap_or(usize::MAX) };
    if cells > LONGEST {
        return Err(format!("a side can have at most 2,000,000,000 cells, but {text} was given"));
    }
    let is_twisted = rest.starts_with('*');
    let shift = if is_twisted { &rest[1..] } else { rest };
    let is_shift = shift.is_empty() || shift.starts_with(['+', '-']) && shift[1..].bytes().all(|b| b.is_ascii_digit());
    if !is_shift {
        return Err(format!("a side is a number, then * for a twist, then a shift such as +5, but {text:?} was given"));
    }
    let shift = match shift.len() {
        0 | 1 => 0,
        _ => shift.parse::<i64>().map_err(|_| format!("a shift must be less than 2^63, but {shift} was given"))?,
    };
    // Like Golly, the parser keeps the sign of the shift and reduces it modulo the side.
    Ok(Side { cells, is_twisted, shift: if cells == 0 { shift } else { shift % cells as i64 } })
}

/// Parses a suffix without its colon. Returns `None` if the suffix describes the unbounded plane.
fn grid(suffix: &str) -> Result<Option<Grid>, String> {
    let suffix: String = suffix.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_uppercase).collect();
    let Some(letter) = suffix.chars().next() else { return Ok(None) };
    if !"TPKCS".contains(letter) {
        return Err("the letter must be T, P, K, C or S".into());
    }
    let sides = &suffix[1..];
    let (first, second) = sides.split_once(',').map_or((sides, None), |(first, second)| (first, Some(second)));
    let across = side(first)?;
    let down = match second {
        Some(second) => side(second)?,
        // A single number is the length of both sides.
        None => Side { cells: across.cells, ..Side::default() },
    };
    if (across.is_twisted || down.is_twisted) && letter != 'K' {
        return Err(format!("only a Klein bottle can be twisted: leave out the `*`, or write :K{sides}"));
    }
    let shifts = (across.shift, down.shift);
    if shifts != (0, 0) && matches!(letter, 'P' | 'C' | 'S') {
        return Err("only a torus and a Klein bottle can be shifted: leave out the shift".into());
    }
    if across.shift != 0 && down.shift != 0 {
        return Err("a grid can be shifted in one direction only, but both sides have a shift: leave one out".into());
    }
    if shifts != (0, 0) && (across.cells == 0 || down.cells == 0) {
        return Err(
            "a shift needs two bounded sides, but one has 0 cells: give its length, or leave out the shift".into()
        );
    }
    if across.cells == 0 && down.cells == 0 && !"KCS".contains(letter) {
        return Ok(None);
    }
    if "KCS".contains(letter) && (across.cells == 0 || down.cells == 0) {
        let cells = format!("{} and {} were given", across.cells, down.cells);
        return Err(format!(":{letter} needs two bounded sides, but {cells}: give each at least 1"));
    }
    let topology = match letter {
        'P' => Topology::Plane,
        'C' => Topology::CrossSurface,
        'S' if across.cells != down.cells => {
            let (width, height) = (across.cells, down.cells);
            return Err(format!(
                "a sphere needs equal sides, but {width} and {height} were given: use :S{width} or :S{height}"
            ));
        }
        'S' => Topology::Sphere,
        'K' => klein(across, down)?,
        _ if across.cells == 0 => Topology::Tube(Edges::Horizontal),
        _ if down.cells == 0 => Topology::Tube(Edges::Vertical),
        _ => Topology::Torus { across: across.shift, down: down.shift },
    };
    Ok(Some(Grid { topology, width: across.cells, height: down.cells }))
}

/// Returns the message for a shifted Klein bottle whose twisted edges have the odd length `cells`.
pub fn odd_klein_side(twisted: Edges, cells: usize) -> String {
    let side = if twisted == Edges::Horizontal { "width" } else { "height" };
    let even = if cells == 1 { "2".into() } else { format!("{} or {}", cells - 1, cells + 1) };
    format!(
        "a shifted Klein bottle needs an even {side}, but {cells} was given: use {even}, or leave out the shift `+1`"
    )
}

fn klein(across: Side, down: Side) -> Result<Topology, String> {
    let (side, other, twisted) = match (across.is_twisted, down.is_twisted) {
        (true, true) => {
            return Err(
                "a Klein bottle can be twisted in one direction only, but both sides have a `*`: leave one out".into(),
            );
        }
        (true, false) => (across, down, Edges::Horizontal),
        // Without a `*` in the text, the second side is twisted.
        _ => (down, across, Edges::Vertical),
    };
    if side.shift != 0 && !side.cells.is_multiple_of(2) {
        return Err(odd_klein_side(twisted, side.cells));
    }
    if other.shift != 0 {
        return Err("a Klein bottle can be shifted only where it is twisted: write the shift behind the `*`".into());
    }
    // All shifts of a side with an even length are equivalent.
    Ok(Topology::Klein { twisted, is_shifted: side.shift != 0 })
}

impl fmt::Display for Grid {
    /// Writes the suffix with its colon.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.topology.suffix(self.width, self.height))
    }
}

impl fmt::Display for RuleAndTopology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rule.fmt(f)?;
        self.grid.map_or(Ok(()), |grid| grid.fmt(f))
    }
}
