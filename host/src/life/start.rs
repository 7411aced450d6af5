//! The board that a run begins with: a pattern from a file or from standard input, or a random soup.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};

use super::format::{Format, read_pattern_bytes};
use super::rule::torus_of;
use crate::error::UsageError;
use gridstride::Size;
use gridstride::life::{Board, Pattern, SizeError, SoupError};

/// The side of a board that nobody gave a size for.
const ROOMY: usize = 256;

/// A board, and the seed that it came from if it is random.
pub struct Start {
    /// The cells of generation 0.
    pub board: Board,
    /// Gives the same board again, together with its size and density.
    pub seed: Option<u64>,
}

/// A random soup of `size`, or of the size of the `screen` that it is to be drawn on, or of 256 × 256.
///
/// # Errors
/// [`UsageError`] when there is no such board, otherwise when memory does not suffice.
pub fn soup(size: Option<Size>, screen: Option<Size>, density: f64, seed: Option<u64>) -> anyhow::Result<Start> {
    let Size { width, height } = size.or(screen).unwrap_or(Size { width: ROOMY, height: ROOMY });
    // 32 bits: short enough to type, and exact for readers of JSON that keep numbers as doubles (jq, JavaScript).
    let seed = seed.unwrap_or_else(|| rand::random::<u32>().into());
    let board = Board::random(width, height, density, seed).map_err(|error| match error {
        SoupError::Size(size) => size_error(size),
        other => UsageError::of(other).into(),
    })?;
    Ok(Start { board, seed: Some(seed) })
}

/// The pattern in `file`, or on standard input for `-`, in the middle of a board of `size`.
///
/// Without a size the board is the torus that the file names; without that, it leaves as much room again as the pattern
/// takes, is at least 256 cells wide and high, and fills the `screen` that it is to be drawn on.
///
/// # Errors
/// [`UsageError`] when the pattern is larger than `size` or there is no board of `size`, otherwise when the file cannot be
/// read or is malformed, or when memory does not suffice.
pub fn pattern(file: &Path, size: Option<Size>, screen: Option<Size>) -> anyhow::Result<Start> {
    let pattern = read(file)?;
    let refused = || format!("cannot run the pattern in {}", name_of(file));
    let torus = pattern.rule.as_deref().map(torus_of).transpose().map_err(anyhow::Error::msg).with_context(refused)?;
    if pattern.states() > 2 {
        return Err(anyhow!("its cells have {} states, and B3/S23 has two", pattern.states()).context(refused()));
    }
    let torus = torus.flatten();
    let Size { width, height } = size.unwrap_or_else(|| room_for(&pattern, torus, screen));
    let mut board = Board::new(width, height).map_err(|error| match size {
        Some(_) => size_error(error),
        None => anyhow!(error).context(no_room(&pattern, torus, file)),
    })?;
    if let Err(error) = board.place_centered(&pattern) {
        return Err(match size {
            Some(_) => UsageError(format!("--size {width}x{height}: {error}")).into(),
            None => anyhow!(error).context(format!("cannot use {} on the torus that it names", name_of(file))),
        });
    }
    Ok(Start { board, seed: None })
}

/// Too little memory is a failure; a size that no machine could do was typed wrongly.
fn size_error(error: SizeError) -> anyhow::Error {
    match error {
        SizeError::OutOfMemory { .. } => error.into(),
        other => UsageError::of(other).into(),
    }
}

fn room_for(pattern: &Pattern, torus: Option<(usize, usize)>, screen: Option<Size>) -> Size {
    if let Some((width, height)) = torus {
        return Size { width, height };
    }
    let screen = screen.unwrap_or(Size { width: ROOMY, height: ROOMY });
    let side = |pattern: usize, screen: usize| ROOMY.max(screen).max(pattern.saturating_mul(2));
    Size { width: side(pattern.width, screen.width), height: side(pattern.height, screen.height) }
}

/// That `pattern`, which is in `file`, cannot have the board that it gets without a size. Nobody typed that board's size:
/// it is told where it comes from.
fn no_room(pattern: &Pattern, torus: Option<(usize, usize)>, file: &Path) -> String {
    let Pattern { width, height, .. } = pattern;
    let room = if torus.is_some() { "the torus that its rule names" } else { "as much room again as it takes" };
    let name = name_of(file);
    format!("the pattern of {width}x{height} cells in {name} gets by default {room}; --size gives it another board")
}

/// What messages call `file`.
fn name_of(file: &Path) -> String {
    if file == Path::new("-") { "standard input".into() } else { format!("'{}'", file.display()) }
}

fn read(file: &Path) -> anyhow::Result<Pattern> {
    let piped = file == Path::new("-");
    let name = name_of(file);
    let mut bytes = Vec::new();
    let result = if piped {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    result.with_context(|| format!("cannot read {name}"))?;
    if bytes.trim_ascii().is_empty() {
        return Err(anyhow!("it is empty").context(format!("cannot read the pattern in {name}")));
    }
    // A name that says no format leaves it to the text.
    let format = if piped { None } else { Format::from_path(file).ok() };
    read_pattern_bytes(&bytes, format).with_context(|| format!("cannot read the pattern in {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_gets_its_torus_or_room() {
        let glider = || Pattern::from_cells([(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)]);
        assert_eq!(room_for(&glider(), None, None), Size { width: 256, height: 256 });
        let screen = Size { width: 300, height: 80 };
        assert_eq!(room_for(&glider(), None, Some(screen)), Size { width: 300, height: 256 });
        let mut wide = glider();
        wide.width = 1000;
        assert_eq!(room_for(&wide, None, None), Size { width: 2000, height: 256 });
        assert_eq!(room_for(&glider(), Some((20, 10)), Some(screen)), Size { width: 20, height: 10 });
    }

    #[test]
    fn a_pattern_larger_than_the_size_is_a_usage_error() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("row.cells");
        fs::write(&file, "OOOOO\n").unwrap();
        let error = pattern(&file, Some(Size { width: 4, height: 4 }), None).err().unwrap();
        assert!(error.is::<UsageError>(), "{error:#}");
        let start = pattern(&file, Some(Size { width: 7, height: 3 }), None).unwrap();
        assert_eq!(start.board.cells().collect::<Vec<_>>(), [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
        assert_eq!(start.seed, None);
    }

    #[test]
    fn a_soup_comes_back_from_its_seed() {
        let first = soup(Some(Size { width: 50, height: 40 }), None, 0.5, None).unwrap();
        let second = soup(Some(Size { width: 50, height: 40 }), None, 0.5, first.seed).unwrap();
        assert_eq!(first.board, second.board);
        let screen = Size { width: 80, height: 44 };
        let board = soup(None, Some(screen), 0.5, Some(1)).unwrap().board;
        assert_eq!((board.width(), board.height()), (80, 44));
    }
}
