//! Tests buffers in the simulator.

use launch::{Buffer, Device, DeviceChoice, Error};

fn device() -> Device {
    Device::open(DeviceChoice::Sim, &[]).expect("the simulator can be opened")
}

#[test]
fn uploaded_values_are_downloaded() -> Result<(), Error> {
    let device = device();
    for len in [0, 1, 2, 31, 255, 256, 257, 100_003] {
        let data: Vec<u64> = (0..len).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let mut buffer = device.upload(&data)?;
        assert_eq!(buffer.len(), data.len());
        assert_eq!(buffer.is_empty(), data.is_empty());
        assert_eq!(buffer.download()?, data);

        let reversed: Vec<u64> = data.iter().rev().copied().collect();
        buffer.upload(&reversed)?;
        let mut target = vec![7; data.len()];
        buffer.download_into(&mut target)?;
        assert_eq!(target, reversed);

        let mut copy = device.alloc(data.len())?;
        copy.copy_from(&buffer)?;
        buffer.fill_zero()?;
        assert_eq!(copy.download()?, reversed);
        assert_eq!(buffer.download()?, vec![0; data.len()]);
    }
    Ok(())
}

#[test]
fn elements_of_any_size() -> Result<(), Error> {
    let device = device();
    assert_eq!(device.upload(&[1_u8, 2, 3])?.download()?, [1, 2, 3]);
    assert_eq!(device.upload(&[[1_u32, 2, 3], [4, 5, 6]])?.download()?, [[1, 2, 3], [4, 5, 6]]);
    assert_eq!(device.upload(&[1.5_f64])?.download()?, [1.5]);
    assert_eq!(device.zeroed::<i16>(3)?.download()?, [0, 0, 0]);
    // The element type has no bytes, and the buffer has more elements than memory has bytes.
    let nothing = device.alloc::<[u32; 0]>(usize::MAX)?;
    assert_eq!(nothing.len(), usize::MAX);
    Ok(())
}

#[test]
fn empty_buffers_have_views() -> Result<(), Error> {
    let device = device();
    let mut empty = device.alloc::<f64>(0)?;
    assert_eq!(empty.view().len(), 0);
    assert!(empty.view().as_ptr().is_aligned() && !empty.view().as_ptr().is_null());
    assert_eq!(empty.view_mut().len(), 0);
    assert!(device.zeroed::<u8>(0)?.download()?.is_empty());
    Ok(())
}

#[test]
fn a_view_starts_at_256_bytes() -> Result<(), Error> {
    let device = device();
    for len in 1..20 {
        assert_eq!(device.alloc::<u8>(len)?.view().as_ptr() as usize % 256, 0);
    }
    Ok(())
}

#[test]
fn too_large_an_allocation_is_an_error_with_the_free_size() -> Result<(), Error> {
    let device = device();
    let properties = device.properties()?;
    let asked = usize::try_from(properties.memory_bytes).expect("fits") + 1;
    match device.alloc::<u8>(asked) {
        Err(Error::OutOfMemory { requested_bytes, free_bytes, device }) => {
            assert_eq!(requested_bytes, asked as u64);
            assert!(free_bytes <= properties.memory_bytes, "{free_bytes}");
            assert_eq!(device, "simulator");
        }
        other => panic!("{other:?}"),
    }
    let message = device.alloc::<u8>(asked).expect_err("too much").to_string();
    assert!(message.contains(&asked.to_string()) && message.contains("simulator"), "{message}");

    for len in [usize::MAX, usize::MAX / 4, usize::MAX / 8 + 1] {
        let error = device.alloc::<u64>(len).expect_err("too much");
        assert!(matches!(error, Error::TooLarge { element_bytes: 8, .. }), "{error:?}");
    }
    // The device remains usable.
    assert_eq!(device.upload(&[1_u8])?.download()?, [1]);
    Ok(())
}

#[test]
fn dropped_memory_is_free_again() -> Result<(), Error> {
    // The other tests of this program run at the same time, and use much less memory than this.
    const BYTES: u64 = 64 << 20;
    let device = device();
    let used = || device.properties().map(|properties| properties.memory_bytes - properties.memory_free_bytes);
    let before = used()?;
    let buffer = device.alloc::<u8>(BYTES as usize)?;
    assert!(used()? > before + BYTES / 2);
    drop(buffer);
    assert!(used()? < before + BYTES / 2);
    Ok(())
}

#[test]
fn lengths_must_agree() -> Result<(), Error> {
    let device = device();
    let mut buffer = device.upload(&[1_u32, 2, 3])?;
    let longer = device.upload(&[1_u32, 2, 3, 4])?;
    for error in [
        buffer.upload(&[1, 2]).expect_err("shorter"),
        buffer.download_into(&mut [0; 4]).expect_err("longer"),
        buffer.copy_from(&longer).expect_err("longer"),
    ] {
        assert!(matches!(error, Error::LengthMismatch { buffer: 3, .. }), "{error:?}");
    }
    assert_eq!(buffer.download()?, [1, 2, 3], "elements were changed");
    Ok(())
}

#[test]
fn buffers_of_two_devices_do_not_copy() -> Result<(), Error> {
    let (here, there) = (device(), device());
    let source = here.upload(&[1_u32])?;
    let mut target = there.zeroed::<u32>(1)?;
    let error = target.copy_from(&source).expect_err("another device");
    assert!(matches!(error, Error::WrongDevice { .. }), "{error:?}");
    assert_eq!(target.download()?, [0]);
    Ok(())
}

#[test]
fn devices_and_buffers_cross_threads() -> Result<(), Error> {
    fn shared<T: Send + Sync>(_: &T) {}
    fn sent<T: Send>(_: &T) {}
    let device = device();
    let buffer: Buffer<u32> = device.upload(&[1, 2, 3])?;
    shared(&device);
    sent(&buffer);
    let data = std::thread::scope(|scope| scope.spawn(|| device.upload(&[4_u32])?.download()).join());
    assert_eq!(data.expect("no panic")?, [4]);
    // A buffer keeps its device alive.
    drop(device);
    assert_eq!(buffer.download()?, [1, 2, 3]);
    assert!(buffer.device().is_simulated());
    Ok(())
}
