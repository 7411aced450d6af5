//! Tests of the expansion of `#[kernel]`.

use super::*;

pub(super) fn expand_text(attributes: TokenStream, item: TokenStream) -> String {
    expand(attributes, item).unwrap_or_else(|error| error.into_compile_error()).to_string()
}

#[test]
fn a_view_is_a_head_and_a_tail_in_the_ptx() {
    let text = expand_text(
        quote!(),
        quote!(
            pub fn k(n: u32, x: Global<f32>) {}
        ),
    );
    assert!(text.contains("extern \"ptx-kernel\" fn k"), "unexpected: {text}");
    assert!(text.contains("head_1 : < Global < f32 > as :: cuda_std :: KernelParam > :: Head"), "unexpected: {text}");
    assert!(text.contains("tail_1 : < Global < f32 > as :: cuda_std :: KernelParam > :: Tail"), "unexpected: {text}");
}

#[test]
fn bounds_are_left_in_the_ptx_and_known_to_the_host() {
    let text = expand_text(
        quote!(max_threads = 128, min_blocks = 2),
        quote!(
            fn k() {}
        ),
    );
    assert!(text.contains("\"// cuda_std launch_bounds k 128 2\""), "unexpected: {text}");
    assert!(text.contains(". max_threads (128u32) . min_blocks (2u32)"), "unexpected: {text}");
    let text = expand_text(
        quote!(max_threads = 128, instances(T = [f32]), instances(T = [f64], max_threads = 64, min_blocks = 3)),
        quote!(
            fn k<T: Element>() {}
        ),
    );
    assert!(text.contains("\"// cuda_std launch_bounds k_f32 128 0\""), "unexpected: {text}");
    assert!(text.contains("\"// cuda_std launch_bounds k_f64 64 3\""), "unexpected: {text}");
    assert!(text.contains(". max_threads (64u32) . min_blocks (3u32)"), "unexpected: {text}");
    let text = expand_text(
        quote!(cluster = (2, 3)),
        quote!(
            fn k() {}
        ),
    );
    assert!(text.contains("\"// cuda_std cluster k 2 3 1\""), "unexpected: {text}");
    assert!(text.contains(". cluster (:: cuda_std :: Dim3 :: new (2u32 , 3u32 , 1u32))"), "unexpected: {text}");
}

#[test]
fn what_is_for_checks_changes_nothing() {
    let item = quote!(
        fn k<T: Element>() {}
    );
    let plain = expand_text(quote!(instances(T = [f32, f64])), item.clone());
    let with = quote!(wide(loads), instances(T = [f32, f64], allow(local = "why")));
    assert_eq!(expand_text(with, item.clone()), plain);
    assert!(expand_text(quote!(instances(T = [f32]), allow(local)), item).contains("compile_error"));
}

#[test]
fn a_generic_kernel_has_an_entry_for_each_combination() {
    let text = expand_text(
        quote!(max_threads = 64, instances(T = [f32, f64], N = [2, 4]), instances(T = [ops::Affine], N = [1])),
        quote!(
            /// Adds.
            /// Any grid.
            ///
            /// More.
            pub fn k<T: Element, const N: usize>(x: Global<T>) {}
        ),
    );
    for name in ["k_f32_2", "k_f32_4", "k_f64_2", "k_f64_4", "k_affine_1"] {
        assert!(text.contains(&format!("extern \"ptx-kernel\" fn {name} (")), "{name}, unexpected: {text}");
        assert!(text.contains(&format!("launch_bounds {name} 64 0")), "{name}, unexpected: {text}");
        assert!(text.contains(&format!("KernelInfo :: new (\"{name}\" ,")), "{name}, unexpected: {text}");
    }
    let affine = text.split_once("mod k_affine_1 {").map_or("", |(_, rest)| rest);
    assert!(affine.contains("type T = ops :: Affine ;") && affine.contains("const N : usize = 1 ;"), "{text}");
    assert!(text.contains("where k < T , N > : :: cuda_std :: Kernel"), "unexpected: {text}");
    assert!(text.contains(". summary (\"Adds. Any grid.\")"), "unexpected: {text}");
}

#[test]
fn a_shared_array_has_its_variables_name_for_the_host() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k() {
                let totals = shared_array![f32; 8];
                if true {
                    let mut tile: Shared<u32> = cuda_std::shared_array![u32; 32];
                    let (a, r#b) = (shared_array![u8; 1], shared_array![u8; 2]);
                }
                let [c] = [shared_array![u8; 3]];
            }
        ),
    );
    let (device, host) = text.split_once("host {").expect("code for the host");
    assert!(device.contains("totals = shared_array ! [mod f32 ; 8]"), "unexpected: {text}");
    for array in ["\"totals\" f32 ; 8", "\"tile\" u32 ; 32", "\"a\" u8 ; 1", "\"b\" u8 ; 2", "[u8 ; 3]"] {
        assert!(host.contains(array), "`{array}` is not in {text}");
    }
}

#[test]
fn the_host_is_told_which_way_branches_go() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k(n: u32, y: Global<u32>) {
                let mut i = if n < 2 {
                    0
                } else if is_odd(n) {
                    1
                } else {
                    2
                };
                while i < { if n == 3 { 4 } else { 5 } } {
                    let small = |j: u32| if j != 6 { j } else { 7 };
                    i += small(i);
                }
            }
        ),
    );
    let (device, host) = text.split_once("host {").expect("code for the host");
    assert!(!device.contains("branch"), "unexpected: {text}");
    assert!(host.contains("enter () , is_odd (n)))"), "unexpected: {text}");
    for condition in ["n < 2", "n == 3", "j != 6"] {
        let told = format!("if :: cuda_std :: __private :: branch ({condition})");
        assert!(host.contains(&told), "`{told}` is not in {text}");
    }
    assert!(host.contains("while :: cuda_std :: __private :: branch (i < { if :: cuda_std"), "unexpected: {text}");
    assert_eq!(host.matches("branch (").count(), 5, "unexpected: {text}");
}

#[test]
fn conditions_that_bind_or_are_constant_are_left_alone() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k<const WIDE: bool>(n: u32) {
                if let Some(i) = n.checked_sub(1) {}
                if n > 1 && let Some(i) = n.checked_sub(1) {}
                while (let Some(i) = next()) && i > n {}
                if WIDE && T::BYTES == size_of::<u32>() as u32 {}
                if !(LEN > 4 * core::mem::align_of::<T>()) {}
                if true {}
                let _ = [0_u8; if len() > 3 { 1 } else { 2 }];
                let _: [u8; if len() > 3 { 1 } else { 2 }] = other::<{ if len() > 3 { 1 } else { 2 } }>();
                let _ = const { if len() > 3 { 1 } else { 2 } };
                const N: usize = if len() > 3 { 1 } else { 2 };
                const fn inner(n: u32) -> u32 {
                    if n > 3 { 1 } else { 2 }
                }
                match n {
                    i if i > 3 => {}
                    _ => {}
                }
            }
        ),
    );
    assert!(!text.contains("branch"), "unexpected: {text}");
    let text = expand_text(
        quote!(),
        quote!(
            fn k(n: u32) {
                if let Some(i) = n.checked_sub(if n > 1 { 1 } else { 2 }) {
                    if WIDE && i > 2 {}
                }
            }
        ),
    );
    assert!(text.contains("if :: cuda_std :: __private :: branch (n > 1)"), "unexpected: {text}");
    assert!(text.contains("if :: cuda_std :: __private :: branch (WIDE && i > 2)"), "unexpected: {text}");
}

#[test]
fn a_condition_holds_for_all_of_a_kernel() {
    let text = expand_text(
        quote!(max_threads = 64),
        quote!(
            #[cfg(false)]
            fn k() {}
        ),
    );
    // The entry and its bounds for the GPU; the function, the type, its three implementations and the check of the
    // parameters' size for the host.
    assert_eq!(text.matches("# [cfg (false)]").count(), 8, "unexpected: {text}");
}

#[test]
fn a_reference_is_a_pointer_in_the_ptx_and_a_view_for_the_host() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k(scene: &Scene) {}
        ),
    );
    assert!(text.contains("head_0 : < * const Scene as :: cuda_std :: KernelParam > :: Head"), "unexpected: {text}");
    assert!(text.contains("fn k < 'call > (scene : :: cuda_std :: Global < 'call , Scene >)"), "unexpected: {text}");
    assert!(text.contains("scene . encode_reference (\"scene\""), "unexpected: {text}");
}

#[test]
fn an_item_declares_an_array_unless_its_length_is_the_functions_own() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k() {
                const N: usize = 4;
                let own = shared_array![f32; N];
                let other = shared_array![f32; M];
                let part = dynamic_shared::<f32>().part(0, N);
                let tile = SharedTile::<f32, 8, 8, Plain16>::at(dynamic_shared(), 0);
                let full = Barrier::at(dynamic_shared(), 64);
            }
        ),
    );
    assert!(text.contains("let own = shared_array ! [f32 ; N] ;"), "unexpected: {text}");
    assert!(text.contains("let other = shared_array ! [mod f32 ; M] ;"), "unexpected: {text}");
    assert!(text.contains("let part = dynamic_shared :: < f32 > () . part (0 , N) . named (\"part\") ;"), "{text}");
    assert!(text.contains(". named (\"tile\")"), "{text}");
    assert!(text.contains("let full = Barrier :: at (dynamic_shared () , 64) ;"), "{text}");
}

#[test]
fn a_static_in_shared_memory_is_what_a_pointer_points_to() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k() {
                #[address_space(shared)]
                static mut TILE: [f32; 8] = [0.0; 8];
                unsafe { TILE[0] = f(TILE.len()) };
                println!("{}", TILE[0]);
            }
        ),
    );
    assert!(
        text.contains("let shared_TILE : * mut [f32 ; 8] = :: cuda_std :: shared_array ! [static \"TILE\" f32 ; 8]"),
        "{text}"
    );
    assert!(text.contains("(* shared_TILE) [0] = f ((* shared_TILE) . len ())"), "unexpected: {text}");
    assert!(text.contains("println ! (\"{}\" , (* shared_TILE) [0])"), "unexpected: {text}");
    for (item, reason) in [
        (
            quote!(
                fn k() {
                    #[address_space(shared)]
                    static X: u32 = 0;
                }
            ),
            "static mut",
        ),
        (
            quote!(
                fn k() {
                    #[address_space(global)]
                    static mut X: u32 = 0;
                }
            ),
            "out of the kernel",
        ),
        (
            quote!(
                fn k() {
                    #[address_space(local)]
                    static mut X: u32 = 0;
                }
            ),
            "expected `shared`",
        ),
    ] {
        let error = expand(quote!(), item.clone()).expect_err(&item.to_string()).to_string();
        assert!(error.contains(reason), "{item}: `{reason}` is not in {error}");
    }
}
