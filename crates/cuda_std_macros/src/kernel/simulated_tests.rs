//! Tests of the code that `#[kernel]` adds for the simulator: steps around calls and loops, and marks of unused
//! exchanges.

use quote::quote;

use super::tests::expand_text;

#[test]
fn the_host_notes_calls_in_branches_and_loops_with_calls() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k(n: u32, y: Global<u32>) {
                helper(n);
                if n == 0 {
                    helper(y.load(0).max(n));
                    thread::sync_threads();
                }
                for i in 0..n {
                    y.store(i, Some(n.pow(2)));
                }
                for i in 0..n {
                    helper(i);
                }
                while n > 0 && ready(n) {
                    thread::sync_threads();
                }
            }
        ),
    );
    let (device, host) = text.split_once("host {").expect("code for the host");
    assert!(!device.contains("Step"), "unexpected: {text}");
    for (part, count) in [
        ("Step :: new () . enter ()", 2),
        (". in_loops (& []) . step () . enter ()", 1),
        ("LoopStep :: new ()", 3),
        ("LoopStep :: enter (& __step_", 2),
        ("LoopStep :: again (& __step_", 3),
        (". in_loops (& [& __step_1]) . no_step () . enter ()", 2),
    ] {
        assert_eq!(host.matches(part).count(), count, "count of `{part}` in {text}");
    }
}

#[test]
fn an_exchange_is_unused_where_it_is_a_statement() {
    let text = expand_text(
        quote!(),
        quote!(
            fn k(y: GlobalMut<u32>) {
                y.atomic_exchange(0, 7);
                let _ = cell.swap(7, Ordering::Relaxed);
                let old = y.atomic_exchange(1, 8);
                slice.swap(1, 2);
                y.atomic_add(2, 9);
                y.atomic_exchange(3, 10)
            }
        ),
    );
    let (device, host) = text.split_once("host {").expect("code for the host");
    assert!(!device.contains("unused"), "unexpected: {text}");
    for told in ["begin_unused (7)", "begin_unused (Ordering :: Relaxed)"] {
        assert!(host.contains(told), "`{told}` is not in {text}");
    }
    assert_eq!(host.matches("begin_unused (").count(), 2, "unexpected: {text}");
    assert_eq!(host.matches("end_unused (").count(), 2, "unexpected: {text}");
}

#[test]
fn loops_over_indices_are_allowed() {
    let function = quote!(
        fn k() {
            for i in 0..4 {
                sums[i] += 1;
            }
        }
    );
    let device =
        crate::device::expand(quote!(), function.clone()).map_or_else(|error| error.to_string(), |all| all.to_string());
    for text in [expand_text(quote!(), function), device] {
        assert!(text.contains("clippy :: needless_range_loop"), "unexpected: {text}");
    }
}
