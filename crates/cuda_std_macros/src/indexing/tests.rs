//! Tests of the indices of views.

use quote::ToTokens;
use syn::ItemFn;

use super::*;

/// Returns the rewritten body of a function, or the text of the error.
fn rewritten(function: TokenStream) -> String {
    let mut function: ItemFn = parse2(function).unwrap();
    let result = rewrite(&function.sig, &mut function.block);
    result.map_or_else(|error| error.to_string(), |()| function.block.into_token_stream().to_string())
}

#[test]
fn indices_of_views_are_loads_and_stores() {
    let text = rewritten(quote!(
        fn k(x: Global<f32>, y: &GlobalMut<'_, [f32; 4]>, s: &[f32]) {
            let tile = shared_array![[f32; 16]; 16];
            y[i][x[0] as u32] = tile[i][j];
            let (part, own) = (tile.part(1, 2), [0; 4]);
            part[0][1] += s[2] + own[3];
            assert!(x[4].max(1.0) > 0.0 && tile[5][6..].len() > 0);
            y.atomic_add(n, 1);
            s.load(n);
            let row = tile.row(7);
            row[8] -= other(|row: u32| row[9]);
            {
                let x = s;
                x[10];
            }
            for y in x[11].. {
                y[12]
            }
            if let Some(tile) = tile[13].first() { tile[14] } else { tile[15] }
        }
    ));
    for expected in [
        "let assigned = tile . row (i) . load (:: cuda_std :: __private :: usize :: ElementIndex :: index (j))",
        "y . row (i) . store (:: cuda_std :: __private :: usize :: ElementIndex :: index (x . load (0) as u32) , \
         assigned)",
        "let assigned = s [2] + own [3] ; let at = 1 ; let mut found = part . row (0) . load (at) ; found += assigned \
         ; part . row (0) . store (at , found)",
        "(* :: cuda_std :: __private :: element (& x . load (4))) . max (1.0)",
        "let mut found = row . load (at) ; found -= assigned",
        "other (| row : u32 | row [9])",
        "x [10]",
        "for y in x . load (11) .. { y [12] }",
        "element (& tile . load (13))) . first () { tile [14] } else { tile . load (15) }",
    ] {
        assert!(text.contains(expected), "`{expected}` is not in {text}");
    }
}

#[test]
fn references_to_elements_are_refused() {
    for (body, expected) in [
        (quote!(let r = &x[0];), "a reference to an element of a view is not possible"),
        (quote!(let r = &mut x[0].part;), "a reference to an element"),
        (quote!(x[0].part = 1;), "assigning to a part of an element"),
        (quote!(x[0][1] = 1;), "assigning to a part of an element"),
        (quote!((x[0], y) = (1, 2);), "assigning to a part of an element"),
    ] {
        let text = rewritten(quote!(fn k(x: GlobalMut<Pair>) { #body }));
        assert!(text.contains(expected), "{body}: `{expected}` is not in {text}");
    }
}
