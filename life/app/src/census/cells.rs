//! Some live cells of a plane, by themselves.

/// Live cells in order, row by row; the first row and the first column that has any are number 0.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Cells(Vec<(i32, i32)>);

impl Cells {
    /// The cells moved to the corner, and the column and row that were the first before.
    pub fn new(mut cells: Vec<(i32, i32)>) -> (Self, (i32, i32)) {
        let left = cells.iter().map(|cell| cell.0).min().unwrap_or(0);
        let top = cells.iter().map(|cell| cell.1).min().unwrap_or(0);
        for (x, y) in &mut cells {
            *x -= left;
            *y -= top;
        }
        cells.sort_unstable_by_key(|&(x, y)| (y, x));
        (Self(cells), (left, top))
    }

    /// Columns and rows.
    pub fn size(&self) -> (i32, i32) {
        let side = |of: fn(&(i32, i32)) -> i32| self.0.iter().map(of).max().map_or(0, |last| last + 1);
        (side(|cell| cell.0), side(|cell| cell.1))
    }

    /// The cells.
    pub fn cells(&self) -> &[(i32, i32)] {
        &self.0
    }

    /// How many neighbours the cells around and among these have.
    pub fn neighbours(&self) -> Neighbours {
        let (width, height) = self.size();
        // One around, for the cells that may come to life, and one around these, whose counts are not needed.
        let (width, height) = (width + 4, height + 4);
        let mut neighbours = Neighbours { width, counts: vec![0; (width * height) as usize] };
        for &(x, y) in &self.0 {
            for (dx, dy) in AROUND {
                let at = neighbours.index(x + dx, y + dy);
                neighbours.counts[at] += 1;
            }
        }
        neighbours
    }

    /// The next generation, and where its corner is.
    pub fn next(&self) -> (Self, (i32, i32)) {
        let neighbours = self.neighbours();
        let survives = |&(x, y): &(i32, i32)| matches!(neighbours.of(x, y), 2 | 3);
        let mut next: Vec<_> = self.0.iter().copied().filter(survives).collect();
        next.extend(neighbours.with_three().filter(|&cell| !self.lives(cell)));
        Self::new(next)
    }

    /// True if the cell is one of them.
    pub fn lives(&self, (x, y): (i32, i32)) -> bool {
        self.0.binary_search_by_key(&(y, x), |&(x, y)| (y, x)).is_ok()
    }
}

/// The eight directions.
pub const AROUND: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// Numbers of live neighbours.
pub struct Neighbours {
    width: i32,
    counts: Vec<u8>,
}

impl Neighbours {
    fn index(&self, x: i32, y: i32) -> usize {
        ((y + 2) * self.width + x + 2) as usize
    }

    /// Returns the count of a cell that is at most one cell away from those counted.
    pub fn of(&self, x: i32, y: i32) -> u8 {
        self.counts[self.index(x, y)]
    }

    /// All cells with at least one, with how many.
    pub fn all(&self) -> impl Iterator<Item = ((i32, i32), u8)> {
        let cell = |at: usize| (at as i32 % self.width - 2, at as i32 / self.width - 2);
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(move |(at, &count)| (cell(at), count))
    }

    fn with_three(&self) -> impl Iterator<Item = (i32, i32)> {
        self.all().filter(|&(_, count)| count == 3).map(|(cell, _)| cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glider_moves() {
        let (glider, at) = Cells::new(vec![(6, 5), (7, 6), (5, 7), (6, 7), (7, 7)]);
        assert_eq!((at, glider.size()), ((5, 5), (3, 3)));
        let (mut now, mut place) = (glider.clone(), (0, 0));
        for _ in 0..4 {
            let (next, moved) = now.next();
            (now, place) = (next, (place.0 + moved.0, place.1 + moved.1));
        }
        assert_eq!((now, place), (glider, (1, 1)));
        assert!(Cells::new(vec![(0, 0)]).0.next().0.cells().is_empty());
    }
}
