//! Tests the names of subjects, and that every kernel can be explained.

use std::collections::BTreeSet;

use simt::{Profiles, Simulator};

use super::*;
use crate::catalogue;

fn chosen(name: &str) -> Vec<String> {
    find(name).unwrap().subjects.iter().map(|subject| subject.name()).collect()
}

#[test]
fn names_are_of_algorithms_rungs_and_kernels() {
    let rungs = ["copy", "copy_tile", "naive", "tile", "padded", "vectorised"];
    assert_eq!(chosen("transpose"), rungs.map(|rung| format!("transpose/{rung}")));
    assert_eq!(chosen("copy_tile"), ["transpose/copy_tile"]);
    assert_eq!(chosen("transpose/padded"), ["transpose/padded"]);
    assert_eq!(chosen("transpose_padded"), ["transpose/padded"]);
    assert_eq!(chosen("reduce_unrolled"), ["reduce/unrolled_2", "reduce/unrolled_4", "reduce/unrolled_8"]);
    assert_eq!(find("reduce_unrolled").unwrap().family, Some("reduce_unrolled"));
    assert_eq!(chosen("transpose_vectorised"), ["transpose/vectorised"]);
    assert_eq!(chosen("transpose_unaligned"), ["transpose/unaligned"]);
    assert_eq!(chosen("life_pack"), ["life/conversions"]);
    assert!(!chosen("life").contains(&"life/conversions".to_owned()));
}

#[test]
fn a_name_of_several_rungs_or_of_none_is_explained() {
    let message = |name| find(name).err().unwrap().to_string();
    assert_eq!(
        message("naive"),
        "several algorithms have a rung 'naive': use matmul/naive, scan/naive or transpose/naive"
    );
    let unknown = message("padde");
    for part in ["rung or kernel 'padde'", "transpose (copy, copy_tile, naive", "life (global", "host list"] {
        assert!(unknown.contains(part), "{part}: {unknown}");
    }
}

/// The kernels that `host explain` does not launch: those of bounded grids, because its boards are tori, and the search
/// for the segments of all tiles, because its inputs are small.
const NOT_LAUNCHED: [&str; 4] = ["life_corners", "life_edges_of", "life_streaming_plane", "segments_search"];

/// Checks that every kernel belongs to a subject, and that each subject launches the kernels that it names.
#[test]
fn every_kernel_is_launched_by_a_subject() {
    let built: BTreeSet<&str> = catalogue::kernels().map(|kernel| kernel.family).collect();
    let named: BTreeSet<&str> = all().flat_map(|subject| subject.families).copied().collect();
    assert_eq!(named, built);
    let profiles = Profiles::default();
    let simulator = Simulator::new().with_profiles(profiles.clone()).with_multiprocessors(2);
    let device = Device::simulated(simulator.with_output(std::sync::Arc::new(std::sync::Mutex::new(std::io::sink()))));
    for subject in all() {
        let board = |width| Wanted { size: Some(Size { width, height: 40 }), ..Wanted::default() };
        let vector = |n, from| Wanted { n: Some(n), from, ..Wanted::default() };
        let matrix = |width, height, element: &str| Wanted {
            size: Some(Size { width, height }),
            element: Some(element.to_owned()),
            ..Wanted::default()
        };
        // The kernel that a rung launches may depend on the size and on where a vector begins.
        let problems = match subject.algorithm {
            "transpose" if subject.rung == "vectorised" => {
                vec![board(128), matrix(128, 40, "u16"), matrix(65, 40, "u16"), matrix(2047, 2051, "u8")]
            }
            "matmul" if subject.rung == "vector" => vec![matrix(1024, 1, "bf16")],
            "matmul" if subject.rung == "mma_sync" => vec![board(128), matrix(128, 40, "f64")],
            "matmul" => vec![board(128)],
            "life" | "transpose" => vec![board(65), board(128)],
            "reduce" if subject.rung == "grid_stride" => {
                let halves = Wanted { element: Some("f16".to_owned()), ..vector(1000, None) };
                vec![vector(1000, None), vector(40_000, None), vector(40_000, Some(1)), halves]
            }
            "scan" if subject.rung == "look_back" => {
                vec![vector(1000, None), Wanted { element: Some("f16".into()), ..vector(1000, None) }]
            }
            "saxpy" | "scale" => vec![vector(1000, None), vector(1000, Some(1))],
            "merge_sort" if subject.rung == "merge_path" => vec![vector(9000, None)],
            // One cluster sorts as many keys of 32 bits.
            "sort" if subject.rung == "one_sweep" => {
                vec![vector(1000, None), Wanted { element: Some("u16".to_owned()), ..vector(9000, None) }]
            }
            _ => vec![vector(1000, None)],
        };
        for wanted in problems {
            let problem =
                (subject.run)(&device, &wanted).unwrap_or_else(|error| panic!("{}: {error:#}", subject.name()));
            assert!(problem.elements >= 1000, "{}: {problem:?}", subject.name());
        }
        let launched: BTreeSet<&str> = profiles.take().iter().map(|profile| profile.kernel.family).collect();
        // A kernel that only some tasks of a rung launch has a subject of its own.
        let has_own =
            |family: &&str| subject.is_rung && all().any(|other| !other.is_rung && other.families.contains(family));
        let expected = subject.families.iter().filter(|family| !NOT_LAUNCHED.contains(family) && !has_own(family));
        for family in expected {
            assert!(launched.contains(family), "{} launches {launched:?}, not {family}", subject.name());
        }
    }
}

#[test]
fn unsupported_options_are_refused() {
    let size = Some(Size { width: 8, height: 8 });
    for (name, wanted, part) in [
        ("saxpy/monolithic", Wanted { size, ..Wanted::default() }, "set its length with --n, not --size"),
        ("transpose/tile", Wanted { n: Some(8), ..Wanted::default() }, "set --size, such as 512x512, not --n"),
        ("transpose/tile", Wanted { element: Some("i9".into()), ..Wanted::default() }, "use f32, f64, u8"),
        ("saxpy/monolithic", Wanted { operator: Some(OperatorName::Max), ..Wanted::default() }, "leave out --op"),
        ("reduce/shuffle", Wanted { element: Some("f8".into()), ..Wanted::default() }, "use f32, f64, i32"),
        ("transpose/tile", Wanted { from: Some(1), ..Wanted::default() }, "leave out --from"),
        ("life/global", Wanted { element: Some("u8".into()), ..Wanted::default() }, "leave out --type"),
        (
            "life/shared",
            Wanted { size: Some(Size { width: 1000, height: 1000 }), ..Wanted::default() },
            "needs 2000000 bytes of shared memory",
        ),
    ] {
        let device = Device::simulated(Simulator::new());
        let error = (find(name).unwrap().subjects[0].run)(&device, &wanted).unwrap_err();
        let is_refused = matches!(error, WorkbenchError::Options(_)) || is_not_built(&error);
        assert!(is_refused && error.to_string().contains(part), "{name}: {error:#}");
    }
    let device = Device::simulated(Simulator::new());
    let wanted = Wanted { element: Some("f64".into()), ..Wanted::default() };
    let error = (find("saxpy/monolithic").unwrap().subjects[0].run)(&device, &wanted).unwrap_err();
    assert!(is_not_built(&error), "{error:#}");
}
