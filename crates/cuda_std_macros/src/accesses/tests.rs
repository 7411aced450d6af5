//! Tests of the pass that makes a body report its accesses.

use quote::quote;

use crate::kernel::expand;

#[test]
fn arrays_of_the_thread_s_own_are_left_as_they_are_written() {
    let text = expand(
        quote!(),
        quote!(
            fn k(x: &[u32], y: GlobalMut<u32>, by: [u32; 4]) {
                let mut tile = [[0; 2]; 4];
                let typed: [u32; 4] = make();
                tile[1][0] += tile[0][1] * by[2] + typed[3];
                for value in &mut tile {
                    value.swap_with(1);
                }
                {
                    let tile = x;
                    y.store(0, tile[5]);
                }
                let first = |by: &[u32]| by[6];
                y.store(1, tile[7][1]);
            }
        ),
    );
    let text = text.map_or_else(|error| error.to_string(), |tokens| tokens.to_string());
    let (device, host) = text.split_once("host {").expect("code for the host");
    assert!(!device.contains("observed"), "unexpected: {text}");
    assert!(host.contains("; tile [1] [0] += tile [0] [1] * by [2] + typed [3] ;"), "unexpected: {text}");
    assert!(host.contains("for value in & mut tile"), "unexpected: {text}");
    // Another variable of the same name may be a slice and is reported.
    for told in ["(tile)) . indexed (way , & (5))", "(by)) . indexed (way , & (6))"] {
        assert!(host.contains(told), "`{told}` is not in {text}");
    }
    assert!(host.contains("y . store (1 , tile [7] [1])"), "unexpected: {text}");
}
