//! Changes the cells of the shown board: strokes of the mouse, and pasted patterns.

use crossterm::event::KeyCode;
use life_formats::read_pattern_bytes;

use super::App;

/// The maximum number of bytes of a pasted pattern's cells.
const MAX_PASTED_BYTES: u64 = 64 << 20;

impl App {
    /// Changes the cell under the mouse. For the first cell of a stroke, `on` must be false, and the cell's state is
    /// inverted. For the other cells of the stroke, `on` must be true, and the cells get the same state as the first
    /// one. The mouse reports only some of the places that it passes, so a line joins them.
    pub(super) fn draw_at(&mut self, place: (u16, u16), lower: bool, on: bool) {
        let board = self.board_size();
        let place = (usize::from(place.0), usize::from(place.1));
        let Some((x, y)) = self.view.cell_at(board, self.area, place) else { return };
        let y = if lower { (y + 1) % board.1 } else { y };
        if !on {
            self.pen = !self.shown.board.get(x, y);
            self.history.push(self.shown.clone());
            self.stroke = None;
        }
        // The copy of the board may have moved since the last cell of the stroke.
        let (left, top) = self.shown.corner;
        let last = self.stroke.and_then(|(column, row)| {
            let (x, y) = (usize::try_from(column - left).ok()?, usize::try_from(row - top).ok()?);
            (x < board.0 && y < board.1).then_some((x, y))
        });
        // The line must not leave the window, which may cross an edge of the torus.
        let origin = self.view.window(board, self.area).origin;
        let within = |(x, y): (usize, usize)| ((x + board.0 - origin.0) % board.0, (y + board.1 - origin.1) % board.1);
        for (x, y) in line(within(last.unwrap_or((x, y))), within((x, y))) {
            let (x, y) = ((x + origin.0) % board.0, (y + origin.1) % board.1);
            self.shown.board.set_state(x, y, u8::from(self.pen));
        }
        self.stroke = Some((left + x as i64, top + y as i64));
        self.is_changed = true;
    }

    /// Handles pasted text. An open prompt receives the text. Otherwise the text is a pattern, which is placed in the
    /// middle of the view.
    pub fn paste(&mut self, text: &str) {
        self.dirty = true;
        if let Some(prompt) = &mut self.prompt {
            for character in text.chars().filter(|character| !character.is_control()) {
                prompt.type_in(KeyCode::Char(character));
            }
            return;
        }
        self.pause();
        self.notice = Some(self.place(text).unwrap_or_else(|why| format!(" cannot paste: {why}")));
    }

    /// Places the pattern in `text` on the board, and returns a message about it. Returns the reason if that fails.
    fn place(&mut self, text: &str) -> Result<String, String> {
        let pattern = read_pattern_bytes(text.as_bytes(), None, MAX_PASTED_BYTES).map_err(|error| error.to_string())?;
        let (width, height) = self.board_size();
        let (states, own) = (pattern.states(), self.shown.board.states());
        if states > own {
            return Err(format!("its cells have {states} states, but the rule has {own}"));
        }
        let corner = |centre: usize, length: usize, side: usize| {
            centre.saturating_sub(length / 2).min(side.saturating_sub(length))
        };
        let (x, y) =
            (corner(self.view.centre.0, pattern.width, width), corner(self.view.centre.1, pattern.height, height));
        let mut next = self.shown.clone();
        next.board.place(&pattern, x, y).map_err(|error| error.to_string())?;
        self.history.push(std::mem::replace(&mut self.shown, next));
        self.is_changed = true;
        Ok(format!(" pasted {}x{} cells · z takes them back", pattern.width, pattern.height))
    }
}

/// Returns the cells of a line between two cells, including both.
pub(super) fn line(from: (usize, usize), to: (usize, usize)) -> impl Iterator<Item = (usize, usize)> {
    let (from, to) = ((from.0 as i64, from.1 as i64), (to.0 as i64, to.1 as i64));
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let steps = dx.abs().max(dy.abs()).max(1);
    // The nearest cell of each step, as in Bresenham's algorithm.
    let at = move |from: i64, by: i64, step: i64| (from + (2 * by * step + steps).div_euclid(2 * steps)) as usize;
    (0..=steps).map(move |step| (at(from.0, dx, step), at(from.1, dy, step)))
}
