//! The generations whose hashes a search for a period compares.
//!
//! # Design
//!
//! The search keeps the hash of each multiple of K = 120. It compares the hashes of these generations, and of 120
//! generations at the beginning of each round of [`ROUND`] generations, with all kept hashes. The 120 generations are
//! 121·*r* + 6·*i* after the beginning of the round, for 0 ≤ *r* < 6 and 0 ≤ *i* < 20.
//!
//! *The search finds a period at most 10,000 generations after the first board that occurred before, if it still has
//! the hashes of the period.* Let *t* be the first periodic generation and *p* the period. Let *s* be the first
//! beginning of a round with *s* ≥ *t* + *p*, so that *s* < *t* + *p* + 9,240. The remainders of 121·*r* + 6·*i* modulo
//! 120 are *r* + 6·*i*: each remainder from 0 to 119 occurs once. One of the compared generations *g* therefore has *g*
//! − *p* divisible by 120. The board of *g* − *p* ≥ *t* is the board of *g*, and its hash was kept. The last *g* is *s*
//! + 719, so *g* < *t* + *p* + 10,000.
//!
//! These are 21 hashes per 1000 generations. No schedule needs less than 20: if *a* generations per generation are kept
//! and *b* per 10,000 are compared, *a*·*b* ≥ 1, because each distance must occur between a kept and a compared one.
//!
//! Engines run several generations at once: kernels 6 or 8 per launch, the processor's cores 16 per pass. Most
//! distances between two hashes are therefore multiples of 6, and 120 has the common periods as divisors.

/// The distance between kept hashes, and the number of compared hashes per round.
const KEPT: u64 = 120;

/// The number of generations of a round, a multiple of [`KEPT`].
const ROUND: u64 = 77 * KEPT;

/// The distance between compared generations of one remainder modulo [`SPACING`].
const SPACING: u64 = 6;

/// The generations whose hashes are kept or compared. They depend on nothing but their numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// The schedule of the module's header, for runs that may go beyond the first board that occurred before.
    Sparse,
    /// The schedule that keeps the hash of every generation.
    Each,
}

impl Schedule {
    /// Returns true if the hash of `generation` is kept.
    pub fn is_kept(self, generation: u64) -> bool {
        self == Self::Each || generation.is_multiple_of(KEPT)
    }

    /// Returns the first generation after `generation` whose hash is kept or compared.
    pub fn after(self, generation: u64) -> u64 {
        if self == Self::Each {
            return generation.saturating_add(1);
        }
        let in_round = generation % ROUND;
        let begin = generation - in_round;
        // The round has six groups of 20 generations. A group has the generations of one remainder modulo 6.
        let (group, in_group) = (in_round / (KEPT + 1), in_round % (KEPT + 1));
        let compared = match in_group / SPACING + 1 {
            next if group < SPACING && next < KEPT / SPACING => group * (KEPT + 1) + next * SPACING,
            _ if group + 1 < SPACING => (group + 1) * (KEPT + 1),
            _ => ROUND,
        };
        let kept = (in_round / KEPT + 1) * KEPT;
        begin.saturating_add(compared.min(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(end: u64) -> Vec<u64> {
        std::iter::successors(Some(0), |&now| Some(Schedule::Sparse.after(now))).take_while(|&now| now < end).collect()
    }

    /// Checks the bound of the module's header, for each remainder of a period and from each generation on.
    #[test]
    fn every_period_is_seen_in_time() {
        let all = compared(4 * ROUND);
        for again in 0..2 * ROUND {
            let later = &all[all.partition_point(|&generation| generation < again)..];
            let in_time = &later[..later.partition_point(|&generation| generation < again + 10_000)];
            let mut remainders = [false; KEPT as usize];
            in_time.iter().for_each(|generation| remainders[(generation % KEPT) as usize] = true);
            assert!(remainders.iter().all(|&occurs| occurs), "from {again} on");
        }
    }

    #[test]
    fn hashes_are_few() {
        let all = compared(10 * ROUND);
        assert!((0..10 * ROUND).step_by(KEPT as usize).all(|kept| all.binary_search(&kept).is_ok()));
        let hashes = all.len() as f64 / (10 * ROUND) as f64;
        assert!(hashes < 0.0215, "{hashes} hashes per generation");
        let odd = all.windows(2).filter(|pair| (pair[1] - pair[0]) % SPACING != 0).count();
        assert!(odd <= 11 * 10, "{odd} distances are not whole launches");
        assert_eq!(Schedule::Sparse.after(u64::MAX), u64::MAX);
        assert!((0..50).all(|now| Schedule::Each.after(now) == now + 1 && Schedule::Each.is_kept(now)));
    }
}
