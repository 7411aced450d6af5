//! Tests declared races, relaxed accesses of narrow elements, and fences that acquire and release only.

use cuda_std::{GlobalMut, bf16, f16, fence_acq_rel, kernel, shared_array, thread};
use launch::{Device, Error, LaunchConfig, checked_devices, checked_devices_strict};

use crate::cured::{assert_cured, assert_sound};

/// Marks the multiples of 3 in `found` by a flag that all threads may set, and counts the threads that set it.
#[kernel]
fn any_multiple(found: GlobalMut<u32>, is_faulty: bool) {
    let i = thread::index_1d() as u32;
    if i.is_multiple_of(3) {
        if is_faulty {
            found.store(0, 1);
        } else if found.racy_load(0) == 0 {
            found.racy_store(0, 1);
        }
    }
}

#[test]
fn a_declared_race() {
    assert_cured("data race on `found[0]`", &[1], |device, is_faulty| {
        let mut found = device.zeroed(1)?;
        device.launch(LaunchConfig::new(3, 40), any_multiple(found.view_mut(), is_faulty))?;
        found.download()
    });
}

/// Sets a flag in shared memory by a declared race.
#[kernel]
fn any_in_block(y: GlobalMut<u32>) {
    let flag = shared_array![u32; 1];
    let i = thread::thread_idx_x();
    if i == 0 {
        flag.store(0, 0);
    }
    thread::sync_threads();
    if i % 7 == 3 {
        flag.racy_store(0, 1);
    }
    thread::sync_threads();
    y.store(i as usize, flag.racy_load(0));
}

#[test]
fn a_declared_race_in_shared_memory() {
    assert_sound(&[1; 64], |device| {
        let mut y = device.zeroed(64)?;
        device.launch(LaunchConfig::new(1, 64), any_in_block(y.view_mut()))?;
        y.download()
    });
}

macro_rules! messages {
    ($($test:ident $kernel:ident $type:ty: $zero:expr, $one:expr;)*) => {$(
        /// Sends a value to the next block by a flag of a narrow type, with fences around relaxed accesses.
        #[kernel]
        fn $kernel(flags: GlobalMut<$type>, y: GlobalMut<u32>) {
            let block = thread::block_idx_x() as usize;
            if block > 0 {
                while flags.load_relaxed(block - 1) == $zero {}
                fence_acq_rel();
                y.store(block, y.load(block - 1) + 1);
            }
            fence_acq_rel();
            flags.store_relaxed(block, $one);
        }

        #[test]
        fn $test() {
            let launch = |device: &Device| -> Result<Vec<u32>, Error> {
                let (mut flags, mut y) = (device.upload(&[$zero; 4])?, device.zeroed(4)?);
                device.launch(LaunchConfig::new(4, 1), $kernel(flags.view_mut(), y.view_mut()))?;
                y.download()
            };
            for device in checked_devices().chain(checked_devices_strict()) {
                assert_eq!(launch(&device).unwrap(), [0, 1, 2, 3]);
            }
        }
    )*};
}

messages! {
    a_message_by_a_byte by_byte u8: 0, 1;
    a_message_by_a_signed_byte by_signed_byte i8: 0, -1;
    a_message_by_a_bool by_bool bool: false, true;
    a_message_by_two_bytes by_two_bytes u16: 0, 1;
    a_message_by_a_half by_half f16: f16::from_f32(0.0), f16::from_f32(1.0);
    a_message_by_a_bfloat by_bfloat bf16: bf16::from_f32(0.0), bf16::from_f32(1.0);
}
