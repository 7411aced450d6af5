//! Tests how kernels, barriers and shared arrays are read from sources.

use super::bodies::{Source, sources};
use super::*;
use crate::ptx::Barriers;

fn read(text: &str) -> Vec<Source> {
    sources(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap()
}

/// Returns each kernel's name, number of block barriers and number of warp barriers.
fn barriers(texts: &[&str]) -> Vec<(String, usize, usize)> {
    let files: Vec<_> = texts.iter().map(|text| (PathBuf::new(), (*text).to_owned())).collect();
    sources(&files)
        .unwrap()
        .into_iter()
        .map(|source| (source.kernel.name, source.barriers.block, source.barriers.warp))
        .collect()
}

fn names(text: &str) -> Vec<String> {
    read(text).into_iter().map(|source| source.kernel.name).collect()
}

const TEXT: &str = r#"
//! #[kernel] in a comment is none.
/// Two barriers; `sync_threads()` here is none.
#[kernel(max_threads = 256, min_blocks = 4)]
pub fn step(a: f32, cells: [u32; 4]) {
    // thread::sync_threads();
    for _ in 0..4 { thread::sync_threads(); }
    warp::sync_warp(warp::FULL_MASK);
    if thread::sync_threads_count(a > 0.0) > 0 { resync_threads(); sync_threads_total }
}

#[kernel]
#[allow(clippy::too_many_arguments)]
pub unsafe fn print() { println!("sync_threads()"); }
#[kernels]
fn other() { sync_threads(); }
"#;

#[test]
fn reads_kernels_with_their_bounds_and_barriers() {
    let kernel = |name: &str, line, max_threads, min_blocks| Kernel {
        name: name.to_owned(),
        family: name.to_owned(),
        file: PathBuf::from("a.rs"),
        line,
        max_threads,
        min_blocks,
        ..Kernel::default()
    };
    let step = Source {
        kernel: kernel("step", 4, Some(256), Some(4)),
        barriers: Barriers { block: 2, warp: 1 },
        ..Source::default()
    };
    let print = Source { kernel: kernel("print", 12, None, None), ..Source::default() };
    assert_eq!(read(TEXT), [step, print]);
}

#[test]
fn a_generic_kernel_is_one_for_each_instance() {
    let text = r"
#[kernel(
    max_threads = 64, // as many as [this]
    instances(T = [f32, crate::operator::Affine], O = [Sum], const_N = [9]),
    instances(
        O = [operator::Compose<u8, u16>],
        T = [i64,],
        const_N = [1, 2u32],
    ),
    min_blocks = 2
)]
#[allow(clippy::type_complexity)]
pub fn run<T: Element, O: Operator<T> + Map<fn(T) -> T, [T; 2]>, const const_N: u32>(x: Global<T>) where T: A<[T; { 1 }]> {
    thread::sync_threads();
}
#[kernel(instances(FLAG = [true]), instances(FLAG = [false], max_threads = 96))]
fn flag<const FLAG: bool>() {}
#[kernel(max_threads = 32, instances(T = [f32]), items_per_thread = 2 * ROWS, unsuffixed, other(a = [1]))]
fn only<T: Element>() {}
";
    let expected = [
        "run_f32_sum_9",
        "run_affine_sum_9",
        "run_i64_compose_1",
        "run_i64_compose_2u32",
        "flag_true",
        "flag_false",
        "only",
    ];
    assert_eq!(names(text), expected);
    let kernels = read(text);
    for Source { kernel, barriers, .. } in &kernels[..4] {
        assert_eq!((kernel.max_threads, kernel.min_blocks), (Some(64), Some(2)));
        assert_eq!((kernel.family.as_str(), kernel.line, barriers.block), ("run", 2, 1));
    }
    let kernels: Vec<Kernel> = kernels.into_iter().map(|source| source.kernel).collect();
    assert_eq!((kernels[4].family.as_str(), kernels[4].max_threads, kernels[5].max_threads), ("flag", None, Some(96)));
    assert_eq!((kernels[6].family.as_str(), kernels[6].max_threads), ("only", Some(32)));
}

#[test]
fn an_invalid_kernel_is_an_error_with_its_file() {
    let error = |text: &str| format!("{:#}", kernels(&[(PathBuf::from("a.rs"), text.to_owned())]).unwrap_err());
    for (text, part) in [
        ("fn k( {}", "a.rs: "),
        ("#[kernel]\nfn k<T>() {}", "a.rs: the generic kernel `k` has no `instances(…)`"),
        ("#[kernel(instances(T = [u8]))]\nfn k<T, O>() {}", "a.rs: `k` has instances without `O`"),
        ("#[kernel(max_threads = many)]\nfn k() {}", "a.rs: expected integer literal"),
        ("#[kernel(wide(load))]\nfn k() {}", "a.rs: expected one of loads, stores, copies"),
        (
            "#[kernel(allow(spills = \"why\"))]\nfn k() {}",
            "a.rs: expected one of local_in_ptx, local, generic, unbounded",
        ),
    ] {
        assert!(error(text).contains(part), "{text}: {}", error(text));
    }
}

#[test]
fn barriers_of_called_functions_count_at_each_call() {
    let text = "#[kernel]\nfn k() { sum(1); sum::<f32, { 2 }>(2); self.sum(3); resum(4); wait!(5); sum; }\n\
        fn sum(a: u32) -> u32 { inner(); sync_threads(); sum(a) }\n\
        macro_rules! wait { ($a:expr) => { sync_warp($a); }; }";
    let other = "fn inner() { sync_threads(); sync_warp(1); }\nfn unused() { sync_threads(); }";
    assert_eq!(barriers(&[text, other]), [("k".to_owned(), 6, 4)]);
    // A function that a kernel declares counts only where it is called.
    let nested = "#[kernel]\nfn k() { fn wait() { sync_threads(); } wait(); wait(); sync_threads(); }";
    assert_eq!(barriers(&[nested]), [("k".to_owned(), 3, 0)]);
}

#[test]
fn a_call_of_one_of_several_functions_is_clear_in_their_file_alone() {
    let kernel = "#[kernel]\nfn k() { wait(); }\n";
    let (one, none) = ("fn wait() { sync_threads(); }", "fn wait() {}");
    let read = |texts: [String; 3]| {
        let files: Vec<_> = texts.into_iter().map(|text| (PathBuf::new(), text)).collect();
        let kernel = sources(&files).unwrap().remove(0);
        (kernel.barriers.block, kernel.unclear.len())
    };
    assert_eq!(read([kernel.to_owned() + one, none.to_owned(), String::new()]), (1, 0));
    assert_eq!(read([kernel.to_owned(), one.to_owned(), one.to_owned()]), (1, 0));
    assert_eq!(read([kernel.to_owned(), one.to_owned(), none.to_owned()]).1, 1);
}

#[test]
fn shared_arrays_have_the_size_that_their_text_says() {
    let text = r"
const WARPS: usize = 2 + 6 / 2;
#[kernel(instances(T = [u8, f64, Vector], N = [4]))]
fn k<T: Element, const N: usize>(x: Global<T>) {
    let a = shared_array![T; N * (WARPS - 1_0usize / 5)];
    let b = shared_array![u32; crate::block::BLOCK as usize + 1];
    let c = shared_array![u32; size_of::<T>()];
    helper();
}
fn helper() { let d = shared_array![u64; [0; 2].len()]; }
";
    let other = "pub const BLOCK: u32 = 64;";
    let files = [text, other].map(|text| (PathBuf::new(), text.to_owned()));
    let kernels = sources(&files).unwrap();
    let arrays: Vec<_> = kernels.iter().map(|kernel| kernel.arrays.clone()).collect();
    let b = Some(4 * 65);
    assert_eq!(arrays, [[Some(4 * 3), b, None], [Some(8 * 4 * 3), b, None], [None, b, None]]);
    assert!(kernels.iter().all(|kernel| kernel.called_arrays == 1));
}
