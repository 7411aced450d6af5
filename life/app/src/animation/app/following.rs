//! Moves the view over the board or the plane.

use life::plane::Bounds;

use super::App;
use crate::animation::live_middle;
use crate::animation::view::View;
use crate::simulation::{MAX_SHOWN_CELLS, PlaneBoard};

impl App {
    /// Returns the part of the plane that the screen shows, with as much of the plane on each side, so that the view
    /// can move before other cells are copied.
    pub(super) fn around_view(&self) -> Bounds {
        let (width, height) = self.view.span(self.area);
        let axis = |corner: i64, centre: usize, side: usize| {
            corner.saturating_add(centre as i64).saturating_sub((side / 2 + side) as i64)
        };
        let (x, y) = (
            axis(self.shown.corner.0, self.view.centre.0, width),
            axis(self.shown.corner.1, self.view.centre.1, height),
        );
        Bounds { x, y, width: 3 * width.max(1) as u64, height: 3 * height.max(1) as u64 }
    }

    /// If the view follows the live cells, moves the view's centre to their middle.
    pub(super) fn follow(&mut self) {
        if !self.follows {
            return;
        }
        match &self.shown.whole {
            Some(plane) => {
                if let Some(middle) = plane.middle() {
                    self.look_at(middle);
                }
            }
            None => self.view.centre = live_middle::middle(&self.shown.board).unwrap_or(self.view.centre),
        }
    }

    /// Moves the view's centre to a cell of the plane. If that cell is not copied yet, the next snapshot has it.
    pub(super) fn look_at(&mut self, cell: (i64, i64)) {
        let before = self.view.centre;
        self.view.centre = (0, 0);
        self.view.follow(cell, self.shown.corner, self.board_size());
        self.is_moved |= before != self.view.centre;
    }

    /// Doubles the width of a dot in cells, unless the screen would show more cells than are copied from the plane.
    pub(super) fn zoom_out_on_plane(&mut self, board: (usize, usize)) {
        let (width, height) = self.view.span(self.area);
        // The copy has nine times as many cells as the screen, and the screen will have four times as many.
        if 36 * width as u64 * height as u64 <= MAX_SHOWN_CELLS {
            self.view.zoom_out(board, self.area);
        }
    }

    /// Returns to the first view.
    pub(super) fn recentre(&mut self, board: (usize, usize)) {
        let first = self.shown.whole.as_ref().map(PlaneBoard::first_size);
        self.view = View::of(first.unwrap_or(board), self.area);
        if first.is_some() {
            self.view.follow((0, 0), self.shown.corner, board);
        }
    }
}
