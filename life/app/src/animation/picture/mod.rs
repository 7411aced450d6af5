//! Draws the cells of a board as characters.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Style};
use ratatui::widgets::Widget;

use super::view::{Marks, View, Window};
use life::board::{Board, WORD_BITS};

/// A widget that draws a board in the middle of its area.
pub struct Picture<'a> {
    /// The board to draw.
    pub board: &'a Board,
    /// The view of the board.
    pub view: View,
    /// The number of live cells of the whole board. The board's density (the fraction of all cells that are alive)
    /// determines which dots are drawn, and how brightly.
    pub population: u64,
}

impl Widget for Picture<'_> {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let board = (self.board.width(), self.board.height());
        let window = self.view.window(board, (usize::from(area.width), usize::from(area.height)));
        // The window is not larger than the area, so both lengths fit 16 bits.
        let (columns, rows) = (window.characters.0 as u16, window.characters.1 as u16);
        let (left, top) = ((area.width - columns) / 2, (area.height - rows) / 2);
        for row in 0..area.height {
            for column in 0..area.width {
                let cell = &mut buffer[(area.x + column, area.y + row)];
                let inside = (left..left + columns).contains(&column) && (top..top + rows).contains(&row);
                if !inside {
                    cell.set_char('░').set_style(Style::new().fg(Color::DarkGray));
                    continue;
                }
                let (symbol, style) = self.character(&window, usize::from(column - left), usize::from(row - top));
                cell.set_char(symbol).set_style(style);
            }
        }
    }
}

impl Picture<'_> {
    /// Returns the character in a column and row of the window, and the style of the character.
    fn character(&self, window: &Window, column: usize, row: usize) -> (char, Style) {
        match self.view.marks {
            Marks::Braille => {
                let dots = (0..8).filter(|&dot| {
                    let (x, y) = (2 * column + dot / 4, 4 * row + dot % 4);
                    let (alive, cells) = self.dot(window, x, y);
                    self.is_dense(alive, cells)
                });
                (braille(dots), Style::new())
            }
            Marks::HalfBlocks => {
                let (upper, lower) = (self.dot(window, column, 2 * row), self.dot(window, column, 2 * row + 1));
                if window.zoom == 1 {
                    (half_block(upper.0 > 0, lower.0 > 0), Style::new())
                } else {
                    ('▀', Style::new().fg(self.shade(upper)).bg(self.shade(lower)))
                }
            }
        }
    }

    /// Returns the number of live cells and the number of all cells of a dot. Both are 0 for a dot outside the window's
    /// cells.
    fn dot(&self, window: &Window, x: usize, y: usize) -> (u64, u64) {
        let axis = |dot: usize, cells: usize| {
            let from = (dot * window.zoom).min(cells);
            (from, window.zoom.min(cells - from))
        };
        let ((x, width), (y, height)) = (axis(x, window.cells.0), axis(y, window.cells.1));
        let (board_width, board_height) = (self.board.width(), self.board.height());
        let x = (window.origin.0 + x) % board_width;
        let alive = (0..height)
            .map(|line| {
                let row = self.board.row((window.origin.1 + y + line) % board_height);
                let before_edge = width.min(board_width - x);
                count(row, x, before_edge) + count(row, 0, width - before_edge)
            })
            .sum();
        (alive, (width * height) as u64)
    }

    /// Returns true if a dot has live cells, and the fraction of its cells that are alive is not below the board's
    /// density.
    fn is_dense(&self, alive: u64, cells: u64) -> bool {
        let all = self.board.width() as u128 * self.board.height() as u128;
        alive > 0 && u128::from(alive) * all >= u128::from(self.population) * u128::from(cells)
    }

    /// Returns the shade of grey for a dot. A dot has the brightest shade if all its cells are alive, or if the
    /// fraction of its cells that are alive is at least twice the board's density.
    fn shade(&self, (alive, cells): (u64, u64)) -> Color {
        const BLACK: u8 = 232;
        const DARKEST: f64 = 4.0;
        const BRIGHTEST: f64 = 23.0;
        if alive == 0 {
            return Color::Indexed(BLACK);
        }
        let average = self.population as f64 / (self.board.width() as f64 * self.board.height() as f64);
        let share = (alive as f64 / cells as f64 / (2.0 * average).min(1.0)).min(1.0);
        Color::Indexed(BLACK + (DARKEST + (BRIGHTEST - DARKEST) * share).round() as u8)
    }
}

/// Returns the number of ones among the `length` bits of `row` from bit `x` on.
fn count(row: &[u32], x: usize, length: usize) -> u64 {
    if length == 0 {
        return 0;
    }
    let (first, last) = (x / WORD_BITS, (x + length - 1) / WORD_BITS);
    let from = u32::MAX << (x % WORD_BITS);
    let to = u32::MAX >> (WORD_BITS - 1 - (x + length - 1) % WORD_BITS);
    if first == last {
        return u64::from((row[first] & from & to).count_ones());
    }
    let middle: u64 = row[first + 1..last].iter().map(|word| u64::from(word.count_ones())).sum();
    u64::from((row[first] & from).count_ones()) + middle + u64::from((row[last] & to).count_ones())
}

fn half_block(upper: bool, lower: bool) -> char {
    [' ', '▀', '▄', '█'][usize::from(upper) + 2 * usize::from(lower)]
}

/// Returns the braille character with `dots`. Dots 0 to 3 are the left column from top to bottom, and dots 4 to 7 are
/// the right column.
fn braille(dots: impl Iterator<Item = usize>) -> char {
    // Unicode numbers the lowest two dots last, because braille once had six dots.
    const BITS: [u32; 8] = [0x01, 0x02, 0x04, 0x40, 0x08, 0x10, 0x20, 0x80];
    let bits = dots.fold(0, |bits, dot| bits | BITS[dot]);
    char::from_u32(0x2800 + bits).unwrap_or(' ')
}

#[cfg(test)]
mod tests;
