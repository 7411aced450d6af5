//! The cost of a memory request of a warp: sectors in global memory, or wavefronts in shared memory.

use crate::lanes::{LANES, bits};

/// The size of a sector in bytes, the smallest unit that a cache transfers.
pub(super) const SECTOR: u64 = 32;
/// The number of banks of shared memory.
const BANKS: usize = 32;
/// The size of a bank's word in bytes.
const WORD: u64 = 4;

/// A memory request: the accesses of a warp's lanes by one instruction. Each access has `bytes` bytes and is aligned to
/// this size.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) lanes: u32,
    /// The address that each participating lane accesses. The entries of other lanes are unspecified.
    pub(super) addresses: &'a [u64; LANES as usize],
    pub(super) bytes: u64,
}

/// The sectors of a request in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sectors {
    /// The number of sectors that contain at least one of the request's bytes.
    pub(super) touched: u64,
    /// The minimum number of sectors that could hold the distinct bytes of the request.
    pub(super) ideal: u64,
}

/// The wavefronts of a request in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wavefronts {
    pub(super) count: u64,
    /// The number of wavefronts that the request would need without bank conflicts.
    pub(super) ideal: u64,
    /// The maximum number of wavefronts that a group of lanes needs. The hardware serves the lanes of a group together.
    pub(super) max_ways: u32,
}

impl Request<'_> {
    /// Returns the lowest and the highest address of the request.
    pub(super) fn range(&self) -> (u64, u64) {
        bits(self.lanes)
            .map(|lane| self.addresses[lane])
            .fold((u64::MAX, 0), |(low, high), address| (low.min(address), high.max(address)))
    }

    /// Returns the distance in bytes between the addresses of consecutive participating lanes. Returns `None` if the
    /// distances differ or fewer than two lanes participate.
    pub(super) fn stride(&self) -> Option<i64> {
        let mut lanes = bits(self.lanes).map(|lane| self.addresses[lane]);
        let (first, second) = (lanes.next()?, lanes.next()?);
        let stride = second.wrapping_sub(first);
        let mut last = second;
        lanes
            .all(|address| address.wrapping_sub(std::mem::replace(&mut last, address)) == stride)
            .then_some(stride as i64)
    }

    /// Returns the sectors that the request touches in global memory.
    pub(super) fn sectors(&self) -> Sectors {
        let mut sorted = [0; LANES as usize];
        let mut len = 0;
        for lane in bits(self.lanes) {
            sorted[len] = self.addresses[lane];
            len += 1;
        }
        let sorted = &mut sorted[..len];
        if !sorted.is_sorted() {
            sorted.sort_unstable();
        }
        let (mut touched, mut distinct) = (0, 0);
        let mut last = None;
        // An aligned access is always within one sector.
        for &address in &*sorted {
            if last != Some(address) {
                distinct += 1;
                touched += u64::from(last.is_none_or(|last| last / SECTOR != address / SECTOR));
                last = Some(address);
            }
        }
        Sectors { touched, ideal: (distinct * self.bytes).div_ceil(SECTOR) }
    }

    /// Returns the wavefronts that the request needs in shared memory. `is_update` is true for atomic updates.
    ///
    /// A wavefront serves one word of each bank to all lanes that request it. Updates of one word are served one after
    /// the other.
    ///
    /// A wavefront serves at most 128 bytes to lanes. If each lane accesses 8 bytes, the hardware serves the warp in
    /// halves. If each accesses 16 bytes, it serves the warp in quarters. Two adjacent halves or quarters are served
    /// together if this needs fewer wavefronts and pairs of lanes have equal addresses. These pairs are either all
    /// lanes `i` and `i ^ 1`, or all lanes `i` and `i ^ 2`.
    pub(super) fn wavefronts(&self, is_update: bool) -> Wavefronts {
        let mut total = Wavefronts { count: 0, ideal: 0, max_ways: 0 };
        let mut serve = |ways: u32| {
            total.count += u64::from(ways);
            total.ideal += u64::from(ways > 0);
            total.max_ways = total.max_ways.max(ways);
        };
        let (pairs, width) = match self.bytes {
            16 => (2, 8),
            8 => (1, 16),
            _ => {
                serve(self.ways(self.lanes, is_update));
                return total;
            }
        };
        for pair in 0..pairs {
            let part = (u32::MAX >> (LANES - width)) << (2 * pair * width);
            let [first, second] = [self.lanes & part, self.lanes & part << width];
            let apart = [self.ways(first, is_update), self.ways(second, is_update)];
            let together = self.is_paired(first | second).then(|| self.ways(first | second, is_update));
            match together {
                Some(ways) if ways < apart[0] + apart[1] => serve(ways),
                _ => apart.into_iter().for_each(&mut serve),
            }
        }
        total
    }

    /// Returns true if each lane `i` of `lanes` has the same address as lane `i ^ 1`. Also returns true if each has the
    /// same address as lane `i ^ 2`. Lanes whose partner is not in `lanes` are ignored.
    fn is_paired(&self, lanes: u32) -> bool {
        [1, 2].into_iter().any(|distance| {
            bits(lanes).all(|lane| {
                let other = lane ^ distance;
                lanes & 1 << other == 0 || self.addresses[lane] == self.addresses[other]
            })
        })
    }

    /// Returns the number of wavefronts that serve `lanes` together. This is the maximum number of words that the lanes
    /// request from one bank.
    fn ways(&self, lanes: u32, is_update: bool) -> u32 {
        // Lanes that are served together request at most 8 bytes, or 16 if each word is requested twice.
        let mut words = [0; 2 * LANES as usize];
        let mut len = 0;
        for lane in bits(lanes) {
            let first = self.addresses[lane] / WORD;
            for word in 0..self.bytes.div_ceil(WORD) {
                words[len] = first + word;
                len += 1;
            }
        }
        let words = &mut words[..len];
        if !words.is_sorted() {
            words.sort_unstable();
        }
        let mut counts = [0; BANKS];
        let mut last = None;
        for &word in &*words {
            if is_update || last != Some(word) {
                counts[word as usize % BANKS] += 1;
                last = Some(word);
            }
        }
        counts.into_iter().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, Sectors, Wavefronts};

    const FULL: u32 = u32::MAX;

    fn request<R>(lanes: u32, bytes: u64, address: impl Fn(u64) -> u64, f: impl Fn(Request<'_>) -> R) -> R {
        let addresses = std::array::from_fn(|lane| address(lane as u64));
        f(Request { lanes, addresses: &addresses, bytes })
    }

    fn sectors(lanes: u32, bytes: u64, address: impl Fn(u64) -> u64) -> (u64, u64) {
        let Sectors { touched, ideal } = request(lanes, bytes, address, |request| request.sectors());
        (touched, ideal)
    }

    fn wavefronts(lanes: u32, bytes: u64, address: impl Fn(u64) -> u64) -> (u64, u64, u32) {
        let of = |request: Request<'_>| request.wavefronts(false);
        let Wavefronts { count, ideal, max_ways } = request(lanes, bytes, address, of);
        (count, ideal, max_ways)
    }

    #[test]
    fn sectors_are_counted_once() {
        assert_eq!(
            [1, 2, 4, 8, 16].map(|bytes| sectors(FULL, bytes, |lane| lane * bytes)),
            [1, 2, 4, 8, 16].map(|n| (n, n))
        );
        assert_eq!(sectors(FULL, 4, |lane| 4 + lane * 4), (5, 4), "off by one element");
        assert_eq!(sectors(FULL, 4, |lane| (31 - lane) * 4), (4, 4), "backwards");
        assert_eq!(sectors(FULL, 4, |lane| lane * 8), (8, 4));
        assert_eq!(sectors(FULL, 4, |lane| lane * 128), (32, 4));
        assert_eq!(sectors(FULL, 4, |_| 64), (1, 1), "one element");
        assert_eq!(sectors(FULL, 4, |lane| lane % 2 * 4096), (2, 1), "two elements, in turn");
        assert_eq!(sectors(0x8000_0001, 4, |lane| lane * 4), (2, 1), "two lanes");
    }

    #[test]
    fn a_stride_is_that_of_all_lanes() {
        let stride = |lanes, address: fn(u64) -> u64| request(lanes, 4, address, |request| request.stride());
        assert_eq!(stride(FULL, |lane| 64 + lane * 4), Some(4));
        assert_eq!(stride(FULL, |lane| 4096 - lane * 8), Some(-8));
        assert_eq!(stride(0x11, |lane| lane * 4), Some(16));
        assert_eq!(stride(FULL, |_| 8), Some(0));
        assert_eq!(stride(FULL, |lane| lane * 4 + lane / 16 * 128), None);
        assert_eq!(stride(1, |lane| lane * 4), None);
    }

    #[test]
    fn words_of_one_bank_come_one_after_the_other() {
        assert_eq!([1, 2, 4].map(|bytes| wavefronts(FULL, bytes, |lane| lane * bytes)), [(1, 1, 1); 3]);
        assert_eq!(
            [2, 3, 4, 8, 16, 32, 33].map(|stride| wavefronts(FULL, 4, |lane| lane * stride * 4).0),
            [2, 1, 4, 8, 16, 32, 1]
        );
        assert_eq!(wavefronts(FULL, 4, |_| 64), (1, 1, 1), "one word for all");
        assert_eq!(wavefronts(FULL, 4, |lane| lane / 2 * 128), (16, 1, 16), "the same word for two");
        assert_eq!(wavefronts(FULL, 1, |lane| lane * 4), (1, 1, 1), "bytes of different words");
        assert_eq!(wavefronts(0xFFFF, 4, |lane| lane * 128), (16, 1, 16), "half of a warp");
    }

    #[test]
    fn wide_accesses_are_served_in_parts() {
        assert_eq!(wavefronts(FULL, 8, |lane| lane * 8), (2, 2, 1));
        assert_eq!(wavefronts(FULL, 16, |lane| lane * 16), (4, 4, 1));
        assert_eq!(wavefronts(0xFFFF, 8, |lane| lane * 8), (1, 1, 1), "one half");
        assert_eq!(wavefronts(0xFF, 16, |lane| lane * 16), (1, 1, 1), "one quarter");
        assert_eq!(wavefronts(FULL, 8, |lane| lane * 16), (4, 2, 2));
        assert_eq!(wavefronts(FULL, 16, |lane| lane * 32), (8, 4, 2));
        assert_eq!(wavefronts(FULL, 8, |lane| lane * 128), (32, 2, 16));
        assert_eq!(wavefronts(FULL, 8, |_| 8), (1, 1, 1), "one word for all");
        assert_eq!(wavefronts(FULL, 16, |_| 16), (2, 2, 1), "one word for all");
        assert_eq!(wavefronts(FULL, 8, |lane| lane / 2 * 8), (1, 1, 1), "the same for neighbours");
        assert_eq!(wavefronts(FULL, 16, |lane| lane % 2 * 16), (2, 2, 1), "the same for neighbours but one");
        assert_eq!(wavefronts(FULL, 16, |lane| (lane & !2) * 16), (4, 4, 1), "more than a row for a half");
    }

    #[test]
    fn updates_of_one_word_come_one_after_the_other() {
        let of = |request: Request<'_>| request.wavefronts(true).count;
        assert_eq!(request(FULL, 4, |lane| lane * 4, of), 1);
        assert_eq!(request(FULL, 4, |_| 0, of), 32);
        assert_eq!(request(FULL, 4, |lane| lane / 2 * 4, of), 2);
    }
}
