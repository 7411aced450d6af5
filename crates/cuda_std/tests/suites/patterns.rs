//! Checks that the simulator sees the elements that slice patterns and comparisons of slices read, in all forms.

use crate::common::{Device, download, line, view, view_mut};
use cuda_std::{GlobalMut, device, kernel};
use simt::FaultKind;

struct Named<'a> {
    x: &'a [u32],
    by: u32,
}

#[device]
fn same(x: &[u32]) -> &[u32] {
    x
}

#[device]
fn some(x: &[u32]) -> Option<&[u32]> {
    Some(x)
}

/// Reads the third element of `x`, or compares exactly two elements.
#[kernel]
fn read(x: &[u32], rows: &[[u32; 3]], y: GlobalMut<u32>, which: u32, both: bool) {
    let option = Some(x);
    let tuple = (x, 1);
    let named = Named { x, by: 1 };
    let pair = [&x[..2], x];
    let two = [1, 1];
    let value = match which {
        0 => match option {
            Some([a, _, c]) if both => a + c, // option
            Some([a, ..]) => *a,
            _ => 0,
        },
        1 => match tuple {
            ([.., c], n) => c * n, // tuple
            _ => 0,
        },
        2 => match (x, both) {
            ([a, _, c], true) => a + c, // made tuple
            _ => 0,
        },
        3 => {
            let Named { x: [a, .., c], by } = named else { return }; // field
            a + by + c
        }
        4 => match pair {
            [[a, ..], [.., c]] => a + c, // array of slices
            _ => 0,
        },
        5 => {
            if let [_, _, c] = same(x) { *c } else { 0 } // given
        }
        6 => {
            let Some([.., c]) = some(x) else { return }; // given in another
            *c
        }
        7 => matches!(option, Some([1, 1, 1])) as u32, // macro
        8 => match rows {
            [[_, _, c], ..] => *c, // row
            _ => 0,
        },
        9 => (x < &two[..]) as u32,      // less
        10 => (x[..] >= two[..]) as u32, // not less
        11 => (same(x) == x) as u32,     // given and compared
        12 => match option {
            Some(whole @ [_, _, 1]) => whole.len() as u32, // bound
            _ => 0,
        },
        13 => match which {
            n if x[n as usize - 11] == 1 => n, // condition
            _ => 0,
        },
        _ => match option {
            None => 0,
            Some([_, b, _]) | Some([b, _]) => *b, // written
            _ => 1,
        },
    };
    y.store(0, value);
}

const COMMENTS: [&str; 14] = [
    "option",
    "tuple",
    "made tuple",
    "field",
    "array of slices",
    "given",
    "given in another",
    "macro",
    "row",
    "less",
    "not less",
    "given and compared",
    "bound",
    "condition",
];

/// Returns the line that ends with `comment`.
fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("patterns.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

#[test]
fn what_a_pattern_or_a_comparison_reads_is_told() {
    let device = Device::new();
    let y = device.room::<u32>(1);
    for (which, comment) in (0..).zip(COMMENTS) {
        let x = device.room::<u32>(3);
        // SAFETY: the memory has three elements, and no kernel runs.
        unsafe { x.as_ptr().cast::<[u32; 3]>().write([1; 3]) };
        x.note_written(0, 8);
        let call = read(view(&x), view(&x), view_mut(&y), which, true);
        let fault = device.run(1, 1, &call).expect_err(comment);
        assert!(matches!(fault.kind, FaultKind::Uninitialised { index: 0 | 2, .. }), "{comment}: {fault}");
        assert!(fault.to_string().contains("`x["), "{comment}: {fault}");
        let end = line_of(comment);
        assert!((end - 2..=end).contains(&line(&fault)), "{comment}: {fault}");
        x.note_written(8, 4);
        device.run(1, 1, &call).unwrap();
    }
    // Elements that a pattern does not name are not read.
    let x = device.room::<u32>(3);
    // SAFETY: the memory has three elements, and no kernel runs.
    unsafe { x.as_ptr().cast::<[u32; 3]>().write([1; 3]) };
    x.note_written(0, 8);
    device.run(1, 1, &read(view(&x), view(&x), view_mut(&y), 14, true)).unwrap();
    assert_eq!(download::<u32>(&y), [1]);
}
