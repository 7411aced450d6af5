//! The element types that can be scanned with each operator.

use gpu::operator::Operator;
use launch::Element;

/// An element type that can be scanned with the operator `O`. The six number types can be scanned with sum, product,
/// minimum and maximum, and [`Affine`] with [`Compose`].
#[diagnostic::on_unimplemented(
    message = "no kernel scans elements of type `{Self}` by this operator",
    label = "no such kernel is built",
    note = "Sum, Product, Min and Max take u32, i32, u64, i64, f32 and f64; Compose takes Affine"
)]
pub trait ScanElement<O: Operator<Self>>: Element {}

crate::operators::built_for_operators!(ScanElement);

#[cfg(test)]
mod tests {
    use super::*;
    use cuda_std::Ladder;
    use gpu::scan::ScanRung;

    /// Checks that the rungs `LookBack` and `Pipelined` are built for exactly the listed types and operators.
    #[test]
    fn exactly_the_listed_types_are_built() {
        let mut listed: Vec<_> = LISTED.iter().map(|(t, o)| [t.to_lowercase(), o.to_lowercase()]).collect();
        listed.sort_unstable();
        for rung in [ScanRung::LookBack, ScanRung::Pipelined] {
            let entries = rung.rung().entries();
            let mut built: Vec<_> =
                entries.map(|entry| [0, 1].map(|place| entry.arguments[place].name.to_owned())).collect();
            built.sort_unstable();
            assert_eq!(listed, built, "{rung}");
        }
    }
}
