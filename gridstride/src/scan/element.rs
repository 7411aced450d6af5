//! The element types that can be scanned with each operator.

use gpu::operator::Operator;
use gpu::scan::{ScanElement, ScanRung, is_pipelined};

use crate::capabilities;
use crate::error::AlgorithmError;

/// Checks that the rung is built for `O` on `T` and takes `len` elements.
///
/// # Errors
/// [`AlgorithmError::NotBuilt`] if the rung is not built for `O` on `T` or does not take `len` elements.
pub fn check<T: ScanElement<O>, O: Operator<T>>(rung: ScanRung, len: usize) -> Result<(), AlgorithmError> {
    let own: &[_] = match is_pipelined::<T>() {
        true => &[ScanRung::LookBack, ScanRung::Pipelined],
        false => &[ScanRung::LookBack],
    };
    match T::IS_OWN {
        false => capabilities::check(rung, &capabilities::of_operator::<T, O>(), len),
        true if own.contains(&rung) => Ok(()),
        true => Err(capabilities::not_built_of_own::<T, O, _>(rung, own)),
    }
}

#[cfg(test)]
mod tests {
    use cuda_std::Ladder;
    use gpu::scan::{LISTED, ScanRung};

    /// Checks that the rung `LookBack` is built for exactly the listed types and operators. The rung `Pipelined` has no
    /// 16-bit floats and no operators that propagate NaN.
    #[test]
    fn exactly_the_listed_types_are_built() {
        let mut listed: Vec<_> = LISTED.iter().map(|(t, o)| [t.to_lowercase(), o.to_lowercase()]).collect();
        listed.sort_unstable();
        for rung in [ScanRung::LookBack, ScanRung::Pipelined] {
            if rung == ScanRung::Pipelined {
                listed.retain(|[t, o]| !t.ends_with("f16") && !o.ends_with("imum"));
            }
            let entries = rung.rung().entries();
            let mut built: Vec<_> =
                entries.map(|entry| [0, 1].map(|place| entry.arguments[place].name.to_owned())).collect();
            built.sort_unstable();
            assert_eq!(listed, built, "{rung}");
        }
    }
}
