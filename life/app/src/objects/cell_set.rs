//! A set of live cells on a plane.

/// A set of live cells as (column, row), sorted row by row. Rows and columns are numbered from the first row and the
/// first column that contain a live cell.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CellSet(Vec<(i32, i32)>);

impl CellSet {
    /// Moves `cells` so that their first column and row are 0. Returns the set, and the numbers of the first column and
    /// row before the move.
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

    /// Returns the numbers of columns and rows of the bounding box.
    pub fn size(&self) -> (i32, i32) {
        let side = |of: fn(&(i32, i32)) -> i32| self.0.iter().map(of).max().map_or(0, |last| last + 1);
        (side(|cell| cell.0), side(|cell| cell.1))
    }

    /// Returns the cells as (column, row), sorted row by row.
    pub fn cells(&self) -> &[(i32, i32)] {
        &self.0
    }

    /// Returns the number of live neighbours of each cell in and around this set.
    pub fn neighbours(&self) -> Neighbours {
        let (width, height) = self.size();
        // The border is two cells wide. Cells of the inner ring may be born. The counts of the outer ring are never
        // read.
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

    /// Returns the next generation under `rule`, and the position of its upper left corner relative to the upper left
    /// corner of this set.
    pub fn next_under(&self, rule: Counts) -> (Self, (i32, i32)) {
        let neighbours = self.neighbours();
        let survives = |&(x, y): &(i32, i32)| rule.survives(neighbours.of(x, y));
        let mut next: Vec<_> = self.0.iter().copied().filter(survives).collect();
        let is_born = |&(cell, count): &((i32, i32), u8)| rule.is_born(count) && !self.lives(cell);
        next.extend(neighbours.all().filter(is_born).map(|(cell, _)| cell));
        Self::new(next)
    }

    /// Returns true if the cell in column `x` and row `y` belongs to the set.
    pub fn lives(&self, (x, y): (i32, i32)) -> bool {
        self.0.binary_search_by_key(&(y, x), |&(x, y)| (y, x)).is_ok()
    }
}

/// The cells of a group in one generation, and the position of their upper left corner.
pub type Phase = (CellSet, (i32, i32));

/// A rule that counts live neighbours. Dead cells without live neighbours stay dead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counts {
    /// Bit n is set if a dead cell with n live neighbours is born.
    pub birth: u16,
    /// Bit n is set if a live cell with n live neighbours survives.
    pub survival: u16,
}

impl Counts {
    /// Conway's Life: B3/S23.
    pub const LIFE: Self = Self { birth: 1 << 3, survival: 1 << 2 | 1 << 3 };

    /// Returns true if a dead cell with `neighbours` live neighbours is born.
    pub fn is_born(self, neighbours: u8) -> bool {
        self.birth >> neighbours & 1 == 1
    }

    /// Returns true if a live cell with `neighbours` live neighbours survives.
    pub fn survives(self, neighbours: u8) -> bool {
        self.survival >> neighbours & 1 == 1
    }
}

/// The offsets (x, y) of the eight neighbours of a cell.
pub const AROUND: [(i32, i32); 8] = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)];

/// The numbers of live neighbours of the cells in and around a set.
pub struct Neighbours {
    width: i32,
    counts: Vec<u8>,
}

impl Neighbours {
    fn index(&self, x: i32, y: i32) -> usize {
        ((y + 2) * self.width + x + 2) as usize
    }

    /// Returns the number of live neighbours of a cell. The cell must be inside the bounding box or next to it.
    pub fn of(&self, x: i32, y: i32) -> u8 {
        self.counts[self.index(x, y)]
    }

    /// Returns all cells that have live neighbours, each with the number of its live neighbours.
    pub fn all(&self) -> impl Iterator<Item = ((i32, i32), u8)> {
        let cell = |at: usize| (at as i32 % self.width - 2, at as i32 / self.width - 2);
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(move |(at, &count)| (cell(at), count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glider_moves() {
        let (glider, at) = CellSet::new(vec![(6, 5), (7, 6), (5, 7), (6, 7), (7, 7)]);
        assert_eq!((at, glider.size()), ((5, 5), (3, 3)));
        let (mut now, mut place) = (glider.clone(), (0, 0));
        for _ in 0..4 {
            let (next, moved) = now.next_under(Counts::LIFE);
            (now, place) = (next, (place.0 + moved.0, place.1 + moved.1));
        }
        assert_eq!((now, place), (glider, (1, 1)));
        assert!(CellSet::new(vec![(0, 0)]).0.next_under(Counts::LIFE).0.cells().is_empty());
    }
}
