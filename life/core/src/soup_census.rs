//! A census of many small soups on a device: each soup runs on the plane until it is periodic, and the device counts
//! the objects that remain.

use cuda_std::warp;
use gpu::life::{
    self as kernels, CENSUS_THREADS, Conway, Given, KEY_WORDS, LARGE_WORDS, READY, SHIP_WORDS, SOUP_SIDE, Unfinished,
    WORK_WORDS,
};
use launch::{Buffer, Device, Error, LaunchConfig};

use super::circuits::count_tables;

/// The number of columns, and of rows, of the largest soup.
pub const MAX_SOUP_SIDE: usize = SOUP_SIDE as usize;

/// A soup: bit *x* of word *y* is set if the cell in column *x* and row *y* is alive.
pub type SoupRows = [u32; MAX_SOUP_SIDE];

/// The number of slots of the device's table of objects.
const SLOTS: usize = 1 << 18;

/// The maximum number of generations of a soup on the device. About one soup in 10⁵ runs longer.
const MAX_GENERATIONS: u32 = 8000;

/// The windows of the plane in which a device runs soups, one after the other: the kernel's parameter `ACROSS`, and the
/// number of blocks per multiprocessor.
const WINDOWS: [(u32, u32); 2] = [(1, 12), (2, 6)];

/// A spaceship in one of its phases and orientations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Spaceship {
    /// The cells: bit *x* of row *y*, from the first column and row with a live cell on.
    pub rows: [u8; 8],
    /// The columns to the right, and the rows down, by which it moves in four generations: from −2 to 2.
    pub velocity: (i32, i32),
}

/// The objects of one kind that a device found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedObject {
    /// The cells in one generation: bit *x* of row *y*, from the first column and row with a live cell on.
    pub rows: [u16; 16],
    /// The number of these objects.
    pub count: u32,
    /// The index of the first soup with this object.
    pub first: u32,
}

/// An object that is larger than 16 × 16 cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LargeObject {
    /// The index of its soup.
    pub soup: u32,
    /// The cells in one generation.
    pub rows: SoupRows,
}

/// The results of running soups on a device. Soups are numbered by their index.
#[derive(Clone, Default, Debug)]
pub struct SoupResults {
    /// The objects of all soups that were finished, except large ones. The same cells may occur several times.
    pub objects: Vec<CountedObject>,
    /// The large objects of the soups that were finished.
    pub large: Vec<LargeObject>,
    /// The soups that the device did not finish, in ascending order. None of their objects are counted.
    pub unfinished: Vec<u32>,
    /// The number of unfinished soups for each reason in [`Unfinished::ALL`].
    pub reasons: [u32; Unfinished::COUNT],
    /// The total number of generations of the finished soups.
    pub generations: u64,
}

/// Runs soups on a device and counts their objects.
pub struct SoupCensus {
    device: Device,
    /// The tables of a rule other than Conway's.
    tables: Option<&'static [u8]>,
    ships: Buffer<u32>,
    states: Buffer<u32>,
    keys: Buffer<u32>,
    counts: Buffer<u32>,
    firsts: Buffer<u32>,
}

impl SoupCensus {
    /// Makes a census for the rule with these births and survivals, as [`Rule::totalistic`](super::Rule::totalistic)
    /// returns them. Dead cells without live neighbours must stay dead. `ships` are the spaceships that may leave a
    /// soup, in all phases and orientations, without other cells next to them. Other spaceships leave soups unfinished.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    ///
    /// # Panics
    /// If dead cells without live neighbours are born.
    pub fn new(device: &Device, birth: u16, survival: u16, ships: &[Spaceship]) -> Result<Self, Error> {
        assert!(birth & 1 == 0, "a census needs a rule without B0");
        let is_conway = (birth, survival) == (1 << 3, 1 << 2 | 1 << 3);
        let tables = count_tables(birth, survival);
        let words = ships.iter().flat_map(|&Spaceship { rows: [a, b, c, d, e, f, g, h], velocity: (x, y) }| {
            [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]), kernels::velocity(x, y)]
        });
        let words: Vec<u32> = words.collect();
        debug_assert_eq!(words.len(), ships.len() * SHIP_WORDS);
        Ok(Self {
            device: device.clone(),
            tables: (!is_conway).then(|| launch::tables(&[tables, tables].concat())),
            ships: device.upload(&words)?,
            states: device.zeroed(SLOTS)?,
            keys: device.zeroed(SLOTS * KEY_WORDS)?,
            counts: device.zeroed(SLOTS)?,
            firsts: device.upload(&vec![u32::MAX; SLOTS])?,
        })
    }

    /// Runs soups and counts their objects.
    ///
    /// # Errors
    /// If the device fails or has too little memory.
    ///
    /// # Panics
    /// If there are 2³² soups or more.
    pub fn run(&mut self, soups: &[SoupRows]) -> Result<SoupResults, Error> {
        assert!(u32::try_from(soups.len()).is_ok(), "{} soups are too many", soups.len());
        let words = self.device.upload(soups.as_flattened())?;
        let mut results = SoupResults { unfinished: (0..soups.len() as u32).collect(), ..SoupResults::default() };
        for (across, blocks) in WINDOWS {
            if !results.unfinished.is_empty() {
                self.run_in_window(&words, across, blocks, &mut results)?;
            }
        }
        self.take_objects(&mut results)?;
        Ok(results)
    }

    /// Runs the unfinished soups of `results` in windows of 128 · `across` columns and rows.
    fn run_in_window(
        &mut self,
        soups: &Buffer<u32>,
        across: u32,
        blocks_per_multiprocessor: u32,
        results: &mut SoupResults,
    ) -> Result<(), Error> {
        let device = &self.device;
        let count = results.unfinished.len();
        let numbers = device.upload(&results.unfinished)?;
        let mut unfinished = device.zeroed::<u32>(count)?;
        let mut work = device.zeroed::<u32>(WORK_WORDS)?;
        let mut generations = device.zeroed::<u64>(2)?;
        // About one soup in 10⁴ has a large object. Soups whose large objects find no space stay unfinished.
        let mut large = device.zeroed::<u32>((count / 64 + 64) * LARGE_WORDS)?;
        let warps = CENSUS_THREADS / warp::SIZE;
        let blocks = blocks_per_multiprocessor * device.multiprocessors();
        let config = LaunchConfig::new(blocks.min((count as u32).div_ceil(warps)), CENSUS_THREADS);
        let config = self.tables.map_or(config, |tables| config.tables(tables));
        let kernel = match (self.tables, across) {
            (None, 1) => kernels::life_soup_census::<Conway, 1, 4>,
            (None, _) => kernels::life_soup_census::<Conway, 2, 16>,
            (Some(_), 1) => kernels::life_soup_census::<Given, 1, 4>,
            (Some(_), _) => kernels::life_soup_census::<Given, 2, 16>,
        };
        let call = kernel(
            soups.view(),
            numbers.view(),
            self.ships.view(),
            self.states.view_mut(),
            self.keys.view_mut(),
            self.counts.view_mut(),
            self.firsts.view_mut(),
            large.view_mut(),
            unfinished.view_mut(),
            work.view_mut(),
            generations.view_mut(),
            count as u32,
            MAX_GENERATIONS,
        );
        device.launch(config, call)?;
        let work = work.download()?;
        let mut unfinished = unfinished.download()?;
        unfinished.truncate(work[1] as usize);
        unfinished.sort_unstable();
        let mut large_words = vec![0; large.len().min(work[2] as usize * LARGE_WORDS)];
        large.download_range(0, &mut large_words)?;
        let objects = large_words
            .chunks_exact(LARGE_WORDS)
            .map(|words| LargeObject { soup: words[0], rows: std::array::from_fn(|y| words[1 + y]) });
        results.large.extend(objects.filter(|object| unfinished.binary_search(&object.soup).is_err()));
        results.generations += generations.download()?[0];
        results.reasons = std::array::from_fn(|reason| work[WORK_WORDS - Unfinished::COUNT + reason]);
        results.unfinished = unfinished;
        Ok(())
    }

    /// Moves the objects of the device's table to `results`. The table keeps the keys until it is half full.
    fn take_objects(&mut self, results: &mut SoupResults) -> Result<(), Error> {
        let (states, keys) = (self.states.download()?, self.keys.download()?);
        let (counts, firsts) = (self.counts.download()?, self.firsts.download()?);
        for (slot, key) in keys.chunks_exact(KEY_WORDS).enumerate().filter(|(slot, _)| counts[*slot] > 0) {
            debug_assert_eq!(states[slot] & 3, READY);
            let rows = std::array::from_fn(|y| (key[y / 2] >> (16 * (y % 2))) as u16);
            results.objects.push(CountedObject { rows, count: counts[slot], first: firsts[slot] });
        }
        self.counts.fill_zero()?;
        self.firsts.upload(&vec![u32::MAX; SLOTS])?;
        if states.iter().filter(|&&state| state != 0).count() > SLOTS / 2 {
            self.states.fill_zero()?;
        }
        Ok(())
    }
}
