//! Clusters of cells on a bounded part of the plane.

/// The cells of a board in columns of 64, as [`life_cpu::ActiveBoard::cells`] writes them.
#[derive(Clone, Default)]
pub struct Columns {
    pub height: usize,
    pub words: Vec<u64>,
}

/// The cells that belong to the same cluster as the cell in the middle: one mask of five columns for each of five rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reach([u64; 5]);

impl Reach {
    /// The cells that may affect a common neighbour, if births need at least three neighbours.
    pub const ROUND: Self = Self([0b01110, 0b11111, 0b11111, 0b11111, 0b01110]);

    /// All cells that have a common neighbour.
    pub const SQUARE: Self = Self([0b11111; 5]);
}

impl Columns {
    /// Makes dead cells of `width` columns and `height` rows.
    pub fn new(width: usize, height: usize) -> Self {
        Self { height, words: vec![0; width.div_ceil(64) * height] }
    }

    /// Makes the cell in column `x` and row `y` alive.
    pub fn set(&mut self, x: usize, y: usize) {
        self.words[x / 64 * self.height + y] |= 1 << (x % 64);
    }

    /// Returns true if the cell in column `x` and row `y` is alive.
    pub fn is_alive(&self, x: usize, y: usize) -> bool {
        self.word(x / 64, y) >> (x % 64) & 1 == 1
    }

    fn word(&self, column: usize, y: usize) -> u64 {
        if y < self.height { self.words.get(column * self.height + y).copied().unwrap_or(0) } else { 0 }
    }

    /// Returns the five cells of row `y` whose middle one is in column `x`, the leftmost one as the lowest bit.
    fn five(&self, x: usize, y: usize) -> u64 {
        let (column, at) = (x / 64, x % 64);
        let here = self.word(column, y);
        match at {
            2..=61 => here >> (at - 2) & 31,
            62.. => (here >> (at - 2) | self.word(column + 1, y) << (66 - at)) & 31,
            _ => {
                let left = column.checked_sub(1).map_or(0, |left| self.word(left, y));
                (here << (2 - at) | left >> (62 + at)) & 31
            }
        }
    }

    /// Makes the cells of the cluster of (x, y) dead, and writes the cells, as (column, row), to `cluster`.
    pub fn take_cluster(&mut self, x: usize, y: usize, reach: Reach, cluster: &mut Vec<(usize, usize)>) {
        cluster.clear();
        self.kill(x, y);
        cluster.push((x, y));
        let mut next = 0;
        while let Some(&(x, y)) = cluster.get(next) {
            next += 1;
            for (i, mask) in reach.0.into_iter().enumerate() {
                let Some(y) = (y + i).checked_sub(2) else { continue };
                let mut near = self.five(x, y) & mask;
                while near != 0 {
                    let x = x + near.trailing_zeros() as usize - 2;
                    near &= near - 1;
                    self.kill(x, y);
                    cluster.push((x, y));
                }
            }
        }
    }

    fn kill(&mut self, x: usize, y: usize) {
        if let Some(word) = self.words.get_mut(x / 64 * self.height + y) {
            *word &= !(1 << (x % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_cross_the_edges_of_words() {
        for middle in [2, 61, 62, 63, 64, 65, 66, 100] {
            let cells = |reach: Reach| {
                let mut all = Columns { height: 8, words: vec![0; 16] };
                for x in middle - 2..=middle + 2 {
                    for y in 1..=5 {
                        all.words[x / 64 * 8 + y] |= 1 << (x % 64);
                    }
                }
                // Only the middle cell and the outermost ring are left.
                for x in middle - 1..=middle + 1 {
                    (2..5).filter(|&y| (x, y) != (middle, 3)).for_each(|y| all.kill(x, y));
                }
                let mut cluster = Vec::new();
                all.take_cluster(middle, 3, reach, &mut cluster);
                assert_eq!(all.words, [0; 16]);
                cluster.len()
            };
            assert_eq!((cells(Reach::SQUARE), cells(Reach::ROUND)), (17, 17));
        }
        let corners = |reach: Reach| {
            let mut all = Columns { height: 8, words: vec![0; 8] };
            [(3, 3), (5, 5)].into_iter().for_each(|(x, y)| all.words[y] |= 1 << x);
            let mut cluster = Vec::new();
            all.take_cluster(3, 3, reach, &mut cluster);
            cluster.len()
        };
        assert_eq!((corners(Reach::SQUARE), corners(Reach::ROUND)), (2, 1));
    }
}
