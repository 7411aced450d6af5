//! Whether sums and products are contracted changes no result of the mathematical functions.

use std::collections::BTreeMap;
use std::path::Path;

use cuda_builder::Arch;

use crate::{shared_build, toolchain};

/// No product is contracted with a sum: neither by LLVM, which would change the counts, nor by the assembler, which leaves those
/// alone that say how they are rounded.
#[test]
fn contraction_leaves_the_mathematics_as_it_is() {
    let krate = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mathematics");
    let Some(toolchain) = toolchain(&krate) else { return };
    let counts = |contraction: bool| {
        let build = shared_build(&toolchain, &krate, Arch::Sm90).fma_contraction(contraction).build();
        let ptx = build.unwrap_or_else(|error| panic!("{error}")).ptx;
        let mut counts = BTreeMap::new();
        for word in ptx.lines().filter_map(|line| line.split_whitespace().next()) {
            if ["fma.", "mul.", "add.", "sub."].iter().any(|name| word.starts_with(name)) {
                assert!(!["mul.f32", "mul.f64"].contains(&word), "a `{word}` that may be contracted");
                *counts.entry(word.replace(".rn.", ".")).or_insert(0) += 1;
            }
        }
        counts
    };
    let without = counts(false);
    assert!(without["fma.f32"] > 200 && without["mul.f32"] > 100 && without["fma.f64"] > 500, "{without:?}");
    assert_eq!(counts(true), without);
}
