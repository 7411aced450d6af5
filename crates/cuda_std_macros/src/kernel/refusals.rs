//! Tests that `#[kernel]` refuses attributes and functions with a reason.

use quote::format_ident;

use super::*;

#[test]
fn what_cannot_be_a_kernel_is_refused_with_the_reason() {
    let many = (0..65).map(|i| format_ident!("p{i}"));
    for (attributes, item, reason) in [
        (
            quote!(),
            quote!(
                fn k() -> u32 {}
            ),
            "cannot return",
        ),
        (
            quote!(),
            quote!(
                fn k<T>(x: T) {}
            ),
            "must list the arguments",
        ),
        (
            quote!(),
            quote!(
                async fn k() {}
            ),
            "async",
        ),
        (
            quote!(),
            quote!(
                extern "system" fn k() {}
            ),
            "ABI",
        ),
        (
            quote!(),
            quote!(
                fn k(&self) {}
            ),
            "self",
        ),
        (
            quote!(),
            quote!(
                fn k(#[cfg(false)] x: u32) {}
            ),
            "cannot have attributes",
        ),
        (
            quote!(),
            quote!(
                fn k((a, b): (u32, u32)) {}
            ),
            "must be a name",
        ),
        (
            quote!(),
            quote!(
                fn k(x: &mut [f32]) {}
            ),
            "GlobalMut",
        ),
        (
            quote!(),
            quote!(
                fn k(x: &mut f32) {}
            ),
            "GlobalMut",
        ),
        (quote!(), quote!(fn k(#(#many: u32),*) {}), "at most 64"),
        (
            quote!(instances(T = [f32])),
            quote!(
                fn k(x: f32) {}
            ),
            "only a generic kernel",
        ),
        (
            quote!(instances(T = [f32])),
            quote!(
                fn k<T, const N: usize>(x: T) {}
            ),
            "arguments of `N` are missing",
        ),
        (
            quote!(instances(T = [f32], U = [f32])),
            quote!(
                fn k<T>(x: T) {}
            ),
            "no generic parameter",
        ),
        (
            quote!(instances(T = [f32, a::F32])),
            quote!(
                fn k<T>(x: T) {}
            ),
            "`k_f32` is listed twice",
        ),
        (
            quote!(instances(T = [[f32; 2]])),
            quote!(
                fn k<T>(x: T) {}
            ),
            "the name of a type or a literal",
        ),
        (
            quote!(instances(T = [])),
            quote!(
                fn k<T>(x: T) {}
            ),
            "one or more",
        ),
        (
            quote!(threads = 1),
            quote!(
                fn k() {}
            ),
            "max_threads",
        ),
        (
            quote!(max_threads = 2048),
            quote!(
                fn k() {}
            ),
            "1 to 1024",
        ),
        (
            quote!(min_blocks = 2),
            quote!(
                fn k() {}
            ),
            "needs `max_threads`",
        ),
        (
            quote!(cluster = (4, 5)),
            quote!(
                fn k() {}
            ),
            "from 1 to 16",
        ),
    ] {
        let error = expand(attributes, item.clone()).expect_err(&item.to_string()).to_string();
        assert!(error.contains(reason), "{item}: `{reason}` is not in {error}");
    }
}
