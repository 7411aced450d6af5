//! Tests the catalogue with made-up kernels.

use simt::{ArgumentId, GenericArgument};

use super::*;

const fn kernel(name: &'static str, family: &'static str, module: &'static str) -> KernelInfo {
    KernelInfo::new(name, module, "", 1).family(family).summary("Adds [`x`](a::b).").max_threads(64)
}

const fn argument(name: &'static str) -> GenericArgument {
    GenericArgument::new(name, ArgumentId::value(0))
}

const fn sum_tiles(name: &'static str, arguments: &'static [GenericArgument]) -> KernelInfo {
    kernel(name, "sum_tiles", "gpu::reduce::tiles").arguments(arguments)
}

static KERNELS: [KernelInfo; 7] = [
    kernel("step", "step", "gpu::life::rung"),
    sum_tiles("sum_tiles_f32_sum", &[argument("f32"), argument("sum")]),
    sum_tiles("sum_tiles_affine_compose", &[argument("affine"), argument("compose")]),
    sum_tiles("sum_tiles_i64_sum", &[argument("i64"), argument("sum")]),
    sum_tiles("sum_tiles_f32_max", &[argument("f32"), argument("max")]),
    sum_tiles("sum_tiles_i64_max", &[argument("i64"), argument("max")]),
    kernel("pack", "pack", "gpu::life"),
];

fn catalogue(kernels: &'static [KernelInfo]) -> Catalogue {
    Catalogue::new(kernels, &[("gpu::life", "A [game](x)."), ("gpu::reduce", "A sum.")])
}

#[test]
fn kernels_stand_under_their_algorithm_with_their_instances() {
    let expected = "\
life: A game.
  step       Adds `x`.
  pack       Adds `x`.

reduce: A sum.
  sum_tiles  Adds `x`.
             5: f32 i64 × sum max; affine × compose
";
    assert_eq!(catalogue(&KERNELS).text(100), expected);
}

#[test]
fn instances_are_as_few_products_as_say_which_there_are() {
    let choices = |last: usize| catalogue(&KERNELS[..last]).algorithms[1].kernels[0].choices().unwrap();
    assert_eq!(choices(2), "1: f32 × sum");
    assert_eq!(choices(5), "4: f32 i64 × sum; affine × compose; f32 × max");
    assert_eq!(catalogue(&KERNELS).algorithms[0].kernels[0].choices(), None);
    let products = |names: &[&'static str]| {
        let instance = |name: &&'static str| Instance { name, arguments: name.split(' ').collect() };
        let products = products(&names.iter().map(instance).collect::<Vec<_>>());
        products.iter().map(|product| product.concat().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(products(&["u8", "u16", "u32"]), ["u8 u16 u32"]);
    assert_eq!(
        products(&["f32 sum 4", "f32 max 4", "i32 sum 4", "i32 max 4", "f64 sum 2"]),
        ["f32 i32 sum max 4", "f64 sum 2"]
    );
    assert_eq!(products(&["a x 1", "a x 2", "a y 1", "a y 2", "b x 1", "b x 2", "b y 1", "b y 2"]), ["a b x y 1 2"]);
}

#[test]
fn json_has_every_argument() {
    let json = serde_json::to_value(catalogue(&KERNELS)).unwrap();
    let reduce = &json["algorithms"][1];
    assert_eq!(reduce["name"], "reduce");
    assert_eq!(reduce["kernels"][0]["instances"][1]["name"], "sum_tiles_affine_compose");
    assert_eq!(reduce["kernels"][0]["instances"][1]["arguments"], serde_json::json!(["affine", "compose"]));
    assert_eq!(json["algorithms"][0]["kernels"][0]["instances"][0]["arguments"], serde_json::json!([]));
}

#[test]
fn long_lines_are_broken_between_words_and_indented() {
    let line = format!("  name  {}", ["word"; 40].join(" "));
    let wrapped = units::wrapped(&line, 8, 160);
    let lines: Vec<&str> = wrapped.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| line.chars().count() <= 160 && !line.ends_with(' ')), "{wrapped}");
    assert!(lines[1].starts_with("        word"), "{wrapped}");
    assert_eq!(wrapped.split_whitespace().count(), 41);
    let long = "x".repeat(200);
    assert_eq!(units::wrapped(&long, 4, 160), long);
}
