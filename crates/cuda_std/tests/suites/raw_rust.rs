//! Tests Rust's operations on pointers and slices, with a fault in each kernel. The simulator reports the fault or
//! notes that it does not check the accesses.

use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use crate::common::{Device, view, view_mut};
use cuda_std::{kernel, shared_array, thread};
use simt::{Checks, Notes, Simulator};

/// A float or its bits.
#[derive(Clone, Copy)]
#[repr(C)]
union Bits {
    f: f32,
    u: u32,
}

/// A structure that contains pointers to both buffers of a kernel.
struct Both {
    x: *const f32,
    y: *mut f32,
}

/// Declares a kernel for each operation. Only the first 32 of the 64 elements of `x` are initialised.
macro_rules! ways {
    ($($name:ident($x:ident, $y:ident, $i:ident) $body:block)*) => {
        $(
            /// # Safety
            /// There is no condition. Each kernel has a fault, which the test expects.
            #[kernel]
            #[allow(unused_braces, unused_variables, unused_unsafe, reason = "each uses something else")]
            unsafe fn $name($x: &[f32], $y: *mut f32) {
                let $i = thread::index_1d();
                // SAFETY: none. The test checks that the simulator reports the invalid access.
                unsafe { $body }
            }
        )*

        /// Runs each kernel, and returns its name, its fault and its notes.
        fn found() -> Vec<(&'static str, String, Vec<String>)> {
            vec![$({
                let notes = Notes::new();
                let device = Device(Simulator::new().with_checks(Checks::default()).with_notes(notes.clone()));
                let (x, y) = (device.upload(&[1.0_f32; 64]), device.upload(&[1.0_f32; 64]));
                let x_unwritten = device.room::<f32>(64);
                // SAFETY: both buffers have 64 elements, and no kernel runs.
                unsafe { x_unwritten.as_ptr().copy_from_nonoverlapping(x.as_ptr(), 256) };
                x_unwritten.note_written(0, 128);
                // SAFETY: the simulator reports a fault before the faulty access.
                let call = unsafe { $name(view(&x_unwritten), view_mut(&y)) };
                let fault = device.run(1, 32, &call).map_or_else(|fault| fault.to_string(), |()| String::new());
                (stringify!($name), fault, notes.take().iter().map(ToString::to_string).collect())
            },)*]
        }
    };
}

ways! {
    bounds_copies(x, y, i) { ptr::copy_nonoverlapping(x.as_ptr().add(i * 4), y.add(i * 4), 4) }
    bounds_unchecked(x, y, i) { *y.add(i) = *x.get_unchecked(i + 40) }
    bounds_structure(x, y, i) {
        let both = Both { x: x.as_ptr(), y };
        *both.y.add(i) = *both.x.add(i + 60);
    }
    bounds_address(x, y, i) { *y.add(i) = *((x.as_ptr() as usize + 4 * (i + 64)) as *const f32) }
    bounds_array(x, y, i) {
        let pair = &mut *y.add(64 + i).cast::<[f32; 2]>();
        *pair = [1.0, 2.0];
    }
    bounds_part(x, y, i) {
        let part: [f32; 4] = x[i * 4..i * 4 + 4].try_into().unwrap();
        *y.add(i) = part[0];
    }
    unwritten_chunks(x, y, i) { *y.add(i) = x.chunks_exact(5).map(|chunk| chunk[4]).sum::<f32>() }
    unwritten_zip(x, y, i) { *y.add(i) = x[..20].iter().zip(&x[20..]).map(|(a, b)| a * b).sum::<f32>() }
    unwritten_own_zip(x, y, i) {
        let mut own = [0.0_f32; 4];
        own.iter_mut().zip(&x[32..36]).for_each(|(a, b)| *a = *b);
        *y.add(i) = own[0];
    }
    unwritten_windows(x, y, i) { *y.add(i) = x.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f32::max) }
    unwritten_next(x, y, i) {
        let mut elements = x.iter();
        while let Some(value) = elements.next() {
            *y.add(i) += value;
        }
    }
    unwritten_cast(x, y, i) {
        let rows = &*x.as_ptr().cast::<[[f32; 8]; 8]>();
        *y.add(i) = rows[i / 4][i % 8];
    }
    unwritten_maybe(x, y, i) {
        let tile = shared_array![f32; 32].as_mut_ptr().cast::<MaybeUninit<f32>>();
        if i < 16 {
            (*tile.add(i)).write(1.0);
        }
        thread::sync_threads();
        *y.add(i) = (*tile.add(i)).assume_init();
    }
    unwritten_copied(x, y, i) {
        let mut own = [0.0_f32; 4];
        own.copy_from_slice(&x[32..36]);
        *y.add(i) = own[0];
    }
    race_swap(x, y, i) {
        let elements = core::slice::from_raw_parts_mut(y, 64);
        elements.swap(i, (i + 1) % 32);
    }
    race_split(x, y, i) {
        let (low, high) = core::slice::from_raw_parts_mut(y, 64).split_at_mut(32);
        low[i] = 1.0;
        high[i] = low[(i + 1) % 32];
    }
    race_reference(x, y, i) {
        let element = &mut *y.add(i / 2);
        *element += 1.0;
    }
    race_union(x, y, i) { (*y.cast::<Bits>().add(i / 2)).u = 3 }
    race_non_null(x, y, i) { NonNull::new_unchecked(y).add(i / 2).write(1.0) }
    race_field(x, y, i) { ptr::addr_of_mut!((*y.cast::<Both>().add(i / 2)).y).write(y) }
    race_exchange(x, y, i) {
        let (a, b) = (y.add(i), y.add((i + 1) % 32));
        (*a, *b) = (*b, *a);
    }
    race_row(x, y, i) {
        for value in &mut (*y.cast::<[[f32; 4]; 16]>())[i / 2] {
            *value = 1.0;
        }
    }
    race_replaced(x, y, i) { *y.add(i) = core::mem::replace(&mut *y.add(i / 2), 1.0) }
    noted_swap(x, y, i) { core::slice::from_raw_parts_mut(y, 64).swap(i, (i + 1) % 32) }
    noted_chunks(x, y, i) { *y.add(i) = x.as_chunks::<4>().0[8][0] }
    noted_as_mut(x, y, i) { *y.add(i / 2).as_mut().unwrap() = 1.0 }
    noted_last(x, y, i) { *y.add(i) = *x.last().unwrap() }
    noted_part(x, y, i) {
        let part: [f32; 4] = x[36..40].try_into().unwrap();
        *y.add(i) = part[0];
    }
    noted_reference(x, y, i) {
        let part: &[f32; 4] = (&x[36..40]).try_into().unwrap();
        *y.add(i) = part[0];
    }
    noted_owned(x, y, i) { *y.add(i) = x[30..].to_owned()[5] }
    noted_non_null(x, y, i) { *NonNull::new_unchecked(y).as_mut() = 1.0 }
    noted_imported(x, y, i) {
        use core::ptr::{read, write};
        write(y.add(i), read(x.as_ptr().add(i + 5)));
    }
}

#[test]
fn each_fault_is_found_or_announced_at_its_line() {
    let lines = || include_str!("raw_rust.rs").lines().zip(1_u32..);
    for (name, fault, notes) in found() {
        let (kind, _) = name.split_once('_').unwrap();
        let text = match kind {
            "bounds" => &fault,
            "unwritten" | "race" => &fault,
            _ => notes.first().unwrap_or(&fault),
        };
        let says = match kind {
            "bounds" => "out of bounds of",
            "unwritten" => "a read of",
            "race" => "data race on",
            _ => "not checked: the accesses of",
        };
        assert!(text.contains(says), "{name}: {fault} {notes:?}");
        let (_, start) = lines().find(|(line, _)| line.contains(&format!("{name}("))).unwrap();
        let at = text.split("raw_rust.rs:").nth(1).and_then(|rest| rest.split(':').next()).unwrap();
        let at: u32 = at.parse().unwrap();
        assert!((start..start + 8).contains(&at), "{name}, from line {start}: {text}");
        assert!(!notes.iter().any(|note| note.contains("addr_of")), "{name}: {notes:?}");
    }
}
