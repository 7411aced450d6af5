//! Tests that contraction of sums and products changes no result of the mathematical functions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cuda_builder::Arch;

use crate::{shared_build, toolchain};

/// Returns the registers that an instruction names.
fn operands(line: &str) -> Vec<&str> {
    line.split([' ', '\t', ',', ';']).filter(|word| word.starts_with('%')).collect()
}

/// Returns the entries in which the assembler may contract a product with a sum: the product has no rounding mode and
/// is an operand of the sum.
fn contractible(ptx: &str) -> Vec<&str> {
    let has_one = |entry: &&str| {
        let lines = || entry.lines().map(|line| (line.trim_start(), operands(line)));
        let is_plain = |line: &str| line.starts_with("mul.f32") || line.starts_with("mul.f64");
        let products: BTreeSet<_> =
            lines().filter(|(line, _)| is_plain(line)).map(|(_, operands)| operands[0]).collect();
        let is_sum = |line: &str| line.starts_with("add.") || line.starts_with("sub.");
        lines().any(|(line, operands)| is_sum(line) && operands[1..].iter().any(|operand| products.contains(operand)))
    };
    ptx.split(".entry ").skip(1).filter(has_one).collect()
}

/// Checks that no product is contracted with a sum: not by LLVM, because the counts of instructions stay the same, and
/// not by the assembler, because it contracts only products without a rounding mode.
#[test]
fn contraction_leaves_the_mathematics_as_it_is() {
    let krate = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mathematics");
    let Some(toolchain) = toolchain(&krate) else { return };
    let counts = |contraction: bool| {
        let build = shared_build(&toolchain, &krate, Arch::Sm90).fma_contraction(contraction).build();
        let ptx = build.unwrap_or_else(|error| panic!("{error}")).ptx;
        assert_eq!(contractible(&ptx), [""; 0]);
        let mut counts = BTreeMap::new();
        for word in ptx.lines().filter_map(|line| line.split_whitespace().next()) {
            if ["fma.", "mul.", "add.", "sub."].iter().any(|name| word.starts_with(name)) {
                *counts.entry(word.replace(".rn.", ".")).or_insert(0) += 1;
            }
        }
        counts
    };
    let without = counts(false);
    assert!(without["fma.f32"] > 200 && without["mul.f32"] > 100 && without["fma.f64"] > 500, "{without:?}");
    assert_eq!(counts(true), without);
}

#[test]
fn a_product_that_is_added_is_contractible() {
    let kernel = |product: &str| format!(".entry k(\n\t{product} \t%f3, %f1, %f2;\n\tadd.f64 \t%f5, %f4, %f3;\n}}");
    assert_eq!(contractible(&kernel("mul.rn.f64")).len(), 0);
    assert_eq!(contractible(&kernel("mul.f64")).len(), 1);
}
