//! Tests the options of a PTX build that change instructions.

use std::path::Path;

use cuda_builder::{Arch, CudaBuilder};

use crate::builds::fixture;
use crate::{shared_build, toolchain};

/// Tests that flags change `GpuFloat::sqrt`, the one function of the device library that they affect.
#[test]
fn flags_reach_the_square_root_of_the_device_library() {
    let krate = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mathematics");
    let Some(toolchain) = toolchain(&krate) else { return };
    let roots = |choose: fn(CudaBuilder) -> CudaBuilder| {
        let built = choose(shared_build(&toolchain, &krate, Arch::Sm90).fma_contraction(false)).build();
        let ptx = built.unwrap_or_else(|error| panic!("{error}")).ptx;
        ["sqrt.rn.f32", "sqrt.rn.ftz.f32", "sqrt.approx.f32"].map(|name| ptx.matches(name).count())
    };
    let [exact, flushing, approximate] = roots(|builder| builder);
    assert!(exact > 1 && (flushing, approximate) == (0, 0), "{exact} {flushing} {approximate}");
    assert_eq!(roots(|builder| builder.fast_sqrt(true)), [exact - 1, 0, 1]);
    assert_eq!(roots(|builder| builder.ftz(true)), [exact - 1, 1, 0]);
}

/// Checks that each flag changes only the instructions that it names.
#[test]
fn flags_change_the_instructions_that_they_name() {
    let Some(toolchain) = toolchain(&fixture()) else { return };
    let builder = || shared_build(&toolchain, &fixture(), Arch::Sm90).default_features(false).features(["floats"]);
    let floats = |choose: fn(CudaBuilder) -> CudaBuilder| {
        let built = choose(builder().fma_contraction(false)).build();
        let ptx = built.unwrap_or_else(|error| panic!("{error}")).ptx;
        let names = ["fma", "mul", "add", "div", "sqrt"];
        let instructions = ptx.lines().filter_map(|line| line.split_whitespace().next());
        let of_floats = instructions.filter(|word| word.ends_with(".f32"));
        of_floats.filter(|word| names.iter().any(|name| word.starts_with(name))).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(floats(|builder| builder), ["mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"]);
    assert_eq!(floats(|builder| builder.fma_contraction(true)), ["fma.rn.f32", "div.rn.f32", "sqrt.rn.f32"]);
    let ftz = ["mul.rn.ftz.f32", "add.rn.ftz.f32", "div.rn.ftz.f32", "sqrt.rn.ftz.f32"];
    assert_eq!(floats(|builder| builder.ftz(true)), ftz);
    let fast = ["mul.rn.f32", "add.rn.f32", "div.full.f32", "sqrt.approx.f32"];
    assert_eq!(floats(|builder| builder.fast_div(true).fast_sqrt(true)), fast);
    let error = builder().rustc_args(["--cfg=wrong"]).build().unwrap_err().to_string();
    assert!(error.contains("no_such_method"), "{error}");
}
