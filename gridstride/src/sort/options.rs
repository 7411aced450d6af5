//! The order in which keys are sorted.

use std::ops::Range;

use gpu::sort::{Encoding, KeyBits, SortRung};

use super::SortKey;
use super::key::is_none;
use super::plan::SortMethod;
use crate::capabilities;
use crate::error::AlgorithmError;
use cuda_std::{Element, Ladder};

/// The order in which keys are sorted. [`SortOptions::default`] is ascending, by all bits, and floats as `total_cmp`.
///
/// Equal keys keep their order, also in a descending sort.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SortOptions {
    /// Sorts in descending order.
    pub descending: bool,
    /// Puts every NaN after all numbers, in ascending and descending order. Without this option, `total_cmp` decides: a
    /// NaN with a sign bit comes before all numbers.
    pub nan_last: bool,
    /// Compares only these bits of the encoded keys: of unsigned integers the bits themselves. Fewer bits take fewer
    /// passes. `None` compares all bits.
    pub bits: Option<Range<u32>>,
    /// The kernels that the rung `one_sweep` launches, for tests and measurements. With `None`, the number of keys
    /// selects them.
    #[doc(hidden)]
    pub method: Option<SortMethod>,
}

impl SortOptions {
    /// Returns the options for a descending sort.
    pub fn descending() -> Self {
        Self { descending: true, ..Self::default() }
    }

    /// Returns the order of keys of type `K`.
    ///
    /// # Errors
    /// Returns [`AlgorithmError::NotBuilt`] if the keys do not have the bits, or if `rung` has only one order, another
    /// type of keys, or no values of type `V`.
    pub(super) fn order<K: SortKey, V: Element>(&self, rung: SortRung) -> Result<Order, AlgorithmError> {
        let all = 0..K::Bits::BITS;
        let bits = self.bits.clone().unwrap_or(all.clone());
        if bits.is_empty() || bits.end > all.end {
            let requested = format!("a sort by the bits {}..{}", bits.start, bits.end);
            let offered = format!("ranges of one or more bits within 0..{}", all.end);
            return Err(capabilities::refused(rung.rung(), requested, offered));
        }
        let is_plain = K::ENCODING == Encoding::UNSIGNED && K::Bits::BITS == 32 && is_none::<V>();
        if rung != SortRung::OneSweep && (!is_plain || self.descending || bits != all) {
            let requested = "this sort".to_owned();
            let offered = "u32 keys alone, in ascending order by all bits; rung one_sweep takes any keys and order";
            return Err(capabilities::refused(rung.rung(), requested, offered.to_owned()));
        }
        let encoding = if self.nan_last { K::ENCODING.nan_last() } else { K::ENCODING };
        let encoding = if self.descending { encoding.descending() } else { encoding };
        Ok(Order { encoding, begin: bits.start, end: bits.end })
    }
}

/// The order of a sort as kernels take it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Order {
    pub encoding: Encoding,
    /// The first bit of the encoded keys that is compared.
    pub begin: u32,
    /// The bit after the last that is compared.
    pub end: u32,
}
