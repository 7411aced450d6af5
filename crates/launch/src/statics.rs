//! Access by the host to statics in device memory.

use std::mem::MaybeUninit;

use cuda_std::{Constant, DeviceStatic, Element, GlobalStatic};

use crate::device::Device;
use crate::error::Error;

/// A static of a kernel crate that the host reads and writes on each device: a [`Constant`] or a [`GlobalStatic`].
pub trait Static: sealed::Sealed {}

impl<T: Element> Static for Constant<T> {}
impl<T: Element> Static for GlobalStatic<T> {}

mod sealed {
    use super::{Constant, DeviceStatic, Element, GlobalStatic};

    pub trait Sealed: 'static {
        type Element: Element;

        fn info(&'static self) -> &'static DeviceStatic;
    }

    impl<T: Element> Sealed for Constant<T> {
        type Element = T;

        fn info(&'static self) -> &'static DeviceStatic {
            self.place().info()
        }
    }

    impl<T: Element> Sealed for GlobalStatic<T> {
        type Element = T;

        fn info(&'static self) -> &'static DeviceStatic {
            self.place().info()
        }
    }
}

impl Device {
    /// Sets the elements of a kernel's static variable `of` on this device, for later launches. Waits for the earlier
    /// launches, except those in streams.
    ///
    /// ```
    /// use cuda_std::{GlobalMut, address_space, kernel, thread};
    /// use launch::{Device, DeviceChoice, LaunchConfig};
    ///
    /// #[address_space(constant)]
    /// static WEIGHTS: [f32; 3] = [0.25, 0.5, 0.25];
    ///
    /// #[kernel]
    /// pub fn weigh(y: GlobalMut<f32>) {
    ///     let i = thread::index_1d();
    ///     y.store(i, WEIGHTS.load(i));
    /// }
    ///
    /// # fn main() -> Result<(), launch::Error> {
    /// # const MODULES: &[launch::PtxModule] = &[];
    /// let device = Device::open(DeviceChoice::Sim, MODULES)?;
    /// device.set_static(&WEIGHTS, &[1.0, 2.0, 1.0])?;
    /// let mut y = device.alloc(3)?;
    /// device.launch(LaunchConfig::new(1, 3), weigh(y.view_mut()))?;
    /// assert_eq!(y.download()?, [1.0, 2.0, 1.0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::LengthMismatch`] if `values` and `of` have different lengths. On a GPU, [`Error::NoModule`],
    /// [`Error::Jit`] or [`Error::PtxTooNew`] if no compiled module has the static, and [`Error::ContextLost`] when an
    /// earlier launch failed.
    pub fn set_static<S: Static>(&self, of: &'static S, values: &[S::Element]) -> Result<(), Error> {
        let info = of.info();
        check_len("set", info, size_of_val(values))?;
        // SAFETY: the slice's memory is valid for reads of its size, and `MaybeUninit<u8>` allows any byte.
        let bytes: &[MaybeUninit<u8>] =
            unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) };
        self.queues().join_streams()?;
        self.note_waits();
        self.backend().write_static(info, bytes)?;
        self.queues().fork_streams_after_upload()
    }

    /// Returns the elements of a kernel's static variable `of` on this device. Waits for the earlier launches, except
    /// those in streams.
    ///
    /// # Errors
    ///
    /// The same errors as [`set_static`](Self::set_static).
    pub fn read_static<S: Static>(&self, of: &'static S) -> Result<Vec<S::Element>, Error> {
        let info = of.info();
        let len = info.bytes / info.element.max(1);
        let mut values: Vec<S::Element> = Vec::with_capacity(len);
        self.queues().join_streams()?;
        self.note_waits();
        // SAFETY: the vector has capacity for `info.bytes` bytes.
        unsafe { self.backend().read_static(info, values.as_mut_ptr().cast()) }?;
        // SAFETY: the bytes of `len` elements have been written, and any bytes are valid elements.
        unsafe { values.set_len(len) };
        Ok(values)
    }
}

fn check_len(what: &'static str, info: &DeviceStatic, bytes: usize) -> Result<(), Error> {
    let element = info.element.max(1);
    if bytes == info.bytes {
        return Ok(());
    }
    Err(Error::LengthMismatch { what, buffer: info.bytes / element, other: bytes / element })
}
