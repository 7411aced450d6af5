//! The memory that a graph holds for its work.

use std::ffi::c_void;
use std::marker::PhantomData;

use cuda_std::{DeviceCopy, DeviceId};

use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::mapped::MappedBuffer;
use crate::memory::MemoryId;

/// A piece of memory that a graph holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldMemory {
    pub(crate) id: MemoryId,
    pub(crate) start: usize,
    pub(crate) bytes: usize,
    pub(crate) is_exclusive: bool,
}

/// Implemented by the buffers that a [`Graph`](crate::Graph) can hold, by value or by reference, and by tuples, arrays
/// and structures of them. Kernels of the graph may read buffers behind a `&`, and read and write all others.
///
/// For a structure, [`hold`](Self::hold) must name all buffers that kernels use. Otherwise recording the graph returns
/// an error:
///
/// ```
/// use launch::{Buffer, Held, Resources};
///
/// struct Workspace {
///     partials: Buffer<f32>,
///     ticket: Buffer<u32>,
/// }
///
/// impl Resources for Workspace {
///     fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
///         self.partials.hold(held);
///         self.ticket.hold(held);
///     }
/// }
/// ```
pub trait Resources {
    /// Calls [`Held::shared`] or [`Held::exclusive`] for each buffer, or calls `hold` for each field.
    fn hold<'s>(&'s mut self, held: &mut Held<'s>);
}

/// A list of the buffers in a [`Resources`] value. The buffers stay borrowed for `'s`, while the graph's work is
/// enqueued.
#[derive(Debug)]
pub struct Held<'s> {
    device: DeviceId,
    memory: Vec<HeldMemory>,
    borrows: PhantomData<&'s mut ()>,
}

impl<'s> Held<'s> {
    /// Creates an empty list for buffers of `device`. The list reuses the storage of `memory`.
    pub(crate) fn new(device: DeviceId, mut memory: Vec<HeldMemory>) -> Self {
        memory.clear();
        Self { device, memory, borrows: PhantomData }
    }

    pub(crate) fn memory(&self) -> &[HeldMemory] {
        &self.memory
    }

    pub(crate) fn into_memory(self) -> Vec<HeldMemory> {
        self.memory
    }

    /// Adds a [`Buffer`] or [`MappedBuffer`] that kernels may read.
    pub fn shared<B: Holdable>(&mut self, buffer: &'s B) {
        self.add(buffer, false);
    }

    /// Adds a [`Buffer`] or [`MappedBuffer`] that kernels may read and write.
    pub fn exclusive<B: Holdable>(&mut self, buffer: &'s mut B) {
        self.add(buffer, true);
    }

    fn add(&mut self, buffer: &impl Holdable, is_exclusive: bool) {
        let sealed::Memory { id, device, start, bytes } = buffer.memory();
        if device == self.device {
            self.memory.push(HeldMemory { id, start, bytes, is_exclusive });
        }
    }
}

impl Device {
    /// Returns the addresses of the buffers of `resources` that are on this device, in order, so that another library
    /// can use the buffers.
    #[doc(hidden)]
    pub fn memory_of<R: Resources + ?Sized>(&self, resources: &mut R) -> Vec<usize> {
        let mut held = Held::new(self.id(), Vec::new());
        resources.hold(&mut held);
        held.memory().iter().map(|memory| memory.start).collect()
    }

    /// Makes the device's context current and returns the driver's handle of the device's stream, or null in the
    /// simulator.
    #[doc(hidden)]
    pub fn raw_stream(&self) -> Result<*mut c_void, Error> {
        self.backend().raw_stream()
    }
}

/// Memory that a graph can hold for kernels: a [`Buffer`] or a [`MappedBuffer`].
pub trait Holdable: sealed::Sealed {}

mod sealed {
    use super::{DeviceId, MemoryId};

    /// The address and size of a buffer's memory, as kernels see it.
    pub struct Memory {
        pub(crate) id: MemoryId,
        pub(crate) device: DeviceId,
        pub(crate) start: usize,
        pub(crate) bytes: usize,
    }

    /// Sealed, because unsafe code relies on `memory` being correct.
    pub trait Sealed {
        fn memory(&self) -> Memory;
    }
}

macro_rules! buffers {
    ($($buffer:ident)*) => {$(
        impl<T: DeviceCopy> Holdable for $buffer<T> {}

        impl<T: DeviceCopy> sealed::Sealed for $buffer<T> {
            fn memory(&self) -> sealed::Memory {
                let (id, device) = (self.memory_id(), self.device().id());
                sealed::Memory { id, device, start: self.view().as_ptr().addr(), bytes: self.len() * size_of::<T>() }
            }
        }

        impl<T: DeviceCopy> Resources for $buffer<T> {
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                held.exclusive(self);
            }
        }

        impl<T: DeviceCopy> Resources for &$buffer<T> {
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                held.shared(*self);
            }
        }
    )*};
}

buffers! { Buffer MappedBuffer }

impl<R: Resources + ?Sized> Resources for &mut R {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        (**self).hold(held);
    }
}

impl<R: Resources> Resources for [R] {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.iter_mut().for_each(|part| part.hold(held));
    }
}

impl<R: Resources, const N: usize> Resources for [R; N] {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

impl<R: Resources> Resources for Vec<R> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

impl<R: Resources> Resources for Option<R> {
    fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
        self.as_mut_slice().hold(held);
    }
}

macro_rules! tuples {
    ($(($($part:ident $number:tt)*))*) => {$(
        impl<$($part: Resources),*> Resources for ($($part,)*) {
            #[allow(unused_variables, reason = "the empty tuple holds nothing")]
            fn hold<'s>(&'s mut self, held: &mut Held<'s>) {
                $(self.$number.hold(held);)*
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0 B 1)
    (A 0 B 1 C 2)
    (A 0 B 1 C 2 D 3)
    (A 0 B 1 C 2 D 3 E 4)
    (A 0 B 1 C 2 D 3 E 4 F 5)
}
