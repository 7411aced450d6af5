//! The view of a board on a screen: the kind of characters, the zoom, and the centre on the torus.

/// The kind of characters in which a board is drawn. A character is divided into dots, and a dot shows one or more
/// cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Marks {
    /// Characters that are one dot wide and two dots high: `▀`, `▄`, `█`.
    HalfBlocks,
    /// Braille characters, which are two dots wide and four dots high.
    Braille,
}

impl Marks {
    /// Returns the width and height of a character in dots.
    pub fn dots(self) -> (usize, usize) {
        match self {
            Self::HalfBlocks => (1, 2),
            Self::Braille => (2, 4),
        }
    }

    /// Returns the other of the two kinds of characters.
    pub fn other(self) -> Self {
        match self {
            Self::HalfBlocks => Self::Braille,
            Self::Braille => Self::HalfBlocks,
        }
    }
}

/// The view of a board. If the size of the screen changes, the view's centre stays the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View {
    /// The kind of characters that are drawn.
    pub marks: Marks,
    zoom: usize,
    /// The column and row of the cell in the middle of the screen.
    pub centre: (usize, usize),
}

/// The part of a board that a screen shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// The column and row of the upper left cell. The window wraps around the torus.
    pub origin: (usize, usize),
    /// The size of the window in cells, as (columns, rows).
    pub cells: (usize, usize),
    /// The width and height of a dot in cells.
    pub zoom: usize,
    /// The size of the window in characters, as (columns, rows).
    pub characters: (usize, usize),
}

impl View {
    /// Returns the view that shows a whole board of `board` cells on a screen of `screen` characters, in half-blocks or
    /// else in braille. If the board fits in neither, the view shows the middle of the board in half-blocks.
    pub fn of(board: (usize, usize), screen: (usize, usize)) -> Self {
        let fits = |marks: &Marks| {
            let (across, down) = marks.dots();
            board.0 <= screen.0 * across && board.1 <= screen.1 * down
        };
        let marks = [Marks::HalfBlocks, Marks::Braille].into_iter().find(fits).unwrap_or(Marks::HalfBlocks);
        Self { marks, zoom: 1, centre: (board.0 / 2, board.1 / 2) }
    }

    /// Returns the part of the board that the screen shows. `board` is the board's size in cells, and `screen` is the
    /// screen's size in characters.
    pub fn window(&self, board: (usize, usize), screen: (usize, usize)) -> Window {
        let (across, down) = self.marks.dots();
        let axis = |board: usize, centre: usize, characters: usize, dots: usize| {
            let cells = board.min(characters * dots * self.zoom);
            let origin = (centre + board - cells / 2) % board;
            (origin, cells, cells.div_ceil(self.zoom).div_ceil(dots))
        };
        let (x, width, columns) = axis(board.0, self.centre.0, screen.0, across);
        let (y, height, rows) = axis(board.1, self.centre.1, screen.1, down);
        Window { origin: (x, y), cells: (width, height), zoom: self.zoom, characters: (columns, rows) }
    }

    /// Returns the view that shows a whole board on a screen in braille, zoomed out as far as necessary.
    pub fn whole(board: (usize, usize), screen: (usize, usize)) -> Self {
        let mut view = Self { marks: Marks::Braille, ..Self::of(board, screen) };
        while screen.0 > 0 && screen.1 > 0 && view.window(board, screen).cells != board {
            view.zoom *= 2;
        }
        view
    }

    /// Returns the position of the upper left cell among the cells that a character of the screen shows. The character
    /// is given by its column and row. Returns `None` if the character is outside the board.
    pub fn cell_at(
        &self,
        board: (usize, usize),
        screen: (usize, usize),
        (column, row): (usize, usize),
    ) -> Option<(usize, usize)> {
        let window = self.window(board, screen);
        let (across, down) = self.marks.dots();
        let axis = |place: usize, screen: usize, characters: usize, dots: usize, cells: usize| {
            let character = place.checked_sub((screen - characters) / 2).filter(|&place| place < characters)?;
            Some(character * dots * self.zoom).filter(|&cell| cell < cells)
        };
        let x = axis(column, screen.0, window.characters.0, across, window.cells.0)?;
        let y = axis(row, screen.1, window.characters.1, down, window.cells.1)?;
        Some(((window.origin.0 + x) % board.0, (window.origin.1 + y) % board.1))
    }

    /// Returns the size of a screen in cells, as (columns, rows). `screen` is the screen's size in characters.
    pub fn span(&self, screen: (usize, usize)) -> (usize, usize) {
        let (across, down) = self.marks.dots();
        (screen.0 * across * self.zoom, screen.1 * down * self.zoom)
    }

    /// Keeps the view's centre on the same cell after the upper left corner of the board has moved from `from` to `to`.
    /// If the new board does not have that cell, moves the centre to the edge. `board` is the board's new size.
    pub fn follow(&mut self, from: (i64, i64), to: (i64, i64), board: (usize, usize)) {
        let axis = |centre: usize, from: i64, to: i64, side: usize| {
            (centre as i64).saturating_add(from).saturating_sub(to).clamp(0, side.saturating_sub(1) as i64) as usize
        };
        self.centre = (axis(self.centre.0, from.0, to.0, board.0), axis(self.centre.1, from.1, to.1, board.1));
    }

    /// Halves the width of a dot in cells, down to one.
    pub fn zoom_in(&mut self) {
        self.zoom = (self.zoom / 2).max(1);
    }

    /// Doubles the width of a dot in cells, unless the screen already shows the whole board.
    pub fn zoom_out(&mut self, board: (usize, usize), screen: (usize, usize)) {
        if self.window(board, screen).cells != board {
            self.zoom *= 2;
        }
    }

    /// Moves the view's centre by `steps` to the right and down, around the torus. A step is an eighth of the window.
    pub fn pan(&mut self, steps: (i32, i32), board: (usize, usize), screen: (usize, usize)) {
        let shown = self.window(board, screen).cells;
        let axis = |centre: usize, steps: i32, shown: usize, board: usize| {
            let distance = (shown / 8).max(1) * steps.unsigned_abs() as usize % board;
            if steps >= 0 { (centre + distance) % board } else { (centre + board - distance) % board }
        };
        self.centre = (axis(self.centre.0, steps.0, shown.0, board.0), axis(self.centre.1, steps.1, shown.1, board.1));
    }

    /// Moves the view's centre like [`pan`](Self::pan), but not around a torus: the centre stays on the board.
    pub fn pan_on_plane(&mut self, steps: (i32, i32), board: (usize, usize), screen: (usize, usize)) {
        let shown = self.window(board, screen).cells;
        let distance = |steps: i32, shown: usize| i64::from(steps) * (shown / 8).max(1) as i64;
        self.follow((distance(steps.0, shown.0), distance(steps.1, shown.1)), (0, 0), board);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCREEN: (usize, usize) = (80, 22);

    #[test]
    fn the_marks_are_the_largest_that_show_the_whole_board() {
        assert_eq!(View::of((80, 44), SCREEN).marks, Marks::HalfBlocks);
        assert_eq!(View::of((81, 44), SCREEN).marks, Marks::Braille);
        assert_eq!(View::of((160, 88), SCREEN).marks, Marks::Braille);
        assert_eq!(View::of((161, 88), SCREEN).marks, Marks::HalfBlocks);
        assert_eq!(View::of((10, 1000), SCREEN).marks, Marks::HalfBlocks);
    }

    #[test]
    fn a_board_that_fits_is_shown_from_its_corner() {
        for board in [(1, 1), (5, 3), (79, 43), (80, 44), (160, 88), (159, 87)] {
            let view = View::of(board, SCREEN);
            let window = view.window(board, SCREEN);
            assert_eq!((window.origin, window.cells), ((0, 0), board), "{board:?}");
            assert!(window.characters.0 <= 80 && window.characters.1 <= 22);
        }
        assert_eq!(View::of((5, 3), SCREEN).window((5, 3), SCREEN).characters, (5, 2));
    }

    #[test]
    fn of_a_large_board_the_middle_is_shown() {
        let board = (1000, 600);
        let window = View::of(board, SCREEN).window(board, SCREEN);
        assert_eq!(window, Window { origin: (460, 278), cells: (80, 44), zoom: 1, characters: SCREEN });
    }

    #[test]
    fn the_centre_stays_when_the_screen_changes() {
        let board = (1000, 600);
        let view = View::of(board, SCREEN);
        for screen in [(1, 1), (20, 10), (200, 60), (999, 299), (2000, 2000)] {
            let Window { origin, cells, .. } = view.window(board, screen);
            assert_eq!((origin.0 + cells.0 / 2, origin.1 + cells.1 / 2), (500, 300), "{screen:?}");
        }
    }

    #[test]
    fn a_screen_without_room_shows_nothing() {
        let board = (100, 100);
        let mut view = View::of(board, (0, 0));
        assert_eq!(view.window(board, (0, 0)).cells, (0, 0));
        view.pan((1, -1), board, (0, 0));
    }

    #[test]
    fn panning_goes_around_the_torus() {
        let board = (1000, 600);
        let mut view = View::of(board, SCREEN);
        view.pan((1, 0), board, SCREEN);
        assert_eq!(view.window(board, SCREEN).origin, (470, 278));
        for _ in 0..60 {
            view.pan((-1, 1), board, SCREEN);
        }
        assert_eq!(view.window(board, SCREEN).origin, (870, 578));
        let mut there = view;
        there.pan((-1, -1), board, SCREEN);
        there.pan((1, 1), board, SCREEN);
        assert_eq!(there, view);
    }

    #[test]
    fn a_character_is_the_cells_that_it_shows() {
        // The board of 8 × 4 cells is in columns 36 to 43 and rows 10 and 11 of the screen.
        let view = View::of((8, 4), SCREEN);
        assert_eq!(view.cell_at((8, 4), SCREEN, (36, 10)), Some((0, 0)));
        assert_eq!(view.cell_at((8, 4), SCREEN, (43, 11)), Some((7, 2)));
        for outside in [(35, 10), (44, 10), (36, 9), (36, 12)] {
            assert_eq!(view.cell_at((8, 4), SCREEN, outside), None);
        }
        let board = (1000, 600);
        let mut view = View::of(board, SCREEN);
        assert_eq!(view.cell_at(board, SCREEN, (0, 0)), Some((460, 278)));
        view.centre = (0, 0);
        assert_eq!(view.cell_at(board, SCREEN, (1, 1)), Some((961, 580)), "around the torus");
        assert_eq!(View::whole(board, (20, 6)).window(board, (20, 6)).cells, board);
    }

    #[test]
    fn zooming_out_ends_when_all_is_shown() {
        let board = (1000, 600);
        let mut view = View::of(board, SCREEN);
        for _ in 0..100 {
            view.zoom_out(board, SCREEN);
        }
        let window = view.window(board, SCREEN);
        assert_eq!(window, Window { origin: (0, 0), cells: board, zoom: 16, characters: (63, 19) });
        for _ in 0..100 {
            view.zoom_in();
        }
        assert_eq!(view, View::of(board, SCREEN));
    }
}
