//! Tests pointers and slices that are part of a value, the result of a call, or the argument of a macro. If they are
//! passed to code without `#[device]`, the simulator notes that it does not check the accesses.

use crate::common::{Device, download, view, view_mut};
use cuda_std::{Global, GlobalMut, device, kernel, thread};
use simt::{Checks, FaultKind, Note, NoteKind, Notes, Simulator};

#[derive(Clone, Copy)]
struct Pair {
    y: *mut u32,
    by: u32,
}

#[derive(Clone, Copy)]
struct Rows<'a> {
    pair: Pair,
    x: &'a [u32],
}

#[derive(Clone, Copy)]
struct Views<'a> {
    x: Global<'a, u32>,
    by: u64,
}

/// # Safety
/// `y` must be valid for a write.
unsafe fn plain_set(y: *mut u32, value: u32) {
    // SAFETY: the caller guarantees a valid pointer.
    unsafe { *y = value };
}

fn plain_sum(x: &[u32]) -> u32 {
    x.iter().sum()
}

fn plain_pair(pair: Pair) {
    // SAFETY: the tests pass pointers to elements.
    unsafe { *pair.y = pair.by };
}

fn plain_pair_behind(pair: &Pair) {
    plain_pair(*pair);
}

fn plain_rows(rows: &Rows<'_>) -> u32 {
    rows.x[0]
}

fn plain_tuple((y, by): (*mut u32, u32)) {
    plain_pair(Pair { y, by });
}

fn plain_array(all: [*mut u32; 2]) {
    all.into_iter().for_each(|y| plain_tuple((y, 5)));
}

fn plain_option(x: Option<&[u32]>) -> u32 {
    x.map_or(0, |x| x[0])
}

fn plain_views(views: Views<'_>) -> u64 {
    u64::from(views.x.load(0)) + views.by
}

fn plain_numbers(numbers: (u64, [f32; 8], usize), more: &mut [u64; 4]) -> usize {
    more[0] = numbers.0;
    numbers.2
}

fn plain_apply(f: impl Fn(u32)) {
    f(6);
}

impl Pair {
    fn plain_add(&self, by: u32) {
        plain_pair(Self { by: self.by + by, ..*self });
    }
}

#[device]
mod marked {
    use super::{Pair, Rows, plain_sum};

    pub fn tail(x: &[u32], from: usize) -> &[u32] {
        &x[from..]
    }

    pub fn made(y: *mut u32, by: u32) -> Pair {
        Pair { y, by }
    }

    pub fn put(pair: Pair) {
        // SAFETY: the tests pass pointers to elements.
        unsafe { *pair.y = pair.by };
    }

    pub fn put_behind(rows: &Rows<'_>) {
        put(rows.pair);
    }

    pub fn put_tuple((y, by): (*mut u32, u32)) {
        put(made(y, by));
    }

    pub fn sum(x: &[u32]) -> u32 {
        let mut sum = 0;
        for value in x {
            sum += *value;
        }
        sum
    }

    impl Pair {
        pub(super) fn add(&self, by: u32) {
            put(Pair { by: self.by + by, ..*self });
        }

        pub(super) fn add_plainly(&self, by: u32) {
            self.plain_add(by); // self
        }
    }

    impl Rows<'_> {
        pub(super) fn sum_plainly(&self) -> u32 {
            plain_sum(self.x) // field
        }
    }
}

macro_rules! plain_write {
    ($y:expr, $value:expr) => {
        // SAFETY: the tests pass pointers to elements.
        unsafe { *$y = $value }
    };
}

use marked::{made, put, put_behind, put_tuple, sum, tail};

/// Passes pointers only to functions under `#[device]`, and values without pointers to other functions.
#[kernel]
fn all_seen(x: &[u32], y: *mut u32, z: Global<u32>) {
    let mut pair = Pair { y, by: 1 };
    put(pair);
    // SAFETY: the tests pass eight elements.
    pair.y = unsafe { y.add(1) };
    put(Pair { by: sum(tail(x, x.len() - 1)), ..pair });
    let rows = Rows { pair, x };
    put_behind(&rows);
    put_behind(&Rows { pair: made(y, 2), x });
    // SAFETY: the tests pass eight elements.
    put_tuple((unsafe { y.add(2) }, 3));
    made(y, 4).add(1);
    pair.add(5);
    let views = Views { x: z, by: 7 };
    let mut more = [1_u64; 4];
    let last = plain_numbers((plain_views(views), [1.0; 8], x.len()), &mut more);
    assert_eq!(plain_numbers((views.by + more[0], [2.0; 8], last + thread::index_1d()), &mut more), last);
    plain_apply(|by| pair.add(by));
    let chosen = x.chunks(2).map(|part| part[0]).max().unwrap_or(0);
    assert!(Some(x).is_some() && chosen > 0 && format_args!("{pair:p}", pair = y).to_string().len() > 1);
}

/// Passes pointers in all tested forms to functions without `#[device]`.
#[kernel]
fn unseen(x: &[u32], y: *mut u32) {
    let mut pair = Pair { y, by: 1 };
    plain_pair(pair); // by value
    plain_pair_behind(&pair); // by reference
    plain_pair(Pair { y, by: 2 }); // made there
    plain_pair_behind(&Pair { y, by: 2 }); // made and referred to
    // SAFETY: the tests pass eight elements.
    pair.y = unsafe { y.add(1) };
    plain_pair(pair); // put into a field
    plain_rows(&Rows { pair, x }); // slices
    plain_tuple((y, 3)); // tuple
    let both = [y, pair.y];
    plain_array(both); // array
    // SAFETY: the tests pass eight elements.
    unsafe { plain_set(both[1], 4) }; // element
    plain_option(Some(x)); // option
    let some = Some(x);
    plain_option(some); // variable
    plain_sum(tail(x, 1)); // result
    plain_sum(&x[x.iter().count() - 1..]); // part
    // SAFETY: the tests pass eight elements.
    unsafe { plain_set(if pair.by == 1 { y } else { both[0] }, 4) }; // branch
    made(y, 4).plain_add(1); // chain
    pair.add_plainly(1);
    Rows { pair, x }.sum_plainly();
    plain_write!(y, 9); // macro
    plain_write!(pair.y, 9); // macro with a field
}

/// Returns the function, the array and the source line of a note.
fn told(note: Note) -> (&'static str, Option<&'static str>, u32) {
    match note.kind {
        NoteKind::NotChecked { function, array } => (function, array, note.location.line),
        _ => panic!("{note}"),
    }
}

fn checking() -> (Device, Notes) {
    let notes = Notes::new();
    (Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone())), notes)
}

fn line_of(comment: &str) -> u32 {
    let text = format!("// {comment}");
    include_str!("handed_within.rs").lines().zip(1..).find(|(line, _)| line.ends_with(&text)).unwrap().1
}

#[test]
fn what_is_seen_is_not_announced() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.upload(&[0_u32; 8]));
    device.run(1, 1, &all_seen(view(&x), view_mut(&y), view(&x))).unwrap();
    assert_eq!(notes.take(), []);
    assert_eq!(download::<u32>(&y)[..3], [5, 7, 3]);
}

#[test]
fn what_is_not_seen_is_announced_wherever_it_is_in_the_value() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.upload(&[0_u32; 8]));
    device.run(1, 1, &unseen(view(&x), view_mut(&y))).unwrap();
    let found: Vec<_> = notes.take().into_iter().map(told).collect();
    let expected = [
        ("plain_pair", "y", "by value"),
        ("plain_pair_behind", "y", "by reference"),
        ("plain_pair", "y", "made there"),
        ("plain_pair_behind", "y", "made and referred to"),
        ("plain_pair", "y", "put into a field"),
        ("plain_rows", "x", "slices"),
        ("plain_tuple", "y", "tuple"),
        ("plain_array", "y", "array"),
        ("plain_set", "y", "element"),
        ("plain_option", "x", "option"),
        ("plain_option", "x", "variable"),
        ("plain_sum", "x", "result"),
        ("plain_sum", "x", "part"),
        ("plain_set", "y", "branch"),
        ("plain_add", "y", "chain"),
        ("plain_add", "y", "self"),
        ("plain_sum", "x", "field"),
        ("plain_write!", "y", "macro"),
        ("plain_write!", "y", "macro with a field"),
    ];
    let named = |(function, array, comment)| (function, Some(array), line_of(comment));
    assert_eq!(found, expected.map(named));
}

/// Passes a structure with a view to one function, and a structure with a pointer to the same buffer to another.
#[kernel]
fn views_beside_pointers(x: Global<u32>, y: GlobalMut<u32>) {
    let pair = Pair { y: y.as_ptr(), by: 1 };
    put(pair);
    let views = Views { x, by: 1 };
    y.store(1, plain_views(views) as u32);
}

#[test]
fn views_are_not_announced() {
    let (device, notes) = checking();
    let (x, y) = (device.upload(&[1_u32, 2]), device.upload(&[0_u32; 2]));
    device.run(1, 1, &views_beside_pointers(view(&x), view_mut(&y))).unwrap();
    assert_eq!(notes.take(), []);
}

fn plain_len((_, len): (*const u32, usize)) -> usize {
    len
}

/// Passes a tuple with a `*mut` pointer to a function, which may therefore have written the target.
#[kernel]
fn given_to_write(y: *mut u32, z: *mut u32) {
    plain_tuple((y, 3));
    // SAFETY: each pointer that the tests pass points to one element.
    unsafe { *z = *y };
}

/// Passes a tuple with a `*const` pointer to a function, which therefore cannot have written the target.
#[kernel]
fn given_to_read(y: *mut u32, z: *mut u32) {
    plain_len((y.cast_const(), 1));
    // SAFETY: each pointer that the tests pass points to one element.
    unsafe { *z = *y };
}

#[test]
fn the_type_of_a_value_says_whether_it_was_written() {
    let (device, notes) = checking();
    let (y, z) = (device.room::<u32>(1), device.room::<u32>(1));
    device.run(1, 1, &given_to_write(view_mut(&y), view_mut(&z))).unwrap();
    assert_eq!(download::<u32>(&z), [3]);
    assert_eq!(notes.take().len(), 1);
    let y = device.room::<u32>(1);
    let fault = device.fault(1, 1, &given_to_read(view_mut(&y), view_mut(&z)));
    assert!(matches!(fault.kind, FaultKind::Uninitialised { .. }), "{fault}");
    assert_eq!(notes.take().len(), 1);
}
