//! The objects of a soup's ash.

use cuda_std::{Shared, warp};

use super::patch::{Bounds, Patch, key_of, object_at};
use super::plain::{Plain, Search};
use super::ships::{EdgeLook, Fate};
use super::table::Table;
use super::{LARGE_WORDS, Soup, Unfinished, ZONE};

/// The slots of the objects of a soup, which are counted together at the end. Lane *i* has the slots of the objects
/// whose number is *i* modulo 32.
pub(super) struct Slots {
    pub(super) list: Shared<u32>,
    pub(super) count: u32,
}

impl Slots {
    /// Adds the object with this key.
    #[inline(always)]
    pub(super) fn add_object(&mut self, table: &Table, key: u32) -> Result<(), Unfinished> {
        let slot = table.slot_of(key).ok_or(Unfinished::Many)?;
        if self.count as usize == self.list.len() {
            return Err(Unfinished::Many);
        }
        if warp::lane_id() == self.count % warp::SIZE {
            self.list.store(self.count as usize, slot);
        }
        self.count += 1;
        Ok(())
    }
}

impl<const ACROSS: usize, const ROWS: usize> Soup<'_, ACROSS, ROWS> {
    /// Counts the objects of the ash, if `is_ash`. Otherwise counts and removes the spaceships that leave the window,
    /// or moves the window.
    ///
    /// Both are one function, because each call of it is a copy of its code.
    #[inline(always)]
    pub(super) fn count_objects(&mut self, is_ash: bool) -> Result<(), Unfinished> {
        self.copy.store(&self.cells);
        let result = self.count_objects_of_copy(is_ash);
        // Also after an error, so that the registers of the cells are free meanwhile.
        self.cells = self.copy.load();
        self.is_changed = true;
        result
    }

    /// Counts objects like [`count_objects`](Self::count_objects), but in the copy of the window.
    #[inline(always)]
    fn count_objects_of_copy(&mut self, is_ash: bool) -> Result<(), Unfinished> {
        loop {
            let mut look = EdgeLook::default();
            // The row of a patch that its seed is in, which is in the first row of an object of the ash.
            let (depth, above) = if is_ash { (Plain::<ACROSS, ROWS>::SIDE, 2) } else { (ZONE, 15) };
            let now = self.copy.write_plain(&self.place, if is_ash { self.copy } else { self.other });
            let searched = if is_ash { self.other.write_plain(&self.place, self.other) } else { now };
            let mut search = Search::new(searched);
            while let Some([x, y]) = search.next(depth) {
                let patch = Patch::around(x, y, above);
                let mut cells = object_at(patch.load(searched), above);
                let bounds = Bounds::of(cells);
                patch.remove(searched, cells);
                if is_ash {
                    if bounds.is_open() {
                        return Err(Unfinished::Large);
                    }
                    cells &= patch.load(now);
                } else {
                    match self.examine(cells, bounds, patch, &mut look)? {
                        Fate::Leaves => {}
                        Fate::Stays => continue,
                        Fate::Moves => break,
                    }
                }
                match key_of(cells) {
                    None => self.list_large(cells)?,
                    Some(key) => self.slots.add_object(&self.table, key)?,
                }
            }
            if !look.is_repeated {
                return Ok(());
            }
        }
    }

    /// Appends an object without a key to the list of large objects.
    #[inline(always)]
    fn list_large(&self, cells: u32) -> Result<(), Unfinished> {
        let mut index = 0;
        if warp::lane_id() == 0 {
            index = self.work.atomic_add(2, 1);
        }
        let index = warp::shuffle_idx(warp::FULL_MASK, index, 0) as usize;
        if index >= self.large.len() / LARGE_WORDS {
            return Err(Unfinished::Many);
        }
        let at = index * LARGE_WORDS;
        if warp::lane_id() == 0 {
            self.large.store(at, self.number.load(0));
        }
        self.large.store((at as u32 + 1 + warp::lane_id()) as usize, cells);
        Ok(())
    }
}
