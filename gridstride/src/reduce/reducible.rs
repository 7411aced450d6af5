//! Which element types can be reduced by which operators.

use gpu::operator::Operator;
use launch::Element;

/// An element type that the operator `O` reduces: some rung is built for both.
#[diagnostic::on_unimplemented(
    message = "no kernel reduces elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Compose takes Affine"
)]
pub trait Reducible<O: Operator<Self>>: Element {}

crate::operators::built_for_operators!(Reducible);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capabilities;
    use crate::reduce::{ReduceRung, best_for};
    use cuda_std::Ladder;

    #[test]
    fn what_is_listed_is_what_is_built() {
        let mut listed: Vec<_> = LISTED.iter().map(|(t, o)| [t.to_lowercase(), o.to_lowercase()]).collect();
        let offered = ReduceRung::RUNGS.iter().flat_map(|rung| rung.offered());
        let mut built: Vec<_> = offered.map(|arguments| [arguments[0].to_owned(), arguments[1].to_owned()]).collect();
        listed.sort_unstable();
        built.sort_unstable();
        built.dedup();
        assert_eq!(listed, built);
    }

    #[test]
    fn what_a_rung_offers_is_said() {
        let offered = |rung: ReduceRung| capabilities::offered(rung.rung());
        assert_eq!(offered(ReduceRung::Unrolled4), "sum of f32 and i32");
        assert_eq!(offered(ReduceRung::GridStride), "sum, product, min and max of f32, f64, i32, u32, i64 and u64");
        assert_eq!(offered(ReduceRung::Shuffle), "sum of f32 and i32");
        let check = |arguments| capabilities::check(ReduceRung::Unrolled4, arguments, 0);
        assert!(check(&["i32", "Sum"]).is_ok());
        let message = check(&["f64", "Min"]).unwrap_err().to_string();
        assert_eq!(message, "reduce's rung unrolled_4 does not offer min of f64: it offers sum of f32 and i32");
    }

    #[test]
    fn the_best_rung_is_the_last_there_is() {
        assert_eq!(best_for::<f64, Min>(), ReduceRung::GridStride);
        assert_eq!(best_for::<f32, Sum>(), ReduceRung::GridStride);
        assert_eq!(best_for::<Affine, Compose>(), ReduceRung::Shuffle);
        assert!(ReduceRung::RUNGS.iter().all(|rung| rung.entry(&["f32", "sum"]).is_some()));
    }
}
