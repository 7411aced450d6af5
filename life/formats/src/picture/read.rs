//! Reads pictures as patterns (`.png`). A light pixel is a live cell. A dark or transparent pixel is a dead cell. A
//! pixel is light if it has at least half the brightness of white (Rec. 601: 0.299 R + 0.587 G + 0.114 B).
//!
//! A picture that this program wrote contains the side length of a cell in pixels. In all other pictures each pixel is
//! a cell.

use std::io::Cursor;

use crate::collectors::RowCollector;
use crate::error::{FormatError, check_memory};
use life::board::Run;
use life::pattern::Pattern;

/// The keyword of the PNG text chunk that contains the side length of a cell in pixels.
pub const KEYWORD: &str = "Pixels per cell";

/// Reads a pattern from the PNG in `bytes`.
///
/// The function needs memory for the live cells, and four bytes for each pixel of a row. For an interlaced picture, the
/// function needs four bytes for each pixel of the whole picture. The function never needs more than `limit` bytes.
///
/// # Errors
/// [`FormatError::Picture`] for a damaged picture. [`FormatError::TooLarge`] if `limit` is too small.
pub fn parse(bytes: &[u8], limit: u64) -> Result<Pattern, FormatError> {
    let broken = |error: png::DecodingError| FormatError::Picture(error.to_string());
    // `Limits` restricts the memory that the decoder needs in addition to the rows.
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut decoder = png::Decoder::new_with_limits(Cursor::new(bytes), png::Limits { bytes: most.min(64 << 20) });
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(broken)?;
    let info = reader.info();
    let (width, height, interlaced) = (info.width as usize, info.height as usize, info.interlaced);
    let side = info.uncompressed_latin1_text.iter().find(|text| text.keyword == KEYWORD);
    let side = side
        .and_then(|text| text.text.parse::<usize>().ok())
        .filter(|&side| side > 0 && width.is_multiple_of(side) && height.is_multiple_of(side));
    let side = side.unwrap_or(1);
    let rows = if interlaced { height } else { 1 };
    let needed = (width as u64).saturating_mul(4).saturating_mul(rows as u64);
    check_memory(needed, limit)?;
    let samples = reader.output_color_type().0.samples();
    let mut cells = RowCollector::new((width / side, height / side), bytes.len(), limit - needed);
    let mut row_of = |y: usize, row: &[u8]| {
        if !y.is_multiple_of(side) {
            return;
        }
        let mut x = 0;
        let alive = |x: usize| row.get(x * side * samples..).and_then(|rest| rest.get(..samples)).is_some_and(is_light);
        while x < width / side {
            let length = (x..width / side).take_while(|&x| alive(x)).count();
            if length > 0 {
                cells.push(Run { x, y: y / side, length }, 1);
            }
            x += length + 1;
        }
    };
    if interlaced {
        let mut picture = vec![0; reader.output_buffer_size().unwrap_or(0)];
        let frame = reader.next_frame(&mut picture).map_err(broken)?;
        picture.chunks(frame.line_size.max(1)).take(height).enumerate().for_each(|(y, row)| row_of(y, row));
    } else {
        for y in 0..height {
            let Some(row) = reader.next_row().map_err(broken)? else { break };
            row_of(y, row.data());
        }
    }
    cells.finish()
}

/// Returns true if a pixel is light and opaque. `pixel` contains the samples of the pixel: grey or red, green and blue,
/// and optionally alpha.
fn is_light(pixel: &[u8]) -> bool {
    let luma =
        |red: u8, green: u8, blue: u8| 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue) >= 127_500;
    match *pixel {
        [grey] => grey >= 128,
        [grey, alpha] => grey >= 128 && alpha >= 128,
        [red, green, blue] => luma(red, green, blue),
        [red, green, blue, alpha] => luma(red, green, blue) && alpha >= 128,
        _ => false,
    }
}
