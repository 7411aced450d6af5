//! Tests the counts of tensor cores and bulk copies in explanations, by numbers that are computed by hand.

use explain::{
    Baseline, BulkSite, Explainer, Explanation, Gpu, KernelFigures, Pipeline, Problem, ProductTotals, Profile,
};
use explain::{RungFigures, RungNames, TensorLimit};
use launch::Device;

use super::{bulk, tensor_library, wgmma};
use crate::case::CaseError;
use crate::subjects::resources;

/// Returns the figures of the only kernel that `run` launches.
pub(super) fn figures(run: impl FnOnce(&Device) -> Result<(), CaseError>) -> KernelFigures {
    let explainer = Explainer::new(Gpu::default_gpu()).with_resources(resources::of);
    let ((), mut kernels) = explainer.profile(run).unwrap();
    assert_eq!(kernels.len(), 1);
    kernels.remove(0)
}

/// Returns the direction of each site's bulk copies, and their number, bytes, delivered bytes, sectors and ideal
/// sectors.
fn copies(kernel: &KernelFigures) -> Vec<(&'static str, [u64; 5])> {
    let counts = |site: &BulkSite| {
        let traffic = site.traffic;
        [traffic.copies, traffic.bytes, traffic.delivered_bytes, traffic.sectors, traffic.ideal_sectors]
    };
    kernel.bulk_copies.iter().map(|site| (site.direction, counts(site))).collect()
}

#[test]
fn a_pipelined_product_is_counted_and_placed_under_its_roofs() {
    let kernel = figures(|device| wgmma::pipelined(device, [512, 512, 320], 1));
    // 4 tiles of 5 steps by 2 blocks: each loads 128 x 64 elements of A, and as many of B for both.
    const LOADS: u64 = 4 * 5 * 2;
    const BYTES: u64 = LOADS * 128 * 64 * 2;
    assert_eq!(
        copies(&kernel),
        [
            ("load", [LOADS, BYTES, BYTES, BYTES / 32, BYTES / 32]),
            ("load", [LOADS, BYTES, 2 * BYTES, BYTES / 32, BYTES / 32])
        ]
    );
    assert_eq!(kernel.bulk_copies.iter().map(BulkSite::what).collect::<Vec<_>>(), ["bulk load a", "bulk load b"]);
    // Two warpgroups of each block execute 4 products per step.
    let [product] = &kernel.products[..] else { panic!("{:?}", kernel.products) };
    assert_eq!((product.shape, product.warps, product.executions), ([64, 256, 16], 4, LOADS * 2 * 4 * 4));
    assert_eq!(product.operations, 2 * 512 * 512 * 320);
    assert_eq!(
        (kernel.totals.sectors_read, kernel.totals.sectors_written),
        (2 * 512 * 320 * 2 / 32, 512 * 512 * 2 / 32)
    );
    // The block's own loads of 4 stages. Each of the 132 multiprocessors takes 32 GB/s.
    let pipeline = kernel.pipeline.unwrap();
    assert_eq!((pipeline.bytes, pipeline.stages, pipeline.blocks), (4 * 2 * 16 * 1024, 4, 1));
    assert!((pipeline.seconds * 4225e9 / 132.0 - pipeline.bytes as f64).abs() < 1e-3);

    let gpu = Gpu::default_gpu();
    let names = RungNames::new("", "matmul_pipelined", "");
    let rung = RungFigures::new(names, Problem::vector(512 * 512, "bf16"), vec![kernel], gpu);
    let roofline = rung.roofline.tensor.unwrap();
    // The factors and the sums move once: 1,179,648 bytes. The peak of the H200 is 989.4 TFLOP/s.
    assert_eq!(roofline.operations, 167_772_160);
    assert!((roofline.intensity.unwrap() - 142.22).abs() < 0.01);
    assert_eq!(roofline.limit, Some(TensorLimit::Memory));
    assert!((roofline.rate.unwrap() / 1e12 - 142.222 * 4.225).abs() < 0.1);
    assert!((roofline.tensor_seconds.unwrap() * 989.4e12 - 167_772_160.0).abs() < 1.0);
    let mut explanation = Explanation::new("matmul", gpu);
    explanation.push(rung, false);
    for text in [explanation.text(1000), explanation.html()] {
        for part in [
            "ulk copies: 80 loads of 1.2 MiB, which deliver 1.9 MiB to shared memory",
            "ensor cores: 167,772,160 operations with f16 or bf16 factors: 170 ns at 989 TFLOP/s",
            "142 operations per byte that must move, at most 601 TFLOP/s, because of the memory (which limits up to \
             234 per byte); 71.1 per byte as accessed",
            "4 stages: up to 128 KiB in flight in a block, which hide 4.10 µs of latency at this GPU",
            "wgmma m64n256k16, f16 or bf16",
            "oxes of a tensor map, 16 KiB each, read once and delivered to 2 blocks: all bytes of the sectors",
        ] {
            assert!(text.contains(part), "`{part}` is not in: {text}");
        }
    }
    // A comparison reads the counts from the JSON.
    explanation.compare(&Baseline::of(&explanation).unwrap()).unwrap();
    let totals = &explanation.comparison.unwrap().rungs[0].totals;
    let total = |what: &str| totals.iter().find(|change| change.what == what).map(|change| change.before);
    assert_eq!((total("operations of tensor cores"), total("bulk copies")), (Some(167_772_160), Some(2 * LOADS)));
}

#[test]
fn products_of_warps_are_counted_by_the_type_of_their_factors() {
    for is_shared in [false, true] {
        let kernel = figures(|device| tensor_library::matmul(device, is_shared));
        let operations = 2 * 64 * 32 * 48;
        let expected = ProductTotals { executions: operations / 4096, f16: operations, ..ProductTotals::default() };
        assert_eq!((kernel.totals.products, kernel.totals.warp_operations), (expected, 0));
        assert!(kernel.bulk_copies.is_empty() && kernel.pipeline.is_none());
        let [product] = &kernel.products[..] else { panic!("{:?}", kernel.products) };
        assert!(product.place.file.ends_with("steps.rs"), "{:?}", product.place);
        assert_eq!(product.what(), "mma m16n8k16, f16 or bf16");
    }
    let explainer = Explainer::new(Gpu::default_gpu());
    let ((), kernels) = explainer.profile(tensor_library::products).unwrap();
    let mut totals = ProductTotals::default();
    kernels.iter().for_each(|kernel| totals.add(&kernel.totals.products));
    // 2 blocks of a warp execute each shape of 2·m·n·k operations once: 28 instructions.
    assert_eq!(
        totals,
        ProductTotals {
            executions: 2 * 28,
            f16: 2 * 3 * 2 * 128 * (8 + 16),
            tf32: 2 * 2 * 128 * (4 + 8),
            f64: 2 * 2 * (64 * 4 + 128 * (4 + 8 + 16)),
            i8: 2 * 4 * 2 * (64 * 16 + 128 * (16 + 32)),
            fp8: 2 * 4 * 2 * 128 * 32,
        }
    );
    let ((), kernels) = explainer.profile(wgmma::transposed_products).unwrap();
    let operations = kernels.iter().map(|kernel| kernel.totals.products.f16).sum::<u64>();
    assert_eq!(operations, 2 * 64 * 32 * (128 + 3 * 64));
}

#[test]
fn bulk_copies_are_counted_with_the_bytes_in_flight() {
    let in_flight = |kernel: &KernelFigures| kernel.pipeline.map(|Pipeline { bytes, stages, .. }| (bytes, stages));
    let kernel = figures(|device| bulk::copy(device, 2));
    assert_eq!(copies(&kernel), [("load", [2, 2048, 2048, 64, 64]), ("store", [2, 2048, 0, 64, 64])]);
    assert_eq!(
        (in_flight(&kernel), kernel.totals.sectors_read, kernel.totals.sectors_written),
        (Some((1024, 1)), 64, 64)
    );
    assert_eq!(kernel.bulk_copies.iter().map(BulkSite::what).collect::<Vec<_>>(), ["bulk load x", "bulk store y"]);
    // 5 tiles in two stages.
    let kernel = figures(|device| bulk::pipeline(device, 5));
    assert_eq!(copies(&kernel), [("load", [5, 5120, 5120, 160, 160]), ("store", [5, 5120, 0, 160, 160])]);
    assert_eq!(in_flight(&kernel), Some((2048, 2)));
    // Each of two blocks loads half of 3 tiles for both.
    let kernel = figures(bulk::multicast);
    assert_eq!(copies(&kernel), [("load", [6, 3072, 6144, 96, 96])]);
    assert_eq!(in_flight(&kernel), Some((512, 1)));
    let kernel = figures(bulk::exchange);
    assert_eq!((copies(&kernel), in_flight(&kernel)), (vec![("send", [2, 2048, 2048, 0, 0])], None));
    // The elements are read and written where they are combined.
    let kernel = figures(bulk::reduce);
    assert_eq!(copies(&kernel), [("reduce", [2, 2048, 0, 64, 64])]);
    assert_eq!((kernel.totals.sectors_read, kernel.totals.sectors_written), (64 + 32, 32));
}

#[test]
fn a_box_moves_the_sectors_of_its_part_of_the_tensor() {
    let kernel = figures(bulk::tensor_copy);
    // 29 rows of 112 bytes, each from byte 48 of 160 on, and 32 rows of 128 bytes from byte 16 on.
    let load = [1, 29 * 112, 4096, 29 * 4, 102];
    assert_eq!(copies(&kernel), [("load", load), ("store", [1, 4096, 0, 32 * 5, 128])]);
    assert!(kernel.bulk_copies.iter().all(|site| site.has_map));
    assert!(kernel.bulk_copies[1].meaning().contains("4 KiB each: 80 % of the bytes of the sectors"));
    let message = Profile::new(Gpu::default_gpu(), vec![kernel]).check_moves(0.1, 4096).unwrap_err();
    assert!(message.contains("bulk load x: boxes of a tensor map") && message.contains("bulk store y"), "{message}");
}
