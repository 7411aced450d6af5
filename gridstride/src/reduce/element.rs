//! The element types that can be reduced with each operator.

use cuda_std::Ladder;
use gpu::reduce::{ReduceInput, ReduceRung};

use crate::capabilities;
use crate::error::AlgorithmError;

/// Returns the rung that runs by default for `O` on `T`: the last rung of the ladder that is built for the pair.
pub fn default_rung<T: ReduceInput<O>, O: 'static>() -> ReduceRung {
    match (T::IS_OWN, T::IS_COMMUTATIVE) {
        (true, true) => ReduceRung::GridStride,
        (true, false) => ReduceRung::Shuffle,
        (false, _) => ReduceRung::default_rung(&capabilities::of_operator::<T, O>()),
    }
}

/// Checks that the rung is built for `O` on `T` and takes `n` elements.
pub(super) fn check<T: ReduceInput<O>, O: 'static>(rung: ReduceRung, n: usize) -> Result<(), AlgorithmError> {
    match (T::IS_OWN, default_rung::<T, O>()) {
        (false, _) => capabilities::check(rung, &capabilities::of_operator::<T, O>(), n),
        (true, own) if own == rung => Ok(()),
        (true, own) => Err(capabilities::not_built_of_own::<T, O, _>(rung, &[own])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities::{self, of_operator};
    use cuda_std::ArgumentId;
    use gpu::accumulate::{ArgMax, Widened};
    use gpu::operator::{Affine, Compose, Min, Sum};
    use gpu::reduce::{ACCUMULATED, LISTED};

    #[test]
    fn exactly_the_listed_types_are_built() {
        let pairs = LISTED.iter().chain(ACCUMULATED);
        let mut listed: Vec<_> = pairs.map(|(t, o)| [t.to_lowercase(), o.to_lowercase()]).collect();
        let entries = ReduceRung::RUNGS.iter().flat_map(|rung| rung.entries());
        let mut built: Vec<_> =
            entries.map(|entry| [0, 1].map(|place| entry.arguments[place].name.to_owned())).collect();
        listed.sort_unstable();
        built.sort_unstable();
        built.dedup();
        assert_eq!(listed, built);
    }

    #[test]
    fn messages_say_what_a_rung_offers() {
        let offered = |rung: ReduceRung| capabilities::offered(rung.rung());
        assert_eq!(offered(ReduceRung::Unrolled4), "sum of f32 and i32");
        assert_eq!(
            offered(ReduceRung::GridStride),
            "sum, product, min and max of f32, f64, i32, u32, i64, u64, u8, f16, bf16 and i8; \
             minimum and maximum of f32 and f64"
        );
        assert_eq!(offered(ReduceRung::Shuffle), "sum of f32 and i32");
        let check = |arguments: [ArgumentId; 2]| capabilities::check(ReduceRung::Unrolled4, &arguments, 0);
        assert!(check(of_operator::<i32, Sum>()).is_ok());
        let message = check(of_operator::<f64, Min>()).unwrap_err().to_string();
        assert_eq!(message, "reduce's rung unrolled_4 does not offer min of f64: it offers sum of f32 and i32");
    }

    #[test]
    fn the_default_rung_is_the_last_there_is() {
        assert_eq!(default_rung::<f64, Min>(), ReduceRung::GridStride);
        assert_eq!(default_rung::<f32, Sum>(), ReduceRung::GridStride);
        assert_eq!(default_rung::<Affine, Compose>(), ReduceRung::Shuffle);
        assert_eq!(default_rung::<cuda_std::f16, Sum>(), ReduceRung::GridStride);
        assert_eq!(default_rung::<u8, Widened<Sum, u64>>(), ReduceRung::GridStride);
        assert_eq!(default_rung::<i64, ArgMax>(), ReduceRung::GridStride);
        assert!(ReduceRung::RUNGS.iter().all(|rung| rung.entry(&of_operator::<f32, Sum>()).is_some()));
    }
}
