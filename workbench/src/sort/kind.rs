//! The kinds of keys that the problems of sort and merge sort sort.

use crate::algorithm::ProblemOption;
use crate::error::{WorkbenchError, invalid};
use crate::inputs::RandomVector;
use gridstride::numbers::{Number, NumberType};

/// The distribution of the keys.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Uniform,
    Constant,
    Few,
    Sorted,
    Reversed,
}

impl Kind {
    /// The option that selects the kind.
    pub(crate) const OPTION: ProblemOption = ProblemOption {
        name: "keys",
        value: "KIND",
        help: "Keys: uniform, constant (all equal), few (16 different ones), sorted or reversed",
        default: "uniform",
        check: |text| Self::parse(text).map(drop).map_err(|error| error.to_string()),
    };

    pub(crate) fn parse(text: &str) -> Result<Self, WorkbenchError> {
        let all = [Self::Uniform, Self::Constant, Self::Few, Self::Sorted, Self::Reversed];
        match all.into_iter().find(|keys| keys.name() == text) {
            Some(keys) => Ok(keys),
            None => invalid!("there is no kind of keys '{text}': use uniform, constant, few, sorted or reversed"),
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Constant => "constant",
            Self::Few => "few",
            Self::Sorted => "sorted",
            Self::Reversed => "reversed",
        }
    }
    /// Returns key `index` of `n` keys of this kind.
    pub(crate) fn key<K: Number>(self, seed: u64, n: usize, index: usize) -> K {
        let random = RandomVector::<u64>::new(seed, 0);
        // Among 64-bit integers with the order of the keys, these are evenly spaced.
        let spaced = |index: usize| {
            let place = ((index as u128) << 64) / n as u128;
            let is_signed = matches!(K::TYPE, NumberType::I8 | NumberType::I32 | NumberType::I64);
            place as u64 ^ u64::from(is_signed) << 63
        };
        K::from_random(match self {
            Self::Uniform => random.bits(index),
            Self::Constant => random.bits(0),
            Self::Few => random.bits(random.bits(index) as usize % 16),
            Self::Sorted => spaced(index),
            Self::Reversed => spaced(n - 1 - index),
        })
    }
}
